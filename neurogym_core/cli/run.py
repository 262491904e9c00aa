"""``ngym run``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neurogym_core.terminal.complete import complete_task
from neurogym_core.terminal.progress import Progress
from neurogym_core.terminal.settings import (
    checked_subject,
    play_options,
    read_conditions,
    read_wrap,
    task_settings,
    usage_errors,
)

if TYPE_CHECKING:
    from neurogym_core.terminal.output import Page
    from neurogym_core.trials.record import TrialRecord

ROWS = 20  # trials in the table; --csv has all
_LEFT_OUT = ("trial", "env", "session", "performance", "steps")
_INTERRUPTED = 130  # the exit code of what was stopped with Ctrl-C
_MANY = 100  # from so many trials on, several envs play side by side


@click.command(short_help="Let a subject play a task, trial by trial.")
@click.argument("task", metavar="TASK|FILE.toml", shell_complete=complete_task)
@click.option("--n-steps", type=click.IntRange(min=1), help="How many steps.  [default: 200]")
@click.option("--n-trials", type=click.IntRange(min=1), help="How many trials, instead of steps.")
@play_options(subject=None, seed=None)
@click.option("--pass-reward", is_flag=True, help="Show the subject its last reward.")
@click.option("--pass-action", is_flag=True, help="Show the subject its last action.")
@click.option(
    "--csv",
    "csv",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write all trials to this file.",
)
@click.option("--save", "save", type=click.Path(dir_okay=False, path_type=Path),
              help="Write what was played to this experiment file (.toml).")  # fmt: skip
@click.option(
    "--trust", is_flag=True, help="Run the task in a file.py that an experiment file names."
)
def command(
    task: str,
    n_steps: int | None,
    n_trials: int | None,
    subject: str | None,
    seed: int | None,
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
    """Let a subject play a task; print its trials and a summary.

    \b
    ngym run GoNogo-v0 --subject oracle --n-trials 10
    ngym run PerceptualDecisionMaking-v0 --set coherences=0,51.2 --timing delay=500
    ngym run PerceptualDecisionMaking-v0 --wrap reaction_time:urgency=-0.01 --save experiment.toml
    ngym run experiment.toml --csv trials.csv
    ngym run my_task.py:MyTask --n-steps 1000

    Ctrl-C stops it early: trials so far are printed, and written to the file of --csv; the exit
    code is 130."""
    if n_steps is not None and n_trials is not None:
        raise click.UsageError(
            "--n-steps and --n-trials were both given. Expected one of them. Leave one out."
        )
    extra = [
        name
        for name, wanted in (("PassReward", pass_reward), ("PassAction", pass_action))
        if wanted
    ]
    with usage_errors():
        if task.endswith(".toml"):
            _check_alone((parameters, timing, conditions, wrap, extra))
            experiment = _loaded(task, trust)
        else:
            experiment = _experiment(
                task, parameters, timing, read_conditions(conditions), (*wrap, *extra)
            )
        experiment = _with_amount(experiment, n_steps, n_trials, subject, seed)
        game = _Game(experiment)
        if save is not None:
            _save(experiment, save)
    record, stopped = game.play()
    if csv is not None and record is not None:
        record.to_csv(csv)
    _show(game, record, stopped, csv, save)
    if stopped:
        raise click.exceptions.Exit(_INTERRUPTED)


def _check_alone(settings: tuple) -> None:
    if any(settings):
        raise click.UsageError(
            "An experiment file was given together with settings of a task. Expected the file"
            " alone, perhaps with --subject, --seed, --n-trials or --n-steps. Change the others in"
            " the file."
        )


def _loaded(path: str, trust: bool) -> Any:
    from neurogym_core.play.experiment import load

    try:
        return load(path, trust=trust)
    except OSError as error:
        raise click.ClickException(
            f"{path} cannot be read: {error.strerror}. Give an experiment's file, or a task."
        ) from error


def _experiment(
    task: str, parameters: Any, timing: Any, conditions: dict[str, Any], wrap: tuple[str, ...]
) -> Any:
    """What the options say, as an experiment."""
    from neurogym_core.play.experiment import Experiment
    from neurogym_core.play.make import resolve

    settings = task_settings(resolve(task), parameters, timing)
    return Experiment.of(
        task, wrap=[read_wrap(text) for text in wrap], imposed=conditions, **settings
    )


def _with_amount(
    experiment: Any,
    n_steps: int | None,
    n_trials: int | None,
    subject: str | None,
    seed: int | None,
) -> Any:
    """The experiment with what the command line says beside the file; with the usual where neither
    says anything.
    """
    changed: dict[str, Any] = {
        "subject": checked_subject(subject or experiment.subject or "random")
    }
    changed["seed"] = next(one for one in (seed, experiment.seed, 0) if one is not None)
    if n_steps or n_trials:
        changed |= {"steps": n_steps, "trials": n_trials}
    elif experiment.trials is None and experiment.steps is None:
        changed["steps"] = 200
    return replace(experiment, **changed)


def _save(experiment: Any, path: Path) -> None:
    if path.suffix != ".toml":
        raise click.UsageError(
            f"--save was given {str(path)!r}. Expected a name that ends in .toml."
        )
    experiment.save(path)


class _Game:
    """A subject at a task, for so many trials, or else so many steps."""

    def __init__(self, experiment: Any) -> None:
        from neurogym_core.subjects import subject_named

        self.subject_name, seed = experiment.subject, experiment.seed
        self.n_trials, self.n_steps, self.steps = experiment.trials, experiment.steps or 200, 0
        self.num_envs = 16 if (self.n_trials or 0) >= _MANY else 1
        self.env: Any = experiment.make_vec(self.num_envs, autoreset_mode="SameStep")
        imposed = experiment.imposed
        self.observations, _ = self.env.reset(
            seed=seed, options={"conditions": imposed} if imposed else None
        )
        self.subject: Any = subject_named(
            experiment.subject, seed=seed + 1
        )  # as `neurogym_core.run` does
        # Subjects ask the env what is shown and asked; Gymnasium's wrappers do not pass such
        # questions on.
        self.bare = self.env.unwrapped
        self.task = self.bare.task.name
        if hasattr(self.subject, "begin"):
            self.subject.begin(self.bare)

    def play(self) -> tuple[TrialRecord | None, bool]:
        """The trials that ended, None where none did; and whether Ctrl-C stopped it."""
        from neurogym_core.play.run import Played

        # Every env counts as many trials, so that short ones are not preferred.
        quota = None if self.n_trials is None else -(-self.n_trials // self.num_envs)
        self.played = Played(quota, self.n_trials)
        stopped = False
        with Progress("playing", self.n_trials or self.n_steps) as progress:
            try:
                while self.done < (self.n_trials or self.n_steps):
                    self._step()
                    progress.show(self.done)
            except KeyboardInterrupt:
                stopped = True
        return (self.played.record() if self.played.count else None), stopped

    @property
    def done(self) -> int:
        """Trials so far, or else steps."""
        return self.steps if self.n_trials is None else self.played.count

    def _step(self) -> None:
        self.observations, _, _, _, info = self.env.step(self.subject(self.bare, self.observations))
        self.steps += 1
        self.played.add(info)


# ---- what is printed ------------------------------------------------------------------------------------------------


def _show(
    game: _Game, record: TrialRecord | None, stopped: bool, csv: Path | None, save: Path | None
) -> None:
    from neurogym_core.terminal.output import Page

    page = Page()
    page.heading(f"{game.task}, played by: {game.subject_name}")
    if stopped:
        page.text(_said_of_stop(game, record))
    if record is None and not stopped:
        page.text(
            f"No trial ended within {game.n_steps} steps. Give more with --n-steps.", indent=2
        )
    elif record is not None:
        _add_trials(page, record)
        page.heading("summary")
        page.facts(_summary(record))
    if csv is not None and record is not None:
        page.text(f"All trials are in {csv}.", indent=2)
    if save is not None:
        page.text(f"What was played is in {save}.", indent=2)
    page.show()


def _said_of_stop(game: _Game, record: TrialRecord | None) -> str:
    ended = 0 if record is None else len(record)
    if game.n_trials is None:
        return (
            f"Stopped after {game.steps:,} of {game.n_steps:,} steps; {ended:,} trials had ended."
        )
    return f"Stopped after {ended:,} of {game.n_trials:,} trials."


def _add_trials(page: Page, record: TrialRecord) -> None:
    names = [
        name
        for name in record.columns
        if name not in _LEFT_OUT and not name.startswith("duration.")
    ]
    shown = [name for name in names if name != "aborts" or record["aborts"].any()]
    rows = [
        (str(number), *(_cell(row[name]) for name in shown))
        for number, row in zip(range(ROWS), record[:ROWS].rows())  # noqa: B905
    ]
    page.table(("trial", *(name.replace("_", " ") for name in shown)), rows)
    if len(record) > ROWS:
        page.text(f"… and {len(record) - ROWS:,} more", indent=2)


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return f"({', '.join(_cell(item) for item in value)})"
    if isinstance(value, float):
        return "–" if value != value else f"{value:.4g}"
    return str(value)


def _summary(record: TrialRecord) -> list[tuple[str, str]]:
    import numpy as np

    outcomes, counts = np.unique(record["outcome"], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    listed = [f"{outcomes[i]} {counts[i]} ({counts[i] / len(record):.0%})" for i in order]
    return [
        ("trials", f"{len(record):,}, of {record['steps'].sum():,} steps"),
        ("outcomes", ", ".join(listed)),
        ("accuracy", _accuracy(record)),
        ("performance", f"{record['performance'].mean():.3f}"),
        ("reward", f"{record['reward'].mean():.4g} per trial, {record['reward'].sum():.4g} in all"),
        ("reaction time", _reaction_time(record)),
    ]


def _accuracy(record: TrialRecord) -> str:
    from neurogym_core.trials.intervals import wilson_interval

    outcomes = record["outcome"].tolist()
    correct = outcomes.count("correct")
    answers = correct + outcomes.count("error")
    if not answers:
        return ""
    low, high = wilson_interval(correct, answers)
    return f"{correct / answers:.3f} of {answers} answers (95 % interval {low:.3f}–{high:.3f})"


def _reaction_time(record: TrialRecord) -> str:
    import numpy as np

    if "reaction_time" not in record:
        return ""
    times = record["reaction_time"]
    times = times[~np.isnan(times)]
    return f"median {np.median(times):.4g} ms" if len(times) else ""
