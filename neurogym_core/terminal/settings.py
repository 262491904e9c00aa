"""Options of commands that play a task, and functions that read their values."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from neurogym_core.ecosystem import names
from neurogym_core.ecosystem.discovery import declared, find_subject, subject_names
from neurogym_core.ecosystem.files import trusting
from neurogym_core.ecosystem.names import SUBJECTS, clean
from neurogym_core.ecosystem.settings_text import named_subject, read_pairs, read_value
from neurogym_core.errors import InvalidValueError, UnknownNameError
from neurogym_core.terminal import complete


def _with_options(command: Callable, added: Sequence[Callable]) -> Callable:
    return reduce(lambda done, add: add(done), reversed(added), command)


def task_options(command: Callable) -> Callable:
    """Add the settings of a task to a click command: --set, --timing, --condition and --wrap.

    The command gets them as `parameters`, `timing`, `conditions` and `wrap`, tuples of texts, which
    `task_settings`, `read_conditions` and `read_wrap` read.

    Args:
        command: the function of the command, below ``@click.command``.
    """
    return _with_options(command, (
        click.option("--set", "parameters", multiple=True, metavar="NAME=VALUE",
                     help="Set a parameter of the task, e.g. coherences=0,51.2."),
        click.option("--timing", "timing", multiple=True, metavar="PERIOD=MS",
                     help="Set the duration of a period, e.g. delay=500 or"
                     " 'delay=uniform(500,1500)'."),
        click.option("--condition", "conditions", multiple=True, metavar="NAME=VALUE",
                     help="Impose a condition on all trials, e.g. coherence=51.2."),
        click.option("--wrap", "wrap", multiple=True, metavar="NAME[:KEY=VALUE,...]",
                     shell_complete=partial(complete, ("wrappers",)),
                     help="Apply a wrapper with its settings, e.g. reaction_time:urgency=-0.01;"
                     " innermost first."),
    ))  # fmt: skip


class SubjectName(click.ParamType):
    """A subject of the core or of an installed package, which is not imported, and its settings."""

    name = "subject"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        with usage_errors():
            name, _ = named_subject(value)
            if name not in SUBJECTS:
                find_subject(name)
        return value

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(name) for name in subject_names() if name.startswith(incomplete)]


class PlayCommand(click.Command):
    """A command that plays a task; its help lists the subjects, without importing any of them.

    ::

        @click.command(cls=PlayCommand)
        @PlayCommand.options(subject="oracle")
        def command(subject, seed, parameters, timing, conditions, wrap): ...
    """

    @staticmethod
    def options(subject: str | None, seed: int | None = 0) -> Callable[[Callable], Callable]:
        """Return a decorator that adds the options of such a command, from --subject to --trust.

        Args:
            subject: default subject; None if a file may name it, else "random".
            seed: default seed; None if a file may set it, else 0.
        """
        by_default = "" if subject else "  [default: random]"
        fixed = "" if seed is not None else "  [default: 0]"
        added = (
            click.option("--subject", default=subject, show_default=True,
                         metavar="NAME[:SETTING=VALUE,...]", type=SubjectName(),
                         help=f"The subject that plays, see below.{by_default}"),
            click.option("--seed", default=seed, show_default=True, metavar="N",
                         type=click.IntRange(min=0),
                         help=f"Seed of all random numbers.{fixed}"),
            task_options,
            trust_option,
        )  # fmt: skip
        return lambda command: _with_options(command, added)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        summaries = SUBJECTS | {
            one.name: names.help_line("subjects", one.name, [one.distribution])
            for one in declared().subjects
        }
        with formatter.section("Subjects (with settings: --subject NAME:SETTING=VALUE,...)"):
            formatter.write_dl([(name, summaries[name]) for name in subject_names()])


_OTHER_FORMATS = (".parquet", ".pqt", ".nwb", ".json", ".xlsx")

SPLIT_NAMES = ("none", "train", "validation", "test")
"""Splits on the command line and in experiment files: none, and
`neurogym_core.trials.noise.SPLITS`, whose module imports NumPy."""


def read_split(name: str | None) -> str | None:
    """Return a split for `run` from its name on the command line; None: the subject's own.

    Args:
        name: one of ``none``, ``train``, ``validation``, ``test``; or None.
    """
    return {None: "auto", "none": None}.get(name, name)


split_option = click.option(
    "--split", type=click.Choice(SPLIT_NAMES),
    help="Stream of the trials. Networks and agents learn from train, so that test has new trials,"
    " of every seed.  [default: test for a trained subject, else none]",
)  # fmt: skip
"""Decorator of a click command that adds the option ``--split``; `read_split` reads its value."""


def _is_csv(context: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    if path is not None and path.suffix.lower() in _OTHER_FORMATS:
        raise click.UsageError(
            f"--csv was given {str(path)!r}, the name of another format. Expected a file name"
            " that ends in .csv. `ngym export` writes trials in other formats."
        )
    return path


csv_option = click.option(
    "--csv", type=click.Path(dir_okay=False, path_type=Path), callback=_is_csv,
    help="Write all trials to this CSV file.",
)  # fmt: skip
"""Decorator of a click command that adds the option ``--csv``; the argument ``csv`` is a path, or
None."""


trust_option = click.option(
    "--trust", is_flag=True, expose_value=False, is_eager=True,
    # The context of `ngym`, which click closes also after an error in the arguments.
    callback=lambda context, _, value: context.find_root().with_resource(trusting(value)),
    help="Run code in files that the folder of a run, or an experiment file, names.",
)  # fmt: skip
"""Decorator of a click command that adds the option ``--trust``: until the command ends, code in
files that artefacts name may be run. The command gets no argument for it; `check_artefact` asks."""


def task_settings(found: Any, parameters: Sequence[str], timing: Sequence[str]) -> dict[str, Any]:
    """Return the keywords of a task from ``--set`` and ``--timing``.

    Args:
        found: the task's class, whose defaults give the types.
        parameters: ``NAME=VALUE`` each.
        timing: ``PERIOD=MS`` each; MS may be a distribution.
    """
    from neurogym_core.trials.distributions import parse  # imports NumPy

    values: dict[str, Any] = {}
    for key, text in read_pairs("--set", parameters):
        default = getattr(found, key, None)
        values[key] = read_value(text, default)
        if isinstance(default, tuple) and _numeric(default) and not _numeric(values[key]):
            raise InvalidValueError(
                f"--set was given {key}={text!r}. Expected numbers, as in the default {default!r}."
            )
    durations = {key: parse(text) for key, text in read_pairs("--timing", timing)}
    return {**values, **({"timing": durations} if durations else {})}


def read_conditions(texts: Sequence[str]) -> dict[str, Any]:
    """Return the conditions that ``--condition`` imposes, {name: value}.

    Args:
        texts: ``NAME=VALUE`` each.
    """
    return {key: read_value(text) for key, text in read_pairs("--condition", texts)}


def _numeric(values: tuple) -> bool:
    return all(
        _numeric(value) if isinstance(value, tuple) else isinstance(value, int | float)
        for value in values
    )


@contextlib.contextmanager
def usage_errors() -> Iterator[None]:
    """Convert errors about unknown names and invalid values to wrong usage, exit code 2."""
    try:
        yield
    except (UnknownNameError, InvalidValueError) as error:
        raise click.UsageError(clean(str(error), keep_lines=True)) from error
