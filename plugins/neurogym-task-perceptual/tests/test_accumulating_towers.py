"""Towers: numbers, places, and the information in each part of them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from neurogym_task_perceptual.accumulating_towers import AccumulatingTowers
from neurogym_task_perceptual.observers import TowerCounter

from neurogym_core import InvalidValueError, run
from neurogym_core.tools import find_task

IDEAL = 0.703


@cache
def drawn():
    return AccumulatingTowers().sample(5000, seed=1).conditions


@cache
def earned(looks, misplaced=0.35, trials=10_000):
    task = AccumulatingTowers(misplaced=misplaced)
    return run(task, TowerCounter(looks), trials, num_envs=200, seed=1)["performance"].mean()


def test_numbers_have_their_means_and_are_never_equal():
    """5,000 trials: 5 SEs, and the change of the means by redrawing equal numbers."""
    left, right = (drawn()[side].sum(axis=1) for side in ("left", "right"))
    assert (left != right).all()
    assert max(left.max(), right.max()) <= 16
    more = drawn()["more"] == "right"
    rich, poor = np.where(more, right, left), np.where(more, left, right)
    assert rich.mean() == pytest.approx(7.7, abs=0.3)
    assert poor.mean() == pytest.approx(2.3, abs=0.2)
    assert more.mean() == pytest.approx(0.5, abs=0.036)
    assert (rich > poor).mean() == pytest.approx(0.97, abs=0.013)


def test_towers_are_at_all_places_alike():
    """5,000 trials: 5 SEs of each share."""
    for side in ("left", "right"):
        share = drawn()[side].mean(axis=0)
        np.testing.assert_allclose(share, share.mean(), atol=0.034)


def test_the_side_with_more_towers_is_right():
    record = run(AccumulatingTowers(), "oracle", 300, seed=2)
    surplus = record["right"].sum(axis=1) - record["left"].sum(axis=1)
    np.testing.assert_array_equal(record["surplus"], surplus)
    np.testing.assert_array_equal(record["choice"], np.where(surplus > 0, "right", "left"))


@pytest.mark.parametrize("dt", [20, 50, 100])
def test_towers_are_seen_for_200_ms_on_their_side_or_on_the_other(dt):
    task = AccumulatingTowers(dt=dt)
    batch = task.sample(20, seed=3)
    known, shown = batch.conditions, np.split(batch.render(None), np.cumsum(batch.steps)[:-1])
    for trial, seen in enumerate(shown):
        begin, each = int(batch.period_steps["start"][trial]), 200 // dt
        towers = seen[:, task.channels["tower"]][begin : begin + 16 * each].reshape(16, each, 2)
        assert (towers == towers[:, :1]).all()
        for unit, (side, other) in enumerate((("left", "right"), ("right", "left"))):
            own = known[side][trial] * ~known[f"{side}_misplaced"][trial]
            wrong = known[other][trial] * known[f"{other}_misplaced"][trial]
            np.testing.assert_array_equal(towers[:, 0, unit], own + wrong)
        assert not seen[begin + 16 * each :, task.channels["tower"]].any()


def test_the_ideal_observer_reaches_the_ideal_of_the_manifest():
    """10,000 trials: 4 SEs."""
    assert find_task("perceptual/AccumulatingTowers-v0").ideal["value"] == IDEAL
    assert earned("all") == pytest.approx(IDEAL, abs=0.018)


@pytest.mark.parametrize(
    ("looks", "misplaced", "expected"),
    [
        ("right", 0.35, 0.65),
        ("first", 0.35, 0.63),
        ("last", 0.35, 0.61),
        ("latest", 0.35, 0.60),
        ("latest", 0.0, 0.85),
        ("all", 0.0, 1.0),
    ],
)
def test_parts_of_the_towers_earn_what_the_page_says(looks, misplaced, expected):
    """10,000 trials: 4 SEs, and the rounding of the page."""
    assert earned(looks, misplaced) == pytest.approx(expected, abs=0.025)


def test_single_env_and_vector_env_agree(same_in_both):
    same_in_both(AccumulatingTowers())


@pytest.mark.parametrize(
    "wrong", [{"rich": 1.0}, {"rich": 10.0}, {"poor": 0.0}, {"misplaced": 0.5}, {"dt": 300}]
)
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="AccumulatingTowers"):
        AccumulatingTowers(**wrong)
