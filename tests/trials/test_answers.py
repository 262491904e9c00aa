"""Which trials were answered, hits and false alarms, and one answer given another."""

import numpy as np
import pytest

from neurogym_core import Choice, Task, TrialRecord, run

RECORD = TrialRecord(
    {
        #  hit, miss, wrong choice, rest, false alarm, abort in both, sure bet
        "choice": [0, -1, 1, -1, 0, 0, 0, 2],
        "outcome": ["correct", "miss", "error", "correct", "error", "abort", "abort", "other"],
        "rest_correct": [False, False, False, True, True, False, True, False],
    }
)


def test_a_right_rest_is_no_answer():
    assert RECORD.answered().tolist() == [True, False, True, False, True, False, False, False]


def test_a_file_without_the_column_has_answers_only():
    """Labs number choices as they like: -1 is a choice there."""
    of_lab = TrialRecord({"choice": [-1, 1, 0], "outcome": ["correct", "error", "miss"]})
    assert of_lab.answered().tolist() == [True, True, False]
    assert of_lab.detection() is None


def test_hits_are_answers_to_signals_and_aborted_trials_do_not_count():
    assert RECORD.detection() == {
        "hits": 2,
        "signals": 3,
        "false_alarms": 1,
        "noises": 2,
    }


@pytest.mark.parametrize("rest", [False, True])
def test_one_kind_of_trial_has_no_detection(rest):
    assert RECORD[RECORD["rest_correct"] == rest].detection() is None


def test_a_slot_has_a_name_unless_it_is_the_only_one():
    assert RECORD.slots == (None,)
    columns = {
        "a.choice": [0],
        "b.choice": [1],
        "duration.choice": [100.0],
        "onset.x.choice": [0.0],
    }
    assert TrialRecord(columns).slots == ("a", "b")
    assert TrialRecord({"outcome": ["correct"]}).slots == ()


def test_names_become_indices_in_their_order_and_texts_without_an_order_stay():
    record = TrialRecord(
        {"choice": ["right", "none", "left"], "side": ["b", "a", "b"], "mood": ["x", "y", "x"]},
        meta={"names": {"side": ("b", "a")}, "dt": 20},
    ).coded()
    assert record["choice"].tolist() == [1, -1, 0]
    assert record["side"].tolist() == [0, 1, 0]
    assert record["mood"].tolist() == ["x", "y", "x"]
    assert record.meta["names"] == {"side": ("b", "a"), "choice": ("left", "right")}
    assert record.meta["dt"] == 20
    assert record.coded() == record


class SeenOrNot(Task):
    """Press the side of a light in most trials; rest without one. Then say whether it was red."""

    timing = {"light": 100, "red": 100}

    def define(self):
        self.observe(light=2)
        self.act(rest=1, press=("left", "right"), colour=("red", "green"))
        self.vary(side=Choice((-1, 0, 1)), red=Choice((-1, 0)))

    def new_trial(self, trial):
        trial.periods("light", "red")
        trial.show("light", trial["side"][:, None] == [0, 1], during="light")
        trial.answer("press", trial["side"], during="light", slot="seen", then="wait")
        trial.answer("colour", trial["red"], during="red", slot="red", then="wait")


@pytest.mark.parametrize("subject", ["oracle", "rest", "guess"])
def test_records_say_where_resting_was_right(subject):
    record = run(SeenOrNot, subject, 300, seed=1)
    assert np.array_equal(record["seen.rest_correct"], record["side"] == -1)
    assert np.array_equal(record["red.rest_correct"], record["red"] == -1)
    rested = record.codes("seen.choice") == -1
    assert np.array_equal(record.answered("seen"), ~rested)


def test_only_records_in_which_resting_was_right_have_the_column():
    kinds = {
        "none": run(SeenOrNot, "guess", 20, seed=1, conditions={"side": 0, "red": 0}),
        "both": run(SeenOrNot, "guess", 20, seed=1),
    }
    assert "seen.rest_correct" not in kinds["none"]
    joined = TrialRecord.concatenate([kinds["none"], kinds["both"]])
    assert np.array_equal(joined["seen.rest_correct"], joined["side"] == -1)
    assert np.array_equal(joined["red.rest_correct"], joined["red"] == -1)


def test_the_column_survives_blocks_that_are_joined():
    """More trials than a record keeps unjoined, and of conditions that alternate."""
    record = run(
        "control/GoNogo-v0", "guess", 5000, seed=0, conditions={"stimulus": ["go", "nogo"]}
    )
    assert np.array_equal(record["rest_correct"], record["stimulus"] == "nogo")


def test_tasks_that_judge_behaviour_in_a_hook_say_nothing_about_rest():
    """There, resting at the end may be the answer: to stop at the target."""
    assert "rest_correct" not in run("motor/Reaching1D-v0", "oracle", 3, seed=0)
