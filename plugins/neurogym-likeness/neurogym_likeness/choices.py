"""Likeness of choices, in tasks without reaction times: a model of the subject predicts animals.

The model of two choices is a logistic function of bias, strength of the evidence (linear and
saturating), last choice and last rewarded choice, with lapses. That of options that pay is a
softmax of biases, of paid and unpaid choices that are forgotten exponentially, and of the last
choice. A model is fitted to the subject's trials, and then predicts the trials of an animal from
that animal's history.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_softmax

if TYPE_CHECKING:
    from neurogym_likeness.bits import Answers

RIDGE = 1e-3
"""Weight of the squares of the parameters: a subject without errors has finite ones."""
KEPT = (0.0, 0.4, 0.7, 0.9)
"""Share of the memory of a choice that a trial leaves; the one that fits a subject best is used."""
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


def memories(choice: np.ndarray, paid: np.ndarray, after: np.ndarray, options: int) -> np.ndarray:
    """Return memories of each option before each trial, (n, options, 2 * len(KEPT) + 1).

    For each share of `KEPT`, the paid and the unpaid choices of the option, and in the end whether
    it was the last one.

    Args:
        choice: (n,) int, the option; -1: none.
        paid: (n,) bool.
        after: (n,) bool, whether the row before is the trial before; else nothing is remembered.
        options: number of options.
    """
    kept = np.array(KEPT)[:, None]
    found = np.zeros((len(choice), options, 2 * len(KEPT) + 1))
    now = np.zeros((2, len(KEPT), options))
    for k in range(1, len(choice)):
        if not after[k]:
            now[:] = 0
            continue
        now *= kept
        last = choice[k - 1]
        if last >= 0:
            now[0 if paid[k - 1] else 1, :, last] += 1
            found[k, last, -1] = 1
        found[k, :, :-1] = now.reshape(-1, options).T
    return found


class OptionModel:
    """Probabilities of options that pay, as a subject's trials give them.

    Args:
        answers: trials of the subject, with `memories` in `before`.
        rewards: whether the choice may depend on earlier rewards, or on earlier choices alone.
    """

    def __init__(self, answers: Answers, *, rewards: bool) -> None:
        self._rewards = rewards
        answers = answers[answers.answered]
        assert answers.before is not None
        chosen = np.eye(answers.before.shape[1])[answers.choice]
        losses = []
        for which in range(len(KEPT)):
            inputs = self._inputs(answers, which)

            def loss(slopes: np.ndarray, inputs: np.ndarray = inputs) -> tuple[float, np.ndarray]:
                logs = log_softmax(inputs @ slopes, axis=1)
                missed = np.exp(logs) - chosen
                gradient = 2 * RIDGE * slopes + np.einsum("nkf,nk->f", inputs, missed)
                return float(RIDGE * slopes @ slopes - (logs * chosen).sum()), gradient

            fit = minimize(loss, np.zeros(inputs.shape[2]), jac=True, method="L-BFGS-B")
            losses.append((fit.fun, which, fit.x))
        _, self._which, self._slopes = min(losses, key=lambda one: one[0])

    def predict(self, answers: Answers) -> np.ndarray:
        """Return the probability of each option in each trial, (n, options)."""
        return np.exp(log_softmax(self._inputs(answers, self._which) @ self._slopes, axis=1))

    def _inputs(self, answers: Answers, which: int) -> np.ndarray:
        """Return the inputs of the softmax, (n, options, f): biases, memories, the last choice."""
        assert answers.before is not None
        n, options = answers.before.shape[:2]
        paid, unpaid = (answers.before[:, :, k + which] for k in (0, len(KEPT)))
        remembered = [paid, unpaid] if self._rewards else [paid + unpaid]
        bias = np.broadcast_to(np.eye(options)[:, 1:], (n, options, options - 1))
        return np.concatenate(
            [bias, np.stack([*remembered, answers.before[:, :, -1]], axis=2)], axis=2
        )
