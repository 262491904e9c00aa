"""Poisson clicks: trials of 115 MATLAB files, one for each session, of Luo et al. (2025)."""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from common import Commit, write
from scipy.io import loadmat

NAME = "luo-2025"
FOLDER = "data/processed_data/recordings/"
COLUMNS = (
    "subject", "session", "trial", "gamma", "rate", "length", "left", "right",
    "left_clicks", "right_clicks", "evidence", "answer", "choice", "outcome", "movement_time",
)  # fmt: skip
SIDES = ("left", "right")
TOTAL = 40
"""Sum of the rates, clicks per second, in the authors' code; the trains have 40.03."""
STEP = 10
"""Steps of the task, ms."""


def rows(source: Commit) -> Iterator[dict[str, Any]]:
    """Yield the trials without laser light, by rat, date and number of the trial."""
    sessions: dict[str, int] = defaultdict(int)
    for path in source.names(FOLDER):
        rat = PurePosixPath(path).stem.split("_")[0]
        file = loadmat(
            io.BytesIO(source.read(path)), simplify_cells=True, variable_names=["trials"]
        )
        for trial in sorted(file["trials"], key=lambda one: one["index"]):
            if not np.isnan(trial["photostimulus_incline_on_s"]):
                continue
            clicks = [np.atleast_1d(trial["clicktimes"][side]) * 1000 for side in "LR"]
            left, right = map(len, clicks)
            last = round(max(clicks[0][-1], clicks[1][-1]))
            # In a tie the rewarded side was drawn, and is not in the file.
            answer = SIDES[right > left or (right == left and trial["gamma"] > 0)]
            choice = SIDES[int(trial["choice"])]
            moved = trial["movementtime_s"] - trial["stereoclick_time_s"]
            yield {
                "subject": rat,
                "session": sessions[rat],
                "trial": int(trial["index"]),
                "gamma": float(trial["gamma"]),
                "rate": round(TOTAL / (1 + np.exp(-float(trial["gamma"]))), 3),
                "length": STEP * (last // STEP + 1),
                "left": " ".join(f"{ms:.0f}" for ms in clicks[0]),
                "right": " ".join(f"{ms:.0f}" for ms in clicks[1]),
                "left_clicks": left,
                "right_clicks": right,
                "evidence": right - left,
                "answer": answer,
                "choice": choice,
                "outcome": "correct" if choice == answer else "error",
                "movement_time": round(1000 * moved, 1),
            }
        sessions[rat] += 1


if __name__ == "__main__":
    write(NAME, COLUMNS, rows(Commit(NAME)))
