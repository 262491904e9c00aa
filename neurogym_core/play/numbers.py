"""``info="numeric"``: infos with the same keys on every step, and numbers only.

Clients that store infos in arrays (replay buffers, TensorDicts) need both; names, missing keys and
the record of a trial cannot be stored there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core.errors import InvalidValueError
from neurogym_core.play.results import TrialResults
from neurogym_core.trials.arrays import Array

_OF_TRIALS = {
    "performance": np.float64,
    "trial_reward": np.float64,
    "outcome": np.int64,
    "choice": np.int64,
    "trial_steps": np.int64,
    "aborts": np.int64,
}
"""The infos that are 0 until a trial ends, and their types."""


def checked_form(info: str) -> str:
    """Return the form of infos.

    Raises:
        InvalidValueError: there is no such form.
    """
    if info not in ("small", "full", "numeric"):
        raise InvalidValueError(
            f"info={info!r} was given. Expected 'small', 'full' or 'numeric'. Use one of them."
        )
    return info


def numeric_info(
    n: int, target: Array, period: Array, finished: TrialResults | None = None
) -> dict[str, Array]:
    """Return the numeric infos of N envs, each (N, …).

    Args:
        n: number of envs.
        target: (N,) or (N, D), targets of the step.
        period: (N,) index of its period.
        finished: the trials that ended on it.
    """
    # An int: `SyncVectorEnv` would store a bool of NumPy as an object.
    info: dict[str, Array] = {"gt": target, "period": period.astype(np.int64)}
    info["new_trial"] = np.zeros(n, np.int64)
    info |= {name: np.zeros(n, kind) for name, kind in _OF_TRIALS.items()}
    if finished is not None:
        envs = finished.envs
        info["new_trial"][envs] = 1
        for name in _OF_TRIALS:
            info[name][envs] = getattr(finished, name.removeprefix("trial_"))
    return info


def of_one(info: dict[str, Array]) -> dict[str, Any]:
    """Return the numeric infos of the only env: numbers of NumPy, because TorchRL reads types."""
    return {name: values[0] for name, values in info.items()}
