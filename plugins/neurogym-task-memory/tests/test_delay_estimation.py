"""DelayEstimation: items, cues and the reward of reports."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_memory.delay_estimation import DelayEstimation

from neurogym_core import InvalidValueError, TaskEnv


def test_set_sizes_and_durations_are_those_of_the_paper():
    batch = DelayEstimation(dt=10).sample(300, seed=1)
    assert set(batch.conditions["set_size"]) == {1, 2, 3, 6}
    assert set(batch.period_steps["stimulus"]) == {10}
    assert set(batch.period_steps["delay"]) == {90}
    assert set(batch.period_steps["decision"]) == {200}


def test_as_many_items_as_the_set_size_are_shown_in_their_colours():
    task = DelayEstimation(units=32, memory_sd=0)
    batch = task.sample(100, seed=2)
    items = batch.shown[:, batch.period == 1][:, 0][:, task.channels["items"]].reshape(100, 8, 32)
    held = items.any(axis=2)
    np.testing.assert_array_equal(held.sum(axis=1), batch.conditions["set_size"])
    seen = task.ring.population_vector(items)
    colour = batch.conditions["colours"] * 2 * np.pi / 180
    apart = np.angle(np.exp(1j * (seen - colour)))
    assert np.abs(apart[held]).max() < 1e-3


def test_the_cue_names_a_place_that_held_an_item():
    task = DelayEstimation()
    batch = task.sample(100, seed=3)
    cue = batch.shown[:, batch.period == 3][:, 0][:, task.channels["cue"]]
    place = cue.argmax(axis=1)
    assert (cue.sum(axis=1) == 1).all()
    items = batch.shown[:, batch.period == 1][:, 0][:, task.channels["items"]].reshape(100, 8, -1)
    assert items[np.arange(100), place].any(axis=1).all()
    np.testing.assert_array_equal(
        batch.notes["wanted"], batch.conditions["colours"][np.arange(100), place]
    )


@pytest.mark.parametrize(
    ("off", "pays"), [(0, 1), (1, 1 - 2 / 180), (45, 0.5), (90, 0), (170, 1 - 20 / 180)]
)
def test_a_report_is_paid_by_its_distance_on_the_wheel_in_degrees(off, pays):
    """One step on the wheel is 2 degrees, and 170 steps ahead are 10 steps back."""
    env = TaskEnv(DelayEstimation())
    env.reset(seed=4)
    while env.period != "decision":
        env.step(0)
    report = (env.target - 1 + off) % 180 + 1
    _, reward, *_, info = env.step(report)
    assert reward == pytest.approx(pays)
    assert info["trial"]["performance"] == pytest.approx(pays)


def test_a_set_size_above_the_number_of_places_is_refused():
    with pytest.raises(InvalidValueError, match="places=8"):
        DelayEstimation(set_sizes=(9,))


def test_colours_are_shown_as_precisely_as_people_remember_one():
    """The SD of 27,000 errors is 13.9 degrees; five SEs of it are 0.3."""
    task = DelayEstimation(units=32)
    batch = task.sample(9000, seed=5)
    shown = batch.shown[:, batch.period == 1][:, 0][:, task.channels["items"]]
    items = shown.reshape(9000, 8, 32)
    held = items.any(axis=2)
    colour = np.deg2rad(2 * batch.conditions["colours"])
    off = np.rad2deg(np.angle(np.exp(1j * (task.ring.population_vector(items) - colour))))[held]
    assert off.std() == pytest.approx(13.9, abs=0.3)
    assert off.mean() == pytest.approx(0, abs=5 * 13.9 / np.sqrt(len(off)))
    assert (1 - np.abs(off) / 180).mean() == pytest.approx(0.938, abs=0.0015)
    # The report is scored against the colour itself.
    cued = batch.conditions["order"][:, 0]
    np.testing.assert_array_equal(
        batch.notes["wanted"], batch.conditions["colours"][np.arange(9000), cued]
    )


def test_a_negative_imprecision_is_refused():
    with pytest.raises(InvalidValueError, match="at least 0"):
        DelayEstimation(memory_sd=-1)
