"""Delayed comparison of two magnitudes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, InvalidValueError, Task, TrialBuilder


class DelayComparison(Task):
    """Report which of two magnitudes, separated by a delay, was larger.

    Barak, Tsodyks & Romo (2010), J. Neurosci. 30:9424, doi:10.1523/JNEUROSCI.1875-10.2010; the
    experiment is that of Romo, Brody, Hernández & Lemus (1999), Nature 399:470, doi:10.1038/20939.

    Two vibrations are applied one after the other, separated by a delay. When the fixation cue
    turns off, the subject reports whether the first (choice 0) or the second (choice 1) had the
    higher frequency. A frequency is shown as a number from 0.5 (the lowest) to 1 (the highest),
    with independent noise on every step while it is applied. Performance is the fraction of correct
    answers.

    An ideal observer answers 99.6 % correctly (90.7 % with ``sigma=2``): the default noise hardly
    limits performance, so errors come from the subject's memory. The pairs lie on two lines, so
    that a single frequency determines the answer at the ends of the range (10, 14, 30 and 34 Hz). A
    subject without memory, which judges only the second frequency, answers 70 % correctly, as does
    one that judges only the first: a performance of 0.7 shows no memory. Always the same choice
    earns 0.5.

    Deviations from the paper:

    - the delay is 1 s (there, 3 s);
    - the five pairs are part of the set with differences of 8 Hz;
    - vibrations last 500 ms as there, but are preceded by 500 ms of fixation (there, 1.5 to 3 s
      with the key held down), and followed by 300 ms for the answer (there, 600 ms to release the
      key, and then a push-button): both are ours, and the subject need not hold down a key.

    Args:
        pairs: the two frequencies of each pair, Hz, in either order.
        sigma: SD of the noise of the frequencies, times sqrt(ms).
    """

    pairs: tuple[tuple[float, float], ...] = ((18, 10), (22, 14), (26, 18), (30, 22), (34, 26))
    sigma: float = 1.0

    timing = {
        "fixation": 500,
        "stimulus1": 500,
        "delay": 1000,
        "stimulus2": 500,
        "decision": 300,
    }  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}
    evidence_periods = ("stimulus2",)

    def define(self) -> None:
        for pair in self.pairs:
            if np.shape(pair) != (2,) or pair[0] == pair[1]:
                raise InvalidValueError(
                    f"DelayComparison was given the pair {pair!r}; give pairs of two different"
                    " frequencies in Hz."
                )
        self.observe(fixation=1, stimulus=1)
        self.act(fixate=1, choose=("first", "second"))
        self.vary(pair=Choice(self.pairs), larger=Choice(("first", "second")))
        self.correct_choice(_right)
        self.evidence(lambda known: np.ptp(known["pair"], axis=1) * (2 * _right(known) - 1))

    def new_trial(self, trial: TrialBuilder) -> None:
        before = ("fixation", "stimulus1", "delay", "stimulus2")
        trial.periods(*before, "decision")
        low, high = trial["pair"].min(axis=1), trial["pair"].max(axis=1)
        first = np.where(trial["larger"] == "first", high, low)
        second = low + high - first
        trial.show("fixation", 1, during=before)
        trial.show("stimulus", self._shown(first), during="stimulus1", noise=self.sigma)
        trial.show("stimulus", self._shown(second), during="stimulus2", noise=self.sigma)
        trial.answer("choose", _right(trial.conditions), during="decision")
        trial.record(first=first, second=second)

    def _shown(self, frequency: np.ndarray) -> np.ndarray:
        """Scale frequencies to 0.5 for the lowest of all pairs and 1 for the highest."""
        lowest, highest = np.min(self.pairs), np.max(self.pairs)
        return 0.5 + 0.5 * (frequency - lowest) / (highest - lowest)


def _right(conditions: Mapping[str, np.ndarray]) -> np.ndarray:
    """0 where the first is larger, 1 where the second is, (n,)."""
    return np.where(conditions["larger"] == "first", 0, 1)
