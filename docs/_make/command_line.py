"""Write ``docs/command-line.md``: ``python docs/_make/command_line.py``.

The page has the help of the commands of the core and of the packages of this project, which
`make test` installs. Commands of other installed packages are left out.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from unittest.mock import patch

import click
from markdown_parts import continued

from neurogym_core.tools import brought, installed, main

TARGET = Path(__file__).resolve().parents[1] / "command-line.md"
WIDTH = 80


def page() -> str:
    """Return the page."""
    ours = {"neurogym-core", *brought("modules").values()}
    others = [one.distribution for one in installed().packages if one.distribution not in ours]
    with patch.dict(os.environ, NGYM_BLOCK=",".join(others)):
        top = context_of(main, "ngym")
        names = sorted({*main.list_commands(top), *brought("commands")})
        parts = [section(main, top), *(part_of(main, name, top) for name in names)]
    return continued(TARGET, "\n".join(parts))


def part_of(group: Any, name: str, top: click.Context) -> str:
    """Return the sections of a command and its subcommands."""
    command = group.get_command(top, name)
    assert command is not None, f"install the package that brings {name}"
    context = context_of(command, name, top)
    below = command.list_commands(context) if isinstance(command, click.Group) else []
    return "\n".join(
        [section(command, context), *(part_of(command, inner, context) for inner in below)]
    )


def context_of(
    command: click.Command, name: str, parent: click.Context | None = None
) -> click.Context:
    """Return a context in which a command prints its help without running."""
    width = {"terminal_width": WIDTH, "max_content_width": WIDTH}
    return command.make_context(name, [], parent=parent, resilient_parsing=True, **width)


def section(command: click.Command, context: click.Context) -> str:
    """Return a heading and the help of one command, as printed in a terminal."""
    return f"## {context.command_path}\n\n{help_of(command, context)}\n"


def help_of(command: click.Command, context: click.Context) -> str:
    """Return the help of a command as a block."""
    lines = (line.rstrip() for line in command.get_help(context).splitlines())
    return "\n".join(("```text", *lines, "```"))


if __name__ == "__main__":
    TARGET.write_text(page(), "utf-8")
