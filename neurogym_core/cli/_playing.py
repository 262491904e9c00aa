"""The work of `ngym run`: an experiment from the options, the game, the printed page, the JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from neurogym_core.ecosystem.hooks import ask
from neurogym_core.ecosystem.names import brought, comes_with
from neurogym_core.ecosystem.settings_text import read_wrap
from neurogym_core.errors import MissingDependencyError
from neurogym_core.play import run
from neurogym_core.play.make import resolve
from neurogym_core.terminal.output import Page, Progress, print_json
from neurogym_core.terminal.settings import (
    SubjectName,
    read_conditions,
    read_split,
    task_settings,
)
from neurogym_core.trials.record import DURATION, TrialRecord, is_clock_time, main_columns
from neurogym_core.trials.record_text import cell, number
from neurogym_core.trials.slot_columns import NAMES, SLOTS

ROWS = 20  # trials in the printed table; --csv and --json write all
DEFAULT_STEPS = 200
SCHEMA = 1
"""Version of the JSON."""


def asked(what: str, hook: str, **given: Any) -> Any:
    """Return the answer of a plug-in about experiment files; `what` is the request."""
    answer = ask(hook, **given)
    if answer is None:
        raise MissingDependencyError(comes_with(what, brought("plugins").get(hook)))
    return answer


def experiment_of(
    task: str, conditions: Sequence[str], wrap: Sequence[str], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the experiment in a file or of a task, completed by options and defaults."""
    if not task.endswith(".toml"):
        imposed = read_conditions(conditions)
        settings = task_settings(resolve(task), given["parameters"], given["timing"])
        wrappers = [read_wrap(text) for text in wrap]
        found: dict[str, Any] = {
            "task": task,
            "settings": settings,
            "wrap": wrappers,
            "imposed": imposed,
        }
    elif any((given["parameters"], given["timing"], conditions, wrap)):
        raise click.UsageError(
            "An experiment file was given together with settings of a task. Expected the file"
            " alone, perhaps with --subject, --subjects, --seed, --split, --n-trials or --n-steps."
            " Change the others in the file."
        )
    else:
        try:
            found = dict(asked("ngym run FILE.toml", "ngym_read_experiment", path=task))
        except OSError as error:
            raise click.ClickException(
                f"{task} cannot be read: {error.strerror}. Expected an experiment file (.toml) or a"
                " task. Check the path."
            ) from error
    by_default = {"subject": "random", "seed": 0}
    for key in ("subject", "seed", "subjects", "split"):
        values = (given[key], found.get(key), by_default.get(key))
        by_default[key] = next((value for value in values if value is not None), None)
    SubjectName().convert(by_default["subject"], None, None)
    length = {key: found.get(key) for key in ("steps", "trials")}
    if given["n_steps"] or given["n_trials"]:
        length = {"steps": given["n_steps"], "trials": given["n_trials"]}
    elif length == {"steps": None, "trials": None}:
        length["steps"] = DEFAULT_STEPS
    return {**found, **by_default, **length}


class ReportedGame(run.Game):
    """A game of a number of trials or, if None, a number of steps.

    Attributes:
        ended: the ended trials after `play`; None if no trial ended.
        stopped: whether Ctrl-C stopped it.
    """

    def __init__(self, experiment: Mapping[str, Any]) -> None:
        self.subject_name, self.seed = str(experiment["subject"]), experiment["seed"]
        self.n_steps = experiment["steps"] or DEFAULT_STEPS
        self.ended: TrialRecord | None = None
        self.stopped = False
        super().__init__(
            experiment["task"],
            experiment["subject"],
            experiment["trials"],
            num_envs=experiment["subjects"],
            seed=experiment["seed"],
            split=read_split(experiment["split"]),
            conditions=experiment["imposed"] or None,
            wrap=experiment["wrap"],
            params=experiment["settings"],
        )

    def play(self) -> None:
        """Play until the end or Ctrl-C."""
        total = self.n_trials or self.n_steps
        with Progress("playing", total) as progress:
            try:
                while (done := self.played.count if self.n_trials else self.steps) < total:
                    progress.show(done)
                    self.step()
            except KeyboardInterrupt:
                self.stopped = True
        if self.played.count:
            self.ended = self.record()


def show(game: ReportedGame, csv: Path | None, save: Path | None, columns: Sequence[str]) -> None:
    """Print the trials, a summary, and the names of the written files."""
    page, record = Page(), game.ended
    page.heading(f"{game.task.name}, played by: {game.subject_name}")
    if game.stopped:
        ended = 0 if record is None else len(record)
        if game.n_trials is None:
            steps = f"{game.steps:,} of {game.n_steps:,} steps"
            page.text(f"Stopped after {steps}; {ended:,} trials had ended.")
        else:
            page.text(f"Stopped after {ended:,} of {game.n_trials:,} trials.")
    if record is not None:
        rows = [tuple(cell(row[name]) for name in columns) for row in record[:ROWS].rows()]
        page.table([_head(name) for name in columns], rows)
        if len(record) > ROWS:
            page.text(f"… and {len(record) - ROWS:,} more", indent=2)
        page.heading("summary")
        page.facts(_said(summary(record)))
    elif not game.stopped:
        page.text(
            f"No trial ended within {game.n_steps} steps. Give more with --n-steps.", indent=2
        )
    if csv is not None and record is not None:
        page.text(f"All trials are in {csv}.", indent=2)
    if save is not None:
        page.text(f"The experiment is in {save}.", indent=2)
    page.show()


def chosen_columns(record: TrialRecord, named: str | None) -> tuple[str, ...]:
    """Return the columns to print: those of --columns, or else the main ones."""
    if named is not None:
        names = tuple(part.strip() for part in named.split(",") if part.strip())
        for name in names:
            record[name]  # raises the error of an unknown name
        return names
    first = ("subject",) if record["subject"].any() else ()
    aborts = ("aborts",) if record["aborts"].any() else ()
    return (*first, *main_columns(record), *aborts)


def _head(name: str) -> str:
    """Return the head of a column, with the unit of times."""
    last = name.rpartition(".")[2]
    ms = last == "reaction_time" or name.startswith(DURATION) or is_clock_time(name)
    return name.replace("_", " ") + " (ms)" * ms


def summary(record: TrialRecord) -> dict[str, Any]:
    """Return the numbers of the summary, as ``ngym run --json`` prints them."""
    outcomes, counts = np.unique(record["outcome"], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    slots = record.meta.get(SLOTS, ())
    names: tuple[str | None, ...] = tuple(slots) if len(slots) > 1 else (None,)
    asked = record.of_slot("choice", names[0]) in record
    return {
        "subjects": len(np.unique(record["subject"])),
        "trials": len(record),
        "steps": int(record["steps"].sum()),
        "outcomes": {str(outcomes[k]): int(counts[k]) for k in order},
        "performance": float(record["performance"].mean()),
        "reward": {"mean": float(record["reward"].mean()), "sum": float(record["reward"].sum())},
        "answers": [_answers(record, slot, names[:k]) for k, slot in enumerate(names) if asked],
    }


def _answers(record: TrialRecord, slot: str | None, earlier: Sequence[Any]) -> dict[str, Any]:
    times = record[record.of_slot("reaction_time", slot)]
    times = times[~np.isnan(times)]
    name, first = record.of_slot("first_outcome", slot), None
    if name in record:  # the slot can be answered again
        right, wrong = (int((record[name] == one).sum()) for one in ("correct", "error"))
        first = _share(right, right + wrong)
    given = {one: record[record[record.of_slot("outcome", one)] == "correct"] for one in earlier}
    return {
        "slot": slot,
        **_fraction(record, slot),
        "first": first,
        "given": [{"slot": one, **_fraction(trials, slot)} for one, trials in given.items()],
        "detection": _detected(record.detection(slot)),
        "reaction_time": float(np.median(times)) if len(times) else None,
    }


def _fraction(record: TrialRecord, slot: str | None) -> dict[str, Any]:
    answered = record.answered(slot)
    right = answered & (record[record.of_slot("outcome", slot)] == "correct")
    return _share(int(right.sum()), int(answered.sum()))


def _share(correct: int, answers: int) -> dict[str, Any]:
    accuracy = correct / answers if answers else None
    return {"correct": correct, "answered": answers, "accuracy": accuracy}


def _detected(counts: Mapping[str, int] | None) -> dict[str, Any] | None:
    """Return counts and rates, or the results of a plug-in: intervals, d' and criterion."""
    if counts is None:
        return None
    rates = ask("ngym_sensitivity", **counts) or {
        "hit rate": (counts["hits"] / counts["signals"],),
        "false alarm rate": (counts["false_alarms"] / counts["noises"],),
    }
    keys = ("value", "low", "high")
    return dict(counts) | {name: dict(zip(keys, one, strict=False)) for name, one in rates.items()}


def _said(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the summary as labels and texts."""
    n, reward, times = found["trials"], found["reward"], []
    counts = [f"{name} {count} ({count / n:.0%})" for name, count in found["outcomes"].items()]
    yield "subjects", f"{found['subjects']:,}" if found["subjects"] > 1 else ""
    yield "trials", f"{n:,}, of {found['steps']:,} steps"
    yield "outcomes", ", ".join(counts)
    for one in found["answers"]:
        of = "" if one["slot"] is None else f", {one['slot']}"
        shares = [("", one), (", first answers", one["first"])]
        shares += [(f", given {other['slot']} correct", other) for other in one["given"]]
        for when, share in shares:
            if share is not None and share["answered"]:
                said = f"{share['accuracy']:.3f} of {share['answered']} answers"
                yield f"accuracy{of}{when}", said
        for name, text in _rates(one["detection"] or {}):
            yield f"{name}{of}", text
        if one["reaction_time"] is not None:
            times.append((f"reaction time{of}", f"median {number(one['reaction_time'])} ms"))
    yield "performance", f"{found['performance']:.3f}"
    yield "reward", f"{number(reward['mean'])} per trial, {number(reward['sum'])} in all"
    yield from times


def _rates(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    of = {"hit rate": ("hits", "signals", "answer"),
          "false alarm rate": ("false_alarms", "noises", "rest")}  # fmt: skip
    for name, one in found.items():
        if isinstance(one, Mapping):
            text = f"{one['value']:.3f}"
            if "low" in one:
                text += f" ({one['low']:.3f} to {one['high']:.3f})"
            if name in of:
                some, every, what = of[name]
                text += f", {found[some]} of {found[every]} trials to {what}"
            yield name, text


def show_json(
    game: ReportedGame, csv: Path | None, save: Path | None, columns: Sequence[str] | None
) -> None:
    """Print the JSON object that the help describes; `columns` are those of trials, None: all."""
    record = game.ended
    facts = {} if record is None else record.meta
    found: dict[str, Any] = {"summary": None, "names": {}, "trials": []}
    if record is not None:
        names = record.columns if columns is None else columns
        trials = [{name: row[name] for name in names} for row in record.rows()]
        found = {"summary": summary(record), "names": record.meta.get(NAMES, {}), "trials": trials}
    report = {
        "schema": SCHEMA,
        "command": "run",
        "task": facts.get("task", game.task.name),
        "parameters": facts.get("parameters"),
        "wrappers": facts.get("wrappers"),
        "versions": facts.get("versions"),
        "subject": game.subject_name,
        "seed": game.seed,
        "split": game.split or "none",
        "stopped": game.stopped,
    }
    print_json({**report, **found, "csv": None if record is None else csv, "experiment": save})
