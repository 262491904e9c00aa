"""Several animals are a population: means over them, with intervals of Student's t."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from neurogym_behaviour.behaviour import Behaviour, CannotTellError


class Population(NamedTuple):
    """Mean of a number over n subjects.

    The interval has 95 % for the mean of the population from which the subjects were drawn
    (Student 1908, Biometrika 6:1); NaN for one subject. It has the error of each subject's number
    and the differences between subjects, since both spread the numbers.
    """

    mean: float
    low: float
    high: float
    deviation: float
    n: int


def population(
    values: Sequence[float], limits: tuple[float, float] = (-np.inf, np.inf)
) -> Population:
    """Return the mean of the values of subjects, (n,), without those that are NaN.

    Args:
        values: of each subject.
        limits: least and largest possible value, at which the interval ends.
    """
    known = np.array([one for one in values if np.isfinite(one)], float)
    n = len(known)
    if not n:
        return Population(np.nan, np.nan, np.nan, np.nan, 0)
    deviation = float(known.std(ddof=1)) if n > 1 else np.nan
    half = float(stdtrit(n - 1, 0.975)) * deviation / np.sqrt(n) if n > 1 else np.nan
    mean = float(known.mean())
    low, high = np.clip([mean - half, mean + half], *limits).tolist()
    return Population(mean, low, high, deviation, n)


def is_population(behaviour: Behaviour) -> bool:
    """Return whether a record has several subjects, and their trials are not to be pooled."""
    return not behaviour.roles.pool and len(behaviour.per_subject()) > 1


def over_subjects(
    behaviour: Behaviour,
    rows_of: Callable[[Behaviour], Sequence[Mapping[str, Any]]],
    keys: Sequence[str],
    value: str,
    limits: tuple[float, float] = (-np.inf, np.inf),
) -> list[dict[str, Any]]:
    """Return the rows of a record, or the means of those of its subjects.

    Args:
        behaviour: the trials.
        rows_of: computes the rows of one subject, with `value`, "low" and "high".
        keys: the columns by which rows of subjects belong together.
        value: the column that is averaged. Columns of integers are summed.
        limits: least and largest possible value, at which intervals end.

    Raises:
        CannotTellError: no subject has rows.
    """
    if not is_population(behaviour):
        return [dict(row) for row in rows_of(behaviour)]
    found: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    reason = None
    for part in behaviour.per_subject().values():
        try:
            rows = rows_of(part)
        except CannotTellError as error:
            reason = error
            continue
        for row in rows:
            found.setdefault(tuple(row[key] for key in keys), []).append(row)
    if not found and reason is not None:
        raise reason
    return [_mean_of(rows, keys, value, limits) for rows in found.values()]


def _mean_of(
    rows: Sequence[Mapping[str, Any]], keys: Sequence[str], value: str, limits: tuple[float, float]
) -> dict[str, Any]:
    mean = population([row[value] for row in rows], limits)
    joined: dict[str, Any] = {}
    for name, first in rows[0].items():
        if name in keys:
            joined[name] = first
        elif isinstance(first, int | np.integer):
            joined[name] = int(sum(row[name] for row in rows))
    return {
        **joined, value: mean.mean, "low": mean.low, "high": mean.high,
        "deviation": mean.deviation, "subjects": mean.n,
    }  # fmt: skip
