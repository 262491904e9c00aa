"""Mental rotation: rotations and mirror images, and times that rise with the angle."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from neurogym_task_cognition.mental_rotation import MentalRotation
from neurogym_task_cognition.observers import BestRotator, Rotator

from neurogym_core import InvalidValueError, run


@cache
def played(subject, trials=2000):
    return run(MentalRotation(), subject(), trials, num_envs=100, seed=1)


def figures(**imposed):
    task = MentalRotation()
    batch = task.sample(50, seed=1, **imposed)
    seen = batch.render(None).reshape(50, 65, -1)
    assert not seen[:, :5, 1:].any()
    return seen[:, 5, task.channels["first"]], seen[:, 64, task.channels["second"]]


@pytest.mark.parametrize("turn", [-1, 1])
def test_the_second_figure_is_the_first_one_rotated(turn):
    for angle in (0, 20, 100, 180):
        first, second = figures(mirror=0, angle=angle, turn=turn)
        np.testing.assert_allclose(second, np.roll(first, turn * angle // 20, axis=1))


@pytest.mark.parametrize("turn", [-1, 1])
def test_a_mirror_image_has_the_opposite_order(turn):
    for angle in (0, 40, 180):
        first, second = figures(mirror=1, angle=angle, turn=turn)
        mirrored = np.roll(first[:, ::-1], 1, axis=1)  # direction 0 stays
        np.testing.assert_allclose(second, np.roll(mirrored, turn * angle // 20, axis=1))


def test_both_answers_and_all_angles_are_equally_likely():
    """5 SEs of 4,000 trials."""
    drawn = MentalRotation().sample(4000, seed=3).conditions
    assert drawn["mirror"].mean() == pytest.approx(0.5, abs=0.04)
    for angle in range(0, 181, 20):
        assert (drawn["angle"] == angle).mean() == pytest.approx(0.1, abs=0.024)


def test_the_ideal_observer_earns_1_and_is_equally_fast_at_all_angles():
    record = played(BestRotator)
    assert (record["performance"] == 1).all()
    assert set(record["reaction_time"]) == {100}


def test_an_observer_that_rotates_takes_17_ms_per_degree():
    """The slope and the intercept of 2,000 trials in steps of 100 ms: 5 SEs."""
    record = played(Rotator)
    assert (record["outcome"] == "correct").all()
    slope, start = np.polyfit(record["angle"], record["reaction_time"], 1)
    assert slope == pytest.approx(17, abs=0.3)
    assert start == pytest.approx(1050, abs=50)
    assert (record["performance"] < 1).any()


def test_a_match_without_a_rotation_is_right_as_often_as_the_page_says():
    """Right are all mirror images, and one of ten of the others."""
    drawn = MentalRotation().sample(4000, seed=3).conditions
    said = np.where(drawn["angle"] == 0, drawn["mirror"], 1)
    assert (said == drawn["mirror"]).mean() == pytest.approx(0.55, abs=0.04)


def test_sums_and_single_figures_tell_nothing():
    """Both figures have the same distances; correlations of 4,000 trials: 5 SEs are 0.08."""
    task = MentalRotation()
    batch = task.sample(4000, seed=4)
    seen = batch.render(None).reshape(4000, 65, -1)[:, 10]
    first, second = seen[:, task.channels["first"]], seen[:, task.channels["second"]]
    np.testing.assert_allclose(np.sort(first, axis=1), np.sort(second, axis=1), rtol=1e-6)
    alike = (first * second).sum(axis=1)
    for unit in (*first.T, *second.T, alike):
        assert abs(np.corrcoef(unit, batch.conditions["mirror"])[0, 1]) < 0.15


def test_comparing_the_sides_of_the_larger_neighbour_earns_1_without_a_rotation():
    def side(outline):
        peak, rows = outline.argmax(axis=1), np.arange(len(outline))
        return outline[rows, (peak + 1) % 18] > outline[rows, peak - 1]

    def subject(env, observations):
        one, other = (observations[:, env.task.channels[name]] for name in ("first", "second"))
        return np.where(one.any(axis=1), 1 + (side(one) != side(other)), 0)

    assert (run(MentalRotation(), subject, 200, num_envs=20, seed=1)["performance"] == 1).all()


@pytest.mark.parametrize("wrong", [{"angles": ()}, {"angles": (30,)}, {"angles": (200,)}])
def test_impossible_angles_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="MentalRotation"):
        MentalRotation(**wrong)


def test_an_impossible_price_is_refused():
    with pytest.raises(InvalidValueError, match="price"):
        MentalRotation(price=2.0)
