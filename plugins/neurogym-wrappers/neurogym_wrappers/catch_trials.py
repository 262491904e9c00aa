"""In some trials the right answer is not paid as it usually is."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from neurogym_core.errors import InvalidValueError, unknown
from neurogym_core.tasks.building import sample_layouts
from neurogym_core.tasks.drawing import stateful
from neurogym_core.tasks.session import Session
from neurogym_core.tasks.state import Conditions, state_of
from neurogym_core.trials.builder import TrialBuilder
from neurogym_core.trials.distributions import Distribution
from neurogym_wrappers.condition_wrapper import ConditionWrapper


class CatchTrials(ConditionWrapper):
    """In a share of the trials a correct answer pays something else: nothing, say, to see what the
    subject expects.

    What is right, and what is shown, stays as it is; the record says in `catch` which trials were
    of this kind.

    Args:
        share: of the trials, above 0 and at most 1.
        pays: reward of a correct answer in these trials.
        condition: a condition of the task; with `below`, only trials with low values of it (hard
            ones) are caught.
        below: which share of the condition's values is low, above 0 and at most 1.
        start: trials at the beginning of a session that are never caught.

    Raises:
        NotSupportedError: no answer of the task is right or wrong at a fixed price.
        UnknownNameError: no such condition.
        InvalidValueError: shares that cannot be, or a condition without numbers.
    """

    share: float = 0.1
    pays: float = 0.0
    condition: str = ""
    below: float = 1.0
    start: int = 0

    def define(self) -> None:
        for name in ("share", "below"):
            value = getattr(self, name)
            if not 0 < value <= 1:
                raise InvalidValueError(
                    f"CatchTrials was given {name}={value!r}; give a share above 0, at most 1."
                )
        if not math.isfinite(self.pays) or self.start < 0:
            raise InvalidValueError(
                f"CatchTrials was given pays={self.pays!r} and start={self.start!r}; give a finite"
                " reward, and 0 trials or more."
            )
        if self.task.actions.continuous or self.task.step_action is not None:
            raise self.refusal("what its answers pay is worked out on every step")
        slots = [
            slot
            for layout in sample_layouts(self.task)
            for slot in layout.slots
            if slot.amounts is None and slot.pays is None
        ]
        if not slots:
            raise self.refusal(
                "it asks nothing that has a right answer at a fixed price (trial.answer)"
            )
        if all((slot.correct == self.pays).all() for slot in slots):
            raise InvalidValueError(
                f"CatchTrials was given pays={self.pays!r}, which is what {self.task.name} pays"
                " anyway. Give another reward."
            )
        self._cut = self._find_cut()
        self._caught = self.free_name("catch")
        self.vary(**{self._caught: self._drawn})
        state_of(self).stateful = bool(self.start) or stateful(self.task)

    def _find_cut(self) -> float:
        """The value up to which a condition counts as low."""
        if not self.condition:
            return math.inf
        if self.condition not in self.task.conditions:
            raise unknown("condition", self.condition, self.task.conditions, of=self.task.name)
        declared = self.task.conditions[self.condition]
        known = declared.support() if isinstance(declared, Distribution) else None
        values = (
            self.task.draw_conditions(np.random.default_rng(0), 1000)[self.condition]
            if known is None
            else known
        )
        if values.dtype.kind not in "biuf" or values.ndim > 1:
            raise InvalidValueError(
                f"CatchTrials was given condition={self.condition!r}, whose values are no numbers."
                " Give one with an order."
            )
        return float(np.quantile(np.asarray(values, float), self.below, method="inverted_cdf"))

    def _drawn(self, rng: np.random.Generator, prior: Mapping[str, np.ndarray]) -> np.ndarray:
        caught = rng.random(prior.n) < self.share  # type: ignore[attr-defined]
        return caught & (prior[self.condition] <= self._cut) if self.condition else caught

    def draw_constrained(
        self,
        session: Session,
        rng: np.random.Generator,
        trials: int,
        imposed: dict[str, np.ndarray],
        answer: np.ndarray | None,
    ) -> Conditions:
        drawn = self.draw_wrapped(session, rng, trials, imposed, answer)
        number = session.trial + np.arange(trials)[:, None]
        return {**drawn, self._caught: drawn[self._caught] & (number >= self.start)}

    def new_trial(self, trial: TrialBuilder) -> None:
        super().new_trial(trial)
        caught = np.atleast_1d(getattr(trial, self._caught))
        for slot in trial.layout.slots:
            if slot.amounts is None and slot.pays is None:
                slot.correct = np.where(caught, self.pays, slot.correct)
