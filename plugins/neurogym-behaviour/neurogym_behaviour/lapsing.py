"""Logistic regression of choices with lapses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import expit, ndtr

from neurogym_core import InvalidValueError

LAPSES = 0.5 * np.linspace(0, 1, 16) ** 1.5
"""Lapse rates at which the weights are fitted; closer to each other near 0."""
FEW_LAPSES = 9
"""The prior of the lapse rate is Beta(1, 1 + this): psignifit's (Schütt et al. 2016)."""
WIDE, NARROW = 10.0, 2.0
"""SDs of the normal priors of weights, per largest value: of evidence, and of other regressors."""


@dataclass(frozen=True)
class LapsingFit:
    """Weights of P(hit) = lapse / 2 + (1 - lapse) / (1 + exp(-x w)).

    The lapse rate is uncertain where choices saturate, and the weights depend on it, so that they
    are averaged over lapse rates: each rate of `LAPSES` has its fit, with a normal distribution of
    the weights, and counts with its likelihood and prior.

    Attributes:
        names: of the columns, (k,).
        share: of each lapse rate, (l,).
        weights, errors: estimates and standard errors at each lapse rate, (l, k).
    """

    names: tuple[str, ...]
    share: np.ndarray
    weights: np.ndarray
    errors: np.ndarray

    @property
    def lapse(self) -> float:
        """Mean lapse rate: twice the errors on one side where the evidence is strong."""
        return float(self.share @ LAPSES)

    def weight(self, name: str) -> tuple[float, float, float, float]:
        """Return a weight, the ends of its 95 % interval, and the p-value of 0."""
        k = self.names.index(name)
        middles, errors = self.weights[:, k], self.errors[:, k]
        ends = float((middles - 6 * errors).min()), float((middles + 6 * errors).max())

        def below(value: float) -> float:
            return float(self.share @ ndtr((value - middles) / errors))

        low, high = (brentq(lambda one, q=q: below(one) - q, *ends) for q in (0.025, 0.975))
        p = 2 * min(below(0.0), 1 - below(0.0))
        return float(self.share @ middles), float(low), float(high), p


def fit_lapsing(
    evidence: Mapping[str, ArrayLike], others: Mapping[str, ArrayLike], hit: ArrayLike
) -> LapsingFit:
    """Fit weights with a lapse rate.

    Args:
        evidence: name -> regressor, (n,), whose weight may be large; "constant" is added.
        others: name -> regressor, (n,), whose weight is a few units of log odds at most.
        hit: bool (n,).

    Raises:
        InvalidValueError: all values of `hit` are the same.
    """
    chose = np.asarray(hit, bool)
    if len(np.unique(chose)) < 2:
        raise InvalidValueError(
            "All answers are the same. Expected both kinds. Play more, or harder, trials."
        )
    columns = {"constant": np.ones(len(chose)), **evidence, **others}
    x = np.column_stack([np.asarray(one, float) for one in columns.values()])
    scale = np.maximum(np.abs(x).max(axis=0), 1e-12)
    x = x / scale
    precision = np.array([1 / (NARROW if name in others else WIDE) ** 2 for name in columns])
    point, found = np.zeros(x.shape[1]), []
    for lapse in LAPSES:
        point, loss, information = _scored(x, chose, float(lapse), precision, point)
        errors = np.sqrt(np.diag(np.linalg.inv(information)))
        found.append((loss - FEW_LAPSES * np.log1p(-lapse), point / scale, errors / scale))
    losses, weights, errors = (np.array(one) for one in zip(*found, strict=True))
    share = np.exp(losses.min() - losses) * np.gradient(LAPSES)
    return LapsingFit(tuple(columns), share / share.sum(), weights, errors)


def _scored(
    x: np.ndarray, chose: np.ndarray, lapse: float, precision: np.ndarray, start: np.ndarray
) -> tuple[np.ndarray, float, np.ndarray]:
    """Return the best weights, the loss, and the information, by Fisher's scoring."""
    sign = np.where(chose, 1.0, -1.0)

    def at(weights: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        sure = expit(x @ weights)
        p = np.clip(lapse / 2 + (1 - lapse) * sure, 1e-12, 1 - 1e-12)
        loss = -np.log(np.where(chose, p, 1 - p)).sum() + precision @ weights**2 / 2
        return float(loss), (1 - lapse) * sure * (1 - sure), p

    point = start
    loss, steep, p = at(point)
    for _ in range(60):
        slope = -x.T @ (sign * steep / np.where(chose, p, 1 - p)) + precision * point
        step = np.linalg.solve(_information(x, steep, p, precision), slope)
        size = 1.0
        while (there := at(point - size * step))[0] > loss + 1e-12 and size > 1e-4:
            size /= 2
        gained, point = loss - there[0], point - size * step
        loss, steep, p = there
        if gained < 1e-4:
            break
    return point, loss, _information(x, steep, p, precision)


def _information(
    x: np.ndarray, steep: np.ndarray, p: np.ndarray, precision: np.ndarray
) -> np.ndarray:
    return (x * (steep**2 / (p * (1 - p)))[:, None]).T @ x + np.diag(precision)
