"""Read the trials that ended on a step from `info` as a record, for wrappers that record or watch
trials.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from neurogym_core.trials.record import TrialRecord


def finished_in_env(info: Mapping[str, Any]) -> TrialRecord | None:
    """Return the trial that ended on a step of a single env, as a record of one row, or None."""
    if "trial" not in info:
        return None
    if hasattr(info["trial"], "finished"):
        return info["trial"].finished.record()
    return TrialRecord({name: np.asarray(value)[None] for name, value in info["trial"].items()})


def finished_in_envs(info: Mapping[str, Any]) -> TrialRecord | None:
    """Return the trials that ended on a step of a vector env as a record, or None.

    The env can be native, or one of Gymnasium's vector envs.
    """
    trial = info.get("trial")
    if hasattr(trial, "finished"):
        return trial.finished.record()
    rows = [row for part in (info, info.get("final_info")) for row in _rows(part)]
    if not rows:
        return None
    names = dict.fromkeys(name for row in rows for name in row)
    missing = np.nan  # only reaction times can be absent
    return TrialRecord(
        {name: np.stack([np.asarray(row.get(name, missing)) for row in rows]) for name in names}
    )


def _rows(info: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows that Gymnasium's vector envs collect: an array and a ``_`` mask per column."""
    if not isinstance(info, Mapping) or "trial" not in info:
        return
    trial = info["trial"]
    for env in np.flatnonzero(info["_trial"]).tolist():
        row = {
            name: values[env]
            for name, values in trial.items()
            if f"_{name}" in trial and trial[f"_{name}"][env]
        }
        yield {**row, "env": env}
