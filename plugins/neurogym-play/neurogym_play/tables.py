"""`trial_tables`: trials of a task as plain data, for the kernel in JavaScript."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from neurogym_core import (
    InvalidValueError,
    InverseSquare,
    NotSupportedError,
    PowerLaw,
    Task,
    make_task,
)
from neurogym_core.players import Block, Dealer, Tables, TaskView
from neurogym_core.tools import describe

FORMAT = 1
"""Version of the form of the tables; `kernel.js` refuses others."""
OF_SEGMENTS = (
    "shown", "sd", "duration", "target", "weight", "script_at",
    "reward", "aborts", "goto", "slot", "outcome", "score", "window",
)  # fmt: skip
"""Tables with an entry for each type and segment."""
OF_TYPES = (
    "limit", "best", "asked", "miss_reward", "miss_outcome", "correct_reward", "error_reward",
    "error_goto", "due", "tolerance", "aim", "graded", "graded_from",
)  # fmt: skip
"""Tables with an entry for each type."""
OF_ALL = ("period", "endless", "entry", "follows", "needs", "again", "first_action")
"""Arrays that all types share."""
STRENGTHS = ("coherence", "contrast", "strength")
"""Conditions that are the strength of the evidence, in tasks that do not declare their evidence."""
GRADED = {PowerLaw: "power_law", InverseSquare: "inverse_square"}
"""Rewards of continuous answers that the kernel in JavaScript knows."""


def trial_tables(
    task: Any,
    n_trials: int = 100,
    *,
    seed: int = 0,
    split: str | None = None,
    conditions: Mapping[str, Any] | None = None,
    wrap: Any = (),
    **params: Any,
) -> dict[str, Any]:
    """Return the first trials of a seed as plain data, from which they can be played anywhere.

    They are the trials that ``make(task, split=split)`` plays after ``reset(seed=seed)``, with the
    same noise.

    Args:
        task, wrap, params: as in `neurogym_core.make_task`.
        n_trials: number of trials.
        seed: determines trials and noise.
        split: stream of trials: None, "train", "validation" or "test", as in `neurogym_core.make`.
        conditions: imposed on all trials; of (m,) values the trials take one after the other.

    Returns:
        Lists, numbers and texts, for JSON; NaN is None. ``web/kernel.d.ts`` describes the entries.

    Raises:
        InvalidValueError: `n_trials` is below 1.
        NotSupportedError: the tables do not hold all that happens in a trial of this task.
    """
    if n_trials < 1:
        raise InvalidValueError(
            f"trial_tables() was given n_trials={n_trials!r}. Expected at least 1. Give a number of"
            " trials."
        )
    made = make_task(task, wrap=wrap, **params)
    _check(made)
    dealer = Dealer(made, 1, seed, split)
    dealer.impose(conditions or {})
    dealer.new_sessions()
    blocks: list[Block] = []
    while sum(map(len, blocks)) < n_trials:
        blocks.append(dealer.block())
    return {
        "format": FORMAT,
        "task": made.name,
        "seed": seed,
        "key": [dealer.key & 0xFFFFFFFF, dealer.key >> 32],
        "first_serial": blocks[0].first_serial,
        "trials_per_session": made.trials_per_session,
        **interface(made),
        **_trials(made, blocks, n_trials),
    }


def _check(task: Task) -> None:
    """Raise `NotSupportedError` for a task whose trials need its code while they are played."""
    reason = ""
    if hooks := sorted(TaskView(task).hooks):
        reason = f"runs code on every step ({', '.join(hooks)})"
    elif task.reads_outcomes:
        reason = "draws each trial after the outcome of the one before"
    if reason:
        raise NotSupportedError(
            f"{task.name} cannot be exported: it {reason}, and a page has tables only. Expected a"
            " task whose trials can be built before they are played. Play it on this machine, with"
            " `ngym play`."
        )


def interface(task: Task) -> dict[str, Any]:
    """Return channels, actions and rewards of a task."""
    said = describe(task)
    return {
        "dt": float(task.dt),
        "channels": said["channels"],
        "actions": said["actions"],
        "continuous": task.actions.continuous,
        "labels": [] if task.actions.continuous else task.actions.labels(),
        "rest": task.actions.rest,
        "tracking_reward": task.rewards["correct"] * task.dt / 100,
        "correct": task.rewards["correct"],
        "tolerances": task.actions.tolerances().tolist() if task.actions.traced else None,
    }


def _trials(task: Task, blocks: list[Block], n: int) -> dict[str, Any]:
    """The first n trials of some blocks, and the types that they have."""
    parts, kinds, offset = [], [], 0
    for block in blocks:
        used, kind = np.unique(block.kind, return_inverse=True)
        parts.append(block.tables.take(used))
        kinds.append(kind + offset)
        offset += len(used)
    tables, kind = Tables.concatenate(parts), np.concatenate(kinds)[:n]
    used, kind = np.unique(kind, return_inverse=True)
    every, tables = tables, tables.take(used)
    script_at, rows = _used_rows(every, tables)
    drawn = _joined([block.conditions for block in blocks], n)
    signed = evidence(task, drawn)
    return {
        "n_trials": n,
        "shortest_window": shortest_window(tables),
        "kind": kind.tolist(),
        "conditions": list(drawn),
        "evidence": None if signed is None else _plain(signed),
        "columns": _columns(drawn, blocks, tables, kind),
        "names": {name: list(names) for name, names in blocks[0].names.items()},
        "period_names": list(tables.period_names),
        "slots": _slots(tables),
        "trigger": trigger(tables),
        "shared": {name: getattr(tables, name).tolist() for name in OF_ALL},
        "segments": {
            name: _packed(script_at if name == "script_at" else getattr(tables, name), 2)
            for name in (*OF_SEGMENTS, *(("share",) if tables.interface.actions.traced else ()))
        },
        "types": {name: _packed(getattr(tables, name), 1) for name in OF_TYPES},
        "frames": {
            name: _packed(frames[rows] if len(frames) else frames, 1)
            for name in ("script", "target_script")
            for frames in (getattr(tables, name),)
        },
    }


def _used_rows(every: Tables, used: Tables) -> tuple[np.ndarray, np.ndarray]:
    """Return `script_at` of some types, and the rows of the scripts of all types that they need.

    The rows of a segment end where those of the next one begin.
    """
    starts = np.unique(every.script_at[every.script_at >= 0])
    lengths = np.diff([*starts, max(len(every.script), len(every.target_script))])
    kept = np.isin(starts, used.script_at)
    starts, lengths = starts[kept], lengths[kept].astype(int)
    begins = np.cumsum(lengths) - lengths
    rows = np.repeat(starts - begins, lengths) + np.arange(lengths.sum())
    found = np.searchsorted(starts, used.script_at)
    script_at = np.full(used.script_at.shape, -1)
    scripted = used.script_at >= 0
    script_at[scripted] = begins[found[scripted]]
    return script_at, rows


def _columns(
    drawn: dict[str, np.ndarray], blocks: list[Block], tables: Tables, kind: np.ndarray
) -> dict[str, Any]:
    """Columns of the record that are known before a trial is played, name -> a value per trial."""
    columns = {
        **drawn,
        **{name: values[kind] for name, values in tables.notes.items()},
        **_joined([block.columns for block in blocks], len(kind)),
    }
    for name, steps in tables.period_steps.items():
        columns[f"duration.{name}"] = steps[kind] * tables.dt
    return {name: _plain(values) for name, values in columns.items()}


def evidence(task: Task, drawn: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """Return the signed evidence of trials: as declared, or strength towards the right answer.

    None: there is none. `drawn` has the conditions of n trials, name -> (n, …)."""
    view = TaskView(task)
    declared = view.evidence(drawn)
    strengths = [name for name in STRENGTHS if name in drawn]
    if declared is not None or not strengths or not view.has_answer or view.answers.size != 2:
        return declared
    larger = view.answer(drawn) == view.answers.max()
    return np.where(larger, drawn[strengths[0]], -drawn[strengths[0]]) + 0.0  # not -0.0


def _joined(parts: list[Mapping[str, np.ndarray]], n: int) -> dict[str, np.ndarray]:
    """The first n rows of columns that blocks have, name -> (n, …)."""
    return {name: np.concatenate([part[name] for part in parts])[:n] for name in parts[0]}


def trigger(tables: Tables) -> tuple[int, float] | None:
    """Return the axis of continuous actions that triggers an answer, and its threshold."""
    return tables.interface.actions.trigger if tables.target.ndim == 3 else None


def named_slots(tables: Tables) -> list[dict[str, Any]]:
    """Return the answer slots with their actions."""
    slots = tables.slots
    return [
        {"name": name, "start": units.start, "stop": units.stop}
        for name, units in zip(slots.names, slots.units, strict=True)
    ]


def _slots(tables: Tables) -> list[dict[str, Any]]:
    """The answer slots, with the reward of graded continuous answers."""
    rows = named_slots(tables)
    for row, pays in zip(rows, tables.slots.pays, strict=True):
        if pays is not None and tables.target.ndim == 3:
            if type(pays) not in GRADED:
                raise NotSupportedError(
                    f"{tables.interface.name} cannot be exported: it grades the slot"
                    f" {row['name']!r} by {pays!r}, which is Python code. Expected PowerLaw or"
                    " InverseSquare. Play it on this machine, with `ngym play`."
                )
            row["pays"] = {"kind": GRADED[type(pays)], **asdict(pays)}
    return rows


def _packed(values: np.ndarray, axes: int) -> dict[str, Any]:
    """Return the different entries of a table, and the entry at each place of its first axes."""
    places = values.reshape(math.prod(values.shape[:axes]), *values.shape[axes:])
    known: dict[bytes, int] = {}
    at = [known.setdefault(entry.tobytes(), len(known)) for entry in places]
    rows = places[np.unique(at, return_index=True)[1]]
    return {"rows": _plain(rows), **({"at": at} if len(rows) > 1 else {})}


def _plain(values: np.ndarray) -> list[Any]:
    """Return nested lists for JSON; float32 numbers by their shortest decimal, NaN as None."""
    if values.dtype == np.float32:
        values = values.astype(str).astype(np.float64)
    if values.dtype.kind != "f":
        return values.tolist()  # type: ignore[no-any-return]
    return np.where(np.isnan(values), None, values.astype(object)).tolist()  # type: ignore[no-any-return]


def shortest_window(tables: Tables) -> float | None:
    """Return the shortest response window of some trials, ms; None: none, or without an end."""
    least = math.inf
    for open_slots, duration in zip(tables.window, tables.duration, strict=True):
        steps = np.where(tables.endless, math.inf, duration)
        for is_open in open_slots.T.astype(bool):
            lasting = [float(steps[one].sum()) for one in _runs(is_open)]
            least = min([least, *filter(None, lasting)])
    return least * float(tables.dt) if math.isfinite(least) else None


def _runs(is_open: np.ndarray) -> Iterator[slice]:
    """The runs of True."""
    edges = np.flatnonzero(np.diff(is_open.astype(int), prepend=0, append=0))
    return (slice(*edges[i : i + 2]) for i in range(0, len(edges), 2))
