"""Options of commands that play tasks, or read trials from files.

NumPy and pandas are imported when they read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neurogym_core import UnknownTaskError
from neurogym_core.tools import (
    Page,
    SubjectName,
    installed,
    is_file_reference,
    split_option,
    task_options,
    task_settings,
    trust_option,
    usage_errors,
)

if TYPE_CHECKING:
    from neurogym_behaviour.findings import Finding

    from neurogym_core import TrialRecord

DESIGNS = ("drawn", "balanced")
"""Designs of `neurogym_training.playing`, which imports NumPy."""
SUBJECT_HELP = "The subject that plays; `ngym run --help` lists the subjects."
FIGURES = (".svg", ".pdf", ".png")
STYLES = ("screen", "paper", "slide")
"""Styles of `neurogym_plot.canvas`, which imports NumPy."""
TRIALS = (".csv", ".tsv", ".txt", ".parquet", ".pqt", ".xlsx", ".json", ".mat", ".nwb")
"""Suffixes of `neurogym_records.reading`, which imports NumPy."""


def _with_options(*options: Callable[..., Any]) -> Callable[..., Any]:
    """Return a decorator that adds options to a command, in this order."""

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorated


def played_options(n_trials: str, seed: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds the options of a command that plays a RUN or a TASK.

    They are --subject, --n-trials, --which, --seed, --split, --set, --timing, --wrap, --condition,
    --design and --trust.

    Args:
        n_trials, seed: help texts of --n-trials and --seed.
    """
    return _with_options(
        click.option("--subject", metavar="NAME", type=SubjectName(),
                     help=f"{SUBJECT_HELP}  [default: guess]"),
        click.option("-n", "--n-trials", default=2000, show_default=True,
                     type=click.IntRange(min=1), help=n_trials),
        click.option("--which", default=0, show_default=True, type=click.IntRange(min=0),
                     help="Index of a task of a RUN."),
        click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help=seed),
        split_option,
        task_options,
        click.option("--design", type=click.Choice(DESIGNS),
                     help="Trials as the task draws them, or all combinations of its conditions"
                     " equally often.  [default: balanced where the task draws all conditions"
                     " equally often and independently, else drawn]"),
        trust_option,
    )  # fmt: skip


def given_of(names: Sequence[str]) -> list[str]:
    """Return the flags of the options of these names that the user has written."""
    context = click.get_current_context()
    written = click.core.ParameterSource.COMMANDLINE
    flags = {option.name: option.opts[-1] for option in context.command.params}
    return [flags[name] for name in names if context.get_parameter_source(name) is written]


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object, for programs."
)
"""Add --json to a command that writes a report."""


recipe_options = _with_options(
    click.option("--recipe", metavar="NAME|FILE",
                 help="Columns of a lab's file: ibl, bids, jspsych, neurogym-jspsych, psychopy,"
                 " pycontrol, bpod, or a .toml file with expressions."),
    click.option("--map", "columns", multiple=True, metavar="OURS=THEIRS",
                 help="A column, or an expression, of a lab's file, e.g. coherence='100 * coh',"
                 " correct='feedback > 0', subject=monkey."),
    click.option("--scale", "scales", multiple=True, metavar="OURS=FACTOR",
                 help="A factor for a column of a lab's file, e.g. reaction_time=1000 (s to ms)."),
)  # fmt: skip
"""Add --recipe, --map and --scale to a command."""


role_options = _with_options(
    click.option("--strength", help="The condition with the strength of the evidence."),
    click.option("--side", help="The condition with the correct side."),
    click.option("--right", metavar="VALUE", help="The value of the side that is called right."),
    click.option("--block", help="The condition that differs between blocks."),
    click.option("--slot", help="The answer slot, if a trial has several."),
    click.option("--pool", is_flag=True,
                 help="Analyse the trials of several subjects as those of one."),
)  # fmt: skip
"""Add the options of ROLES to a command that analyses a file of trials."""
ROLES = ("strength", "side", "right", "block", "slot", "pool")
"""Fields of `neurogym_behaviour.behaviour.Roles`, which imports NumPy."""


def running_options(threads: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds --threads, --trust and --quiet, of a command that does runs.

    Args:
        threads: help text of --threads.
    """
    return _with_options(
        click.option("--threads", type=click.IntRange(min=1), metavar="N", help=threads),
        trust_option,
        click.option("--quiet", is_flag=True, help="No progress bar."),
    )  # fmt: skip


def figure_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --figure and --style to a command that writes a report."""
    figure = click.option(
        "--figure",
        type=click.Path(dir_okay=False, path_type=Path),
        callback=_checked_figure,
        help="Write the figures too (.svg, .pdf, .png); several: FILE-psychometric.svg, …",
    )
    style = click.option(
        "--style",
        type=click.Choice(STYLES),
        default=STYLES[0],
        show_default=True,
        help="Sizes of the figures; paper: 85 mm wide, 8 points.",
    )
    return figure(style(command))


def _checked_figure(context: click.Context, option: Any, path: Path | None) -> Path | None:
    if path is not None and path.suffix.lower() not in FIGURES:
        raise click.UsageError(
            f"--figure was given {str(path)!r}. Expected a file name that ends in"
            f" {', '.join(FIGURES)}."
        )
    return path


def write_given_figures(
    path: Path | None, style: str, findings: Sequence[Finding]
) -> list[Path] | None:
    """Write the figures of --figure in the style of --style, and return their paths.

    None without --figure."""
    from neurogym_behaviour.report import write_figures
    from neurogym_plot.styles import figure_style

    if path is None:
        return None
    with usage_errors(), figure_style(style):
        return write_figures(path, findings)


def say_figures(written: Sequence[Path] | None) -> None:
    """Print the paths of `write_given_figures`."""
    if written is not None:
        said = ", ".join(map(str, written))
        click.echo(f"The figures are {said}." if written else "There are no figures.")


def print_paragraph(text: str, *, indent: int = 0) -> None:
    """Print a text in lines that fit the terminal, broken between words; in a pipe, in one line."""
    page = Page()
    page.text(text, indent=indent)
    page.show()


def say_findings(findings: Sequence[Finding]) -> None:
    """Print a paragraph for each finding, and one with those that were skipped, and why."""
    for one in findings:
        if one.why_not is None:
            print_paragraph(f"{one.title}: {' '.join(one.notes) or 'done'}")
    reasons = [(one.title, one.why_not) for one in findings if one.why_not is not None]
    skipped = [f"{title} ({reason.rstrip('.')})" for title, reason in reasons]
    if skipped:
        print_paragraph(f"Skipped: {'; '.join(skipped)}.")


def named(record: TrialRecord, path: Path) -> TrialRecord:
    """Return the record of a file; a subject without a name has that of the file."""
    from neurogym_core import TrialRecord

    if "subject" in record.meta:
        return record
    meta = {**record.meta, "subject": path.stem}
    return TrialRecord(record, meta=meta, events=record.event_log)


def is_trials(what: str) -> bool:
    """Return whether a word on the command line names a file of trials."""
    return Path(what).suffix.lower() in TRIALS and not Path(what).is_dir()


def read_given(
    path: Path, recipe: str | None, columns: Sequence[str] = (), scales: Sequence[str] = ()
) -> TrialRecord:
    """Read a file of trials, with what --recipe, --map and --scale say.

    Raises:
        click.UsageError: the file or an option cannot be used.
    """
    from neurogym_records.reading import NOTES, read_record, with_columns
    from neurogym_records.recipes import read_recipe

    factors = {name: _number(name, text) for name, text in _pairs("--scale", scales).items()}
    with usage_errors():
        known = None if recipe is None else read_recipe(recipe)
        mapped = with_columns(known, _pairs("--map", columns))
        record = read_record(path, mapped, scales=factors)
    for note in record.meta.get(NOTES, ()):
        click.echo(f"{path.name}: {note}", err=True)
    return record


def _pairs(option: str, texts: Sequence[str]) -> dict[str, str]:
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise click.UsageError(
                f"{option} was given {text!r}. Expected two names, as in {option} coherence=coh."
            )
        pairs[name.strip()] = value.strip()
    return pairs


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise click.UsageError(
            f"--scale was given {name}={text!r}. Expected a number, as in reaction_time=1000."
        ) from None


def made_task(name: str, parameters: Sequence[str], timing: Sequence[str]) -> Any:
    """Make the task of this name, with settings from the command line.

    Raises:
        click.UsageError: the task does not accept the settings.
        DiscoveryError: there is no such task.
        NotSupportedError: it is a Gymnasium env that is not a `Task`.
    """
    from neurogym_core import make_task  # imports NumPy
    from neurogym_core.players import resolve  # imports NumPy

    found = resolve(name)
    with usage_errors():
        return make_task(found, **task_settings(found, parameters, timing))


def tasks_like(pattern: str) -> list[str]:
    """Return the ids of the usable installed tasks that a pattern matches, sorted.

    Args:
        pattern: text with ``*`` or ``?``, such as ``yang19/*``, or a group of tasks, such as
            ``yang19``; another name is returned as it is.

    Raises:
        UnknownTaskError: no installed task matches.
    """
    if pattern in {task.namespace for task in installed().tasks}:
        pattern += "/*"
    if not any(sign in pattern for sign in "*?[") or is_file_reference(pattern):
        return [pattern]
    known = sorted(task.id for task in installed().tasks if task.usable)
    found = [task for task in known if fnmatchcase(task, pattern)]
    if not found:
        spaces = sorted({task.partition("/")[0] + "/*" for task in known})
        raise UnknownTaskError(
            f"No installed task matches {pattern!r}. Expected a pattern of ids, such as"
            f" {', '.join(spaces) or 'perceptual/*'}. `ngym list` shows the tasks."
        )
    return found
