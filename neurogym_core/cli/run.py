"""``ngym run``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from neurogym_core.terminal import complete
from neurogym_core.terminal.settings import (
    PlayCommand,
    csv_option,
    split_option,
    usage_errors,
)

_INTERRUPTED = 130  # exit code after Ctrl-C


@click.command(cls=PlayCommand)
@click.argument("task", metavar="TASK|FILE.toml", shell_complete=partial(complete, ("tasks",)))
@click.option("--n-steps", metavar="N", type=click.IntRange(min=1),
              help="Number of steps.  [default: 200]")  # fmt: skip
@click.option("-n", "--n-trials", metavar="N", type=click.IntRange(min=1),
              help="Number of trials, instead of steps.")  # fmt: skip
@PlayCommand.options(subject=None, seed=None)
@split_option
@click.option("--subjects", metavar="N", type=click.IntRange(min=1),
              help="Number of subjects, which share the trials.  [default: 1]")  # fmt: skip
@click.option("--pass-reward", is_flag=True, help="Add the last reward to the observations.")
@click.option("--pass-action", is_flag=True, help="Add the last action to the observations.")
@csv_option
@click.option("--save", type=click.Path(dir_okay=False, path_type=Path),
              help="Write the experiment to this file (.toml), to repeat it.")  # fmt: skip
@click.option(
    "--columns",
    metavar="NAME,...",
    help="Columns of the trials that are printed.  [default: stimulus, answer, outcome]",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for programs.")
def command(
    task: str,
    conditions: tuple[str, ...],
    wrap: tuple[str, ...],
    pass_reward: bool,
    pass_action: bool,
    csv: Path | None,
    save: Path | None,
    columns: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Run trials of a task with a simulated subject.

    \b
      ngym run GoNogo-v0 --subject oracle --n-trials 10
      ngym run PerceptualDecisionMaking-v0 --set coherences=0,51.2 --timing delay=500
      ngym run PerceptualDecisionMaking-v0 --wrap reaction_time:urgency=-0.01
      ngym run PerceptualDecisionMaking-v0 --subject late_oracle:wait=200
      ngym run Bandit-v0 --n-trials 1600 --subjects 16
      ngym run GoNogo-v0 --n-trials 500 --csv trials.csv --save experiment.toml
      ngym run experiment.toml
      ngym run my_task.py:MyTask

    Prints the first 20 trials, with stimulus, answer, outcome and reward, and a summary. A step is
    a time step of the task (often 100 ms). One subject plays all trials, unless you give
    --subjects: then rows are grouped by subject, and trials are counted for each. --set, --timing,
    --condition and --wrap can be repeated.

    Accuracy is the fraction correct of the answers. Resting where it is right (go/no-go) is no
    answer: such tasks have a hit rate and a false alarm rate and, with neurogym-behaviour, d' and
    the criterion with 95 % intervals. If a trial has several answers, each has its accuracy, also
    given that an earlier one was correct; if one can be given again, so have the first ones.

    --json prints an object with the keys schema (1), command, task (the full id), parameters (those
    that differ from the defaults), wrappers, versions (of the packages), subject, seed, split,
    stopped (by Ctrl-C), summary, names (of choices and conditions, by column), trials (a list of
    all trials, each an object with the columns of the record), csv and experiment (the written
    files). Missing numbers are null, and so are summary, parameters, wrappers and versions if no
    trial ended.

    Ctrl-C stops it early: the trials so far are printed, and written to the --csv file; the exit
    code is 130.
    """
    if given["n_steps"] is not None and given["n_trials"] is not None:
        raise click.UsageError(
            "--n-steps and --n-trials were both given. Expected one of them. Leave one out."
        )
    from neurogym_core.cli import _playing  # imports NumPy and Gymnasium

    wrap += ("PassReward",) * pass_reward + ("PassAction",) * pass_action
    with usage_errors():
        experiment = _playing.experiment_of(task, conditions, wrap, given)
        game = _playing.ReportedGame(experiment)
        if save is not None:
            if save.suffix != ".toml":
                raise click.UsageError(
                    f"--save was given {str(save)!r}. Expected a file name that ends in .toml."
                )
            _playing.asked("ngym run --save", "ngym_save_experiment", path=save,
                           experiment=experiment)  # fmt: skip
    game.play()
    if csv is not None and game.ended is not None:
        game.ended.to_csv(csv)
    shown = None
    if game.ended is not None and (columns is not None or not as_json):
        with usage_errors():
            shown = _playing.chosen_columns(game.ended, columns)
    if as_json:
        _playing.show_json(game, csv, save, shown)
    else:
        _playing.show(game, csv, save, shown or ())
    if game.stopped:
        raise click.exceptions.Exit(_INTERRUPTED)
