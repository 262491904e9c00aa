"""Two items in working memory, one of which is cued for each test."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, InvalidValueError, OneHot, Ring, Task, TrialBuilder

ITEMS = ("first", "second")
PARTS = ("cos", "sin")
TESTS = ("match", "lure", "new")
"""A test shows the cued item, the other item, or neither."""


class DualDelayMatchSample(Task):
    """Remember two items, and compare each of two tests with the item that is cued.

    Rose, LaRocque, Riggall, et al. (2016), Science 354:1136, doi:10.1126/science.aah7011.

    Two different items are shown together. After a delay a cue indicates the relevant item, then a
    test is shown, and the subject reports whether it matches that item (choice 0) or not (choice
    1). After another delay, a second cue and a second test follow; the item that was not cued first
    may now be relevant. The fixation cue is off during a test, when the subject answers; the second
    answer ends the trial, the first does not. Items are directions, coded as cosine and sine, with
    independent noise on every step while they are shown. Tests have a separate channel: where a
    test appears says nothing about the cue.

    Half of the tests show the cued item ("match"). Of the others, a fraction `p_lure` shows the
    item that is *not* cued ("lure"), and the rest another direction ("new"). The cue and both items
    are needed: a subject that ignores the cue, and calls every test a match that equals one of the
    items, answers 75 % of the tests correctly; one that remembers only one item 87.5 % (a
    classifier that leaves out `first`: 78 %, one that leaves out a cue: 76 %). The noise of the
    default is far below the difference between two directions: an ideal observer answers 100 %
    correctly.

    The answers are the slots `test1` and `test2` of the record. Each is rewarded once; performance
    is the fraction of the two answers that were correct. Guessing, or always the same choice, earns
    a performance of 0.5.

    Deviations from the paper:

    - items are directions (there, a face, a word, or a direction of motion, usually of different
      kinds, so that the kind of a test gave away its item);
    - all durations are 500 ms, which is ours (there, delays of several seconds, for EEG and
      stimulation); so is the proportion of lures;
    - no magnetic stimulation.

    Args:
        directions: number of equally spaced directions, at least 3.
        p_lure: fraction of the tests without a match that show the item that is not cued. At 1, one
            remembered item suffices; at 0, the cue is not needed.
        second_cue: "either": both items are equally likely to be cued the second time; "other": the
            second cue is always the item that was not cued first.
        sigma: SD of the noise of items and tests, times sqrt(ms).
    """

    directions: int = 8
    p_lure: float = 0.5
    second_cue: str = "either"
    sigma: float = 1.0

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
        if self.directions < 3 or not 0 <= self.p_lure <= 1:
            raise InvalidValueError(
                f"DualDelayMatchSample was given directions={self.directions!r} and"
                f" p_lure={self.p_lure!r}; give at least 3 directions, and a fraction from 0 to 1."
            )
        self.ring, self.cues = Ring(self.directions), OneHot(len(ITEMS))
        self.observe(fixation=1, first=PARTS, second=PARTS, test=PARTS, cue=self.cues.named(ITEMS))
        self.act(fixate=1, choose=("match", "nonmatch"))
        tests = Choice(TESTS, p=(0.5, self.p_lure / 2, (1 - self.p_lure) / 2))
        self.vary(
            first=Choice(self.directions),
            second=self._another,
            cue1=Choice(ITEMS),
            cue2=Choice(ITEMS) if self.second_cue == "either" else _the_other,
            test1=tests,
            test2=tests,
            new1=self._a_third,
            new2=self._a_third,
        )
        self.correct_choice(lambda drawn: _right(drawn["test1"]))

    def _another(self, rng: np.random.Generator, prior: Mapping[str, np.ndarray]) -> np.ndarray:
        """Draw a direction that is not the first item, (n,)."""
        return (prior["first"] + rng.integers(1, self.directions, prior.n)) % self.directions

    def _a_third(self, rng: np.random.Generator, prior: Mapping[str, np.ndarray]) -> np.ndarray:
        """Draw a direction that is neither item, (n,)."""
        items = np.stack([prior["first"], prior["second"]])
        drawn = rng.integers(0, self.directions - 2, prior.n)
        # Number the directions without the two items: skip the smaller one, then the larger one.
        drawn = drawn + (drawn >= items.min(axis=0))
        return drawn + (drawn >= items.max(axis=0))

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "sample", "delay1", "cue1", "test1", "delay2", "cue2", "test2")
        trial.show("fixation", 1, during=("fixation", "sample", "delay1", "cue1", "delay2", "cue2"))
        for item in ITEMS:
            trial.show(item, self._coded(trial[item]), during="sample", noise=self.sigma)
        self._ask(trial, 1, then="wait")
        self._ask(trial, 2, then="end")

    def _ask(self, trial: TrialBuilder, k: int, then: str) -> None:
        """Show the k-th cue and its test, and open the answer slot."""
        period, cueing = f"test{k}", f"cue{k}"
        cued, test, new = (trial[f"{name}{k}"] for name in ("cue", "test", "new"))
        which = np.where(cued == "first", 0, 1)
        trial.show("cue", self.cues.encode(which), during=(cueing, period))
        relevant = np.where(which == 0, trial["first"], trial["second"])
        other = np.where(which == 0, trial["second"], trial["first"])
        shown = np.select([test == "match", test == "lure"], [relevant, other], new)
        trial.show("test", self._coded(shown), during=period, noise=self.sigma)
        trial.answer("choose", _right(test), during=period, slot=period, then=then)

    def _coded(self, direction: np.ndarray) -> np.ndarray:
        """Cosine and sine of directions, (n, 2)."""
        angle = self.ring.angle(direction)
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _the_other(rng: np.random.Generator, prior: Mapping[str, np.ndarray]) -> np.ndarray:
    return np.where(prior["cue1"] == "first", "second", "first")


def _right(test: np.ndarray) -> np.ndarray:
    """0 for a match, 1 for a non-match, (n,)."""
    return np.where(test == "match", 0, 1)
