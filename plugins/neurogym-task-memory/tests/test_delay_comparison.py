"""DelayComparison: pairs, coding, and the rule."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_memory.delay_comparison import DelayComparison

from neurogym_core.errors import InvalidValueError

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
