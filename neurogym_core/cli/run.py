"""``ngym run``."""

from __future__ import annotations

from pathlib import Path

import click

from neurogym_core.terminal.complete import complete_task
from neurogym_core.terminal.settings import (
    PlayCommand,
    play_options,
    read_conditions,
    split_option,
    usage_errors,
)

_INTERRUPTED = 130  # exit code after Ctrl-C


@click.command(cls=PlayCommand)
@click.argument("task", metavar="TASK|FILE.toml", shell_complete=complete_task)
@click.option("--n-steps", metavar="N", type=click.IntRange(min=1),
              help="Number of steps.  [default: 200]")  # fmt: skip
@click.option("--n-trials", metavar="N", type=click.IntRange(min=1),
              help="Number of trials, instead of steps.")  # fmt: skip
@play_options(subject=None, seed=None)
@split_option
@click.option("--subjects", metavar="N", type=click.IntRange(min=1),
              help="Number of subjects, which share the trials.  [default: 1]")  # fmt: skip
@click.option("--pass-reward", is_flag=True, help="Add the last reward to the observations.")
@click.option("--pass-action", is_flag=True, help="Add the last action to the observations.")
@click.option("--csv", type=click.Path(dir_okay=False, path_type=Path),
              help="Write all trials to this CSV file.")  # fmt: skip
@click.option("--save", type=click.Path(dir_okay=False, path_type=Path),
              help="Write the experiment to this file (.toml), to repeat it.")  # fmt: skip
@click.option("--trust", is_flag=True,
              help="Allow an experiment file to run a task in a Python file.")  # fmt: skip
def command(
    task: str,
    n_steps: int | None,
    n_trials: int | None,
    subject: str | None,
    subjects: int | None,
    seed: int | None,
    split: str | None,
    parameters: tuple[str, ...],
    timing: tuple[str, ...],
    conditions: tuple[str, ...],
    wrap: tuple[str, ...],
    pass_reward: bool,
    pass_action: bool,
    csv: Path | None,
    save: Path | None,
    trust: bool,
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

    Ctrl-C stops it early: the trials so far are printed, and written to the --csv file; the exit
    code is 130.
    """
    if n_steps is not None and n_trials is not None:
        raise click.UsageError(
            "--n-steps and --n-trials were both given. Expected one of them. Leave one out."
        )
    from neurogym_core.cli import _playing  # imports NumPy and Gymnasium
    from neurogym_core.ecosystem.hooks import ask

    extra = [
        name
        for name, wanted in (("PassReward", pass_reward), ("PassAction", pass_action))
        if wanted
    ]
    with usage_errors():
        if task.endswith(".toml"):
            if any((parameters, timing, conditions, wrap, extra)):
                raise click.UsageError(
                    "An experiment file was given together with settings of a task. Expected the"
                    " file alone, perhaps with --subject, --subjects, --seed, --split, --n-trials"
                    " or --n-steps. Change the others in the file."
                )
            experiment = _playing.experiment_in(task, trust)
        else:
            experiment = _playing.experiment_of(
                task, parameters, timing, read_conditions(conditions), (*wrap, *extra)
            )
        experiment = _playing.completed(
            experiment, n_steps, n_trials, subject, seed, subjects, split
        )
        game = _playing.Game(experiment)
        if save is not None:
            if save.suffix != ".toml":
                raise click.UsageError(
                    f"--save was given {str(save)!r}. Expected a file name that ends in .toml."
                )
            ask("ngym_save_experiment", "ngym run --save", path=save, experiment=experiment)
    record, stopped = game.play()
    if csv is not None and record is not None:
        record.to_csv(csv)
    _playing.show(game, record, stopped, csv, save)
    if stopped:
        raise click.exceptions.Exit(_INTERRUPTED)
