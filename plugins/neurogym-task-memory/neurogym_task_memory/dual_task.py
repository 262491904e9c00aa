"""Two memory tasks in one trial."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, InvalidValueError, OneHot, Session, Task, TrialBuilder

RULES = ("ordinary", "reversed")


class DualTask(Task):
    """Do a go/no-go task during the delay of a paired-association task.

    Zhang, Yan, Wang, et al. (2019), eLife 8:e43191, doi:10.7554/eLife.43191 (preprint: bioRxiv
    385393).

    The outer task is that of DelayPairedAssociation: a sample odour (1 or 2), a long delay, and a
    test odour (3 or 4); the subject goes if they are paired. Within the delay one of two other
    odours is presented, and the subject goes after the "go" odour and withholds after the "nogo"
    odour. Both response windows open when the fixation cue turns off. Correct withholding is
    rewarded. After every `block` trials the rule of both tasks reverses without notice: the subject
    withholds where it went before, and vice versa.

    The answers are the slots `inner` and `outer` of the record; performance is the fraction of the
    two answers that were correct. Never going earns 0.5.

    Deviations from the paper:

    - the rule reverses after `block` trials (there, it does not: ``block=0``);
    - durations are NeuroGym's (a trial of 16.4 s, 13 s of it between the two odours), except for
      those around the inner odour, which are ours;
    - correct withholding is rewarded, and false alarms cost -1 (there, mice got water for correct
      licks only).

    Args:
        block: trials after which the rule reverses; 0: never.
    """

    dt: float = 200
    trials_per_session: int | None = 2000
    block: int = 1000

    timing = {
        "sample": 1000,
        "delay1": 3000,
        "distractor": 600,
        "delay2": 400,
        "inner_window": 400,
        "delay3": 8600,
        "test": 1000,
        "delay4": 1000,
        "outer_window": 400,
    }  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": -1.0, "miss": 0.0}
    evidence_periods = ("distractor",)

    def define(self) -> None:
        if self.block < 0:
            raise InvalidValueError(
                f"DualTask was given block={self.block}; give a number of trials, or 0 for no"
                " reversals."
            )
        self.pair, self.distractor = OneHot(4), OneHot(2)
        self.observe(
            fixation=1,
            odour=self.pair.named("1234"),
            distractor=self.distractor.named(("nogo", "go")),
        )
        self.act(fixate=1, go=1)
        self.vary(
            rule=Choice(RULES),
            first=Choice((1, 2)),
            distractor=Choice(("nogo", "go")),
            second=Choice((3, 4)),
        )
        self.correct_choice(_right_inner)

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        block = session.trial // self.block if self.block else np.zeros(len(session), int)
        return self.draw_conditions(rng, len(session), {"rule": np.take(RULES, block % 2)})

    def new_trial(self, trial: TrialBuilder) -> None:
        inner = ("sample", "delay1", "distractor", "delay2")
        outer = ("delay3", "test", "delay4")
        trial.periods(*inner, "inner_window", *outer, "outer_window")
        trial.show("fixation", 1, during=(*inner, *outer))
        trial.show("odour", self.pair.encode(trial["first"] - 1), during="sample")
        trial.show("odour", self.pair.encode(trial["second"] - 1), during="test")
        trial.show(
            "distractor",
            self.distractor.encode((trial["distractor"] == "go") * 1),
            during="distractor",
        )
        trial.answer(
            "go", _right_inner(trial.conditions), during="inner_window", slot="inner", then="wait"
        )
        trial.answer("go", _right_outer(trial.conditions), during="outer_window", slot="outer")
        trial.record(reversed=trial["rule"] == "reversed")


def _right_inner(conditions: Mapping[str, np.ndarray]) -> np.ndarray:
    """0 (go) or -1 (rest), (n,)."""
    return _under_rule(conditions, conditions["distractor"] == "go")


def _right_outer(conditions: Mapping[str, np.ndarray]) -> np.ndarray:
    """0 (go) or -1 (rest), (n,): odour 1 is paired with 3, odour 2 with 4."""
    return _under_rule(conditions, conditions["second"] - conditions["first"] == 2)


def _under_rule(conditions: Mapping[str, np.ndarray], go: np.ndarray) -> np.ndarray:
    return np.where(go == (conditions["rule"] == "ordinary"), 0, -1)
