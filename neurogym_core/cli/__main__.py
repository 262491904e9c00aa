"""``python -m neurogym_core.cli`` is ``ngym``."""

from neurogym_core.cli import main

main(prog_name="ngym")
