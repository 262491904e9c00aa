"""Recordings of laboratories in their own files, whose licence and source were read."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any

import numpy as np

from neurogym_core import InvalidValueError
from neurogym_neural.activity import Activity

SIDES = np.array(["left", "right"])
LUO_STEP = 10.0
"""Steps of the counts in the files of Luo et al., ms."""
LUO_FIELDS = (
    "index", "choice", "clicktimes", "gamma", "movementtime_s", "stereoclick_time_s",
    "stereoclick_time_step", "photostimulus_incline_on_s", "spiketrains",
)  # fmt: skip


def read_luo_2025(path: str | Path) -> Activity:
    """Return the neurons of a session of rats that judged Poisson clicks.

    The file is one of the 115 in ``data/processed_data/recordings`` of
    https://github.com/Brody-Lab/decision_dynamics_commitment, commit 532b3086, licence Apache-2.0:
    Luo, Kim, Gupta, Bondy, Kopec, Elliott, DePasquale & Brody (2025), Nature,
    doi:10.1038/s41586-025-09528-4. Get it with ``git clone``; no copy comes with this package.

    Spikes are counted in steps of 10 ms from the first click, which both sides have, until shortly
    before the rat left the port, at most for 1 s. Trials with laser light are left out, as in the
    data set ``luo-2025`` of neurogym-data, whose columns the record has: gamma, clicks of both
    sides, answer (in a tie, the side of gamma), choice, outcome, movement_time. The events are
    "stimulus", the first click, and "movement". Units have their number in the session and "area".

    Args:
        path: the .mat file.

    Raises:
        InvalidValueError: the file is no such session.
    """
    content = Path(path).read_bytes()
    neurons, trials = _luo_file(path, content)
    trials = [one for one in trials if np.isnan(one["photostimulus_incline_on_s"])]
    if not trials:
        raise InvalidValueError(
            f"{str(path)!r} has trials with laser light only. Expected some without. Read another"
            " session."
        )
    counts = [np.stack([np.atleast_1d(one) for one in trial["spiketrains"]]) for trial in trials]
    rates = np.full(
        (len(trials), max(one.shape[1] for one in counts), len(neurons)), np.nan, np.float32
    )
    for row, one in zip(rates, counts, strict=True):
        row[: one.shape[1]] = one.T
    first = np.array([(one["stereoclick_time_step"] - 1) * LUO_STEP for one in trials])
    moved = np.array([one["movementtime_s"] - one["stereoclick_time_s"] for one in trials]) * 1000
    rat = Path(path).stem.split("_")[0]
    return Activity(
        rates, {"subject": np.full(len(trials), rat), **_luo_record(trials, moved)},
        step=LUO_STEP, events={"stimulus": first, "movement": first + moved}, kind="count",
        units={
            "id": [one["neuronindex"] for one in neurons],
            "area": [str(one["brainarea"]) for one in neurons],
        },
        facts={
            "source": Path(path).name, "doi": "10.1038/s41586-025-09528-4",
            "licence": "Apache-2.0", "sha256": hashlib.sha256(content).hexdigest(),
        },
    )  # fmt: skip


def _luo_file(path: str | Path, content: bytes) -> tuple[list[Any], list[Any]]:
    """Return neurons and trials, in the order in which they were played."""
    from scipy.io import loadmat

    try:
        file = loadmat(io.BytesIO(content), simplify_cells=True)
        neurons, trials = (list(np.atleast_1d(file[name])) for name in ("neurons", "trials"))
        lacking = sorted({name for one in trials for name in LUO_FIELDS if name not in one})
    except Exception as error:  # SciPy raises many kinds
        raise _no_session(path, f"it cannot be read as one ({error})") from error
    if lacking or not neurons or not trials:
        raise _no_session(path, f"it lacks {', '.join(lacking) or 'neurons or trials'}")
    return neurons, sorted(trials, key=lambda one: one["index"])


def _no_session(path: str | Path, why: str) -> InvalidValueError:
    return InvalidValueError(
        f"{str(path)!r} is no session of Luo et al. (2025): {why}. Expected a file of"
        " data/processed_data/recordings in github.com/Brody-Lab/decision_dynamics_commitment, with"
        " neurons and trials. Give one of these, or an NWB file."
    )


def _luo_record(trials: list[Any], moved: np.ndarray) -> dict[str, np.ndarray]:
    left, right = (np.array([np.size(one["clicktimes"][side]) for one in trials]) for side in "LR")
    gamma = np.array([float(one["gamma"]) for one in trials])
    answer = SIDES[((right > left) | ((right == left) & (gamma > 0))).astype(int)]
    choice = SIDES[np.array([int(one["choice"]) for one in trials])]
    return {
        "trial": np.array([int(one["index"]) for one in trials]), "gamma": gamma,
        "left_clicks": left, "right_clicks": right, "evidence": right - left,
        "answer": answer, "choice": choice,
        "outcome": np.where(choice == answer, "correct", "error"), "movement_time": moved,
    }  # fmt: skip


__all__ = ["read_luo_2025"]
