"""Visual search: numbers of features say nothing, and only looking letter by letter takes time."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from neurogym_task_cognition.conjunction_search import FEATURES, ConjunctionSearch
from neurogym_task_cognition.observers import BestSearcher, Searcher

from neurogym_core import InvalidValueError, run

GREEN, BROWN, BLUE, T, X, S = range(6)


@cache
def played(best=False, stops=True):
    subject = BestSearcher() if best else Searcher(stops=stops)
    return run(ConjunctionSearch(), subject, 4000, num_envs=100, seed=1)


def slopes(record, search):
    """ms per letter of right answers, for displays without and with a target."""
    rows = (record["outcome"] == "correct") & (record["search"] == search)
    return [
        np.polyfit(record["size"][one], record["reaction_time"][one], 1)[0]
        for one in (rows & (record["present"] == present) for present in ("absent", "present"))
    ]


def displays(**conditions):
    """Units of the display, (n, places, features), and the number of letters, (n,)."""
    batch = ConjunctionSearch().sample(400, seed=2, **conditions)
    letters = batch.conditions["letters"]
    colour, shape = np.divmod(letters, 3)
    units = np.concatenate([np.eye(3)[colour], np.eye(3)[shape]], axis=2)
    return units * (letters >= 0)[:, :, None], batch.conditions["size"]


def pairs(units, colour, shape):
    """Number of letters of a colour and a shape, (n,)."""
    return (units[:, :, colour] * units[:, :, shape]).sum(axis=1)


@pytest.mark.parametrize("search", ["conjunction", "feature"])
def test_displays_without_a_target_are_brown_ts_and_green_xs_in_equal_numbers(search):
    units, size = displays(search=search, present=0)
    brown, green = pairs(units, BROWN, T), pairs(units, GREEN, X)
    np.testing.assert_array_equal(brown + green, size)
    assert (abs(brown - green) == size % 2).all()


def test_a_conjunction_is_a_green_t_and_the_numbers_of_features_do_not_tell():
    for size in (5, 15, 30):
        units, _ = displays(search="conjunction", present=1, size=size)
        assert (pairs(units, GREEN, T) == 1).all()
        assert (pairs(units, BROWN, X) == 1).all()
        without, _ = displays(search="conjunction", present=0, size=size)
        for one in (units, without):
            counts = one.sum(axis=1)
            np.testing.assert_array_equal(counts[:, GREEN], counts[:, X])
            assert set(counts[:, GREEN]) <= {size // 2, size - size // 2}
            assert not counts[:, [BLUE, S]].any()


def test_a_feature_is_one_blue_letter_or_one_s():
    units, _ = displays(search="feature", present=1)
    counts = units.sum(axis=1)
    assert (counts[:, BLUE] + counts[:, S] == 1).all()
    assert counts[:, BLUE].mean() == pytest.approx(0.5, abs=0.125)  # 5 SEs of 400 trials
    assert not pairs(units, BLUE, S).any()


@pytest.mark.slow
def test_searches_sizes_targets_and_places_are_as_likely_as_said():
    """5 SEs of 6,000 trials, or of 1,500: false alarms 1 in 10**5."""
    drawn = ConjunctionSearch().sample(6000, seed=3).conditions
    assert (drawn["search"] == "feature").mean() == pytest.approx(0.25, abs=0.028)
    for size in (1, 5, 15, 30):
        rows = drawn["size"] == size
        assert rows.mean() == pytest.approx(0.25, abs=0.028)
        assert drawn["present"][rows].mean() == pytest.approx(0.5, abs=0.065)
    there = (drawn["letters"] >= 0).mean(axis=0)
    np.testing.assert_allclose(there, (1 + 5 + 15 + 30) / 4 / 30, atol=0.035)


def test_the_display_is_shown_as_drawn():
    task = ConjunctionSearch()
    batch = task.sample(1, seed=1, size=5)
    shown = batch.render(None)[-1, task.channels["display"]]
    names = [task.channels.units("display")[k] for k in np.flatnonzero(shown)]
    expected = [
        f"{FEATURES[feature]} {place + 1}"
        for place, letter in enumerate(batch.conditions["letters"][0])
        if letter >= 0
        for feature in (letter // 3, 3 + letter % 3)
    ]
    assert names == expected


def test_the_ideal_observer_earns_1_and_is_as_fast_in_large_displays():
    record = played(best=True)
    assert (record["performance"] == 1).all()
    for search in ("conjunction", "feature"):
        np.testing.assert_allclose(slopes(record, search), 0, atol=1e-6)


@pytest.mark.slow
def test_who_looks_at_letters_in_turn_takes_twice_as_long_for_displays_without_a_target():
    """The SE of the slope with a target is about 0.7 ms."""
    absent, present = slopes(played(), "conjunction")
    assert absent == pytest.approx(60)
    assert present == pytest.approx(31, abs=3)
    np.testing.assert_allclose(slopes(played(), "feature"), 0, atol=1e-6)


@pytest.mark.slow
def test_who_looks_at_all_letters_does_not_show_the_slopes_of_the_paper():
    np.testing.assert_allclose(slopes(played(stops=False), "conjunction"), 60)


class Counts(BestSearcher):
    """Counts colours and shapes, and guesses "absent" where they do not tell."""

    def __call__(self, env, observations):
        shown = observations[:, env.task.channels["display"]].reshape(len(observations), -1, 6)
        counts, there = shown.sum(axis=1), shown.any(axis=(1, 2))
        feature = observations[:, env.task.channels["search"]][:, 1] > 0.5
        odd = counts[:, BLUE] + counts[:, S] > 0
        more = counts[:, GREEN] + counts[:, T] > counts[:, :3].sum(axis=1)
        return np.where(there, 1 + np.where(feature, odd, more), 0)


def test_numbers_of_features_earn_what_the_page_says():
    """4 SEs of 4,000 trials: false alarms 6 in 10**5."""
    found = run(ConjunctionSearch(), Counts(), 4000, num_envs=100, seed=1)["performance"].mean()
    assert found == pytest.approx(0.72, abs=0.029)


def test_a_right_answer_earns_less_the_later_it_comes():
    late = run(ConjunctionSearch(), "late_oracle", 50, seed=1)
    assert (late["outcome"] == "correct").all()
    np.testing.assert_allclose(late["performance"], 1 - 480 / 3000, atol=0.03)
    assert (run(ConjunctionSearch(price=0.0), "late_oracle", 50, seed=1)["reward"] == 1).all()


@pytest.mark.parametrize("wrong", [{"sizes": (31,)}, {"sizes": ()}, {"p_feature": 2.0}])
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="give"):
        ConjunctionSearch(**wrong)
