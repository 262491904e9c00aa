"""Write ``docs/command-line.md``: ``python docs/_make/command_line.py``.

The page has the help of the commands of the core and of the packages of this project, which
`make test` installs. Commands of other installed packages are left out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from neurogym_core.cli import main
from neurogym_core.cli._main import BUILT_IN, LazyGroup
from neurogym_core.ecosystem.companions import COMMANDS
from neurogym_core.ecosystem.records import Offer

TARGET = Path(__file__).resolve().parents[1] / "command-line.md"
WIDTH = 80

HEAD = """# The command line

<!-- Made from --help by docs/_make/command_line.py; do not edit it here. -->

The core installs `ngym`. The last section of its help lists the commands of other packages of this project; if such a
package is not installed, its commands name it.

- TASK is an id (`perceptual/PerceptualDecisionMaking-v0`), a bare name that only one package has
  (`PerceptualDecisionMaking-v0`), or a class in a file (`my_task.py:MyTask`).
- With `--json`, the standard output is JSON only.
- The exit code is 0 for success, 1 if a problem was found, and 2 for wrong usage.
- `--help`, `list` and shell completion import no task package, no NumPy and no Gymnasium.
- There are no colours in a pipe or if `NO_COLOR` is set.

Packages can add commands; see [discovery](discovery.md).
"""


class ProjectGroup(LazyGroup):
    """`ngym` with the packages of this project, and no others."""

    def foreign(self) -> dict[str, list[Offer]]:
        """Return the commands of the packages of this project."""
        found = super().foreign()
        return {
            name: offers
            for name, offers in found.items()
            if [offer.distribution for offer in offers] == [COMMANDS.get(name)]
        }


def page() -> str:
    """Return the page."""
    group = ProjectGroup(
        "ngym", help=main.help, params=main.params, context_settings=main.context_settings
    )
    top = context_of(group, "ngym")
    names = sorted({*BUILT_IN, *COMMANDS})
    return "\n".join([HEAD, section(group, top), *(part_of(group, name, top) for name in names)])


def part_of(group: Any, name: str, top: click.Context) -> str:
    """Return the sections of a command and its subcommands."""
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
    """Return a context in which a command prints its help without running."""
    width = {"terminal_width": WIDTH, "max_content_width": WIDTH}
    return command.make_context(name, [], parent=parent, resilient_parsing=True, **width)


def section(command: click.Command, context: click.Context) -> str:
    """Return a heading and the help of one command, as printed in a terminal."""
    help_text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    return f"## {context.command_path}\n\n```text\n{help_text}\n```\n"


if __name__ == "__main__":
    TARGET.write_text(page(), "utf-8")
