"""Change detection: one square changes or none, and shared noise limits how many are remembered."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from neurogym_task_cognition.change_detection import ChangeDetection
from neurogym_task_cognition.observers import BestDetector

from neurogym_core import InvalidValueError, run

IDEAL = 0.864
SIZES = (1, 2, 3, 4, 8, 12)


class Counts(BestDetector):
    """Compares the numbers of squares of each colour, without their places."""

    def odds(self, seen, test, gain):
        there = test.any(axis=2, keepdims=True)
        number, kinds = there.sum(axis=(1, 2)), test.shape[2]
        now = test.sum(axis=1)
        more = (seen * there).sum(axis=1) - 2 * now  # two steps of the sample
        weight = gain / number[:, None, None]
        ratios = weight * (more[:, :, None] - more[:, None, :] - 2)  # from one colour to another
        prior = np.log(np.maximum(now, 1e-9))[:, None] - np.log(number * (kinds - 1))[:, None, None]
        ratios = np.where(np.eye(kinds, dtype=bool), -np.inf, ratios + prior)
        return np.logaddexp.reduce(ratios.reshape(len(test), -1), axis=1)


@cache
def played(task, subject=BestDetector, trials=12_000):
    return run(task, subject(), trials, num_envs=100, seed=1)


def right_by_size(record):
    right = record["outcome"] == "correct"
    return [right[record["size"] == size].mean() for size in SIZES]


def test_one_square_changes_its_colour_or_none_does():
    drawn = ChangeDetection().sample(2000, seed=1).conditions
    sample, test = drawn["sample"], drawn["test"]
    np.testing.assert_array_equal(sample >= 0, test >= 0)
    np.testing.assert_array_equal((sample >= 0).sum(axis=1), drawn["size"])
    np.testing.assert_array_equal((sample != test).sum(axis=1), drawn["change"])


def test_colours_places_and_changes_are_equally_likely():
    """5 SEs of 6,000 trials, or more squares: false alarms 1 in 10**5."""
    drawn = ChangeDetection().sample(6000, seed=3).conditions
    for size in SIZES:
        rows = drawn["size"] == size
        assert rows.mean() == pytest.approx(1 / 6, abs=0.025)
        assert drawn["change"][rows].mean() == pytest.approx(0.5, abs=0.08)
    for display in (drawn["sample"], drawn["test"]):
        for colour in range(7):
            assert (display[display >= 0] == colour).mean() == pytest.approx(1 / 7, abs=0.01)
    places = (drawn["sample"] >= 0).mean(axis=0)
    np.testing.assert_allclose(places, np.mean(SIZES) / 12, atol=0.035)
    changed = (drawn["sample"] != drawn["test"])[(drawn["size"] == 12) & (drawn["change"] == 1)]
    np.testing.assert_allclose(changed.mean(axis=0), 1 / 12, atol=0.065)


def test_the_displays_are_shown_as_drawn():
    task = ChangeDetection()
    batch = task.sample(1, seed=1, size=4, change=1)
    seen = batch.render(None)[:, task.channels["display"]].reshape(-1, 12, 7)
    for step, name in ((10, "sample"), (11, "sample"), (30, "test"), (69, "test")):
        colours = np.where(seen[step].any(axis=1), seen[step].argmax(axis=1), -1)
        np.testing.assert_array_equal(colours, batch.conditions[name][0])
    assert not seen[12:30].any()


def test_the_ideal_observer_reaches_the_ideal_and_errs_more_the_more_squares_there_are():
    """4 SEs of 12,000 trials, or of 2,000: false alarms 6 in 10**5."""
    record = played(ChangeDetection())
    assert record["performance"].mean() == pytest.approx(IDEAL, abs=0.0125)
    found = right_by_size(record)
    np.testing.assert_allclose(found, [1.0, 0.985, 0.943, 0.894, 0.727, 0.634], atol=0.043)
    assert (np.diff(found) < 0.01).all()


def test_it_is_close_to_a_memory_for_three_and_a_half_squares():
    """Limits are 4 SEs of 2,000 trials, and the largest difference of the page, 0.06."""
    memory = [0.5 + min(3.5 / size, 1) / 2 for size in SIZES]
    np.testing.assert_allclose(memory, [1, 1, 1, 0.94, 0.72, 0.65], atol=0.005)
    np.testing.assert_allclose(right_by_size(played(ChangeDetection())), memory, atol=0.1)


def test_without_noise_the_number_of_squares_does_not_matter():
    assert (played(ChangeDetection(sigma=0.1), trials=1000)["performance"] == 1).all()


def test_numbers_of_squares_without_places_earn_what_the_page_says():
    """4 SEs of 12,000 trials: false alarms 6 in 10**5."""
    found = played(ChangeDetection(), Counts)["performance"].mean()
    assert found == pytest.approx(0.745, abs=0.016)


@pytest.mark.parametrize("sizes", [(), (0, 3), (13,)])
def test_impossible_numbers_of_squares_are_refused(sizes):
    with pytest.raises(InvalidValueError, match="ChangeDetection"):
        ChangeDetection(sizes=sizes)
