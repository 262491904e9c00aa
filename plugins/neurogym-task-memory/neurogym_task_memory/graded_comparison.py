"""Graded comparison of two vibrations."""

from __future__ import annotations

import numpy as np

from neurogym_core import Axis, Choice, InvalidValueError, PowerLaw, Task, TrialBuilder


class GradedComparison(Task):
    """Report by how much the frequency of two vibrations differs, as a number in Hz.

    After Romo, Brody, Hernández & Lemus (1999), Nature 399:470, doi:10.1038/20939.

    A base vibration lasts 500 ms and, after a delay of 3 s, a comparison vibration 500 ms. When the
    fixation cue turns off, the subject reports the comparison's frequency minus the base's. Its
    action is a pair of numbers: `go`, which gives the answer on the first step on which it is above
    0, and `report`, the difference in Hz. The reward falls linearly with the error, from `correct`
    to 0 at `tolerance`; larger errors are not rewarded. Performance is that reward divided by
    `correct`. Answering before the fixation cue turns off costs `abort` per 100 ms. Resting is go =
    -1.

    Base and difference are independent: the base alone says nothing about the difference, and the
    comparison alone explains 48 % of its variance. A subject that reports only which frequency is
    higher (always 5 or -5 Hz) earns half of the reward, one that reports from the comparison alone
    41 %, and always the same report at most 25 %. A frequency is shown as a number from 0
    (the lowest) to 1 (the highest), with independent noise on every step while it is applied: the
    difference between the averages of both vibrations has an SD of 2.0 Hz. An ideal observer, which
    knows the bases and the differences, earns a performance of 0.73; one that reports the
    difference of the averages 0.61.

    In DelayComparison the subject chooses between two answers, as in the experiment.

    Deviations from the paper:

    - the report is graded (there, one of two buttons: higher or lower);
    - eight differences from -8 to 8 Hz, so that there is something to grade (there, mostly 8 Hz),
      and five bases; both are ours;
    - a fixation of 500 ms is ours; the durations of vibrations and delay were not compared with the
      text of the paper (in a later one, the delay is 1 to 3 s: Salinas, Hernández, Zainos & Romo
      2000, Journal of Neuroscience 20:5503);
    - there, the monkey holds down a lever, releases it within 600 ms and presses a button; here,
      the subject reports within 600 ms.

    Args:
        bases: base frequencies, Hz, equally likely.
        differences: comparison minus base, Hz, equally likely.
        tolerance: smallest error that earns nothing, Hz.
        sigma: SD of the noise of the frequencies as they are shown, times sqrt(ms).
    """

    bases: tuple[float, ...] = (14, 18, 22, 26, 30)
    differences: tuple[float, ...] = (-8, -6, -4, -2, 2, 4, 6, 8)
    tolerance: float = 4.0
    sigma: float = 1.0  # as in DelayComparison

    timing = {"fixation": 500, "base": 500, "delay": 3000, "comparison": 500, "decision": 600}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}
    evidence_periods = ("comparison",)

    def define(self) -> None:
        self.limit = 2.0 * np.max(np.abs(self.differences))
        if min(self.limit, self.tolerance) <= 0:
            raise InvalidValueError(
                f"GradedComparison was given differences={self.differences!r} and"
                f" tolerance={self.tolerance!r}; give a difference other than 0, and a tolerance"
                " above 0 Hz."
            )
        self.observe(fixation=1, stimulus=1)
        self.act(go=Axis(-1, 1, rest=-1, trigger=0), report=Axis(-self.limit, self.limit))
        self.vary(base=Choice(self.bases), difference=Choice(self.differences))
        self.correct_choice("difference")
        self.evidence("difference")

    def new_trial(self, trial: TrialBuilder) -> None:
        before = ("fixation", "base", "delay", "comparison")
        trial.periods(*before, "decision")
        trial.show("fixation", 1, during=before)
        low = min(self.bases) + min(0, *self.differences)
        span = max(self.bases) + max(0, *self.differences) - low
        for name, hertz in (
            ("base", trial["base"]),
            ("comparison", trial["base"] + trial["difference"]),
        ):
            trial.show("stimulus", (hertz - low) / span, during=name, noise=self.sigma)
        trial.answer(
            "report",
            trial["difference"],
            during="decision",
            tolerance=self.tolerance,
            pays=PowerLaw(exponent=1, least=0, most=self.rewards["correct"]),
        )
