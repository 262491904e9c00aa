"""`ClassicForm`: makes classic envs for the core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from neurogym_classic.batches import ClassicBatches
from neurogym_core import Dataset
from neurogym_core.players import EnvForm


class ClassicForm(EnvForm):
    """The form of `PeriodEnv`.

    `make` accepts `trials_per_session`, and `Dataset` builds batches from `new_trial`.
    """

    name = "a classic env"
    wrapper = "TrialWrapper"
    reports_trials = True

    def make(self, cls: Any, params: Mapping[str, Any], seed: int | None) -> Any:
        """Return an env of the class, whose ``__init__`` need not accept `trials_per_session`."""
        params = dict(params)
        trials = params.pop("trials_per_session", cls.trials_per_session)
        env = super().make(cls, params, None)
        env.trials_per_session = trials
        if seed is not None:
            env._seed_generator(seed)
        return env

    def batches(
        self, env: Any, dataset: Dataset, sequence: np.random.SeedSequence
    ) -> ClassicBatches:
        """Return the batches of trials that `new_trial` builds."""
        return ClassicBatches(env, dataset, sequence)
