"""`ClassicForm`: how the core makes classic envs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from neurogym_classic.batches import ClassicBatches
from neurogym_core.play.dataset import Dataset
from neurogym_core.play.env_form import BatchSource, EnvForm


class ClassicForm(EnvForm):
    """The form of `PeriodEnv`: `make` takes `trials_per_session`, and `Dataset` lays out trials."""

    name = "a classic env"
    wrapper = "TrialWrapper"
    reports_trials = True

    def make(self, cls: Any, params: Mapping[str, Any], seed: int | None) -> Any:
        """An env of the class; its own ``__init__`` need not take `trials_per_session`."""
        params = dict(params)
        trials = params.pop("trials_per_session", cls.trials_per_session)
        env = super().make(cls, params, None)
        env.trials_per_session = trials
        if seed is not None:
            env.reseed(seed)
        return env

    def batches(self, env: Any, dataset: Dataset, sequence: np.random.SeedSequence) -> BatchSource:
        """What `new_trial` lays out."""
        return ClassicBatches(env, dataset, sequence)
