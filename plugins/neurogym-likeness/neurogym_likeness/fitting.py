"""Fit a model to the answers of each subject of a record, by maximum likelihood."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from neurogym_behaviour.behaviour import Behaviour, CannotTellError
from scipy.optimize import minimize

from neurogym_likeness.models import Model, model

STARTS = 6
"""Number of points from which a fit begins."""
FOLDS = 5
"""Number of parts of the trials, in their order, that are predicted from the others."""
FLAT, AT = 0.5, 1e-3
"""Loss of log likelihood below which all values of a parameter fit, and the distance from a bound,
in ranges of starts, below which an estimate is at it."""
SMALLEST = 20
"""Smallest number of trials of a fit."""


@dataclass(frozen=True)
class Fit:
    """A model that was fitted to the answers of one subject.

    Attributes:
        subject: its name.
        model: the model.
        values: parameter -> estimate.
        errors: parameter -> standard error, from the curvature of the likelihood; NaN at a bound,
            or where the trials do not determine the parameter.
        log_likelihood: natural log of the likelihood, summed over the trials.
        n: trials with an answer.
        aic, bic: information criteria of Akaike and Schwarz; smaller is better.
        predicted: bits per trial of the trials of each fold under the fit to the other folds.
        agreed: number of starts whose likelihood was within 0.1 of the best.
        undetermined: parameter -> why the trials do not determine it: its estimate is at a bound,
            the likelihood is flat, or its standard error exceeds the range of its starts.
    """

    subject: str
    model: Model
    values: Mapping[str, float]
    errors: Mapping[str, float]
    log_likelihood: float
    n: int
    aic: float
    bic: float
    predicted: float
    agreed: int
    undetermined: Mapping[str, str] = field(default_factory=dict)


def fit_model(
    name: str | Model,
    behaviour: Behaviour,
    subject: str = "",
    *,
    starts: int = STARTS,
    folds: int = FOLDS,
    seed: int = 0,
    among: np.ndarray | None = None,
) -> Fit:
    """Fit a model to the trials of one subject.

    Args:
        name: a model, or the name of one of `models.NAMES`.
        behaviour: the trials.
        subject: name of the subject.
        starts: points from which the search begins; they are drawn.
        folds: parts of the trials for `Fit.predicted`; 0: none, and it is NaN.
        seed: of the starts.
        among: trials that are used, bool (n,); None: all that have a likelihood. Models are
            compared over the same trials: those of `usable` for each of them.

    Raises:
        CannotTellError: the record lacks something, or has too few answers.
    """
    chosen = model(name, behaviour) if isinstance(name, str) else name
    used = usable(chosen, behaviour)
    if among is not None:
        used &= among
    n = int(used.sum())
    if n < SMALLEST:
        raise CannotTellError(f"{n} trials have an answer; a fit needs {SMALLEST}")
    rng = np.random.default_rng(seed)
    found = [_search(chosen, behaviour, used, start) for start in _starts(chosen, starts, rng)]
    loss, point = min(found, key=lambda one: one[0])
    k = len(chosen.parameters)
    predicted = _predicted(chosen, behaviour, used, point, folds) if folds else float("nan")
    errors = _errors(chosen, behaviour, used, point)
    unsure = _undetermined(chosen, _loss(chosen, behaviour, used), point, errors)
    return Fit(
        subject, chosen, _named(chosen, point), _named(chosen, errors),
        -loss, n, 2 * k + 2 * loss, k * float(np.log(n)) + 2 * loss, predicted,
        sum(one[0] < loss + 0.1 for one in found), unsure,
    )  # fmt: skip


def _undetermined(
    chosen: Model,
    loss: Callable[[np.ndarray], float],
    point: np.ndarray,
    errors: np.ndarray,
) -> dict[str, str]:
    """Return parameter -> why its estimate has no meaning.

    A lapse rate at its lower bound is an estimate: no lapses.
    """
    found, least = {}, loss(point)
    for k, (name, one) in enumerate(chosen.parameters.items()):
        width = one.last - one.first
        ends = []
        for value in (one.first, one.last):
            moved = point.copy()
            moved[k] = value
            ends.append(loss(moved) - least)
        if max(ends) < FLAT:
            found[name] = f"any value from {one.first:g} to {one.last:g} fits as well"
        elif point[k] >= one.high - AT * width or (
            point[k] <= one.low + AT * width and name != "lapse"
        ):
            found[name] = f"at its bound of {one.high if point[k] > one.first else one.low:g}"
        elif np.isfinite(errors[k]) and errors[k] > width:
            found[name] = f"a standard error of {errors[k]:.2g}"
        elif not np.isfinite(errors[k]) and name != "lapse":
            found[name] = "the likelihood is flat near the estimate"
    return found


def usable(chosen: Model, behaviour: Behaviour) -> np.ndarray:
    """Return the trials whose answer has a likelihood under a model, bool (n,)."""
    return np.isfinite(chosen.log_likelihood(behaviour, _middle(chosen)))


def _middle(chosen: Model) -> dict[str, float]:
    return {name: (one.first + one.last) / 2 for name, one in chosen.parameters.items()}


def _named(chosen: Model, point: np.ndarray) -> dict[str, float]:
    return dict(zip(chosen.parameters, point.tolist(), strict=True))


def _starts(chosen: Model, number: int, rng: np.random.Generator) -> np.ndarray:
    low, high = np.array([(one.first, one.last) for one in chosen.parameters.values()]).T
    drawn = low + (high - low) * rng.random((number, len(low)))
    drawn[0] = (low + high) / 2
    return drawn


def _loss(chosen: Model, behaviour: Behaviour, used: np.ndarray) -> Callable[[np.ndarray], float]:
    def loss(point: np.ndarray) -> float:
        logs = chosen.log_likelihood(behaviour, _named(chosen, point))[used]
        return -float(np.maximum(logs, -1e3).sum())

    return loss


def _search(
    chosen: Model, behaviour: Behaviour, used: np.ndarray, start: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return the smallest loss near a start, and its place; coordinates are relative to ranges."""
    parts = list(chosen.parameters.values())
    low, high = np.array([(one.low, one.high) for one in parts]).T
    scale = np.array([one.last - one.first for one in parts])
    loss = _loss(chosen, behaviour, used)
    found = minimize(
        lambda place: loss(np.clip(place * scale, low, high)), start / scale,
        method="L-BFGS-B", bounds=list(zip(low / scale, high / scale, strict=True)),
    )  # fmt: skip
    return float(found.fun), np.clip(found.x * scale, low, high)


def _errors(chosen: Model, behaviour: Behaviour, used: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Return standard errors from the second differences of the log likelihood, (k,)."""
    parts = list(chosen.parameters.values())
    loss, k = _loss(chosen, behaviour, used), len(point)
    step = np.array([1e-3 * (one.last - one.first) for one in parts])
    room = np.array([min(x - one.low, one.high - x) for x, one in zip(point, parts, strict=True)])
    free = np.flatnonzero(room > 2 * step)
    errors = np.full(k, np.nan)
    if not len(free):
        return errors
    curved = np.empty((len(free), len(free)))

    def at(i: int, j: int, a: float, b: float) -> float:
        moved = point.copy()
        moved[i] += a * step[i]
        moved[j] += b * step[j]
        return loss(moved)

    for m, i in enumerate(free):
        for n, j in enumerate(free[: m + 1]):
            if i == j:
                bend = at(i, i, 1, 0) - 2 * loss(point) + at(i, i, -1, 0)
            else:
                bend = (at(i, j, 1, 1) - at(i, j, 1, -1) - at(i, j, -1, 1) + at(i, j, -1, -1)) / 4
            curved[m, n] = curved[n, m] = bend / (step[i] * step[j])
    try:
        variance = np.diag(np.linalg.inv(curved))
    except np.linalg.LinAlgError:
        return errors
    if (np.linalg.eigvalsh(curved) > 0).all():
        errors[free] = np.sqrt(variance)
    return errors


def _predicted(
    chosen: Model, behaviour: Behaviour, used: np.ndarray, start: np.ndarray, folds: int
) -> float:
    """Return the bits per trial of each fold under the fit to the others.

    Models that learn see the choices and rewards of all trials before; only the parameters are
    those of the other folds.
    """
    rows, total = np.flatnonzero(used), 0.0
    for part in np.array_split(rows, folds):
        others = used.copy()
        others[part] = False
        _, point = _search(chosen, behaviour, others, start)
        logs = chosen.log_likelihood(behaviour, _named(chosen, point))[part]
        total += float(np.maximum(logs, -1e3).sum())
    return total / len(rows) / float(np.log(2))


def recovered(fit: Fit, behaviour: Behaviour, n: int, *, seed: int = 0) -> np.ndarray:
    """Return the estimates from `n` simulations with the fitted values, (n, parameters).

    Each simulation answers the trials of the behaviour, and is fitted from the fitted values and
    from the middle of the range of starts.

    Raises:
        CannotTellError: the record lacks the chances of reward of choices that were not made.
    """
    rng, found = np.random.default_rng(seed), []
    for _ in range(n):
        other = fit.model.simulate(behaviour, fit.values, rng)
        used = np.isfinite(fit.model.log_likelihood(other, fit.values))
        starts = (np.array(list(fit.values.values())), np.array(list(_middle(fit.model).values())))
        found.append(min(
            (_search(fit.model, other, used, start) for start in starts), key=lambda one: one[0]
        )[1])  # fmt: skip
    return np.array(found)
