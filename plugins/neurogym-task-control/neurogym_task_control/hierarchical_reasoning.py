"""Interval judgements under a hidden rule that switches without notice."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import (
    Choice,
    InvalidValueError,
    Session,
    Task,
    TrialBuilder,
    TruncatedExponential,
)

RULES = ("pro_if_long", "pro_if_short")
SIDES = ("left", "right")


class HierarchicalReasoning(Task):
    """Report the current rule, then apply it to the interval between two flashes.

    Sarafyazd & Jazayeri (2019), Science 364:eaav8911, doi:10.1126/science.aav8911.

    A hidden rule holds for a block of trials and then switches without notice. In every trial two
    targets appear, and the subject reports the rule that it infers. Two flashes follow on one side,
    left or right, and the subject judges whether the interval between them was longer or shorter
    than 850 ms. When the fixation cue turns off, it answers left or right. Under the rule
    "pro_if_long" the side of the flashes is correct after long intervals and the other side after
    short ones; "pro_if_short" is the reverse. The subject is rewarded once, at the end, and only if
    both answers were correct; after an unrewarded trial it has to infer whether it misjudged the
    interval or the rule has switched. An interval of exactly 850 ms counts as long or short at
    random (the condition `tie`), so that half of the intervals are long.

    Subjects measure time imprecisely: the interval from the end of the first flash to the onset of
    the second is off by a Gaussian error, drawn once per trial, whose SD is `weber` times the
    interval, while the interval itself decides. So an unrewarded trial is ambiguous, the subject of
    the paper. An observer that knows the rule, and compares the shown interval with 850 ms, answers
    90 % correctly (intervals of 770 and 930 ms: 85 and 80 %); with ``weber=0``, 94 %, because of
    the ties.

    The answers are the slots `rule` and `choose` of the record; `choose` is correct only if `rule`
    was. Choices of `rule` are those of pro_if_long (0) and pro_if_short (1), of `choose` left (0)
    and right (1). Performance is the fraction of the two answers that were correct. Guessing both
    earns 0.375, as does always the same pair of choices, and Bayes' rule over rule and age of the
    block 0.84.

    Deviations from the paper:

    - imprecise measurement is that of the display; a Weber fraction of 0.1 is about that of people
      who reproduce intervals (Jazayeri & Shadlen 2010, doi:10.1038/nn.2590);
    - the assignment of intervals to sides under each rule is a convention of this task;
    - intervals, durations and the range of block lengths are NeuroGym's, and not checked against
      the paper.

    Args:
        intervals: between the flashes, ms.
        threshold: longer intervals are long, ms.
        weber: SD of the error of the shown interval, as a fraction of the interval.
        shortest_block, longest_block: bounds of the block length, trials, both included.
    """

    intervals: tuple[float, ...] = (530, 610, 690, 770, 850, 930, 1010, 1090, 1170)
    threshold: float = 850
    weber: float = 0.1
    dt: float = 20  # ms: intervals that are 80 ms apart differ, on both sides of the threshold
    shortest_block: int = 10
    longest_block: int = 20

    timing = {
        "fixation": TruncatedExponential(600, 400, 800),
        "rule_report": 1000,
        "pause": TruncatedExponential(600, 400, 900),
        "flash1": 100,
        "flash2": 100,
        "decision": 700,
    }  # ms; the interval between the flashes is a condition
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        if not 1 <= self.shortest_block <= self.longest_block:
            raise InvalidValueError(
                f"HierarchicalReasoning was given blocks of {self.shortest_block} to"
                f" {self.longest_block} trials; give at least 1, the shorter bound first."
            )
        if not 0 <= self.weber < 0.25:
            raise InvalidValueError(
                f"HierarchicalReasoning was given weber={self.weber!r}; give a fraction from 0 to"
                " below 0.25, so that intervals stay positive."
            )
        self.observe(fixation=1, rule_targets=RULES, flash=SIDES)
        self.act(fixate=1, rule=RULES, choose=SIDES)
        self.vary(
            rule=Choice(RULES),
            side=Choice(SIDES),
            interval=Choice(self.intervals),
            tie=Choice(("short", "long")),
            misjudged=lambda rng, prior: rng.standard_normal(prior.n),
        )
        self.correct_choice(self._right_side)
        self.evidence(self._evidence)

    # ------------------------------------------------------------------ drawing trials

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.rule = rng.integers(0, len(RULES), len(session))
        session.left = self._block_lengths(session, rng)

    def _block_lengths(self, session: Session, rng: np.random.Generator) -> np.ndarray:
        return rng.integers(self.shortest_block, self.longest_block + 1, len(session))

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        over = session.left == 0
        session.rule = np.where(over, 1 - session.rule, session.rule)
        session.left = np.where(over, self._block_lengths(session, rng), session.left) - 1
        return self.draw_conditions(rng, len(session), {"rule": np.take(RULES, session.rule)})

    # ------------------------------------------------------------------ building trials

    def new_trial(self, trial: TrialBuilder) -> None:
        before = ("fixation", "rule_report", "pause", "flash1", "interval", "flash2")
        shown = trial["interval"] * (1 + self.weber * np.clip(trial["misjudged"], -4, 4))
        trial.periods(*before, "decision", interval=np.maximum(shown, self.dt))
        trial.show("fixation", 1, during=before)
        trial.show("rule_targets", 1, during="rule_report")
        sides = np.stack([trial["side"] == side for side in SIDES], axis=1)
        trial.show("flash", sides, during=("flash1", "flash2"))
        trial.answer(
            "rule",
            _index(RULES, trial["rule"]),
            during="rule_report",
            then="wait",
            correct=0,
            error=0,
            miss=0,
        )
        trial.answer("choose", self._right_side(trial.conditions), during="decision", needs="rule")
        trial.record(
            category=np.where(self._is_long(trial["interval"], trial["tie"]), "long", "short")
        )

    def _right_side(self, conditions: Mapping[str, np.ndarray]) -> np.ndarray:
        """Index of the correct side, (n,)."""
        long = self._is_long(conditions["interval"], conditions["tie"])
        pro = long == (conditions["rule"] == "pro_if_long")
        flashed = _index(SIDES, conditions["side"])
        return np.where(pro, flashed, 1 - flashed)

    def _evidence(self, conditions: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the interval's distance from the threshold, ms, (n,); positive for the right."""
        distance = np.abs(conditions["interval"] - self.threshold)
        return np.where(self._right_side(conditions) == 1, distance, -distance)

    def _is_long(self, interval: np.ndarray, tie: np.ndarray) -> np.ndarray:
        interval, tie = np.asarray(interval), np.asarray(tie)
        return np.where(interval == self.threshold, tie == "long", interval > self.threshold)


def _index(names: tuple[str, str], values: np.ndarray) -> np.ndarray:
    """0 for the first of two names, 1 for the other."""
    return (np.asarray(values) == names[1]).astype(int)
