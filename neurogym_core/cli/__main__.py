"""``python -m neurogym_core.cli`` is ``ngym``."""

from . import main

main(prog_name="ngym")
