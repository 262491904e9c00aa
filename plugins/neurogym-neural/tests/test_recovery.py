"""Known answers of simulated recordings come out, as often as intervals and p-values say.

With other seeds, correct programs fail at most one test in 100. The numbers are in the README.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).with_name("recovery.py")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def simulated():
    spec = importlib.util.spec_from_file_location("recovery", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_intervals_over_trials_contain_the_rate(simulated):
    """Counts of 0.5 are skewed: with 20 trials, the intervals are somewhat too narrow."""
    found = simulated.over_trials()
    assert 0.90 < found["20 trials"] < 0.96
    assert 0.92 < found["60 trials"] < 0.97


def test_intervals_over_animals_contain_the_mean_of_animals_and_those_over_trials_do_not(simulated):
    found = simulated.over_animals()
    for number in (4, 8):
        assert 0.93 < found[f"{number} animals, over animals"] < 0.97
        assert found[f"{number} animals, over trials"] < 0.8  # the naive interval


def test_intervals_of_decoded_accuracy_over_animals(simulated):
    assert 0.89 < simulated.decoded_over_animals() < 0.99


def test_false_alarms_are_as_frequent_as_stated(simulated):
    """200 recordings without an effect: 10 +- 3 p-values of at most 0.05."""
    for name, share in simulated.false_alarms().items():
        assert 0.005 < share < 0.10, name


def test_distances_are_those_of_the_rates(simulated):
    ratio, error = simulated.distances()
    assert abs(ratio - 1) < 3 * error


def test_what_is_put_in_comes_out_and_the_cheat_does_not(simulated):
    rows = list(simulated.recovered())
    assert len(rows) >= 12
    for name, _, put_in, found, cheat in rows:
        # Weights of noisy units are weaker, and counts are less alike than their rates.
        assert abs(found - put_in) < 0.35 * abs(put_in), name
        assert abs(cheat - put_in) > 1.5 * abs(found - put_in) + 0.1, name
