"""Serial recall of letters: lists in their order, and the errors of a blurred memory."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from neurogym_task_cognition.observers import BlurredOrder, Order
from neurogym_task_cognition.serial_recall import SerialRecall

from neurogym_core import InvalidValueError, run


@cache
def played(blur, trials=1000):
    return run(SerialRecall(), BlurredOrder(blur), trials, num_envs=100, seed=1)


def reports(record):
    """Index of the letter of each report, (n, 9), -1 where none was asked."""
    return np.stack([record.codes(f"report_{k + 1}.choice") for k in range(9)], axis=1)


def test_letters_come_one_per_second_and_none_twice():
    task = SerialRecall()
    batch = task.sample(1, seed=1, size=6)
    seen = batch.render(None)[:, task.channels["letter"]]
    shown = seen[[5 + 10 * k for k in range(6)]].argmax(axis=1)
    np.testing.assert_array_equal(shown, batch.conditions["letters"][0, :6])
    assert len(set(shown)) == 6
    assert seen.sum() == 6 * 5


def test_reports_are_judged_in_the_order_of_the_list_and_a_perfect_memory_earns_1():
    record = run(SerialRecall(), Order(), 200, num_envs=20, seed=1)
    assert (record["performance"] == 1).all()
    for reported, letters, size in zip(
        reports(record), record["letters"], record["size"], strict=True
    ):
        np.testing.assert_array_equal(reported[:size], letters[:size])
        assert (reported[size:] == -1).all()


def test_letters_occur_at_all_places_alike():
    """3,000 lists: limits are 5 SEs."""
    letters = SerialRecall().sample(3000, seed=3).conditions["letters"][:, :9]
    for letter in range(26):
        np.testing.assert_allclose((letters == letter).mean(axis=0), 1 / 26, atol=0.018)


def test_the_right_letters_in_any_order_earn_what_the_page_says():
    """1,000 trials, 4 SEs: of n letters 1 is in its place on average."""
    assert played(1e3)["performance"].mean() == pytest.approx(0.23, abs=0.035)


def test_reporting_at_random_earns_1_of_26():
    """1,000 trials, 4 SEs."""
    record = run(SerialRecall(), "guess", 1000, num_envs=100, seed=1)
    assert record["performance"].mean() == pytest.approx(1 / 26, abs=0.02)


def test_a_blurred_memory_errs_in_the_middle_and_confuses_neighbours():
    """About 125 lists of nine letters: 4 SEs of a share of three places are 0.11."""
    record = played(1.0)
    nine = record["size"] == 9
    reported, letters = reports(record)[nine], record["letters"][nine][:, :9]
    right = (reported == letters).mean(axis=0)
    assert (right[0] + right[-1]) / 2 > right[3:6].mean() + 0.11
    place = (reported[:, :, None] == letters[:, None, :]).argmax(axis=2)
    off = np.abs(place - np.arange(9))[reported != letters]
    assert (off == 1).mean() > 0.65


@pytest.mark.parametrize("sizes", [(), (0,), (27,)])
def test_impossible_lengths_are_refused(sizes):
    with pytest.raises(InvalidValueError, match="SerialRecall"):
        SerialRecall(sizes=sizes)
