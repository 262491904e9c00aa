"""Accumulation of pulses on two sides."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from neurogym_core import Choice, InvalidValueError, Task, TrialBuilder

SIDES = ("left", "right")


class PulseDecisionMaking(Task):
    """Report the side with more pulses.

    Scott, Constantinople, Erlich, Tank & Brody (2015), eLife 4:e11308, doi:10.7554/eLife.11308.

    While the subject holds still, time is divided into bins. At the onset of each bin a light may
    flash on the left, on the right, on both sides or on neither: on the rich side with the larger
    probability, on the poor side with the smaller one. When the fixation cue turns off, the subject
    reports the side with more flashes: choice 0 is left, choice 1 right. In a tie, 8 % of trials,
    the rich side is correct, which given the flashes is a fair coin. The conditions `left` and
    `right` hold 0 or 1 for every bin. Bins of 250 ms that begin with a flash of 10 ms, six of them,
    the probabilities of 0.3 and 0.7, and the 500 ms before them are the paper's.

    Every bin has noise on either side, whether there is a flash or not, at the time of the flash. A
    subject that adds all of this up is correct in 73 % of trials, and in 91 % of those in which the
    sides differ by 5 flashes; the rats were in about 70 %, and in 91 % at best. Without noise
    (``pulse_noise=0``) it is correct in 96 %, because of ties. The last bin alone gives 60 %.

    Deviations from the paper:

    - the noise of the flashes is independent, so that its SD grows with the square root of their
      number (there, it was found to grow with the number), and stands for lapses too;
    - all trials have six bins (there, 2 to 6), and there is no delay between the last bin and the
      go cue (there, 500 ms);
    - the response window of 500 ms is ours;
    - at steps longer than a pulse, a pulse lasts one step.

    Args:
        bins: number of bins.
        p_poor, p_rich: probability of a pulse in a bin on the poor and on the rich side.
        pulse: duration of a pulse, ms.
        gap: time from the end of a pulse to the next bin, ms.
        pulse_noise: SD of the noise of a bin on one side, relative to the height of a pulse.
    """

    dt: float = 10
    bins: int = 6
    p_poor: float = 0.3
    p_rich: float = 0.7
    pulse: float = 10
    gap: float = 240
    pulse_noise: float = 1.1

    timing = {"fixation": 500, "decision": 500}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        self._check()
        self.observe(fixation=1, left=1, right=1)
        self.act(fixate=1, choose=SIDES)
        self.vary(rich=Choice(SIDES), left=self._pulses("left"), right=self._pulses("right"))
        self.correct_choice(
            lambda drawn: _side_with_more(drawn["left"], drawn["right"], drawn["rich"])
        )
        self.evidence(lambda drawn: drawn["right"].sum(axis=1) - drawn["left"].sum(axis=1))

    def _check(self) -> None:
        if self.bins < 1 or self.pulse + self.gap < self.dt:
            raise InvalidValueError(
                f"PulseDecisionMaking was given bins={self.bins}, pulse={self.pulse:g},"
                f" gap={self.gap:g} and dt={self.dt:g}; give at least one bin, and bins (pulse +"
                " gap) of at least dt ms."
            )
        if not 0 <= self.p_poor <= self.p_rich <= 1:
            raise InvalidValueError(
                f"PulseDecisionMaking was given p_poor={self.p_poor:g}, p_rich={self.p_rich:g};"
                " give 0 <= p_poor <= p_rich <= 1."
            )

    def _pulses(self, side: str) -> Callable:
        """Return a sampler of the pulses of a side, 0 or 1 in every bin, (n, bins)."""

        def draw(rng: np.random.Generator, prior: Mapping[str, np.ndarray]) -> np.ndarray:
            p = np.where(prior["rich"] == side, self.p_rich, self.p_poor)
            return (rng.random((len(p), self.bins)) < p[:, None]).astype(int)

        return draw

    def new_trial(self, trial: TrialBuilder) -> None:
        each = self.pulse + self.gap
        shown = max(round(self.pulse / self.dt), 1) * self.dt
        sigma = self.pulse_noise * shown**0.5  # the mean over a pulse has an SD of pulse_noise
        trial.periods("fixation", "stimulus", "decision", stimulus=self.bins * each)
        trial.show("fixation", 1, during=("fixation", "stimulus"))
        for side in SIDES:
            pulses = trial[side]
            for k in range(self.bins):
                trial.show(
                    side,
                    pulses[:, k],
                    during="stimulus",
                    start=k * each,
                    stop=k * each + shown,
                    noise=sigma,
                )
        trial.answer(
            "choose",
            _side_with_more(trial["left"], trial["right"], trial["rich"]),
            during="decision",
        )


def _side_with_more(left: np.ndarray, right: np.ndarray, rich: np.ndarray) -> np.ndarray:
    """Index of the side with more pulses, ties to the rich side, (n,)."""
    difference = right.sum(axis=1) - left.sum(axis=1)
    return np.where(difference == 0, rich == "right", difference > 0).astype(int)
