"""Sternberg's task: the probe is in the set or not, and only a search of the memory takes time."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from neurogym_task_cognition.observers import BestMemory, Scanner
from neurogym_task_cognition.sternberg import Sternberg

from neurogym_core import InvalidValueError, run


@cache
def played(subject, trials=3000):
    return run(Sternberg(), subject(), trials, num_envs=100, seed=1)


def slopes(record):
    """ms per digit of the set, for probes that are absent and present, in right answers."""
    right = record["outcome"] == "correct"
    rows = [right & (record.codes("present") == present) for present in (0, 1)]
    return [np.polyfit(record["size"][one], record["reaction_time"][one], 1) for one in rows]


def test_the_set_is_shown_digit_by_digit_for_1200_ms_and_the_probe_after_2_s():
    task = Sternberg()
    batch = task.sample(1, seed=1, size=3)
    seen, digits = batch.render(None), batch.conditions["digits"][0, :3]
    shown = seen[:, task.channels["digit"]]
    steps = [int(shown[:, digit].sum()) for digit in digits]
    assert steps == [30, 30, 30]
    assert shown.sum() == 90
    np.testing.assert_array_equal(shown.argmax(axis=1)[shown.any(axis=1)], np.repeat(digits, 30))
    probe = np.flatnonzero(seen[:, task.channels["probe"]].any(axis=1))
    assert probe[0] - np.flatnonzero(shown.any(axis=1))[-1] - 1 == 2000 / task.dt


def test_half_of_the_probes_are_in_the_set_whatever_its_size():
    """5 SEs of 1,000 trials each: false alarms 1 in 10**5."""
    drawn = Sternberg().sample(6000, seed=3).conditions
    inside = drawn["digits"] == drawn["probe"][:, None]
    inside &= np.arange(10) < drawn["size"][:, None]
    np.testing.assert_array_equal(inside.any(axis=1), drawn["present"] == 1)
    for size in range(1, 7):
        rows = drawn["size"] == size
        assert rows.mean() == pytest.approx(1 / 6, abs=0.025)
        assert inside[rows].any(axis=1).mean() == pytest.approx(0.5, abs=0.08)
    places = inside[(drawn["size"] == 3)].mean(axis=0)
    assert places[:3] == pytest.approx([1 / 6] * 3, abs=0.06)


def test_no_digit_occurs_twice_in_a_set():
    digits = Sternberg().sample(200, seed=1).conditions["digits"]
    assert (np.sort(digits, axis=1) == np.arange(10)).all()


def test_the_ideal_observer_earns_1_and_is_equally_fast_in_all_sets():
    record = played(BestMemory)
    assert (record["performance"] == 1).all()
    for slope, start in slopes(record):
        assert slope == pytest.approx(0, abs=1e-6)
        assert start == pytest.approx(40)


def test_who_scans_the_set_takes_40_ms_per_digit_whether_the_probe_is_in_it_or_not():
    record = played(Scanner)
    assert (record["outcome"] == "correct").all()
    for slope, start in slopes(record):
        assert slope == pytest.approx(40, abs=1)
        assert start == pytest.approx(400, abs=5)


class Stops(Scanner):
    """Scans the set until it finds the probe: half as long, on average."""

    def __call__(self, env, observations):
        found = observations[:, env.task.channels["probe"]] > 0.5
        hit = (found & self._set).any(axis=1)
        self.each = np.where(hit, 20, 40)
        return super().__call__(env, observations)


def test_who_stops_at_the_probe_does_not_show_the_slopes_of_the_paper():
    absent, present = slopes(played(Stops))
    assert absent[0] == pytest.approx(40, abs=1)
    assert present[0] < 25


class Last(Scanner):
    """Compares the probe with the last digit only."""

    def __init__(self):
        super().__init__(0, 0)

    def __call__(self, env, observations):
        digit = observations[:, env.task.channels["digit"]] > 0.5
        self._set[digit.any(axis=1)] = False
        return super().__call__(env, observations)


def test_the_last_digit_alone_earns_what_the_page_says():
    """4 SEs of 3,000 trials: false alarms 6 in 10**5."""
    found = played(Last)["performance"].mean()
    assert found == pytest.approx(0.704, abs=0.034)
    assert found < 0.75


def test_a_right_answer_earns_less_the_later_it_comes():
    late = run(Sternberg(), "late_oracle", 50, seed=1)
    assert (late["outcome"] == "correct").all()
    assert (late["performance"] < 0.8).all()
    assert (run(Sternberg(price=0.0), "late_oracle", 50, seed=1)["reward"] == 1).all()


@pytest.mark.parametrize("wrong", [{"sizes": (0, 3)}, {"sizes": ()}, {"price": 2.0}])
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="Sternberg"):
        Sternberg(**wrong)
