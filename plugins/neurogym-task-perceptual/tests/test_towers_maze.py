"""The maze: movements, views and rewards of the subject."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_perceptual.observers import Navigator
from neurogym_task_perceptual.towers import LEFT, RIGHT, RUN, seen_towers
from neurogym_task_perceptual.towers_maze import TowersMaze

from neurogym_core import InvalidValueError, run
from neurogym_core.tools import find_task

IDEAL = 0.703


def walked(actions, **given):
    """Observations, name -> (steps, units), and the record of a subject that does this."""
    seen, left = [], iter(actions)

    def walk(env, observations):
        channels = env.task.channels
        seen.append({name: observations[0, units].copy() for name, units in channels.items()})
        return np.array([next(left, 0)])

    record = run(TowersMaze(**given), walk, 1, num_envs=1, seed=1)
    return {name: np.array([one[name] for one in seen]) for name in seen[0]}, record


def test_running_takes_the_subject_60_cm_per_s_along_its_view():
    seen, _ = walked([RUN] * 10)
    np.testing.assert_allclose(seen["along"][:11, 0] * 300, 6.0 * np.arange(11), atol=1e-4)
    assert not seen["aside"].any()
    seen, _ = walked([RIGHT, RIGHT, *[RUN] * 20])  # 30 degrees
    np.testing.assert_allclose(seen["view"][:3, 0] * 90, [0, 15, 30], atol=1e-4)
    np.testing.assert_allclose(seen["along"][3, 0] * 300, 6 * np.cos(np.pi / 6), atol=1e-4)
    np.testing.assert_allclose(seen["aside"][3, 0] * 5, 3.0, atol=1e-4)
    assert seen["aside"].max() == pytest.approx(1)  # the wall


def test_standing_and_turning_bring_no_further_and_the_view_is_limited():
    seen, record = walked([LEFT] * 20)
    assert not seen["along"].any()
    assert seen["view"].min() == -1
    assert record["outcome"][0] == "miss"
    assert record["steps"][0] == 150
    assert record["reward"][0] == 0


@pytest.mark.parametrize(("turn", "choice"), [(LEFT, "left"), (RIGHT, "right")])
def test_an_arm_is_chosen_beyond_the_end_of_the_stem_only(turn, choice):
    _, record = walked([RUN] * 50 + [turn] * 6 + [RUN] * 3)
    assert record["choice"][0] == choice
    assert record["steps"][0] == 59
    _, record = walked([turn] * 6 + [RUN] * 100)
    assert record["outcome"][0] == "miss"


def test_towers_are_seen_while_the_subject_is_at_their_place():
    task = TowersMaze()
    known = task.sample(1, seed=5).conditions
    towers = seen_towers(known)[0]
    imposed = {name: known[name][0] for name in known}
    seen, _ = walked([RUN] * 50, conditions=imposed)
    place = np.round(seen["along"][:50, 0] * 300, 3) // 12
    for step in range(50):
        expected = towers[int(place[step])] if place[step] < 16 else np.zeros(2)
        np.testing.assert_array_equal(seen["tower"][step], expected)
    assert towers.any()


def test_the_oracle_earns_1_and_resting_nothing():
    assert (run(TowersMaze(), "oracle", 100, num_envs=20, seed=1)["performance"] == 1).all()
    assert (run(TowersMaze(), "rest", 10, num_envs=5, seed=1)["performance"] == 0).all()


def test_the_ideal_observer_reaches_the_ideal_of_the_manifest():
    """6,000 trials: 4 SEs."""
    assert find_task("perceptual/TowersMaze-v0").ideal["value"] == IDEAL
    found = run(TowersMaze(), Navigator(), 6000, num_envs=200, seed=1)["performance"].mean()
    assert found == pytest.approx(IDEAL, abs=0.024)


@pytest.mark.parametrize(
    ("looks", "expected"),
    [("none", 0.5), ("right", 0.65), ("first", 0.63), ("last", 0.61), ("latest", 0.60)],
)
def test_parts_of_the_towers_earn_what_the_page_says(looks, expected):
    """6,000 trials: 4 SEs."""
    found = run(TowersMaze(), Navigator(looks), 6000, num_envs=200, seed=1)["performance"].mean()
    assert found == pytest.approx(expected, abs=0.026)


def test_without_noise_the_ideal_observer_is_always_right():
    record = run(TowersMaze(misplaced=0.0), Navigator(), 500, num_envs=100, seed=1)
    assert (record["performance"] == 1).all()


def test_single_env_and_vector_env_agree(same_in_both):
    same_in_both(TowersMaze())


@pytest.mark.parametrize("wrong", [{"turning": 0.0}, {"misplaced": 0.5}])
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="TowersMaze"):
        TowersMaze(**wrong)
