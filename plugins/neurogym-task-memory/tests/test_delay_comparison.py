"""DelayComparison: pairs, coding, and the rule."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_memory.delay_comparison import DelayComparison

from neurogym_core import InvalidValueError

PAIRS = {(18, 10), (22, 14), (26, 18), (30, 22), (34, 26)}


def test_pairs_come_in_both_orders_and_the_larger_one_is_correct():
    batch = DelayComparison().sample(400, seed=1)
    first, second = batch.notes["first"], batch.notes["second"]
    assert {(max(pair), min(pair)) for pair in zip(first, second, strict=True)} == PAIRS
    assert {(a, b) for a, b in zip(first, second, strict=True)} == PAIRS | {
        (b, a) for a, b in PAIRS
    }
    right = batch.target[:, batch.period == 4][:, 0] - 1
    np.testing.assert_array_equal(right, np.where(first > second, 0, 1))


def test_frequencies_are_shown_from_a_half_to_one():
    task = DelayComparison()
    batch = task.sample(200, seed=2)
    shown = batch.shown[:, :, task.channels["stimulus"]][..., 0]
    for period, name in ((1, "first"), (3, "second")):
        wanted = 0.5 + (batch.notes[name] - 10) / 48
        np.testing.assert_allclose(shown[:, batch.period == period][:, 0], wanted, atol=1e-6)
    assert not shown[:, batch.period == 2].any()


def test_an_imposed_pair_and_order_are_shown():
    batch = DelayComparison().sample(5, seed=3, pair=(34, 26), larger="second")
    assert set(batch.notes["first"]) == {26}
    assert set(batch.notes["second"]) == {34}


def test_a_pair_of_equal_frequencies_is_refused():
    with pytest.raises(InvalidValueError, match="two different frequencies"):
        DelayComparison(pairs=((10, 10),))


def test_an_ideal_observer_compares_and_one_frequency_gives_70_percent(averages):
    """20,000 trials; five SDs are at most 1.6 % of 70 %, 0.25 % of 99.6 %: false alarms 1 in 10^6.

    One frequency determines the answer at 10, 14, 30 and 34 Hz, in 40 % of the trials."""
    for sigma, share, margin in ((1.0, 0.996, 0.0025), (2.0, 0.907, 0.0103)):
        task = DelayComparison(sigma=sigma)
        batch = task.sample(20_000, seed=4)
        first, second = (
            averages(task, batch, "stimulus", period)[:, 0] for period in ("stimulus1", "stimulus2")
        )
        right = batch.conditions["larger"] == "first"
        assert ((first > second) == right).mean() == pytest.approx(share, abs=margin)
        if sigma == 1:
            for alone in (first > 0.75, second < 0.75):
                assert (alone == right).mean() == pytest.approx(0.7, abs=0.0165)
