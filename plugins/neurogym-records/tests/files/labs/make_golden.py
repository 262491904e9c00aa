"""Write the golden files of this folder that are not text: `python make_golden.py`.

The numbers are made up. Each file has twelve trials of two choices, in the format of its program.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.io import savemat

HERE = Path(__file__).parent
NAN = float("nan")
LEFT = [True, False, False, True, True, False, True, False, True, False, True, False]
CONTRAST = [100, 25, 12.5, 6.25, 0, 100, 25, 12.5, 6.25, 0, 100, 25]
HIT = [1, 1, 1, 0, 1, 1, None, 1, 0, 0, 1, 1]
TIMES = [0.31, 0.42, 0.5, 0.62, 0.7, 0.33, None, 0.48, 0.66, 0.71, 0.29, 0.4]


def ibl() -> pd.DataFrame:
    """Return the columns of _ibl_trials.table.pqt, which names neither subject nor session."""
    on = 5.0 * np.arange(12) + 1
    answered = np.array([one is not None for one in HIT])
    response = on + np.array([60.0 if one is None else one for one in TIMES])
    hit = np.array([one == 1 for one in HIT])
    side = np.where(LEFT, -1, 1)
    chosen = np.where(hit, side, -side)
    return pd.DataFrame(
        {
            "intervals_0": on - 0.6,
            "intervals_1": response + 1,
            "goCue_times": on + 0.001,
            "response_times": response,
            "choice": np.where(answered, -chosen, 0).astype(float),  # -1: right
            "stimOn_times": on,
            "contrastLeft": np.where(LEFT, np.array(CONTRAST) / 100, NAN),
            "contrastRight": np.where(LEFT, NAN, np.array(CONTRAST) / 100),
            "feedback_times": response + 0.01,
            "feedbackType": np.where(hit, 1.0, -1.0),
            "rewardVolume": np.where(hit, 1.5, 0.0),
            "probabilityLeft": np.repeat([0.5, 0.2], 6),
            "firstMovement_times": response - 0.1,
        }
    )


def bpod() -> dict[str, object]:
    """Return the variable that Bpod saves, with the states of its two-choice examples."""
    never = np.array([NAN, NAN])
    trials = []
    for hit, time in zip(HIT, TIMES, strict=True):
        answer = never if time is None else np.array([0.5 + time, 0.6 + time])
        trials.append(
            {
                "States": {
                    "WaitForPoke": np.array([0.0, 0.5]),
                    "WaitForResponse": np.array([0.5, 0.5 + (time or 5.0)]),
                    "Reward": answer if hit == 1 else never,
                    "Punish": answer if hit == 0 else never,
                },
                "Events": {"Port2In": 0.5},
            }
        )
    return {
        "SessionData": {
            "nTrials": 12,
            "Info": {"BpodVersion": "r2.5", "SessionDate": "01-Mar-2024"},
            "TrialTypes": np.where([*LEFT, *LEFT], 1, 2),  # drawn for more trials than are played
            "TrialStartTimestamp": 5.0 * np.arange(12),
            "TrialEndTimestamp": 5.0 * np.arange(12) + 4,
            "Custom": {"Contrast": np.array(CONTRAST)},
            "RawEvents": {"Trial": np.array(trials, dtype=object)},
        }
    }


def excel() -> pd.DataFrame:
    """Return a sheet as a person types it, with an empty row."""
    frame = pd.DataFrame(
        {
            "animal": "m1",
            "trial": np.arange(12),
            "side": np.where(LEFT, "left", "right"),
            "contrast": CONTRAST,
            "hit": [None if one is None else bool(one) for one in HIT],
            "rt (ms)": [None if one is None else 1000 * one for one in TIMES],
        }
    )
    return pd.concat([frame.iloc[:6], pd.DataFrame([{}]), frame.iloc[6:]])


if __name__ == "__main__":
    ibl().to_parquet(HERE / "_ibl_trials.table.pqt", index=False)
    savemat(HERE / "bpod.mat", bpod(), do_compression=True)
    excel().to_excel(HERE / "sheet.xlsx", index=False)
