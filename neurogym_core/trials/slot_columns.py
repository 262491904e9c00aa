"""Aligning the columns of records whose trials have different answer slots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

SLOTS = "slots"
"""The key of a record's `meta` with the names of the slots of its trials."""

NAMES = "names"
"""The key of a record's `meta` with the names in its columns: column -> names, in their order."""

NO_CHOICE = "none"
"""The choice of a trial without an answer, in columns of names."""

REST_CORRECT = "rest_correct"
"""The column that says whether resting was the right answer.

Records in which it never was lack it."""

ANSWER = (
    "choice", "outcome", "reaction_time", "answer_time", REST_CORRECT, "first_choice",
    "first_outcome", "first_reaction_time", "answers",
)  # fmt: skip
"""The columns of a slot; ``name.choice`` … in records with several slots."""

Columns = dict[str, np.ndarray]


def align_slots(
    parts: Sequence[Columns], metas: Sequence[Mapping[str, Any]]
) -> tuple[list[Columns], tuple[str, ...]]:
    """Give all parts the same columns of slots; return them, and the names of all slots.

    Slots that a part lacks have the choice "none" (-1 without names, 0 for continuous answers), the
    outcome "none" and no times. Other columns stay as they are."""
    asked = [_asked(columns, meta) for columns, meta in zip(parts, metas, strict=True)]
    names = tuple(dict.fromkeys(name for mine in asked for name in mine))
    if all(mine == names for mine in asked):
        return _with_rest(parts), names
    if len(names) > 1 and "" in names:  # a record from elsewhere: its slot cannot be matched
        return list(parts), ()
    several = len(names) > 1
    named = [
        _named(columns, mine[0]) if several and len(mine) == 1 else dict(columns)
        for columns, mine in zip(parts, asked, strict=True)
    ]
    wanted = [f"{name}.{kind}" if several else kind for name in names for kind in ANSWER]
    known = {
        name: columns[name] for columns in reversed(named) for name in wanted if name in columns
    }
    wanted = [name for name in wanted if name in known]
    return _with_rest([{**_lacking(columns, wanted, known), **columns} for columns in named]), names


def _with_rest(parts: Sequence[Columns]) -> list[Columns]:
    """Give all parts the same columns `REST_CORRECT`: a part without it has no such trials."""
    names = dict.fromkeys(name for columns in parts for name in columns)
    found = [name for name in names if name.rpartition(".")[2] == REST_CORRECT]
    known = dict.fromkeys(found, np.zeros(0))
    return [{**columns, **_lacking(columns, found, known)} for columns in parts]


def named(indices: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Return the names of indices, str (n, …): "none" for -1, and numbers beyond the names."""
    if not len(names) or indices.dtype.kind not in "iu":
        return indices
    more = map(str, range(len(names), int(indices.max(initial=0)) + 1))
    texts: np.ndarray = np.array([*names, *more, NO_CHOICE])[indices]
    return texts


def joined_names(
    metas: Sequence[Mapping[str, Any]], columns: Iterable[str]
) -> dict[str, tuple[str, ...]]:
    """Return the names in the columns of joined records; columns whose orders differ have none."""
    joined: dict[str, tuple[str, ...]] = {}
    for meta in metas:
        for column, names in meta.get(NAMES, {}).items():
            if column not in columns:  # the column of the only slot of some trials
                column = f"{meta.get(SLOTS, ('',))[0]}.{column}"
            # Trials may lack the actions that join a slot in others.
            known = joined.setdefault(column, tuple(names))
            shorter, longer = sorted((tuple(names), known), key=len)
            joined[column] = longer if longer[: len(shorter)] == shorter else ()
    return {column: names for column, names in joined.items() if names}


def _asked(columns: Columns, meta: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the slots of a part; "" for one without a known name."""
    if SLOTS in meta:
        return tuple(meta[SLOTS])
    named = tuple(
        name.removesuffix(".choice")
        for name in columns
        if name.endswith(".choice") and f"{name[:-7]}.outcome" in columns
    )
    return named or (("",) if "choice" in columns else ())


def _named(columns: Columns, name: str) -> Columns:
    """The columns of a part with one slot, prefixed with the slot's name."""
    result: Columns = {}
    for column, values in columns.items():
        if column == "outcome":
            # `outcome` stays, as the outcome of the trial. After an abort it is not that of the
            # answer, which follows from the performance.
            answered = np.where(columns["performance"] == 1, "correct", "error")
            answered = np.where(~np.isnan(columns["reaction_time"]), answered, "none")
            result[f"{name}.outcome"] = np.where(values == "abort", answered, values)
            result["outcome"] = values
        else:
            result[f"{name}.{column}" if column in ANSWER else column] = values
    return result


def _lacking(columns: Columns, wanted: Sequence[str], known: Columns) -> Columns:
    """Return the columns of slots that a part lacks; `known` has their types."""
    n = len(next(iter(columns.values()), ()))
    return {name: _not_asked(name, n, known[name]) for name in wanted if name not in columns}


def _not_asked(name: str, n: int, like: np.ndarray) -> np.ndarray:
    """The column of a slot that no trial has, (n, …)."""
    if name.endswith("outcome"):
        return np.full(n, "none")
    if name.endswith(REST_CORRECT):
        return np.zeros(n, bool)
    if like.dtype.kind == "U":
        return np.full(n, NO_CHOICE)
    index = like.dtype.kind == "i" and not name.endswith("answers")
    empty = np.nan if name.endswith("_time") else -1 if index else 0
    return np.full((n, *like.shape[1:]), empty, like.dtype)
