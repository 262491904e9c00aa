"""The command ``ngym``: one module per command, imported when the command is called.

A module of this folder whose name has no leading underscore is a command of that name. It defines a
click command called ``command``, and imports no NumPy, matplotlib or rich at its top, so that
``ngym COMMAND --help`` is fast. `names.COMMANDS` lists the commands for ``ngym --help``."""

from __future__ import annotations

from neurogym_core.cli._main import main

__all__ = ["main"]
