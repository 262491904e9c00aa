"""``ngym run``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ._complete import complete_task
from ._progress import Progress
from ._settings import made_task, play_options, read_conditions, usage_errors

if TYPE_CHECKING:
    from ..trials.record import TrialRecord
    from ._output import Page

ROWS = 20  # trials in the table; --csv has all
_LEFT_OUT = ("trial", "env", "session", "performance", "steps")
_MANY = 100  # from so many trials on, several envs play side by side


@click.command(short_help="Let a subject play a task, trial by trial.")
@click.argument("task", metavar="TASK", shell_complete=complete_task)
@click.option("--n-steps", type=click.IntRange(min=1), help="How many steps.  [default: 200]")
@click.option("--n-trials", type=click.IntRange(min=1), help="How many trials, instead of steps.")
@play_options(subject="random")
@click.option("--pass-reward", is_flag=True, help="Show the subject its last reward.")
@click.option("--pass-action", is_flag=True, help="Show the subject its last action.")
@click.option("--csv", "csv", type=click.Path(dir_okay=False, path_type=Path), help="Write all trials to this file.")
def command(
    task: str,
    n_steps: int | None,
    n_trials: int | None,
    subject: str,
    seed: int,
    parameters: tuple[str, ...],
    timing: tuple[str, ...],
    conditions: tuple[str, ...],
    pass_reward: bool,
    pass_action: bool,
    csv: Path | None,
) -> None:
    """Let a subject play a task; print its trials and a summary.

    \b
    ngym run GoNogo-v0 --subject oracle --n-trials 10
    ngym run PerceptualDecisionMaking-v0 --set coherences=0,51.2 --timing delay=500
    ngym run my_task.py:MyTask --n-steps 1000 --csv trials.csv
    """
    if n_steps is not None and n_trials is not None:
        raise click.UsageError("--n-steps and --n-trials were both given. Expected one of them. Leave one out.")
    made = made_task(task, parameters, timing)
    imposed = read_conditions(conditions)
    wrap = [name for name, wanted in (("PassReward", pass_reward), ("PassAction", pass_action)) if wanted]
    with usage_errors():
        game = _Game(made, subject, n_trials, n_steps or 200, seed, imposed, wrap)
    record = game.play()
    if csv is not None and record is not None:
        _write(record, csv)
    _show(made.name, subject, game, record, csv)


class _Game:
    """A subject at a task, for so many trials, or else so many steps."""

    def __init__(
        self, task: Any, subject: str, n_trials: int | None, n_steps: int, seed: int, conditions: Any, wrap: list[str]
    ) -> None:
        from ..play.make import make_vec
        from ..testing.subjects import subject_named

        self.n_trials, self.n_steps, self.steps = n_trials, n_steps, 0
        self.num_envs = 16 if (n_trials or 0) >= _MANY else 1
        self.env: Any = make_vec(task, self.num_envs, wrap=wrap, autoreset_mode="SameStep", seed=seed)
        self.observations, _ = self.env.reset(seed=seed, options={"conditions": conditions} if conditions else None)
        self.subject: Any = subject_named(subject, seed=seed + 1)  # as `neurogym_core.run` does
        # Subjects ask the env what is shown and asked; Gymnasium's wrappers do not pass such questions on.
        self.bare = self.env.unwrapped
        if hasattr(self.subject, "begin"):
            self.subject.begin(self.bare)

    def play(self) -> TrialRecord | None:
        """The trials that ended, or None where none did."""
        from ..trials.record import TrialRecord

        # Every env counts as many trials, so that short ones are not preferred.
        quota = None if self.n_trials is None else -(-self.n_trials // self.num_envs)
        parts: list[Any] = []
        with Progress("playing", self.n_trials or self.n_steps) as progress:
            done = 0
            while done < (self.n_trials or self.n_steps):
                finished = self._step()
                if finished is not None:
                    parts.append(finished)
                if quota is None:
                    done = self.steps
                elif finished is not None:
                    done += int((finished.number < quota).sum())
                progress.show(done)
        if not parts:
            return None
        record = TrialRecord.concatenate([part.record() for part in parts])
        return record if quota is None else record[record["trial"] < quota][: self.n_trials]

    def _step(self) -> Any:
        self.observations, _, _, _, info = self.env.step(self.subject(self.bare, self.observations))
        self.steps += 1
        return info["trial"].finished if "trial" in info else None


def _write(record: TrialRecord, path: Path) -> None:
    try:
        record.to_csv(path)
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror}. Choose another file.") from error


# ---- what is printed ------------------------------------------------------------------------------------------------


def _show(task: str, subject: str, game: _Game, record: TrialRecord | None, csv: Path | None) -> None:
    from ._output import Page

    page = Page()
    page.heading(f"{task}, played by: {subject}")
    if record is None:
        page.text(f"No trial ended within {game.n_steps} steps. Give more with --n-steps.", indent=2)
    else:
        _add_trials(page, record)
        page.heading("summary")
        page.facts(_summary(record))
    if csv is not None and record is not None:
        page.text(f"All trials are in {csv}.", indent=2)
    page.show()


def _add_trials(page: Page, record: TrialRecord) -> None:
    names = [name for name in record.columns if name not in _LEFT_OUT and not name.startswith("duration.")]
    shown = [name for name in names if name != "aborts" or record["aborts"].any()]
    rows = [(str(number), *(_cell(row[name]) for name in shown)) for number, row in zip(range(ROWS), record.rows())]  # noqa: B905
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
    from ..study.proportions import accuracy

    (row,) = accuracy(record, None)
    return f"{row.fraction:.3f} of {row.n} answers (95 % interval {row.low:.3f}–{row.high:.3f})" if row.n else ""


def _reaction_time(record: TrialRecord) -> str:
    import numpy as np

    if "reaction_time" not in record:
        return ""
    times = record["reaction_time"]
    times = times[~np.isnan(times)]
    return f"median {np.median(times):.4g} ms" if len(times) else ""
