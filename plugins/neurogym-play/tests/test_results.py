"""The report at the end of a page, made in Node."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from replaying import KERNEL, node

RESULTS = KERNEL.with_name("results.js")
STAGE = Path(__file__).with_name("report.mjs")


def reported(rows: list[dict[str, Any]], slots: tuple[str, ...] = ("answer",), **more: Any) -> Any:
    """Return the texts of the report of some trials."""
    slots_ = [{"name": name} for name in slots]
    trials = {"slots": slots_, "names": {}, "conditions": ["side"], "dt": 10, "evidence": None}
    given = {"results": str(RESULTS), "trials": trials, "rows": rows, "waits": False, **more}
    done = subprocess.run(
        [node(), str(STAGE)], input=json.dumps(given), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def played(times: list[float], **more: Any) -> list[dict[str, Any]]:
    """Rows of correct trials with these reaction times, ms; -1: none."""
    some = {"outcome": "correct", "reward": 1, "performance": 1, **more}
    return [{**some, "trial": k, "reaction_time": time} for k, time in enumerate(times)]


@pytest.mark.parametrize(
    "times", [[180, 160], [300, 160, 100, 180], [100, 200, 160], [50], [-1, 180, 160, -1]]
)
def test_the_median_reaction_time_is_that_of_numpy(times: list[float]) -> None:
    median = f"{np.median([one for one in times if one >= 0]):g} ms"
    said = next(one for one in reported(played(times)) if one.startswith("Median"))
    assert said.startswith(f"Median reaction time {median}, on")


def test_medians_of_conditions_and_of_answers_are_those_of_their_trials() -> None:
    rows = played([100, 160, 180, 900], side="left") + played([50, 60, 90, 100], side="right")
    said = reported(rows)
    table = said[said.index("By side") :]
    assert table[5:13] == ["left", "4", "100 %", "170 ms", "right", "4", "100 %", "75 ms"]
    two = {"side": "left", "first.outcome": "correct", "second.outcome": "error"}
    rows = [
        {**row, "first.reaction_time": time, "second.reaction_time": 2 * time}
        for row, time in zip(played([0, 0], **two), (160, 180), strict=True)
    ]
    said = reported(rows, ("first", "second"))
    table = said[said.index("By answer") :]
    assert table[6:16] == ["first", "2", "0", "0", "170 ms", "second", "0", "2", "0", "340 ms"]


CROSS = {"draw": "cross", "channel": "fixation"}
DOTS = {"draw": "dots", "channel": "stimulus"}
TWO = [["ideal (observer)", 0.87], ["chance", 0.5]]


@pytest.mark.parametrize(
    ("stimuli", "noiseless", "others", "is_said"),
    [
        ([CROSS, DOTS], ["stimulus"], TWO, True),
        ([CROSS, DOTS], ["fixation", "stimulus"], TWO, True),
        ([CROSS, {**DOTS, "channel": "x", "colour_by": "stimulus"}], ["stimulus"], TWO, True),
        ([CROSS, DOTS], ["stimulus"], [["GRU", 0.8]], True),
        ([CROSS, DOTS], ["fixation"], TWO, False),  # the cross is no evidence
        ([CROSS, DOTS], [], TWO, False),
        ([CROSS, DOTS], ["stimulus"], [["chance", 0.5]], False),
        ([CROSS, DOTS], ["stimulus"], [], False),
        (None, [], TWO, False),  # lamps have the noise
    ],
)
def test_results_beside_those_with_noise_say_that_the_person_saw_none(
    stimuli: Any, noiseless: list[str], others: Any, is_said: bool
) -> None:
    view = stimuli and {"stimuli": stimuli, "noiseless": noiseless, "modules": []}
    beside = {"performance": others, "curves": [], "missing": [], "note": ""}
    said = reported(played([100]), view=view, beside=beside)
    note = "You saw the stimuli without the noise of the network's inputs, so that you can be"
    assert any(one.startswith(note) for one in said) is is_said
