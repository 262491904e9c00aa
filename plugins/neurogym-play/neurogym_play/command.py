"""``ngym play``."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from neurogym_core.tools import (
    clean,
    complete,
    read_conditions,
    read_wrap,
    task_settings,
    usage_errors,
)

QUICK = 700  # ms; as in page.js


@click.command(short_help="Play a task yourself, in a browser.")
@click.argument("task", metavar="TASK", shell_complete=partial(complete, ("tasks",)))
@click.option("-n", "--n-trials", default=60, show_default=True, metavar="N",
              type=click.IntRange(1, 10_000), help="Number of trials.")  # fmt: skip
@click.option("--seed", default=0, show_default=True, metavar="N", type=click.IntRange(min=0),
              help="Seed of the trials and their noise.")  # fmt: skip
@click.option("--set", "parameters", multiple=True, metavar="NAME=VALUE",
              help="Set a parameter of the task, e.g. coherences=0,51.2.")  # fmt: skip
@click.option("--timing", multiple=True, metavar="PERIOD=MS",
              help="Set the duration of a period, e.g. decision=2000.")  # fmt: skip
@click.option("--condition", "conditions", multiple=True, metavar="NAME=VALUE",
              help="Impose a condition on all trials, e.g. coherence=51.2.")  # fmt: skip
@click.option("--wrap", multiple=True, metavar="NAME[:KEY=VALUE,...]",
              shell_complete=partial(complete, ("wrappers",)),
              help="Apply a task wrapper, e.g. ReactionTime; innermost first.")  # fmt: skip
@click.option("--practice", default=0, show_default=True, metavar="N",
              type=click.IntRange(0, 10_000),
              help="Number of practice trials before, with feedback, not recorded.")  # fmt: skip
@click.option("--feedback", is_flag=True,
              help="Say after each trial whether it was correct.")  # fmt: skip
@click.option("--csv", type=click.Path(dir_okay=False, path_type=Path),
              help="Write the trials to this CSV file.  [default: NAME-person.csv]")  # fmt: skip
@click.option("--out", type=click.Path(file_okay=False, path_type=Path),
              help="Write the page into this folder, for any web server.")  # fmt: skip
@click.option("--to", default="web", show_default=True, type=click.Choice(("web", "jspsych")),
              help="With --out: a page to play, or an experiment in jsPsych.")  # fmt: skip
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
    csv: Path | None,
    out: Path | None,
    to: str,
    browser: bool,
) -> None:
    """Play a task yourself, in a browser.

    \b
      ngym play PerceptualDecisionMaking-v0
      ngym play PerceptualDecisionMaking-v0 --wrap ReactionTime --set dt=20
      ngym play GoNogo-v0 --timing decision=1500 --n-trials 100 --csv me.csv
      ngym play GoNogo-v0 --practice 10 --feedback
      ngym play GoNogo-v0 --out page
      ngym play GoNogo-v0 --out study --to jspsych --practice 10

    The page shows the stimuli that the task declares, or else the inputs of a network as lamps, and
    has keys, buttons or sliders for the actions. At the end it shows accuracy and the psychometric
    curve. The trials are written to a CSV file with the columns of `ngym run --csv`; the subject is
    "person". `ngym evaluate` and `ngym compare` read it.

    The reward is shown after each trial; --feedback adds whether the trial was correct. Practice
    trials occur in no record: they are of the stream "train".

    A server on this machine (127.0.0.1) serves the page, under an address with a secret token,
    until you have played, or press Ctrl-C.

    --out writes the page as files instead. Any web server can serve them, and the record is
    downloaded from the page. Tasks with hooks, and those that draw a trial after the outcome of the
    one before, need Python while they are played, and have no such page.

    --to jspsych writes an experiment for participants: consent, a check of the screen, keys,
    practice, trials and attention checks, with the times of frames and keys in the data. It needs
    `npm install` in the folder. `ngym evaluate` reads its data with --recipe neurogym-jspsych.
    """
    if to != "web" and out is None:
        raise click.UsageError(
            f"--to {to} was given without --out. Expected a folder for the files of the experiment."
            " Add --out FOLDER."
        )
    if out is not None and csv is not None:
        raise click.UsageError(
            "--out and --csv were both given. Expected one of them: a page in a folder has a button"
            " to download its record. Leave one out."
        )
    from neurogym_core import NotSupportedError, make_task  # these import NumPy
    from neurogym_core.players import resolve
    from neurogym_play import page, playing, stepwise

    with usage_errors():
        found = resolve(task)
        settings = task_settings(found, parameters, timing)
        made = make_task(found, wrap=[read_wrap(one) for one in wrap], **settings)
        imposed = read_conditions(conditions)
        given = (made, n_trials, practice)
        try:
            blocks = page.played_blocks(*given, seed=seed, conditions=imposed)
        except NotSupportedError:  # its trials are no tables
            if out is not None:
                raise
            blocks = stepwise.stepwise_blocks(*given, seed=seed, conditions=imposed)
    if to == "jspsych" and out is not None:
        page.write_experiment_files(made, task, blocks, out, feedback=feedback)
        click.echo(
            f"The experiment is in {clean(str(out))}. Run `npm install` in it once, and serve the"
            " folder with any web server."
        )
        least = blocks["trials"]["shortest_window"]
        if least is not None and least < QUICK:
            click.echo(
                f"Note: the shortest time for an answer is {least:g} ms, which is short for a"
                " person. --timing PERIOD=MS makes a period longer.",
                err=True,
            )
    elif out is not None:
        page.write_files(page.page_files(made, task, blocks, feedback=feedback), out)
        click.echo(f"The page is in {clean(str(out))}. Serve the folder with any web server.")
    else:
        target = csv or playing.free_name(made.name)
        playing.play(
            made, task, blocks, target, feedback=feedback, browser=browser, conditions=imposed
        )
