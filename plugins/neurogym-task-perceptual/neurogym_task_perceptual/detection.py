"""Detection of a brief pulse in noise."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, Task, TrialBuilder, TruncatedExponential, Uniform


class Detection(Task):
    """Go as soon as a brief pulse appears in noise; withhold if there is none.

    After fixation the noise begins and lasts for a random time. In half of the trials a pulse is
    added to it at a random time. Going between the onset of the pulse and the end of the noise is a
    hit, not going a miss; going earlier, or in a trial without a pulse, is a false alarm; not going
    in a trial without a pulse is a correct rejection, and correct. The noise has the same variance
    with and without a pulse.

    Performance is the fraction of hits and correct rejections; a subject that always rests has
    50 %, with a reward of 0 on average, because misses cost as much as correct rejections earn.
    A pulse is 5 SDs of the noise that falls into its 100 ms. An observer that goes as soon as the
    mean of the last 100 ms exceeds the best fixed threshold is correct in 97 % of trials.

    There is no single original: a yes-no task as in Green & Swets (1966), Signal Detection Theory
    and Psychophysics (a book without a DOI). All numbers are NeuroGym's, and the noise is not
    calibrated to subjects.

    Deviations from the paper: none, because there is no original.

    The condition `moment` is the pulse's onset as a fraction of the possible range, from 0 (onset
    of the noise) to 1 (the pulse ends with the noise). `pulse_onset` in the record is in ms from
    the onset of the noise, -1 without a pulse; reaction times count from the onset of the noise.

    Args:
        strength: height of the pulse.
        pulse: duration of the pulse, ms.
        sigma: SD of the noise, times sqrt(ms).
    """

    strength: float = 0.5
    pulse: float = 100
    sigma: float = 1.0

    timing = {"fixation": 500, "stimulus": TruncatedExponential(1000, 500, 1500)}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": -1.0, "miss": -1.0}

    def define(self) -> None:
        self.observe(fixation=1, stimulus=1)
        self.act(fixate=1, go=1)
        self.vary(signal=Choice(("absent", "present")), moment=Uniform(0, 1))
        self.correct_choice(_right)

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "stimulus")
        present = trial["signal"] == "present"
        onset, shown = self._onset(trial)
        trial.show("fixation", 1, during="fixation")
        trial.show("stimulus", 0, during="stimulus", noise=self.sigma)
        trial.show(
            "stimulus",
            self.strength,
            during="stimulus",
            start=onset,
            stop=onset + shown,
            where=present,
        )
        # Resting is correct until the pulse; both windows form one answer slot.
        trial.answer("go", -1, during="stimulus", stop=onset)
        trial.answer("go", -1, during="stimulus", start=onset, where=~present)
        trial.answer("go", 0, during="stimulus", start=onset, where=present)
        trial.record(pulse_onset=np.where(present, onset, -1.0))

    def _onset(self, trial: TrialBuilder) -> tuple[np.ndarray, np.ndarray]:
        """Onset and duration of the pulse in whole steps within the noise, ms, (n,)."""
        shown = np.minimum(
            max(round(self.pulse / self.dt), 1) * self.dt, trial.duration("stimulus")
        )
        steps = np.rint((trial.duration("stimulus") - shown) / self.dt)
        return np.minimum(np.floor(trial["moment"] * (steps + 1)), steps) * self.dt, shown


def _right(conditions: Mapping[str, np.ndarray]) -> np.ndarray:
    """0 (go) where there is a pulse, -1 (rest) where there is none."""
    return np.where(conditions["signal"] == "present", 0, -1)
