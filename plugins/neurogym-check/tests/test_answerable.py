"""Tasks that cannot be solved are refused, each by the check of its mistake, and others are not."""

from __future__ import annotations

import pytest
from neurogym_check import check_task

MISTAKES = {
    "NoStimulus": "T011",
    "Shuffled": "T011",
    "ShuffledStrengths": "T011",
    "Sorted": "T011",
    "TooMuchNoise": "T012",
    "UnusedParameter": "T010",
    "UnusedPeriod": "T010",
    "BothSides": "T011",
    "TooLate": "T011",
    "NoCue": "T011",
    "NoInterval": "T011",
    "HiddenByAHook": "T011",
}
NEWCOMERS = {
    "Backwards": "T011",
    "Centred": "T011",
    "ScaledTwice": "T012",
    "NoTest": "T011",
    "AnotherCoin": "T011",
    "WithheldWithoutCue": "T011",
    "SwappedHalfway": "T011",
    "MaskedCue": "T011",
    "Rectified": "T011",
    "Truncated": "T011",
    "Saturated": "T011",
    "OfTheFirst": "T011",
    "Halved": "T011",
}
CODES = ["T010", "T011", "T012"]


def statuses(task, select=CODES) -> dict:
    return {result.code: result.status for result in check_task(task, select=select)}


@pytest.mark.parametrize(("name", "code"), [*MISTAKES.items(), *NEWCOMERS.items()])
def test_a_task_that_cannot_be_solved_is_refused(unanswerable, name, code):
    failed = [c for c, one in statuses(getattr(unanswerable, name)).items() if one == "failed"]
    assert failed == [code]


@pytest.mark.parametrize("name", ["Solvable", "Faint"])
def test_a_task_that_can_be_solved_is_not_accused(unanswerable, name):
    assert set(statuses(getattr(unanswerable, name)).values()) == {"passed"}


def test_two_continuous_answers_of_resting_are_the_same(unanswerable):
    [result] = check_task(unanswerable.Withheld, select=["T011"])
    assert result.status == "passed"


def test_the_finding_shows_the_two_trials(unanswerable):
    [result] = check_task(unanswerable.NoCue, select=["T011"])
    one, other = result.details["trials"]
    assert one["cue"] != other["cue"]
    assert len(set(result.details["answers"])) == 2
    assert "16 steps (1600 ms)" in result.reason


def test_trials_without_likeness_are_neither_passed_nor_refused(unanswerable):
    [result] = check_task(unanswerable.NeverRepeats, select=["T011"])
    assert result.status == "cannot tell"
    assert result.ok


SOURCE = '''
import numpy as np
from neurogym_core import Choice, Task

class Report(Task):
    """Report a side."""

    def define(self):
        self.observe(light=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2), difference=Choice({differences}))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("light", "decision", light=300, decision=200)
        value = np.eye(2)[trial["side"]] * trial["difference"][:, None]
        trial.show("light", value, during="light")
        trial.answer("choose", trial["side"], during="decision")
'''


@pytest.mark.parametrize(
    ("differences", "admits", "status"),
    [
        ("(0, 1)", "", "failed"),
        ("(0, 1)", 'difference.0 = "the lights are equal"', "passed"),
        ("(0, 1)", 'difference.1 = "the lights differ"', "failed"),
        ("(0, 1)", 'side = "a coin decides"', "passed"),
        ("(0, 1)", 'contrast = "no such condition"', "failed"),
        # Nothing can be learned across independent trials, whatever the manifest says.
        ("(0, 0)", 'side = "nothing shows it"', "failed"),
    ],
)
def test_a_manifest_admits_conditions_that_leave_the_answer_open(site, differences, admits, status):
    site.add(
        "neurogym-task-reports",
        tasks={"Report-v0": ""},
        files={"tasks.py": SOURCE.replace("{differences}", differences)},
        manifest=f"schema = 1\n{site.row('Report-v0')}\n[task.admits]\n{admits}\n",
    )
    assert statuses("reports/Report-v0", ["T011"]) == {"T011": status}


def test_a_hook_of_the_wrong_shape_is_named_once(unanswerable):
    results = check_task(unanswerable.TargetOfAnotherShape)
    failed = {result.code: result.reason for result in results if result.status == "failed"}
    assert list(failed) == ["G000"]
    assert "step_target returned" in failed["G000"]


def test_unread_parameters_and_unplayed_periods_are_found_together(tmp_path):
    source = """
from neurogym_core import Task

class Both(Task):
    timing = {"light": 300, "never": 100}
    unread: float = 1.0

    def define(self):
        self.observe(light=1)
        self.act(rest=1, press=1)

    def new_trial(self, trial):
        trial.periods("light")
        trial.show("light", 1, during="light")
        trial.answer("press", 0, during="light")
"""
    (tmp_path / "both.py").write_text(source)
    [result] = check_task(f"{tmp_path / 'both.py'}:Both", select=["T010"])
    assert "'unread'" in result.reason
    assert "'never'" in result.reason
