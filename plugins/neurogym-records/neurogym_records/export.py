"""``ngym export``."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from neurogym_core.tools import (
    SubjectName,
    clean,
    comes_with,
    read_conditions,
    read_wrap,
    task_options,
    task_settings,
    trust_option,
    usage_errors,
)
from neurogym_records.options import (
    SUBJECT_HELP,
    given_of,
    is_trials,
    made_task,
    read_given,
    recipe_options,
)

FORMATS = ("nwb", "bids", "csv", "parquet")
PAGES = ("web", "jspsych")
"""Formats that a person plays; `neurogym_play` writes them."""
SEXES = ("M", "F", "O", "U")
"""Those of `neurogym_records.animals`, which imports NumPy."""
OF_TASKS = ("n_trials", "seed", "parameters", "timing", "conditions", "wrap")
OF_PAGES = ("practice", "feedback")
OF_RECORDS = ("recipe", "columns", "scales")


@click.command("export", short_help="Write trials as NWB, BIDS, CSV, Parquet, a page or jsPsych.")
@click.argument("what", metavar="RECORD|TASK")
@click.option("--to", "kind", type=click.Choice((*FORMATS, *PAGES)), required=True,
              help="The format.")  # fmt: skip
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="File, or folder for bids, web and jspsych.  [default: trials.KIND; dataset, page, study]",
)
@click.option("--subject", metavar="NAME", type=SubjectName(), help=SUBJECT_HELP)
@click.option(
    "-n",
    "--n-trials",
    default=100,
    show_default=True,
    type=click.IntRange(1, 10_000),
    help="Of a TASK.",
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Of a TASK.")
@task_options
@click.option("--practice", default=0, show_default=True, metavar="N",
              type=click.IntRange(0, 10_000),
              help="web, jspsych: practice trials before, with feedback.")  # fmt: skip
@click.option("--feedback", is_flag=True,
              help="web, jspsych: say after each trial whether it was correct.")  # fmt: skip
@click.option("--species", metavar="NAME", help="NWB: Latin name, e.g. 'Mus musculus'.")
@click.option("--age", metavar="DURATION", help="NWB: ISO 8601 duration, e.g. P90D.")
@click.option("--sex", type=click.Choice(SEXES), help="NWB: male, female, other, unknown.")
@click.option("--date-of-birth", metavar="DATE", help="NWB: e.g. 2026-01-31.")
@click.option("--session-id", metavar="NAME", help="NWB: name of the session.")
@click.option(
    "--session-start", metavar="MOMENT", help="NWB: with a time zone, e.g. 2026-05-01T10:30+02:00."
)
@trust_option
@recipe_options
def command(
    what: str,
    kind: str,
    out: Path | None,
    subject: str | None,
    n_trials: int,
    seed: int,
    parameters: tuple[str, ...],
    timing: tuple[str, ...],
    conditions: tuple[str, ...],
    wrap: tuple[str, ...],
    practice: int,
    feedback: bool,
    recipe: str | None,
    columns: tuple[str, ...],
    scales: tuple[str, ...],
    **animal: str | None,
) -> None:
    """Write trials in a format that laboratories share, or as a page that people play.

    RECORD is a file of trials; NWB and BIDS get a file for each of its subjects. A TASK is played
    by a subject; BIDS and NWB then have every visit of a period, and NWB every step as time series.

    --to web writes a page on which a person plays the TASK, for any web server; it has a button to
    download the record. --to jspsych writes an experiment for participants: consent, a check of
    the screen, keys, practice, trials and attention checks, with the times of frames and keys in
    the data. It needs `npm install` in the folder. `ngym evaluate` reads its data with
    --recipe neurogym-jspsych. Tasks with hooks, and those that draw a trial after the outcome of
    the one before, need Python while they are played: `ngym play` alone plays them.

    Archives of NWB files ask for the species, and for the age or the date of birth. The options
    hold for all animals of a RECORD; columns named species, age, sex, date_of_birth, session_start
    and session hold for each (--map age=their_column).

    \b
    ngym export trials.csv --to bids --out dataset
    ngym export RoitmanShadlen-v0 --subject diffusion --to nwb --out session.nwb
    ngym export mice.csv --recipe ibl --to csv --out ours.csv
    ngym export mice.csv --recipe ibl --to nwb --species "Mus musculus" --age P90D --sex F
    ngym export GoNogo-v0 --to web --out page
    ngym export GoNogo-v0 --to jspsych --out study --practice 10 --timing decision=1500
    """
    known = {name: value for name, value in animal.items() if value}
    if kind != "nwb":
        _refuse(given_of(tuple(animal)), f"--to {kind}", "with --to nwb alone")
    if kind not in PAGES:
        _refuse(given_of(OF_PAGES), f"--to {kind}", "with --to web or jspsych alone")
    if is_trials(what):
        _refuse(given_of((*OF_TASKS, "subject")), f"the file {what!r}", "with a TASK")
        if kind in PAGES:
            raise click.UsageError(
                f"The file {what!r} was given with --to {kind}. Expected a TASK, which a person"
                " plays. Give its name, for example GoNogo-v0."
            )
        _write_record(Path(what), out, kind, known, recipe, columns, scales)
        return
    _refuse(given_of(OF_RECORDS), f"the task {what!r}", "with a file of trials")
    task = made_task(what, parameters, timing)  # its errors are those of the other commands
    with usage_errors():
        given = {
            "seed": seed,
            "conditions": read_conditions(conditions),
            "wrap": [read_wrap(one) for one in wrap],
            **task_settings(type(task), parameters, timing),
        }
    if kind in PAGES:
        _refuse(given_of(("subject",)), f"--to {kind}", "with the other formats")
        pages = {"practice": practice, "feedback": feedback}
        _write_page(what, out, kind, n_trials, **pages, **given)
    else:
        from neurogym_records.exchange import export
        from neurogym_records.steps import record_steps

        with usage_errors():
            steps = record_steps(what, subject or "guess", n_trials, **given)
            _say(export(steps, out or _default(kind), kind, known))


def _refuse(flags: Sequence[str], beside: str, expected: str) -> None:
    """Raise the error for options that mean nothing here, if any were given."""
    if flags:
        raise click.UsageError(
            f"{', '.join(flags)} was given with {beside}. Expected it {expected}. Leave it out."
        )


def _default(kind: str) -> Path:
    return Path({"bids": "dataset", "web": "page", "jspsych": "study"}.get(kind, f"trials.{kind}"))


def _say(written: Sequence[Path]) -> None:
    click.echo(f"The trials are in {', '.join(map(str, written))}.")


def _write_record(
    path: Path,
    out: Path | None,
    kind: str,
    known: dict[str, Any],
    recipe: str | None,
    columns: tuple[str, ...],
    scales: tuple[str, ...],
) -> None:
    from neurogym_records.exchange import export

    target = out or _default(kind)
    if target.resolve() == path.resolve():
        raise click.UsageError(
            f"The trials of {str(path)!r} were to be written over it. Expected another file. Name"
            " one: --out OTHER."
        )
    record = read_given(path, recipe, columns, scales)
    with usage_errors():
        written = export(record, target, kind, known)
    _say(written)


def _write_page(task: str, out: Path | None, kind: str, n_trials: int, **given: Any) -> None:
    try:
        from neurogym_play import write_experiment, write_page
    except ModuleNotFoundError as error:
        if error.name != "neurogym_play":
            raise
        raise click.UsageError(comes_with(f"--to {kind}", "neurogym-play")) from None

    write = {"web": write_page, "jspsych": write_experiment}[kind]
    with usage_errors(), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        folder = clean(str(write(task, out or _default(kind), n_trials, **given)))
    if kind == "web":
        click.echo(f"The page is in {folder}. Serve the folder with any web server.")
    else:
        click.echo(
            f"The experiment is in {folder}. Run `npm install` in it once, and serve the folder"
            " with any web server."
        )
    for one in said:
        click.echo(f"Note: {clean(str(one.message))}", err=True)
