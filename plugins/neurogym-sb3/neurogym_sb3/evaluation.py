"""`TrialEvaluation`: test an agent every so many steps, counting trials instead of sessions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stable_baselines3.common.callbacks import BaseCallback

from neurogym_core import TrialRecord, run
from neurogym_sb3.subjects import AgentSubject


class TrialEvaluation(BaseCallback):
    """A callback for ``model.learn`` that lets the agent play test trials, in envs of their own.

    The same number of trials is played in every test, always the same ones, at the first beginning
    of a rollout after so many steps. The mean performance and the share of trials with an answer
    (outcome not "miss") go to the logger as ``trials/performance`` and ``trials/answered``.

    Args:
        task: as in `SB3VecEnv`.
        every: steps between tests, at least.
        n_trials: trials of a test.
        wrap: the wrappers that the agent is trained with.
        seed: of the test trials.
        stop: called with the record of every test; True ends training.
        params: of the task.

    Attributes:
        record: the record of the newest test.
    """

    def __init__(
        self,
        task: Any,
        every: int = 5000,
        n_trials: int = 500,
        *,
        wrap: Any = (),
        seed: int = 1000,
        stop: Callable[[TrialRecord], bool] | None = None,
        **params: Any,
    ) -> None:
        super().__init__()
        self.task, self.every, self.n_trials = task, every, n_trials
        self.wrap, self.seed, self.stop, self.params = wrap, seed, stop, params
        self.record: TrialRecord | None = None
        self._due, self._stopped = every, False

    def test(self) -> TrialRecord:
        """Play the test trials now."""
        subject = AgentSubject(self.model)
        self.record = run(
            self.task, subject, self.n_trials, seed=self.seed, wrap=self.wrap, **self.params
        )
        return self.record

    def _on_training_start(self) -> None:
        self._due = (self.num_timesteps // self.every + 1) * self.every
        self._stopped = False

    def _on_rollout_start(self) -> None:
        # Here, and not in the middle of a rollout: what is tested is what all steps so far have
        # made of it.
        if self.num_timesteps < self._due:
            return
        self._due = (self.num_timesteps // self.every + 1) * self.every
        record = self.test()
        self.logger.record("trials/performance", float(record["performance"].mean()))
        self.logger.record("trials/answered", float((record["outcome"] != "miss").mean()))
        self._stopped = self.stop is not None and bool(self.stop(record))

    def _on_step(self) -> bool:
        return not self._stopped
