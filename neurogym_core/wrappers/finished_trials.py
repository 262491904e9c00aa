"""Read the trials that ended on a step from an env's `info`, as a record. Wrappers that record or
watch trials use it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from neurogym_core.trials.record import TrialRecord


def finished_in_env(info: Mapping[str, Any]) -> TrialRecord | None:
    """The trial that ended on the last step of a single env, as a record of one row; None if no
    trial ended.
    """
    if "trial" not in info:
        return None
    if hasattr(info["trial"], "finished"):
        return info["trial"].finished.record()
    return TrialRecord({name: np.asarray(value)[None] for name, value in info["trial"].items()})


def finished_in_envs(info: Mapping[str, Any]) -> TrialRecord | None:
    """The trials that ended on the last step of a vector env, native or of Gymnasium, as a record;
    None if no trial ended.
    """
    trial = info.get("trial")
    if hasattr(trial, "finished"):
        return trial.finished.record()
    rows = [row for part in (info, info.get("final_info")) for row in _rows(part)]
    if not rows:
        return None
    names = dict.fromkeys(name for row in rows for name in row)
    missing = np.nan  # only reaction times may be absent
    return TrialRecord(
        {name: np.stack([np.asarray(row.get(name, missing)) for row in rows]) for name in names}
    )


def _rows(info: Any) -> Iterator[dict[str, Any]]:
    """What a vector env of Gymnasium's collected: for each column an array, and a mask under its
    name after "_".
    """
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
