"""Interval judgements under a hidden rule that switches without notice."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, Session, Task, TrialBuilder, TruncatedExponential
from neurogym_core.errors import InvalidValueError

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
    random (the condition `tie`).

    The displayed interval decides, from the end of the first flash to the onset of the second, in
    whole steps: at dt = 100 ms an interval of 850 ms lasts 900 ms and is long.

    The answers are the slots `rule` and `choose` of the record; `choose` is correct only if `rule`
    was. Performance is the fraction of the two answers that were correct.

    Deviations from the paper:

    - the assignment of intervals to sides under each rule is a convention of this task;
    - intervals, durations and the range of block lengths are NeuroGym's.

    Args:
        intervals: between the flashes, ms.
        threshold: longer intervals are long, ms.
        shortest_block, longest_block: bounds of the block length, trials, both included.
    """

    intervals: tuple[float, ...] = (530, 610, 690, 770, 850, 930, 1010, 1090, 1170)
    threshold: float = 850
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
        self.observe(fixation=1, rule_targets=RULES, flash=SIDES)
        self.act(fixate=1, rule=RULES, choose=SIDES)
        self.vary(
            rule=Choice(RULES),
            side=Choice(SIDES),
            interval=Choice(self.intervals),
            tie=Choice(("short", "long")),
            answer=self._right_side,
        )

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
        trial.periods(*before, "decision", interval=trial.interval)
        trial.show("fixation", 1, during=before)
        trial.show("rule_targets", 1, during="rule_report")
        sides = np.stack([trial.side == side for side in SIDES], axis=1)
        trial.show("flash", sides, during=("flash1", "flash2"))
        trial.answer(
            "rule",
            _index(RULES, trial.rule),
            during="rule_report",
            then="wait",
            correct=0,
            error=0,
            miss=0,
        )
        right = self._side_after(trial.duration("interval"), trial.conditions)
        trial.answer("choose", right, during="decision", needs="rule")
        trial.record(
            judged=np.where(self._is_long(trial.duration("interval"), trial.tie), "long", "short")
        )

    def _right_side(self, conditions: Mapping[str, np.ndarray]) -> np.ndarray:
        """Index of the correct side, (n,), from the interval in whole steps, as displayed."""
        shown = np.floor(np.asarray(conditions["interval"]) / self.dt + 0.5) * self.dt
        return self._side_after(shown, conditions)

    def _side_after(self, shown: np.ndarray, conditions: Mapping[str, np.ndarray]) -> np.ndarray:
        pro = self._is_long(shown, conditions["tie"]) == (conditions["rule"] == "pro_if_long")
        flashed = _index(SIDES, conditions["side"])
        return np.where(pro, flashed, 1 - flashed)

    def _is_long(self, shown: np.ndarray, tie: np.ndarray) -> np.ndarray:
        return np.where(shown == self.threshold, tie == "long", shown > self.threshold)


def _index(names: tuple[str, str], values: np.ndarray) -> np.ndarray:
    """0 for the first of two names, 1 for the other."""
    return (np.asarray(values) == names[1]).astype(int)
