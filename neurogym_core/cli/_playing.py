"""The work of `ngym run`: an experiment from the options, the game, the printed page, the JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np

from neurogym_core.ecosystem.hooks import answer_of, ask
from neurogym_core.ecosystem.settings_text import read_wrap
from neurogym_core.play import run
from neurogym_core.play.make import resolve
from neurogym_core.terminal.output import Page, print_report
from neurogym_core.terminal.progress import Progress
from neurogym_core.terminal.settings import (
    checked_subject,
    read_split,
    task_settings,
)
from neurogym_core.trials.answers import Detection, answered, detection, given_correct, of_slot
from neurogym_core.trials.record import DURATION, TrialRecord, is_clock_time, main_columns
from neurogym_core.trials.record_text import cell, number
from neurogym_core.trials.slot_columns import CHOICES, SLOTS

ROWS = 20  # trials in the printed table; --csv and --json write all
DEFAULT_STEPS = 200
SCHEMA = 1
"""Version of the JSON."""


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
        self.subject_name, self.seed = str(experiment["subject"]), experiment["seed"]
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
    game: Game,
    record: TrialRecord | None,
    stopped: bool,
    csv: Path | None,
    save: Path | None,
    columns: Sequence[str],
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
        _add_trials(page, record, columns)
        page.heading("summary")
        page.facts(_said(summary(record)))
    if csv is not None and record is not None:
        page.text(f"All trials are in {csv}.", indent=2)
    if save is not None:
        page.text(f"The experiment is in {save}.", indent=2)
    page.show()


def chosen_columns(record: TrialRecord, named: str | None) -> tuple[str, ...]:
    """Return the columns to print: those of --columns, or else the main ones.

    Raises:
        UnknownNameError: the record lacks a column of --columns.
    """
    if named is not None:
        names = tuple(part.strip() for part in named.split(",") if part.strip())
        for name in names:
            record[name]  # raises the error of an unknown name
        return names
    first = ("subject",) if record["subject"].any() else ()
    aborts = ("aborts",) if record["aborts"].any() else ()
    return (*first, *main_columns(record), *aborts)


def _add_trials(page: Page, record: TrialRecord, columns: Sequence[str]) -> None:
    rows = [tuple(cell(row[name]) for name in columns) for row in record[:ROWS].with_names().rows()]
    page.table([_head(name) for name in columns], rows)
    if len(record) > ROWS:
        page.text(f"… and {len(record) - ROWS:,} more", indent=2)


def _head(name: str) -> str:
    """Return the head of a column, with the unit of times."""
    last = name.rpartition(".")[2]
    ms = last == "reaction_time" or name.startswith(DURATION) or is_clock_time(name)
    return name.replace("_", " ") + " (ms)" * ms


def summary(record: TrialRecord) -> dict[str, Any]:
    """Return the numbers of the summary.

    Returns:
        subjects, trials, steps, outcomes (name -> trials), performance (mean), reward (mean, sum),
        and answers, for each slot: slot (None: the only one), correct, answered, accuracy, given
        (the same for the trials in which an earlier slot was correct), detection (see `Detection`;
        None where resting is never right, or always) with its rates and the numbers of
        `ngym_sensitivity`, reaction_time (ms, median).
    """
    outcomes, counts = np.unique(record["outcome"], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    slots = record.meta.get(SLOTS, ())
    names: tuple[str | None, ...] = tuple(slots) if len(slots) > 1 else (None,)
    return {
        "subjects": len(np.unique(record["subject"])),
        "trials": len(record),
        "steps": int(record["steps"].sum()),
        "outcomes": {str(outcomes[k]): int(counts[k]) for k in order},
        "performance": float(record["performance"].mean()),
        "reward": {"mean": float(record["reward"].mean()), "sum": float(record["reward"].sum())},
        "answers": [
            _answers(record, slot, names[:k]) for k, slot in enumerate(names)
        ] if of_slot("choice", names[0]) in record else [],
    }  # fmt: skip


def _answers(record: TrialRecord, slot: str | None, earlier: Sequence[Any]) -> dict[str, Any]:
    given = answered(record, slot)
    right = given & (record[of_slot("outcome", slot)] == "correct")
    times = record[of_slot("reaction_time", slot)]
    times = times[~np.isnan(times)]
    return {
        "slot": slot,
        **_fraction(int(right.sum()), int(given.sum())),
        "given": [
            {"slot": other, **_fraction(*given_correct(record, str(slot), other))}
            for other in earlier
        ],
        "detection": _detected(detection(record, slot)),
        "reaction_time": float(np.median(times)) if len(times) else None,
    }


def _fraction(correct: int, answers: int) -> dict[str, Any]:
    share = correct / answers if answers else None
    return {"correct": correct, "answered": answers, "accuracy": share}


def _detected(found: Detection | None) -> dict[str, Any] | None:
    """Return counts and rates; with intervals, d' and criterion where neurogym-study is."""
    if found is None:
        return None
    counts = asdict(found)
    more = answer_of("ngym_sensitivity", **counts) or {
        "hit rate": (found.hits / found.signals,),
        "false alarm rate": (found.false_alarms / found.noises,),
    }
    return {
        **counts,
        **{
            name: dict(zip(("value", "low", "high"), values, strict=False))
            for name, values in more.items()
        },
    }


def _said(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the summary as labels and texts."""
    several, n, reward = found["subjects"], found["trials"], found["reward"]
    counts = [f"{name} {count} ({count / n:.0%})" for name, count in found["outcomes"].items()]
    lines = [
        ("subjects", f"{several:,}" if several > 1 else ""),
        ("trials", f"{n:,}, of {found['steps']:,} steps"),
        ("outcomes", ", ".join(counts)),
    ]
    for one in found["answers"]:
        of = "" if one["slot"] is None else f", {one['slot']}"
        lines.append((f"accuracy{of}", _share(one)))
        for other in one["given"]:
            lines.append((f"accuracy{of}, given {other['slot']} correct", _share(other)))
        lines += [(f"{name}{of}", text) for name, text in _rates(one["detection"])]
    lines += [
        ("performance", f"{found['performance']:.3f}"),
        ("reward", f"{number(reward['mean'])} per trial, {number(reward['sum'])} in all"),
    ]
    for one in found["answers"]:
        of = "" if one["slot"] is None else f", {one['slot']}"
        time = one["reaction_time"]
        lines.append((f"reaction time{of}", "" if time is None else f"median {number(time)} ms"))
    return lines


def _share(one: Mapping[str, Any]) -> str:
    if not one["answered"]:
        return ""
    return f"{one['accuracy']:.3f} of {one['answered']} answers"


def _rates(found: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    if found is None:
        return []
    of = {
        "hit rate": f", {found['hits']} of {found['signals']} trials to answer",
        "false alarm rate": f", {found['false_alarms']} of {found['noises']} trials to rest",
    }
    return [
        (name, f"{one['value']:.3f}{_interval(one)}{of.get(name, '')}")
        for name, one in found.items()
        if isinstance(one, Mapping)
    ]


def _interval(one: Mapping[str, float]) -> str:
    return f" ({one['low']:.3f} to {one['high']:.3f})" if "low" in one else ""


# -- JSON ------------------------------------------------------------------------------------------


def show_json(
    game: Game,
    record: TrialRecord | None,
    stopped: bool,
    csv: Path | None,
    save: Path | None,
    columns: Sequence[str] | None,
) -> None:
    """Print one JSON object: the task, the subject, the summary, and all trials.

    The keys are in the help of the command. `columns` are those of the trials; None: all.
    """
    names = () if record is None else record.columns if columns is None else columns
    print_report(
        {
            "schema": SCHEMA,
            "command": "run",
            "task": game.task,
            "subject": game.subject_name,
            "seed": game.seed,
            "split": game.game.split,
            "stopped": stopped,
            "summary": None if record is None else summary(record),
            "choices": {} if record is None else record.meta.get(CHOICES, {}),
            "trials": []
            if record is None
            else [{name: row[name] for name in names} for row in record.rows()],
            "csv": csv if record is not None else None,
            "experiment": save,
        }
    )
