"""A generic choice between two stimuli, simultaneous or successive."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import (
    Choice,
    InvalidValueError,
    Task,
    TrialBuilder,
    TruncatedExponential,
    Uniform,
)

STIMULI = ("first", "second")


class TwoAlternativeChoice(Task):
    """Report which of two successive noisy stimuli is stronger.

    A configurable task of NeuroGym's without a corresponding experiment; comparing two stimuli is
    the two-alternative forced choice of Green & Swets (1966), Signal Detection Theory and
    Psychophysics (a book without a DOI).

    Two stimuli follow each other on separate channels, each followed by a delay. One has the mean m
    + c / 2, the other m - c / 2, where c is the coherence as a fraction and m varies from trial to
    trial; independent noise is added on every step. When the fixation cue turns off, the subject
    reports the stronger stimulus, the first (choice 0) or the second (choice 1), or, with
    ``go_nogo``, goes if the first was stronger and withholds otherwise. All durations are random,
    so only the cue indicates when to answer.

    Performance is the fraction of correct answers. An ideal observer answers 50, 82, 96,
    99.9 and 100 % correctly with coherences of 0, 6.4, 12.8, 25.6 and 51.2 %, 85 % in all; always
    the same choice earns 0.5. Both stimuli are needed: because the mean is roved, a subject that
    judges one of them alone answers 60 % correctly.

    Deviations from the paper: none; there is no original. Coherences, noise and durations are
    NeuroGym's, the range of the mean is ours.

    Args:
        simultaneous: both stimuli are shown in the first stimulus period; the second and its delay
            are left out.
        go_nogo: one action, and withholding instead of the second choice.
        coherences: difference of the two means, %.
        means: range of the mean of both stimuli, which is uniform. Equal bounds fix it; then one
            stimulus is enough.
        sigma: SD of the noise of the stimuli, times sqrt(ms).
    """

    simultaneous: bool = False
    go_nogo: bool = False
    coherences: tuple[float, ...] = (0, 6.4, 12.8, 25.6, 51.2)
    means: tuple[float, float] = (0.5, 1.5)
    sigma: float = 1.0

    timing = dict.fromkeys(
        ("fixation", "stimulus1", "delay1", "stimulus2", "delay2", "decision"),
        TruncatedExponential(500, 200, 800),
    )  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        if len(self.means) != 2 or not self.means[0] <= self.means[1]:
            raise InvalidValueError(
                f"{self.name} was given means={self.means!r}; give the lower and the upper bound of"
                " the mean."
            )
        self.observe(fixation=1, first=1, second=1)
        self.act(fixate=1, **({"go": 1} if self.go_nogo else {"choose": STIMULI}))
        self.vary(
            stronger=Choice(STIMULI), coherence=Choice(self.coherences), mean=Uniform(*self.means)
        )
        self.correct_choice(self._right)

    @property
    def _before(self) -> tuple[str, ...]:
        both = ("fixation", "stimulus1", "delay1", "stimulus2", "delay2")
        return both[:3] if self.simultaneous else both

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods(*self._before, "decision")
        trial.show("fixation", 1, during=self._before)
        for k, name in enumerate(STIMULI):
            sign = np.where(trial["stronger"] == name, 1, -1)
            during = "stimulus1" if self.simultaneous else f"stimulus{k + 1}"
            shown = trial["mean"] + sign * trial["coherence"] / 200
            trial.show(name, shown, during=during, noise=self.sigma)
        group = "go" if self.go_nogo else "choose"
        trial.answer(group, self._right(trial.conditions), during="decision")

    def _right(self, conditions: Mapping[str, np.ndarray]) -> np.ndarray:
        """Index of the stronger stimulus, (n,).

        With `go_nogo` it is 0 (go) for the first and -1 (rest) for the second.
        """
        return np.where(conditions["stronger"] == "first", 0, -1 if self.go_nogo else 1)


class SimultaneousTwoAlternativeChoice(TwoAlternativeChoice):
    """Report which of two simultaneous noisy stimuli is stronger.

    TwoAlternativeChoice with ``simultaneous=True``: both stimuli are compared while they are shown,
    and the subject only has to remember its decision. After Green & Swets (1966), Signal Detection
    Theory and Psychophysics (a book without a DOI). An ideal observer, and one stimulus alone, are
    as good as in TwoAlternativeChoice.

    Deviations from the paper: none; there is no original. Coherences, noise and durations are
    NeuroGym's, the range of the mean is ours.

    Args: as in TwoAlternativeChoice.
    """

    simultaneous: bool = True


class GoNogoTwoAlternativeChoice(TwoAlternativeChoice):
    """Go if the first of two noisy stimuli was stronger, withhold if the second was.

    TwoAlternativeChoice with ``go_nogo=True``. Correct withholding is rewarded, at the end of the
    response window: never going earns a performance of 0.5. After Green & Swets (1966), Signal
    Detection Theory and Psychophysics (a book without a DOI). An ideal observer, and one stimulus
    alone, are as good as in TwoAlternativeChoice.

    Deviations from the paper: none; there is no original. Coherences, noise and durations are
    NeuroGym's, the range of the mean is ours.

    Args: as in TwoAlternativeChoice.
    """

    go_nogo: bool = True
