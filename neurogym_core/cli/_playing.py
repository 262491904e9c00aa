"""The work of `ngym run`: an experiment from the options, the game, and the printed page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from neurogym_core.ecosystem.hooks import ask
from neurogym_core.play import run
from neurogym_core.play.make import resolve
from neurogym_core.terminal.output import Page
from neurogym_core.terminal.progress import Progress
from neurogym_core.terminal.settings import (
    checked_subject,
    read_split,
    read_wrap,
    task_settings,
)
from neurogym_core.trials.record import DURATION, TrialRecord, is_clock_time

ROWS = 20  # trials in the printed table; --csv writes all
ITEMS = 12  # values of a condition in the printed table
DEFAULT_STEPS = 200
_LEFT_OUT = ("subject", "trial", "env", "session", "performance", "steps")
"""Columns of the record that the table of the terminal leaves out, as well as moments and durations
of periods."""


def experiment_in(path: str, trust: bool) -> dict[str, Any]:
    """Return the experiment in a file, as described in `StudyHooks`.

    Raises:
        click.ClickException: the file cannot be read.
    """
    try:
        return dict(ask("ngym_read_experiment", "ngym run FILE.toml", path=path, trust=trust))
    except OSError as error:
        raise click.ClickException(
            f"{path} cannot be read: {error.strerror}. Expected an experiment file (.toml) or a"
            " task. Check the path."
        ) from error


def experiment_of(
    task: str,
    parameters: Sequence[str],
    timing: Sequence[str],
    conditions: dict[str, Any],
    wrap: Sequence[str],
) -> dict[str, Any]:
    """Return the experiment of the options of the command line."""
    settings = task_settings(resolve(task), parameters, timing)
    wrappers = [read_wrap(text) for text in wrap]
    return {"task": task, "settings": settings, "wrap": wrappers, "imposed": conditions}


def completed(
    experiment: dict[str, Any],
    n_steps: int | None,
    n_trials: int | None,
    subject: str | None,
    seed: int | None,
    subjects: int | None,
    split: str | None,
) -> dict[str, Any]:
    """Return the experiment with the command line's values, or defaults where it has none."""
    changed: dict[str, Any] = {
        "subject": checked_subject(subject or experiment.get("subject") or "random"),
        "seed": next(one for one in (seed, experiment.get("seed"), 0) if one is not None),
        "subjects": subjects or experiment.get("subjects"),
        "split": split or experiment.get("split"),
    }
    if n_steps or n_trials:
        changed |= {"steps": n_steps, "trials": n_trials}
    elif experiment.get("trials") is None and experiment.get("steps") is None:
        changed["steps"] = DEFAULT_STEPS
    return {"steps": None, "trials": None, **experiment, **changed}


class Game:
    """A subject, or several, at play for a number of trials or, if None, a number of steps."""

    def __init__(self, experiment: Mapping[str, Any]) -> None:
        self.subject_name = str(experiment["subject"])
        self.n_trials, self.n_steps = experiment["trials"], experiment["steps"] or DEFAULT_STEPS
        self.game = run.Game(
            experiment["task"],
            experiment["subject"],
            self.n_trials,
            num_envs=experiment["subjects"],
            seed=experiment["seed"],
            split=read_split(experiment["split"]),
            conditions=experiment["imposed"] or None,
            wrap=experiment["wrap"],
            params=experiment["settings"],
        )
        self.task = self.game.task.name

    def play(self) -> tuple[TrialRecord | None, bool]:
        """Play; return the ended trials (None if no trial ended) and whether Ctrl-C stopped it."""
        stopped = False
        with Progress("playing", self.n_trials or self.n_steps) as progress:
            try:
                while self.done < (self.n_trials or self.n_steps):
                    self.game.step()
                    progress.show(self.done)
            except KeyboardInterrupt:
                stopped = True
        played = self.game.played
        return (played.record() if played.count else None), stopped

    @property
    def done(self) -> int:
        """Number of trials played, or of steps if no number of trials was given."""
        return self.game.steps if self.n_trials is None else self.game.played.count


# -- printed page ----------------------------------------------------------------------------------


def show(
    game: Game, record: TrialRecord | None, stopped: bool, csv: Path | None, save: Path | None
) -> None:
    """Print the trials, a summary, and the names of the written files."""
    page = Page()
    page.heading(f"{game.task}, played by: {game.subject_name}")
    if stopped:
        ended = 0 if record is None else len(record)
        if game.n_trials is None:
            steps = f"{game.game.steps:,} of {game.n_steps:,} steps"
            page.text(f"Stopped after {steps}; {ended:,} trials had ended.")
        else:
            page.text(f"Stopped after {ended:,} of {game.n_trials:,} trials.")
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
        page.text(f"The experiment is in {save}.", indent=2)
    page.show()


def _add_trials(page: Page, record: TrialRecord) -> None:
    names = [
        name
        for name in record.columns
        if name not in _LEFT_OUT and not name.startswith(DURATION) and not is_clock_time(name)
    ]
    shown = [name for name in names if name != "aborts" or record["aborts"].any()]
    first = ("subject", "trial") if record["subject"].any() else ("trial",)
    columns = (*first, *shown)
    rows = [
        tuple(_cell(row[name]) for name in columns) for row in record[:ROWS].with_names().rows()
    ]
    page.table(tuple(name.replace("_", " ") for name in columns), rows)
    if len(record) > ROWS:
        page.text(f"… and {len(record) - ROWS:,} more", indent=2)


def _cell(value: Any) -> str:
    if isinstance(value, list):
        more = ["…"] if len(value) > ITEMS else []
        return f"({', '.join([_cell(item) for item in value[:ITEMS]] + more)})"
    if isinstance(value, float):
        return "–" if value != value else f"{round(value, 12) + 0.0:.4g}"  # -1 and ten times 0.1: 0
    return str(value)


def _summary(record: TrialRecord) -> list[tuple[str, str]]:
    outcomes, counts = np.unique(record["outcome"], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    listed = [f"{outcomes[i]} {counts[i]} ({counts[i] / len(record):.0%})" for i in order]
    several = len(np.unique(record["subject"]))
    number = dict(zip(outcomes.tolist(), counts.tolist(), strict=True))
    correct, accuracy = number.get("correct", 0), ""
    if answers := correct + number.get("error", 0):
        accuracy = f"{correct / answers:.3f} of {answers} answers"
    times = record["reaction_time"] if "reaction_time" in record else np.zeros(0)
    times = times[~np.isnan(times)]
    return [
        ("subjects", f"{several:,}" if several > 1 else ""),
        ("trials", f"{len(record):,}, of {record['steps'].sum():,} steps"),
        ("outcomes", ", ".join(listed)),
        ("accuracy", accuracy),
        ("performance", f"{record['performance'].mean():.3f}"),
        ("reward", f"{record['reward'].mean():.4g} per trial, {record['reward'].sum():.4g} in all"),
        ("reaction time", f"median {np.median(times):.4g} ms" if len(times) else ""),
    ]
