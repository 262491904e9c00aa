"""Corsi's task: sequences in their order, and the errors of a blurred memory."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from neurogym_task_cognition.observers import BlurredOrder, Order
from neurogym_task_cognition.sequence_recall import SequenceRecall
from neurogym_task_cognition.serial_recall import SerialRecall

from neurogym_core import InvalidValueError, run

SIZES = range(2, 10)


@cache
def played(blur=0.5, trials=4000, **given):
    return run(SequenceRecall(**given), BlurredOrder(blur), trials, num_envs=100, seed=1)


def taps(record):
    """Index of the block of each tap, (n, 9), -1 where none was asked."""
    return np.stack([record.codes(f"tap_{k + 1}.choice") for k in range(9)], axis=1)


def test_blocks_light_up_one_per_second_for_half_of_it_and_none_twice():
    task = SequenceRecall()
    batch = task.sample(1, seed=1, size=6)
    lit = batch.render(None)[:, task.channels["block"]]
    order = batch.conditions["blocks"][0]
    assert (np.sort(order) == np.arange(9)).all()
    for step, seen in enumerate(lit):
        item, within = divmod(step - 5, 10)
        on = 0 <= item < 6 and within < 5
        np.testing.assert_array_equal(seen, np.eye(9)[order[item]] * on if on else np.zeros(9))


@pytest.mark.parametrize("backward", [False, True])
def test_the_right_order_is_that_of_the_blocks_or_the_opposite_one(backward):
    record = run(SequenceRecall(backward=backward), "oracle", 300, seed=2)
    for tapped, blocks, size in zip(taps(record), record["blocks"], record["size"], strict=True):
        wanted = blocks[:size][::-1] if backward else blocks[:size]
        np.testing.assert_array_equal(tapped[:size], wanted)
        assert (tapped[size:] == -1).all()
    assert (record["performance"] == 1).all()


def test_a_trial_ends_with_the_last_tap_and_a_missed_tap_is_followed_by_the_next():
    taken = run(SequenceRecall(sizes=(3,)), "oracle", 5, seed=1)["steps"]
    assert set(taken) == {5 + 30 + 5 + 3}
    missed = run(SequenceRecall(sizes=(3,)), "rest", 5, seed=1)
    assert set(missed["steps"]) == {5 + 30 + 5 + 60}
    assert (missed["performance"] == 0).all()


def test_performance_is_the_share_of_blocks_in_their_place():
    record = played(0.5, 500)
    blocks, size = record["blocks"], record["size"]
    hits = (taps(record) == blocks) & (np.arange(9) < size[:, None])
    np.testing.assert_allclose(record["performance"], hits.sum(axis=1) / size, atol=1e-6)
    assert record["performance"].min() < 0.5


def test_numbers_and_orders_are_equally_likely():
    """5 SEs of 4,000 trials, and of 36,000 places."""
    drawn = SequenceRecall().sample(4000, seed=3).conditions
    for size in SIZES:
        assert (drawn["size"] == size).mean() == pytest.approx(1 / 8, abs=0.027)
    for block in range(9):
        share = (drawn["blocks"] == block).mean(axis=0)
        np.testing.assert_allclose(share, 1 / 9, atol=0.025)


@pytest.mark.parametrize("backward", [False, True])
def test_a_perfect_memory_earns_1(backward):
    record = run(SequenceRecall(backward=backward), Order(), 300, num_envs=20, seed=1)
    assert (record["performance"] == 1).all()


def test_the_right_blocks_in_any_order_earn_what_the_page_says():
    """4,000 trials, 4 SEs: of n blocks 1 is in its place on average."""
    expected = np.mean([1 / size for size in SIZES])
    assert expected == pytest.approx(0.23, abs=0.005)
    assert played(1e3)["performance"].mean() == pytest.approx(expected, abs=0.017)


def test_tapping_at_random_earns_one_ninth():
    """4,000 trials: 4 SEs."""
    record = run(SequenceRecall(), "guess", 4000, num_envs=100, seed=1)
    assert record["performance"].mean() == pytest.approx(1 / 9, abs=0.011)


def test_a_blurred_memory_errs_in_the_middle_and_confuses_neighbours():
    """500 trials of nine blocks: 5 SEs of each share are 0.1 or less."""
    record = played(1.0)
    nine = record["size"] == 9
    tapped, blocks = taps(record)[nine], record["blocks"][nine]
    right = (tapped == blocks).mean(axis=0)
    assert min(right[0], right[-1]) > right[3:6].max() + 0.1
    place = (tapped[:, :, None] == blocks[:, None, :]).argmax(axis=2)  # where it lit up
    off = np.abs(place - np.arange(9))[tapped != blocks]
    assert (off == 1).mean() > 0.7


@pytest.mark.parametrize("sizes", [(), (0,), (10,)])
def test_impossible_numbers_of_blocks_are_refused(sizes):
    with pytest.raises(InvalidValueError, match="SequenceRecall"):
        SequenceRecall(sizes=sizes)


@pytest.mark.parametrize("task", [SequenceRecall, SerialRecall])
def test_sizes_that_are_no_whole_numbers_are_refused(task):
    with pytest.raises(InvalidValueError, match="whole numbers"):
        task(sizes=(2.5,))


@pytest.mark.parametrize("task", [SequenceRecall, SerialRecall])
@pytest.mark.parametrize("wrong", [{"soa": 0}, {"soa": -100}, {"soa": 150}, {"soa": 150, "dt": 80}])
def test_an_item_is_shown_for_a_step_at_least(wrong, task):
    with pytest.raises(InvalidValueError, match="two steps"):
        task(**wrong)
    assert task(soa=200).sample(2, seed=1)
