"""``ngym play``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from neurogym_core.tools import (
    clean,
    complete,
    optional,
    read_conditions,
    read_wrap,
    task_options,
    task_settings,
    usage_errors,
)

RECORDS = (".csv", ".parquet", ".pqt")
"""Suffixes of `playing.write_trials`, which imports NumPy."""


def _checked(context: click.Context, option: Any, path: Path | None) -> Path | None:
    """Return the file of the record if it can be written, before a person plays for it."""
    if path is None:
        return None
    if path.suffix.lower() not in RECORDS:
        raise click.UsageError(
            f"--out was given {str(path)!r}. Expected a file name that ends in"
            f" {', '.join(RECORDS)}. Name one; `ngym export TASK --to web` writes a page into a"
            " folder."
        )
    if not path.parent.is_dir():
        raise click.UsageError(
            f"--out was given {str(path)!r}. Expected a folder that exists. Make the folder"
            f" {str(path.parent)!r}."
        )
    if path.suffix.lower() != ".csv":
        for module in ("pandas", "pyarrow"):
            optional(module, needed_for="Writing Parquet")
    return path


@click.command(short_help="Play a task yourself, in a browser.")
@click.argument("task", metavar="TASK", shell_complete=partial(complete, ("tasks",)))
@click.option("-n", "--n-trials", default=60, show_default=True, metavar="N",
              type=click.IntRange(1, 10_000), help="Number of trials.")  # fmt: skip
@click.option("--seed", default=0, show_default=True, metavar="N", type=click.IntRange(min=0),
              help="Seed of the trials and their noise.")  # fmt: skip
@task_options
@click.option("--practice", default=0, show_default=True, metavar="N",
              type=click.IntRange(0, 10_000),
              help="Number of practice trials before, with feedback, not recorded.")  # fmt: skip
@click.option("--feedback", is_flag=True,
              help="Say after each trial whether it was correct.")  # fmt: skip
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), callback=_checked,
              help="The record, .csv or .parquet; an existing file is replaced.  [default:"
              " NAME-person.csv, or the next free name]")  # fmt: skip
@click.option("--browser/--no-browser", default=True,
              help="Open the page in the browser, or print its address only.")  # fmt: skip
def command(
    task: str,
    n_trials: int,
    seed: int,
    parameters: tuple[str, ...],
    timing: tuple[str, ...],
    conditions: tuple[str, ...],
    wrap: tuple[str, ...],
    practice: int,
    feedback: bool,
    out: Path | None,
    browser: bool,
) -> None:
    """Play a task yourself, in a browser.

    \b
      ngym play PerceptualDecisionMaking-v0
      ngym play PerceptualDecisionMaking-v0 --wrap ReactionTime --set dt=20
      ngym play GoNogo-v0 --timing decision=1500 --n-trials 100 --out me.csv
      ngym play GoNogo-v0 --practice 10 --feedback

    The page shows the stimuli that the task declares, or else the inputs of a network as lamps, and
    has keys, buttons or sliders for the actions. At the end it shows accuracy, the psychometric
    curve and reaction times, beside those of the ideal, of networks and of animals if they are
    known. The trials are written to a CSV or Parquet file with the columns of `ngym run --csv`; the
    subject is "person". `ngym evaluate` and `ngym compare` read it.

    The reward is shown after each trial; --feedback adds whether the trial was correct. Practice
    trials occur in no record: they are of the stream "train".

    A server on this machine (127.0.0.1) serves the page, under an address with a secret token,
    until you have played, or press Ctrl-C.

    `ngym export TASK --to web` writes the page as files, for any web server, and --to jspsych an
    experiment for participants.
    """
    from neurogym_core import NotSupportedError, make_task  # these import NumPy
    from neurogym_core.players import resolve
    from neurogym_play import page, playing, stepwise
    from neurogym_play.beside import beside_of

    with usage_errors():
        found = resolve(task)
        settings = task_settings(found, parameters, timing)
        made = make_task(found, wrap=[read_wrap(one) for one in wrap], **settings)
        imposed = read_conditions(conditions)
        playing.check_writable(out or playing.default_name(made.name))
        given = (made, n_trials, practice)
        try:
            blocks = page.played_blocks(*given, seed=seed, conditions=imposed)
        except NotSupportedError:  # its trials are no tables
            blocks = stepwise.stepwise_blocks(*given, seed=seed, conditions=imposed)
    if out is not None and out.exists():
        click.echo(clean(f"{out} exists. Your record will replace it."), err=True)
    changed = bool(settings or wrap or imposed)
    shown = {"feedback": feedback, "browser": browser, "conditions": imposed}
    others = beside_of(task, changed=changed)
    playing.play(made, task, blocks, out, beside=others, **shown)
