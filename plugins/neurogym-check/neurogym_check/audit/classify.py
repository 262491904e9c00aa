"""Learn which answer performs best, from some columns of the trials; NumPy only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

CUBIC, QUADRATIC = 12, 24
"""Most columns of which all products of three, or of two, are features."""
DISTINCT = 250
"""Most distinct rows that are looked up instead of being fitted."""
PENALTIES = (0.003, 0.1)
"""Ridge penalties that are tried, as shares of the number of trials."""

Policy = Callable[[np.ndarray], np.ndarray]
"""A function from columns (n, d) to the indices of answers (n,)."""


def best_policy(columns: np.ndarray, scores: np.ndarray) -> Policy:
    """Return the policy that performs best on a quarter of the trials, fitted on the others.

    Policies regress the score of each answer on the columns and choose the largest prediction.
    Predictors are linear, have products of columns (a match of two stimuli is one), or look the
    columns up if they have few distinct values. The best kind is fitted again, on all trials.

    Args:
        columns: (n, d) the visible part of each trial.
        scores: (n, answers) the performance that each answer earns.
    """
    if not len(seen := _distinct(columns)):
        return _constant(columns, scores)
    columns = columns[:, seen]
    fitted = np.arange(len(columns)) % 4 != 3
    rest, earned = columns[~fitted], scores[~fitted]
    rows = np.arange(len(rest))
    best, most = _constant, -1.0
    # The first of equals: simpler policies come first.
    for fit in _kinds(columns):
        score = earned[rows, fit(columns[fitted], scores[fitted])(rest)].mean()
        if score > most + 1e-9:
            best, most = fit, score
    policy = best(columns, scores)
    return lambda table: policy(table[:, seen])


Fit = Callable[[np.ndarray, np.ndarray], Policy]
"""A function from columns (n, d) and scores (n, answers) to a policy."""


def _kinds(columns: np.ndarray) -> Iterator[Fit]:
    """Yield the kinds of policies for these columns, simple ones first."""
    yield _constant
    d = columns.shape[1]
    expansions = [_linear, _steps if d == 1 else _pairs, *([_triples] if 1 < d <= CUBIC else [])]
    for expand in expansions:
        for penalty in PENALTIES:
            yield partial(_ridge, expand, penalty)
    if len(np.unique(_key(columns[:400]))) <= DISTINCT < len(columns):
        yield _looked_up


def _constant(columns: np.ndarray, scores: np.ndarray) -> Policy:
    best = int(scores.mean(axis=0).argmax())
    return lambda seen: np.full(len(seen), best)


def _ridge(
    expand: Callable[[np.ndarray], np.ndarray],
    penalty: float,
    columns: np.ndarray,
    scores: np.ndarray,
) -> Policy:
    scaling = _Scaling(columns)
    features = expand(scaling(columns))
    ridge = np.full(features.shape[1], penalty * len(features))
    ridge[0] = 1e-6  # the first feature is the constant
    gram = features.T @ features + np.diag(ridge)
    weights = np.linalg.solve(gram, features.T @ scores)
    return lambda seen: (expand(scaling(seen)) @ weights).argmax(axis=1)


def _distinct(columns: np.ndarray) -> np.ndarray:
    """Return the indices of columns that vary, without those that repeat another one."""
    centred = columns - columns.mean(axis=0)
    size = np.sqrt((centred**2).sum(axis=0))
    varying = np.flatnonzero(size > 1e-9 * np.sqrt(len(columns)))
    normed = centred[:, varying] / size[varying]
    repeats = np.triu(np.abs(normed.T @ normed) > 0.999, 1).any(axis=0)
    return varying[~repeats]


class _Scaling:
    """Centres and scales columns; more than `QUADRATIC` are rotated, and the first ones kept."""

    def __init__(self, columns: np.ndarray) -> None:
        self.mean, deviation = columns.mean(axis=0), columns.std(axis=0)
        self.scale = np.where(deviation > 1e-9, deviation, 1.0)
        self.turn: np.ndarray | None = None
        if columns.shape[1] > QUADRATIC:
            scaled = (columns - self.mean) / self.scale
            turn = np.linalg.eigh(scaled.T @ scaled)[1][:, ::-1][:, :QUADRATIC]
            # The sign of an eigenvector is arbitrary, and may differ between processors.
            signs = np.sign(turn[np.abs(turn).argmax(axis=0), np.arange(turn.shape[1])])
            self.turn = turn * signs

    def __call__(self, columns: np.ndarray) -> np.ndarray:
        # Outliers would have a large effect through products.
        scaled = np.clip((columns - self.mean) / self.scale, -4, 4)
        return scaled if self.turn is None else scaled @ self.turn


def _linear(columns: np.ndarray) -> np.ndarray:
    return np.column_stack([np.ones(len(columns)), columns])


def _pairs(columns: np.ndarray) -> np.ndarray:
    first, second = np.triu_indices(columns.shape[1])
    return np.column_stack([_linear(columns), columns[:, first] * columns[:, second]])


def _triples(columns: np.ndarray) -> np.ndarray:
    first, second = np.triu_indices(columns.shape[1])
    products = columns[:, first] * columns[:, second]
    triples = [products[:, first >= k] * columns[:, [k]] for k in range(columns.shape[1])]
    return np.concatenate([_linear(columns), products, *triples], axis=1)


_KNOTS = np.linspace(-1.75, 1.75, 8)


def _steps(columns: np.ndarray) -> np.ndarray:
    """Features of a single column: a piecewise linear function with fixed knots."""
    return np.concatenate([_linear(columns), np.maximum(columns - _KNOTS, 0)], axis=1)


def _looked_up(columns: np.ndarray, scores: np.ndarray) -> Policy:
    """Look rows up; the best fixed answer for rows that were not met, or if most are distinct."""
    otherwise = int(scores.mean(axis=0).argmax())
    keys, place = np.unique(_key(columns), return_inverse=True)
    if len(keys) > DISTINCT:
        return _constant(columns, scores)
    sums = np.zeros((len(keys), scores.shape[1]))
    np.add.at(sums, place, scores)
    best = sums.argmax(axis=1)

    def policy(seen: np.ndarray) -> np.ndarray:
        at = np.minimum(np.searchsorted(keys, _key(seen)), len(keys) - 1)
        return np.where(keys[at] == _key(seen), best[at], otherwise)

    return policy


_FACTORS = np.random.Generator(np.random.PCG64(7)).random(4096) + 0.5


def _key(columns: np.ndarray) -> np.ndarray:
    """Return one number for each row, equal for rows that are equal to three decimals."""
    d = columns.shape[1]
    factors = np.resize(_FACTORS, d) * (1 + np.arange(d) // len(_FACTORS))
    key: np.ndarray = np.round(np.round(columns, 3) @ factors, 6)
    return key
