"""The group behind ``ngym``: built-in commands, commands of other packages, and how errors end."""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import pkgutil
import sys
from pathlib import Path
from typing import Any

import click

from neurogym_core.ecosystem import companions
from neurogym_core.ecosystem.discovery import installed, load
from neurogym_core.ecosystem.names import clean
from neurogym_core.ecosystem.records import Offer, advice
from neurogym_core.errors import BrokenTaskError, NeurogymError, did_you_mean


def built_in() -> list[str]:
    """The names of the commands of this folder, in alphabetical order."""
    modules = pkgutil.iter_modules([str(Path(__file__).parent)])
    return sorted(module.name for module in modules if not module.name.startswith("_"))


class LazyGroup(click.Group):
    """A group that imports a command when it is called, and those of other packages not even for
    its help.

    A built-in command always wins. Two packages that claim one command make it an error that names
    both."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Built-in names, then those of other packages."""
        return [*built_in(), *sorted(self.foreign())]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, imported now; None when there is none."""
        if cmd_name in built_in():
            return importlib.import_module(f"{__package__}.{cmd_name}").command
        offers = self.foreign().get(cmd_name)
        return require_command(offers[0], load(offers[0])) if offers else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click's, with the nearest name in the error."""
        name = args[0]
        if (
            not ctx.resilient_parsing
            and not name.startswith("-")
            and name not in self.list_commands(ctx)
        ):
            if name in companions.COMMANDS:
                raise click.UsageError(_missing(name))
            known = [*self.list_commands(ctx), *companions.COMMANDS]
            ctx.fail(f"No such command {name!r}.{did_you_mean(name, known)}")
        return super().resolve_command(ctx, args)

    def foreign(self) -> dict[str, list[Offer]]:
        """The commands of other packages by name, those of a built-in's name left out."""
        found: dict[str, list[Offer]] = {}
        for offer in installed().commands:
            if offer.name not in built_in() and not offer.has("blocked") and not offer.has("name"):
                found.setdefault(offer.name, []).append(offer)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """One line a command. The code of other packages is not run for a help: for a command of
        this project the line is known here, for any other one it says whose it is.
        """
        with formatter.section("Commands"):
            formatter.write_dl(self.summaries(ctx))
        if foreign := self.foreign():
            with formatter.section("Commands of other packages"):
                formatter.write_dl(
                    [(name, _summary(name, offers)) for name, offers in sorted(foreign.items())]
                )

    def summaries(self, ctx: click.Context) -> list[tuple[str, str]]:
        """The built-in commands, each with the first sentence of its help."""
        commands = ((name, self.get_command(ctx, name)) for name in built_in())
        return [
            (name, one.get_short_help_str(100))
            for name, one in commands
            if one is not None and not one.hidden
        ]

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """The names of commands and options that go on like this; nobody else's code is run."""
        from click.shell_completion import CompletionItem

        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        return [
            *(CompletionItem(name) for name in names),
            *click.Command.shell_complete(self, ctx, incomplete),
        ]

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error that was raised on purpose ends with its message and exit code
        1, no traceback.

        So does output that has no room where it is sent.
        """
        try:
            return super().invoke(ctx)
        except NeurogymError as error:
            raise click.ClickException(clean(str(error), keep_lines=True)) from error
        except OSError as error:
            if error.errno not in _NO_ROOM or error.filename is not None:
                raise
            _drop_output()
            raise click.ClickException(
                f"The output cannot be written: {error.strerror}. Room was expected where it is"
                " sent. Make some, or send it elsewhere."
            ) from error


_NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO)


def _drop_output() -> None:
    """Let what stdout still holds go nowhere: Python would try to write it at its end, and fail as
    loudly.
    """
    with contextlib.suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _summary(name: str, offers: list[Offer]) -> str:
    """The help of a command of this project's packages, ``from PACKAGE`` for any other."""
    owners = list(dict.fromkeys(offer.distribution for offer in offers))
    if owners == [companions.COMMANDS.get(name)]:
        return companions.SUMMARIES[name]
    return "from " + " and from ".join(owners)


def _missing(name: str) -> str:
    """Which package brings a command of this project, or why it cannot be used."""
    offers = [offer for offer in installed().commands if offer.name == name]
    if offers:
        return f"{name!r} cannot be used: {offers[0].problems[0].message}"
    return companions.comes_with(name, companions.COMMANDS[name])


def require_command(offer: Offer, found: Any) -> click.Command:
    """What an entry point of `neurogym.commands` gave, when it is a command.

    Raises:
        BrokenTaskError: it is something else.
    """
    if isinstance(found, click.Command):
        return found
    raise BrokenTaskError(
        f"{offer.value} of {offer.distribution} {offer.version} is of type {type(found).__name__},"
        f" expected a click command. {advice(offer.distribution)}"
    )


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(f"ngym {installed().core_version}")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
def main() -> None:
    """Neuroscience tasks: find, inspect and run those that are installed.

    TASK is an id (perceptual/RandomDots-v0), a bare name while it is unique (RandomDots-v0), or a
    class in a file (my_task.py:MyTask).

    Exit codes: 0 fine, 1 a problem was found, 2 wrong usage.
    """
