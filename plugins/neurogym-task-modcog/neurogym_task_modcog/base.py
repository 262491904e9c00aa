"""Common parts of the 82 tasks: inputs, the two operators, and scoring."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from neurogym_core import Choice, InvalidValueError, OneHot, Ring, Task, TrialBuilder
from neurogym_task_modcog.rule import NAMES

UNITS, HALF = 16, 8
STEP = 100
"""Time in which the answer turns by one unit, ms."""
DELAYS = tuple(range(0, 1200, STEP))
"""Delays of tasks with int, ms."""
Conditions = Mapping[str, np.ndarray] | TrialBuilder
Stimuli = list[tuple[Any, int, np.ndarray, Any]]
"""Periods, modality, unit (n,) and strength (n,) of each stimulus."""


class ModCog(Task):
    """Base of the 82 tasks.

    Args:
        sigma: SD of the noise during the stimuli, times sqrt(ms): 0.1 per step of 100 ms.
        rule_input: whether 82 input units show the rule.
    """

    dt: float = 100
    sigma: float = 1.0
    rule_input: bool = True

    rule: ClassVar[str] = ""
    """The element of `NAMES` for this class; "" for families."""
    integrate: ClassVar[int] = 0
    """Units by which the answer turns in 100 ms of the delay."""
    sequence: ClassVar[int] = 0
    """Units by which the answer turns in 100 ms of the decision."""
    before: ClassVar[tuple[str, ...]] = ()
    """Periods before the decision."""
    delay: ClassVar[Any] = 500
    """Duration of the delay where it is no condition, ms."""
    noisy: ClassVar[tuple[str, ...]] = ()
    """Periods with noise."""
    noisy_rings: ClassVar[bool] = False
    """Whether the rings alone are noisy; otherwise every input is."""

    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        if self.sequence and self.dt > STEP and self.dt % STEP:
            raise InvalidValueError(
                f"{self.name} was given dt={self.dt!r}. The answer turns every {STEP} ms: give"
                f" {STEP} ms or less, or a multiple of it."
            )
        if self.sigma < 0:
            raise InvalidValueError(
                f"{self.name} was given sigma={self.sigma!r}; give the SD of the noise times"
                " sqrt(ms), 0 or more."
            )
        self.ring = Ring(UNITS)
        rule = {"rule": OneHot(NAMES)} if self.rule_input else {}
        self.observe(fixation=1, modality_1=self.ring, modality_2=self.ring, **rule)
        self.act(fixate=1, choose=self.ring)
        self.declare()
        if self.integrate:
            self.vary(delay=Choice(DELAYS))
        self.correct_choice(self.first_unit)

    def declare(self) -> None:
        """Declare the conditions."""
        raise NotImplementedError

    def answer_of(self, conditions: Conditions) -> tuple[np.ndarray, np.ndarray]:
        """Return the answer of the base task, a unit (n,), and whether there is one, bool (n,)."""
        raise NotImplementedError

    def stimuli(self, trial: TrialBuilder) -> Stimuli:
        """Return the stimuli of the trials."""
        raise NotImplementedError

    def first_unit(self, conditions: Conditions) -> np.ndarray:
        """Return the unit that is right when the decision begins, -1 for fixating, (n,)."""
        unit, answers = self.answer_of(conditions)
        turned = self.integrate * (conditions["delay"] // STEP) if self.integrate else 0
        return np.where(answers, (unit + turned) % UNITS, -1)

    def new_trial(self, trial: TrialBuilder) -> None:
        everything = (*self.before, "decision")
        computed = {"delay": trial["delay"]} if self.integrate else {}
        trial.periods(*everything, **computed)
        trial.show("fixation", 1, during=self.before)
        if self.rule_input:
            trial.show("rule", np.arange(len(NAMES)) == NAMES.index(self.rule), during=everything)
        for channel in self.channels if self.noisy else ():
            if channel.startswith("modality") or not self.noisy_rings:
                trial.show(channel, 0, during=self.noisy, noise=self.sigma)
        for during, modality, unit, strength in self.stimuli(trial):
            bump = self.ring.bump(unit, strength=np.broadcast_to(strength, (trial.n,)))
            trial.show(f"modality_{modality}", bump, during=during)
        self.ask(trial)

    def ask(self, trial: TrialBuilder) -> None:
        """Ask for the answer, or for that of each 100 ms of the decision."""
        first = self.first_unit(trial)
        trial.record(unit=first)
        if not self.sequence:
            trial.answer("choose", first, during="decision")
            return
        turns = max(round(self.dt / STEP), 1)  # in a step, or in 100 ms
        for k in range(0, round(float(np.max(trial.duration("decision"))) / STEP), turns):
            wanted = np.where(first < 0, -1, (first + self.sequence * k) % UNITS)
            window: Any = {"start": k * STEP, "stop": (k + turns) * STEP, "slot": f"unit{k}"}
            trial.answer("choose", wanted, during="decision", then="wait", **window)


__all__ = ["DELAYS", "HALF", "STEP", "UNITS", "Conditions", "ModCog", "Stimuli"]
