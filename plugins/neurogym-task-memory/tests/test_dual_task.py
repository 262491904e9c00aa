"""DualTask: two answers, and a rule that reverses."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_memory.dual_task import DualTask

from neurogym_core import Dataset, InvalidValueError, run

SLOTS = ("inner", "outer")


def test_a_trial_lasts_as_long_as_its_model():
    batch = DualTask().sample(5, seed=1)
    assert set(batch.steps * 200) == {16_400}
    assert set(batch.period_steps["sample"] * 200) == {1000}
    onset = batch.period_steps["sample"] + batch.period_steps["delay1"]
    assert set(onset * 200) == {4000}
    assert set(batch.period_steps["distractor"] * 200) == {600}


@pytest.mark.parametrize("rule", ["ordinary", "reversed"])
def test_the_rule_decides_both_answers(rule):
    batch = DualTask().sample(100, seed=2, rule=rule)
    drawn = batch.conditions
    inner, outer = (
        batch.target[:, batch.period == batch.period_names.index(f"{name}_window")]
        for name in SLOTS
    )
    paired = (drawn["second"] - drawn["first"]) == 2
    ordinary = rule == "ordinary"
    np.testing.assert_array_equal(inner[:, 0] == 1, (drawn["distractor"] == "go") == ordinary)
    np.testing.assert_array_equal(outer[:, 0] == 1, paired == ordinary)


def test_the_rule_reverses_after_every_block():
    record = run(
        DualTask(block=7, trials_per_session=28), "oracle", n_trials=56, seed=3, num_envs=1
    )
    expected = np.tile(np.repeat(["ordinary", "reversed"], 7), 4)
    np.testing.assert_array_equal(record["rule"], expected)
    assert set(run(DualTask(block=0), "oracle", n_trials=30, seed=3)["rule"]) == {"ordinary"}


def test_streams_of_a_dataset_keep_their_blocks():
    batch = next(iter(Dataset(DualTask(block=2), 3, seq_len=82 * 6, seed=4)))
    for row in range(3):
        rules = batch.conditions["rule"][batch.row == row][:6]
        assert rules.tolist() == [
            "ordinary",
            "ordinary",
            "reversed",
            "reversed",
            "ordinary",
            "ordinary",
        ]


def test_half_of_each_answer_counts(constant):
    options = {"conditions": {"rule": "ordinary", "distractor": "go", "first": 1, "second": 4}}
    trial = constant(DualTask(), 0, 1, options=options)[0]
    assert (trial["inner.outcome"], trial["outer.outcome"]) == ("miss", "correct")
    assert (trial["performance"], trial["reward"]) == (0.5, 1)


def test_a_negative_block_is_refused():
    with pytest.raises(InvalidValueError, match="block=-1"):
        DualTask(block=-1)
