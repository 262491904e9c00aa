"""Writes ``docs/command-line.md`` from the help of every command: ``python
docs/_make/command_line.py``.

The commands of the core and of the packages of this project are in it; `make test` installs them. Those that further
packages add depend on what is installed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from neurogym_core.cli import main
from neurogym_core.cli._main import LazyGroup, built_in
from neurogym_core.ecosystem.companions import COMMANDS
from neurogym_core.ecosystem.records import Offer

TARGET = Path(__file__).resolve().parents[1] / "command-line.md"
WIDTH = 80

HEAD = """# The command line

*Made from `--help` by `docs/_make/command_line.py`; do not edit it here.*

`ngym` is installed with the core; the last section of its help has the commands that come with other packages of this
project. Any of them says which package brings it when that is not installed. TASK is an id (`perceptual/PerceptualDecisionMaking-v0`), a bare name while it is
unique, or a class in a file (`my_task.py:MyTask`). `--json` prints JSON and nothing else on the standard output.
Exit codes: 0 fine, 1 a problem was found, 2 wrong usage. `--help`, `list` and shell completion import no task package,
no NumPy and no Gymnasium. Colours go away in a pipe and with `NO_COLOR`.

A package can add a command of its own; see [discovery](discovery.md).
"""


class ProjectGroup(LazyGroup):
    """`ngym` as it is with all packages of this project installed, and no others."""

    def foreign(self) -> dict[str, list[Offer]]:
        """The commands of this project's packages."""
        found = super().foreign()
        return {
            name: offers
            for name, offers in found.items()
            if [offer.distribution for offer in offers] == [COMMANDS.get(name)]
        }


def page() -> str:
    """The whole page."""
    group = ProjectGroup(
        "ngym", help=main.help, params=main.params, context_settings=main.context_settings
    )
    top = context_of(group, "ngym")
    names = sorted({*built_in(), *COMMANDS})
    return "\n".join([HEAD, section(group, top), *(part_of(group, name, top) for name in names)])


def part_of(group: Any, name: str, top: click.Context) -> str:
    """The section of one command, and of those below it."""
    command = group.get_command(top, name)
    assert command is not None, f"install {COMMANDS.get(name)}, or remove {name} from its table"
    context = context_of(command, name, top)
    below = command.list_commands(context) if isinstance(command, click.Group) else []
    return "\n".join(
        [section(command, context), *(part_of(command, inner, context) for inner in below)]
    )


def context_of(
    command: click.Command, name: str, parent: click.Context | None = None
) -> click.Context:
    """A context to print help in; nothing is run."""
    width = {"terminal_width": WIDTH, "max_content_width": WIDTH}
    return command.make_context(name, [], parent=parent, resilient_parsing=True, **width)


def section(command: click.Command, context: click.Context) -> str:
    """A heading, and the help of one command as a terminal shows it."""
    help_text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    return f"## {context.command_path}\n\n```text\n{help_text}\n```\n"


if __name__ == "__main__":
    TARGET.write_text(page(), "utf-8")
