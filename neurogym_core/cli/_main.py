"""The click group ``ngym``: built-in commands, commands of other packages, and error messages."""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import sys
import traceback
from collections.abc import Iterator
from typing import Any

import click

from neurogym_core.ecosystem import files, names
from neurogym_core.ecosystem.discovery import declared, installed, load
from neurogym_core.ecosystem.names import COMMANDS, CORE, clean
from neurogym_core.ecosystem.records import Offer
from neurogym_core.errors import NeurogymError, did_you_mean


class Interrupted(click.ClickException):
    """Ctrl-C was pressed: one line on stderr, and the exit code of shells for it."""

    exit_code = 130

    def show(self, file: Any = None) -> None:
        """Print the message below the ``^C`` of the terminal."""
        click.echo(f"{chr(10) if sys.stderr.isatty() else ''}{self.message}", err=True)


class LazyGroup(click.Group):
    """A group that imports a command only when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the built-in names, then those of other packages."""
        return [*COMMANDS, *sorted(self.foreign())]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the command of this name, or return None if there is none."""
        if cmd_name in COMMANDS:
            return importlib.import_module(f"{__package__}.{cmd_name}").command
        offers = self.foreign().get(cmd_name, [])
        if offers and ctx.resilient_parsing and not offers[0].ours:
            return click.Command(cmd_name)  # completion must not run foreign code
        return load(offers[0]) if offers else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve as click does; the error for an unknown name suggests the nearest one."""
        name = args[0]
        # A built-in command starts without a scan of the installed packages.
        known = name in COMMANDS or name.startswith("-") or ctx.resilient_parsing
        if not known and name not in self.list_commands(ctx):
            for offer in installed().commands:
                if offer.name == name:
                    reason = offer.problems[0].message
                    raise click.UsageError(f"{name!r} cannot be used: {reason}")
            if name == "search":
                # Without neurogym-registry, whose command takes the place of this one.
                return name, importlib.import_module(f"{__package__}.list").search, args[1:]
            ours = names.brought("commands")
            if name in ours:
                raise click.UsageError(names.comes_with(name, ours[name]))
            near = did_you_mean(name, [*self.list_commands(ctx), *ours])
            ctx.fail(f"No such command {name!r}.{near}")
        return super().resolve_command(ctx, args)

    def foreign(self) -> dict[str, list[Offer]]:
        """Return the commands of other packages by name, except those that a built-in hides."""
        found: dict[str, list[Offer]] = {}
        for offer in declared().commands:
            if offer.name not in COMMANDS and not offer.has("blocked") and not offer.has("name"):
                found.setdefault(offer.name, []).append(offer)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one line per command, without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))
        rows = []
        for name, offers in sorted(self.foreign().items()):
            owners = [offer.distribution for offer in offers]
            rows.append((name, names.help_line("commands", name, owners)))
        if rows:
            with formatter.section("Commands of other packages"):
                formatter.write_dl(rows)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Return the commands and options that start with the text, without importing them."""
        from click.shell_completion import CompletionItem  # loaded only while completing

        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*map(CompletionItem, names), *options]

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run ``ngym``; output to a stream that the caller has closed (``>&-``) is discarded."""
        for name in ("stdout", "stderr"):
            if getattr(sys, name) is None:
                setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        return super().main(*args, **extra)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Read the arguments; print errors as `invoke` does, which also happen in ``--help``."""
        with _reported():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; print the message of a `NeurogymError` and exit with code 1."""
        with _reported():
            return super().invoke(ctx)


@contextlib.contextmanager
def _reported() -> Iterator[None]:
    """Raise click's exceptions, which print one message, instead of those of the block."""
    try:
        yield
    except NeurogymError as error:
        raise click.ClickException(clean(str(error), keep_lines=True)) from error
    except (KeyboardInterrupt, click.Abort) as error:
        # A prompt of click turns Ctrl-C into the exception that also stands for the answer "no".
        stop = error if isinstance(error, KeyboardInterrupt) else error.__context__
        if not isinstance(stop, KeyboardInterrupt):
            raise
        raise Interrupted(f"Interrupted. {clean(str(stop))}".strip()) from error
    except OSError as error:
        no_room = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO)
        if error.errno not in no_room or error.filename is not None:
            raise
        # Python would otherwise fail to write the rest of stdout again on exit.
        with contextlib.suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        raise click.ClickException(
            f"The output cannot be written: {error.strerror}. Expected free space at its"
            " destination. Make space, or write it elsewhere."
        ) from error
    except (click.ClickException, click.exceptions.Exit):
        raise
    except Exception as error:
        if lines := _lines_in_file(error):
            raise click.ClickException(clean("".join(lines).rstrip(), keep_lines=True)) from error
        raise


def _lines_in_file(error: Exception) -> list[str]:
    """Return the traceback from the first line in a file of the user on; [] if there is none."""
    found = error.__traceback__
    while found is not None:
        name = str(found.tb_frame.f_globals.get("__name__"))
        if name.startswith(f"{files.__name__}."):
            head = f"{os.path.relpath(found.tb_frame.f_code.co_filename)} fails.\n"
            return [head, *traceback.format_exception(error.with_traceback(found))]
        found = found.tb_next
    return []


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(None, package_name=CORE, prog_name="ngym", message="%(prog)s %(version)s")
def main() -> None:
    """List, inspect, run and plot the tasks that are installed.

    A task simulates an experiment: trial by trial, a simulated subject or your model observes
    stimuli, answers, and is rewarded.

    \b
      ngym list                          list the tasks
      ngym info GoNogo-v0                describe one of them
      ngym run GoNogo-v0                 run trials with a simulated subject
      ngym plot GoNogo-v0 -o trial.png   draw a trial

    TASK is an id (control/GoNogo-v0), a name without its package (GoNogo-v0) if no other package
    uses it, or a class in a file (my_task.py:MyTask). `ngym COMMAND --help` explains a command.

    Exit codes: 0 success, 1 a problem was found, 2 wrong usage, 130 interrupted.
    """
