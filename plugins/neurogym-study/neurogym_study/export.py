"""``ngym export``."""

from __future__ import annotations

from pathlib import Path

import click

from neurogym_core.tools import SubjectName, trust_option, usage_errors
from neurogym_study.options import SUBJECT_HELP, is_trials, made_task, read_given, recipe_options

FORMATS = ("nwb", "bids", "csv", "parquet")


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
) -> None:
    """Write trials in a format that laboratories share.

    RECORD is a file of trials; NWB and BIDS get a file for each of its subjects. A TASK is played
    by a subject; BIDS and NWB then have every visit of a period, and NWB every step as time series.
    (`ngym play TASK --out FOLDER` writes a page on which a person plays a TASK.)

    \b
    ngym export trials.csv --to bids --out dataset
    ngym export RoitmanShadlen-v0 --subject diffusion --to nwb --out session.nwb
    ngym export mice.csv --recipe ibl --to csv --out ours.csv
    """
    from neurogym_study.exchange import export

    target = out or Path("dataset" if kind == "bids" else f"trials.{kind}")
    if is_trials(what):
        record = read_given(Path(what), recipe, columns, scales)
        with usage_errors():
            written = export(record, target, kind)
    else:
        from neurogym_study.steps import record_steps

        made_task(what, (), ())  # its errors are those of the other commands
        with usage_errors():
            steps = record_steps(what, subject or "guess", n_trials, seed=seed)
            written = export(steps, target, kind)
    click.echo(f"The trials are in {', '.join(map(str, written))}.")
