"""Serial reaction time: sequences of the second order, and presses that anticipate them."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache

import numpy as np
import pytest
from neurogym_task_cognition.observers import Anticipator, SequenceFilter
from neurogym_task_cognition.sequences import second_order
from neurogym_task_cognition.serial_reaction_time import SerialReactionTime

from neurogym_core import InvalidValueError, run

NISSEN_AND_BULLEMER = tuple("ABCD".index(light) for light in "DBCACBDCBA")


@cache
def played(order, sequence=()):
    task = SerialReactionTime(sequence=sequence)
    return run(task, Anticipator(order), 14_400, num_envs=50, seed=1)


def predicted(sequence, order):
    """Share of lights that the most frequent successor of the last ones predicts."""
    after, around = defaultdict(Counter), sequence * 2
    for k in range(len(sequence)):
        after[around[k : k + order]][around[k + order]] += 1
    return sum(max(found.values()) for found in after.values()) / len(sequence)


def later_in_random_trials(record):
    right, random = record["outcome"] == "correct", record["block"] == "random"
    time = record["reaction_time"]
    return time[right & random].mean() - time[right & ~random].mean()


def test_the_last_light_of_a_sequence_says_nothing_and_the_last_two_say_all():
    assert len(set(second_order())) == len(second_order()) == 256
    for sequence in second_order():
        assert Counter(sequence) == dict.fromkeys(range(4), 3)
        assert predicted(sequence, 1) == pytest.approx(1 / 3)
        assert predicted(sequence, 2) == 1


def test_the_sequence_of_the_paper_can_be_given_and_is_easier_to_predict():
    assert predicted(NISSEN_AND_BULLEMER, 1) == 0.5
    assert predicted(NISSEN_AND_BULLEMER, 2) == 0.9
    record = run(SerialReactionTime(sequence=NISSEN_AND_BULLEMER), "guess", 48, seed=1)
    lights = record.codes("light")
    np.testing.assert_array_equal(lights[:38], lights[10:48])
    assert any(tuple(lights[k : k + 10]) == NISSEN_AND_BULLEMER for k in range(10))


def test_sessions_repeat_a_sequence_but_for_24_random_trials():
    record = played(0)
    starts = set()
    for env in range(50):
        rows = record["env"] == env
        light, block = record.codes("light")[rows][:144], record["block"][rows][:144]
        random = np.flatnonzero(block == "random")
        assert len(random) == 24
        assert np.ptp(random) == 23
        assert 48 <= random[0] < 96
        starts.add(int(random[0]))
        sequence = light[block == "sequence"]
        np.testing.assert_array_equal(sequence[12:], sequence[:-12])
        assert (np.diff(light[random]) != 0).all()
    assert len(starts) > 20


def test_each_session_draws_another_sequence():
    record = played(0)
    first = {tuple(record.codes("light")[record["env"] == env][:12]) for env in range(50)}
    assert len(first) > 40
    again = [record.codes("light")[record["env"] == env][144:156] for env in range(50)]
    assert sum(tuple(one) in first for one in again) < 5


def test_random_lights_are_equally_likely():
    """5 SEs of 2,400 trials: false alarms 1 in 10**5."""
    record = played(0)
    random = record.codes("light")[record["block"] == "random"]
    assert np.bincount(random) / len(random) == pytest.approx([0.25] * 4, abs=0.045)


@pytest.mark.parametrize(("order", "earned"), [(2, 0.862), (1, 0.554), (0, 0.583)])
def test_observers_earn_what_the_page_says(order, earned):
    """4 SEs of 100 sessions (SD of their means below 0.04): false alarms 6 in 10**5."""
    assert played(order)["performance"].mean() == pytest.approx(earned, abs=0.016)


def test_who_anticipates_is_slower_in_random_trials_and_who_waits_is_not():
    """4 SEs of about 1,800 presses of an SD of 190 ms are 18 ms: false alarms 6 in 10**5."""
    assert later_in_random_trials(played(2)) == pytest.approx(349, abs=18)
    assert later_in_random_trials(played(0)) == 0
    assert abs(later_in_random_trials(played(1))) < 60


def test_who_anticipates_becomes_faster_within_a_session():
    record = played(2)
    early, late = (
        record["reaction_time"][(record["trial"] % 144 >= low) & (record["trial"] % 144 < low + 12)]
        for low in (0, 24)
    )
    assert (early == 550).all()
    assert (late == 50).all()


def test_a_press_earns_less_the_later_it_comes_and_does_not_change_the_pace():
    late = run(SerialReactionTime(), "late_oracle", 144, seed=1)
    assert (late["outcome"] == "correct").all()
    assert (late["performance"] < 0.7).all()
    assert (late["steps"] == 24).all()
    assert (run(SerialReactionTime(price=0.0), "late_oracle", 50, seed=1)["reward"] == 1).all()


@pytest.mark.parametrize("wrong", [{"sequence": (0, 4)}, {"price": 2.0}])
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="give"):
        SerialReactionTime(**wrong)


def test_bayes_rule_over_sequences_earns_more_than_one_memory_of_pairs():
    """A session of each of 20 subjects; five SEs are 0.003: false alarms 1 in 10**6."""
    record = run(SerialReactionTime(), SequenceFilter(), 2880, num_envs=20, seed=1)
    assert record["performance"].mean() == pytest.approx(0.902, abs=0.003)
    assert record["performance"].mean() > played(2)["performance"].mean() + 0.03


def test_without_a_price_of_waiting_it_waits_for_the_light():
    record = run(SerialReactionTime(price=0), SequenceFilter(), 288, num_envs=2, seed=1)
    assert set(record["outcome"]) == {"correct"}
