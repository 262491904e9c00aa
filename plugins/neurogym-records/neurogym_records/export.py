"""``ngym export``."""

from __future__ import annotations

from pathlib import Path

import click

from neurogym_core.tools import SubjectName, trust_option, usage_errors
from neurogym_records.options import SUBJECT_HELP, is_trials, made_task, read_given, recipe_options

FORMATS = ("nwb", "bids", "csv", "parquet")
SEXES = ("M", "F", "O", "U")
"""Those of `neurogym_records.animals`, which imports NumPy."""


@click.command("export", short_help="Write trials as NWB, BIDS, CSV or Parquet.")
@click.argument("what", metavar="RECORD|TASK")
@click.option("--to", "kind", type=click.Choice(FORMATS), required=True, help="The format.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="File, or folder for bids.  [default: trials.KIND]",
)
@click.option("--subject", metavar="NAME", type=SubjectName(), help=SUBJECT_HELP)
@click.option(
    "-n",
    "--n-trials",
    default=100,
    show_default=True,
    type=click.IntRange(min=1),
    help="Of a TASK.",
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Of a TASK.")
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
    recipe: str | None,
    columns: tuple[str, ...],
    scales: tuple[str, ...],
    **animal: str | None,
) -> None:
    """Write trials in a format that laboratories share.

    RECORD is a file of trials; NWB and BIDS get a file for each of its subjects. A TASK is played
    by a subject; BIDS and NWB then have every visit of a period, and NWB every step as time series.
    (`ngym play TASK --out FOLDER` writes a page on which a person plays a TASK.)

    Archives of NWB files ask for the species, and for the age or the date of birth. The options
    hold for all animals of a RECORD; columns named species, age, sex, date_of_birth, session_start
    and session hold for each (--map age=their_column).

    \b
    ngym export trials.csv --to bids --out dataset
    ngym export RoitmanShadlen-v0 --subject diffusion --to nwb --out session.nwb
    ngym export mice.csv --recipe ibl --to csv --out ours.csv
    ngym export mice.csv --recipe ibl --to nwb --species "Mus musculus" --age P90D --sex F
    """
    from neurogym_records.exchange import export

    known = {name: value for name, value in animal.items() if value}
    if known and kind != "nwb":
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in known)
        raise click.UsageError(
            f"{flags} was given with --to {kind}. Expected it with --to nwb alone. Leave it out."
        )
    target = out or Path("dataset" if kind == "bids" else f"trials.{kind}")
    if is_trials(what) and target.resolve() == Path(what).resolve():
        raise click.UsageError(
            f"The trials of {what!r} were to be written over it. Expected another file. Name one:"
            " --out OTHER."
        )
    if is_trials(what):
        record = read_given(Path(what), recipe, columns, scales)
        with usage_errors():
            written = export(record, target, kind, known)
    else:
        from neurogym_records.steps import record_steps

        made_task(what, (), ())  # its errors are those of the other commands
        with usage_errors():
            steps = record_steps(what, subject or "guess", n_trials, seed=seed)
            written = export(steps, target, kind, known)
    click.echo(f"The trials are in {', '.join(map(str, written))}.")
