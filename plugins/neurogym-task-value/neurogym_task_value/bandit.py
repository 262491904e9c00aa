"""Stationary bandit."""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_uppercase

import numpy as np

from neurogym_core import Constant, Encoder, InvalidValueError, Task, TrialBuilder


class Bandit(Task):
    """Choose between arms with fixed reward probabilities.

    After the two-armed bandits of Wang, Kurth-Nelson, Kumaran, Tirumala, Soyer, Leibo, Hassabis &
    Botvinick (2018), Nat. Neurosci. 21:860, doi:10.1038/s41593-018-0147-8.

    On every trial all arms are available and the subject chooses one of them at once; nothing
    precedes the choice, so a trial is one step. The arm yields its magnitude or nothing. Payouts
    are drawn for all arms, so the record contains forgone rewards. There are no correct or wrong
    choices: performance is the expected reward of the chosen arm relative to the best arm. Guessing
    earns 0.667, and always the best arm 1: with probabilities that never change, the only thing to
    be learned is which arm that is.

    Deviations from the paper: the probabilities are the same in all sessions (there, redrawn for
    every episode: use ``conditions={"probability": …}`` of `reset` for that); no fixation before
    the choice. The default probabilities are ours.

    Args:
        probabilities: reward probability of each arm, A, B and so on; as many arms as numbers.
        magnitudes: reward of each arm when it pays, in units of reward; default 1 for all.
    """

    probabilities: tuple[float, ...] = (0.25, 0.75)
    magnitudes: tuple[float, ...] | None = None

    timing = {"choice": 100}  # ms; one step, since every action is a choice
    supervised = False
    go_cue = "offer"

    def define(self) -> None:
        self._check_probabilities()
        self.arms = len(self.probabilities)
        self.sizes = np.broadcast_to(
            1.0 if self.magnitudes is None else self.magnitudes, (self.arms,)
        )
        self.observe(offer=1)
        self.act(arm=Encoder(self.arms).named(ascii_uppercase[: self.arms]))
        self.vary(probability=Constant(tuple(self.probabilities)), payout=self._payout)
        self.evidence(lambda known: advantage(known["probability"] * self.sizes))

    def _check_probabilities(self) -> None:
        p = np.asarray(self.probabilities, float)
        if p.ndim != 1 or len(p) < 2 or not ((p >= 0) & (p <= 1)).all():
            raise InvalidValueError(
                f"Bandit was given probabilities={self.probabilities!r}; give at least two numbers"
                " from 0 to 1."
            )
        if self.magnitudes is not None and len(self.magnitudes) != len(p):
            raise InvalidValueError(
                f"Bandit was given {len(self.magnitudes)} magnitudes for {len(p)} probabilities;"
                " give one per arm."
            )

    def _payout(self, rng: np.random.Generator, prior: Mapping[str, np.ndarray]) -> np.ndarray:
        """Draw the payout of every arm, (n, arms)."""
        return (rng.random(prior["probability"].shape) < prior["probability"]) * self.sizes

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("choice")
        trial.show("offer", 1, during="choice")
        trial.offer(
            "arm", trial["payout"], worth=trial["probability"] * self.sizes, during="choice"
        )


class Nothing(Bandit):
    """Choose the arm that always pays; the other one never does.

    The smallest task that can be learned: an agent that does not solve it is broken. Guessing earns
    a performance of 0.5, always the first arm 1. Bandit with probabilities of 1 and 0; after the
    bandits of Wang et al. (2018), doi:10.1038/s41593-018-0147-8.

    Deviations from the paper: those of Bandit; rewards are deterministic.

    Args: as in Bandit.
    """

    probabilities: tuple[float, ...] = (1.0, 0.0)


def advantage(worth: np.ndarray) -> np.ndarray:
    """Return the worth of the second of two arms minus that of the first, (n,).

    Of more arms, (n, arms), it is the worth of the best minus that of the next best.
    """
    if worth.shape[1] == 2:
        return worth[:, 1] - worth[:, 0]
    ranked = np.sort(worth, axis=1)
    return ranked[:, -1] - ranked[:, -2]
