"""Change the reward of a correct answer in some of the trials."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from neurogym_core import Distribution, InvalidValueError, Session, TrialBuilder
from neurogym_core.players import TaskView
from neurogym_core.tools import unknown
from neurogym_wrappers.condition_wrapper import ConditionWrapper


class CatchTrials(ConditionWrapper):
    """Give another reward for a correct answer in a random part of the trials.

    With no reward, for example, these trials show the subject's expectation. Stimuli and correct
    answers do not change. The column `catch` of the record is True in these trials.

    Args:
        probability: probability that a trial is a catch trial, above 0 and at most 1.
        reward: reward of a correct answer in a catch trial.
        condition: a condition of the task; with `below_quantile`, only trials with low values of it
            (the difficult trials) can be catch trials. "": all trials can.
        below_quantile: quantile of the condition's values up to which a value is low, above 0 and
            at most 1.
        warmup_trials: number of trials at the beginning of each session that are never catch
            trials, fewer than `trials_per_session`.

    Raises:
        NotSupportedError: no correct answer of the task has a fixed reward.
        UnknownNameError: a condition that the task does not have.
        InvalidValueError: a probability or quantile outside (0, 1], the reward that the task gives
            already, a condition whose values are not numbers, or a warm-up as long as a session.
    """

    probability: float = 0.1
    reward: float = 0.0
    condition: str = ""
    below_quantile: float = 1.0
    warmup_trials: int = 0

    def define(self) -> None:
        for name in ("probability", "below_quantile"):
            value = getattr(self, name)
            if not 0 < value <= 1:
                raise InvalidValueError(
                    f"CatchTrials was given {name}={value!r}; give a number above 0 and at most 1."
                )
        if not math.isfinite(self.reward) or self.warmup_trials < 0:
            raise InvalidValueError(
                f"CatchTrials was given reward={self.reward!r} and"
                f" warmup_trials={self.warmup_trials!r}; give a finite reward, and 0 trials or"
                " more."
            )
        limit = self.task.trials_per_session
        if limit is not None and self.warmup_trials >= limit:
            raise InvalidValueError(
                f"CatchTrials was given warmup_trials={self.warmup_trials!r}, and a session of"
                f" {self.task.name} has {limit} trials, so that no trial would be a catch trial."
                f" Give fewer, or make the task with trials_per_session above"
                f" {self.warmup_trials}."
            )
        if self.task.actions.continuous or self.task.step_action is not None:
            raise self.refusal("it computes the rewards of its answers on every step")
        slots = [
            slot
            for slot in TaskView(self.task).example_layout.slots
            if slot.amounts is None and slot.pays is None
        ]
        if not slots:
            raise self.refusal(
                "it has no answer slot with a correct answer and a fixed reward (trial.answer)"
            )
        if all((slot.correct == self.reward).all() for slot in slots):
            raise InvalidValueError(
                f"CatchTrials was given reward={self.reward!r}, the reward that {self.task.name}"
                " gives for a correct answer already. Give another reward."
            )
        self._cut = self._find_cut()
        self._caught = self.free_name("catch")
        self.vary(**{self._caught: self._drawn})

    @property
    def stateful(self) -> bool:
        return self.warmup_trials > 0 or TaskView(self.task).stateful

    def _find_cut(self) -> float:
        """Return the highest value of the condition that is low."""
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
                f"CatchTrials was given condition={self.condition!r}, whose values are not"
                " numbers. Give a condition with one number per trial."
            )
        return float(
            np.quantile(np.asarray(values, float), self.below_quantile, method="inverted_cdf")
        )

    def _drawn(self, rng: np.random.Generator, prior: Mapping[str, np.ndarray]) -> np.ndarray:
        caught = rng.random(prior.n) < self.probability  # type: ignore[attr-defined]
        return caught & (prior[self.condition] <= self._cut) if self.condition else caught

    def draw_constrained(
        self,
        session: Session,
        rng: np.random.Generator,
        trials: int,
        imposed: dict[str, np.ndarray],
        answer: np.ndarray | None,
    ) -> dict[str, np.ndarray]:
        drawn = self.draw_wrapped(session, rng, trials, imposed, answer)
        number = session.trial + np.arange(trials)[:, None]
        return {**drawn, self._caught: drawn[self._caught] & (number >= self.warmup_trials)}

    def new_trial(self, trial: TrialBuilder) -> None:
        super().new_trial(trial)
        caught = trial[self._caught]
        for slot in trial.layout.slots:
            if slot.amounts is None and slot.pays is None:
                slot.correct = np.where(caught, self.reward, slot.correct)
