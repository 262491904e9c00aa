"""Run ``ngym`` as ``python -m neurogym_core``."""

from neurogym_core.cli import main

main(prog_name="ngym")
