"""Two items in working memory, one of which is cued for each test."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, OneHot, Task, TrialBuilder
from neurogym_core.errors import InvalidValueError

ITEMS = ("first", "second")
ANGLES = (0.0, np.pi / 2)
"""The two values of an item, radians."""


class DualDelayMatchSample(Task):
    """Remember two items, and compare each of two tests with the item that is cued.

    Rose, LaRocque, Riggall, et al. (2016), Science 354:1136, doi:10.1126/science.aah7011.

    Two items are shown together. After a delay a cue indicates the relevant item, then a test is
    shown, and the subject reports whether it matches that item (choice 0) or not (choice 1). After
    another delay, a second cue and a second test follow; the item that was not cued first may now
    be relevant. The fixation cue is off during a test, when the subject answers; the second answer
    ends the trial, the first does not. Items and tests are coded as the cosine and sine of an
    angle, with independent noise on every step while they are shown; a test is shown on the channel
    of the item with which it is compared.

    The answers are the slots `test1` and `test2` of the record. Each is rewarded once; performance
    is the fraction of the two answers that were correct.

    Deviations from the paper:

    - an item has one of two values (there, faces, words and directions of motion), and durations
      are NeuroGym's;
    - no magnetic stimulation.

    Args:
        second_cue: "either": both items are equally likely to be cued the second time; "other": the
            second cue is always the item that was not cued first, as in NeuroGym.
        sigma: SD of the noise of items and tests, times sqrt(ms).
    """

    second_cue: str = "either"
    sigma: float = 1.0  # as in NeuroGym

    timing = dict.fromkeys(
        ("fixation", "sample", "delay1", "cue1", "test1", "delay2", "cue2", "test2"), 500
    )  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}
    evidence_periods = ("test1",)

    def define(self) -> None:
        if self.second_cue not in ("either", "other"):
            raise InvalidValueError(
                f"DualDelayMatchSample was given second_cue={self.second_cue!r}; give 'either' or"
                " 'other'."
            )
        self.cues = OneHot(len(ITEMS))
        self.observe(fixation=1, first=2, second=2, cue=self.cues.named(ITEMS))
        self.act(fixate=1, choose=("match", "nonmatch"))
        tests = ("match", "nonmatch")
        self.vary(
            first=Choice(2),
            second=Choice(2),
            cue1=Choice(ITEMS),
            cue2=self._second_cues(),
            test1=Choice(tests),
            test2=Choice(tests),
            answer=lambda drawn: _right(drawn["test1"]),
        )

    def _second_cues(self):
        if self.second_cue == "either":
            return Choice(ITEMS)
        return _the_other

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "sample", "delay1", "cue1", "test1", "delay2", "cue2", "test2")
        trial.show("fixation", 1, during=("fixation", "sample", "delay1", "cue1", "delay2", "cue2"))
        for item in ITEMS:
            trial.show(item, _coded(getattr(trial, item)), during="sample", noise=self.sigma)
        self._ask(trial, "test1", "cue1", trial.cue1, trial.test1, then="wait")
        self._ask(trial, "test2", "cue2", trial.cue2, trial.test2, then="end")

    def _ask(
        self,
        trial: TrialBuilder,
        period: str,
        cueing: str,
        cued: np.ndarray,
        test: np.ndarray,
        then: str,
    ) -> None:
        """Show a cue and its test, and open the answer slot."""
        trial.show(
            "cue", self.cues.encode(np.where(cued == "first", 0, 1)), during=(cueing, period)
        )
        for item in ITEMS:
            sample = getattr(trial, item)
            shown = np.where(test == "match", sample, 1 - sample)
            trial.show(item, _coded(shown), during=period, where=cued == item, noise=self.sigma)
        trial.answer("choose", _right(test), during=period, slot=period, then=then)


def _coded(value: np.ndarray) -> np.ndarray:
    """Cosine and sine of the angle that 0 or 1 stands for, (n, 2)."""
    angle = np.take(ANGLES, value)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _the_other(rng: np.random.Generator, prior: Mapping[str, np.ndarray]) -> np.ndarray:
    return np.where(prior["cue1"] == "first", "second", "first")


def _right(test: np.ndarray) -> np.ndarray:
    """0 for a match, 1 for a non-match, (n,)."""
    return np.where(test == "match", 0, 1)
