"""The command ``ngym``: one file a command, imported when it is called.

A module of this folder whose name has no leading underscore is a command of that name; it holds a
click command called ``command``, imports nothing but click and the standard library at its top, and
takes the rest inside its functions."""

from __future__ import annotations

from neurogym_core.cli._main import main

__all__ = ["main"]
