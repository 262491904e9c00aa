"""Likeness of choices, in tasks without reaction times: a model of the subject predicts animals.

The model is a logistic function of bias, strength of the evidence (linear and saturating), last
choice and last rewarded choice, with lapses. It is fitted to the subject's trials, and then
predicts the trials of an animal from that animal's history.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

if TYPE_CHECKING:
    from neurogym_study.bits import Answers

RIDGE = 1e-3
"""Weight of the squares of the parameters: a subject without errors has finite ones."""
LEVELS = 6
"""Number of classes of strength, of equally many trials, that count alike."""


class ChoiceModel:
    """Probabilities of choice 1 as a subject's trials give them.

    Args:
        answers: trials of the subject.
        scale: strength of the evidence that is called 1.
        history: whether the choice may depend on the trial before, if its order is known.
    """

    def __init__(self, answers: Answers, scale: float, *, history: bool) -> None:
        self._scale = scale
        self._history = history and answers.before is not None
        answers = answers[answers.answered]
        inputs, right = self._inputs(answers), answers.choice == 1
        start = np.zeros(inputs.shape[1] + 1)
        start[1], start[-1] = 1, -3

        def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
            slopes, lapse = parameters[:-1], expit(parameters[-1])
            sure = expit(inputs @ slopes)
            sign = np.where(right, 1, -1)
            p = np.maximum(np.where(right, 0, 1) + sign * _lapsing(lapse, sure), 1e-9)
            by_slopes = inputs.T @ ((1 - lapse) * sure * (1 - sure) * sign / p)
            by_lapse = ((0.5 - sure) * sign / p).sum() * lapse * (1 - lapse)
            gradient = np.append(2 * RIDGE * slopes - by_slopes, -by_lapse)
            return float(RIDGE * slopes @ slopes - np.log(p).sum()), gradient

        self._fitted = minimize(loss, start, jac=True, method="L-BFGS-B").x

    def predict(self, answers: Answers) -> np.ndarray:
        """Return the probability of choice 1 in each trial, (n,)."""
        return _lapsing(expit(self._fitted[-1]), expit(self._inputs(answers) @ self._fitted[:-1]))

    def _inputs(self, answers: Answers) -> np.ndarray:
        strength = answers.signed / self._scale
        columns = [np.ones(len(answers)), strength, np.tanh(strength)]
        if self._history:
            columns += list(answers.before.T)
        return np.stack(columns, axis=1)


def _lapsing(lapse: float, sure: np.ndarray) -> np.ndarray:
    return lapse / 2 + (1 - lapse) * sure


def classes_of(signed: np.ndarray) -> np.ndarray:
    """Return the class of strength of each trial, (n,) int: classes have about equally many."""
    level = np.abs(signed)
    edges = np.unique(np.quantile(level, np.linspace(0, 1, LEVELS + 1)[1:-1]))
    return np.unique(np.searchsorted(edges, level), return_inverse=True)[1]
