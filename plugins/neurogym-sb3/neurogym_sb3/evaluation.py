"""`TrialEvaluation`: regular tests of an agent on a fixed number of trials."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

from neurogym_training.training import sessions_of_test
from stable_baselines3.common.callbacks import BaseCallback

from neurogym_core import TrialRecord, make, run
from neurogym_sb3.subjects import AgentSubject


class TrialEvaluation(BaseCallback):
    """A callback for ``model.learn`` that lets the agent play test trials in separate envs.

    Every test plays the same trials, at the first start of a rollout after `every` steps; where
    trials depend on earlier ones, in sessions of about 100 trials. The mean
    performance and the fraction of trials with an answer (outcome not "miss") go to the logger as
    ``trials/performance`` and ``trials/answered``.

    Args:
        task: as in `SB3VecEnv`.
        every: minimum number of steps between tests.
        n_trials: trials per test.
        wrap: the wrappers of the agent's training.
        seed: seed of the test trials.
        split: their stream, as in `neurogym_core.run`.
        conditions: conditions to impose on the test trials, as in `neurogym_core.run`.
        stop: called with the record of every test; training ends if it returns True.
        params: parameters of the task.

    Attributes:
        record: the record of the newest test; None before the first.
        began: time at which it began, of ``time.perf_counter``.
    """

    def __init__(
        self,
        task: Any,
        every: int = 5000,
        n_trials: int = 500,
        *,
        wrap: Any = (),
        seed: int = 0,
        split: str | None = "validation",
        conditions: Mapping[str, Any] | None = None,
        stop: Callable[[TrialRecord], bool] | None = None,
        **params: Any,
    ) -> None:
        super().__init__()
        self.task, self.every, self.n_trials = task, every, n_trials
        self.wrap, self.seed, self.split = wrap, seed, split
        self.stop, self.params = stop, params
        self.conditions = dict(conditions or {})
        with closing(make(task, wrap=wrap, **params)) as env:
            self._envs = sessions_of_test(env.unwrapped.task, n_trials)
        self.record: TrialRecord | None = None
        self.began = 0.0
        self._due, self._stopped = every, False

    def test(self) -> TrialRecord:
        """Play the test trials, and return their record."""
        self.began = time.perf_counter()
        subject = AgentSubject(self.model)
        # The agent does not learn while it is tested, so copies of it share the trials.
        self.record = run(
            self.task, subject, self.n_trials, num_envs=self._envs, seed=self.seed,
            split=self.split, conditions=self.conditions, wrap=self.wrap, **self.params,
        )  # fmt: skip
        return self.record

    def _on_training_start(self) -> None:
        self._due = (self.num_timesteps // self.every + 1) * self.every
        self._stopped = False

    def _on_rollout_start(self) -> None:
        # Tests between rollouts show the policy after it has learned from all steps so far.
        if self.num_timesteps < self._due:
            return
        self._due = (self.num_timesteps // self.every + 1) * self.every
        record = self.test()
        self.logger.record("trials/performance", float(record["performance"].mean()))
        self.logger.record("trials/answered", float((record["outcome"] != "miss").mean()))
        self._stopped = self.stop is not None and bool(self.stop(record))

    def _on_step(self) -> bool:
        return not self._stopped
