"""12-AX: a digit says which pair is asked for, and the longer ago it was, the more is forgotten."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from neurogym_task_cognition.observers import BestLoop
from neurogym_task_cognition.twelve_ax import SYMBOLS, TwelveAX

from neurogym_core import InvalidValueError, run


@cache
def played(forgets=0.0, ignores=""):
    return run(TwelveAX(), BestLoop(forgets, ignores), 10_000, num_envs=100, seed=1)


def errors(record):
    """Share of errors in the first to fourth pair, of those that there are."""
    return [
        (record[f"pair {k}.outcome"] == "error").sum() / (record["pairs"] >= k).sum()
        for k in range(1, 5)
    ]


@pytest.mark.parametrize(
    ("digit", "pair", "right"),
    [
        ("1", 0, "yes"),
        ("1", 4, "no"),
        ("1", 3, "no"),
        ("2", 4, "yes"),
        ("2", 0, "no"),
        ("2", 8, "no"),
    ],
)
def test_after_a_1_the_target_is_ax_and_after_a_2_it_is_by(digit, pair, right):
    conditions = {"digit": digit, "pairs": 1, "pair": [pair, 0, 0, 0]}
    record = run(TwelveAX(), "oracle", 5, seed=1, conditions=conditions)
    assert (record["pair 1.choice"] == right).all()
    assert (record["pair 2.outcome"] == "none").all()


def test_a_trial_is_a_digit_and_its_pairs_of_letters():
    task = TwelveAX()
    batch = task.sample(1, seed=1, digit="2", pairs=3, pair=[1, 5, 6, 0])
    shown = batch.render(None)[:, task.channels["symbol"]]
    onsets = [k for k in range(1, len(shown)) if shown[k].any() and not shown[k - 1].any()]
    assert "".join(SYMBOLS[shown[k].argmax()] for k in onsets) == "2AYBZCX"
    assert (np.diff(onsets) == 600 / 50).all()
    assert shown.sum() == 7 * 300 / 50


def test_pairs_and_targets_are_as_likely_as_in_the_paper():
    """5 SEs of 40,000 pairs, or of 10,000 trials: false alarms 1 in 10**5."""
    drawn = TwelveAX().sample(10_000, seed=3).conditions
    for pair in range(9):
        share = 0.25 + 0.5 / 9 if pair in (0, 4) else 0.5 / 9
        assert (drawn["pair"] == pair).mean() == pytest.approx(share, abs=0.012)
    there = np.arange(4) < drawn["pairs"][:, None]
    wanted = np.where(drawn["digit"] == "1", 0, 4)[:, None]
    targets = (there & (drawn["pair"] == wanted)).sum()
    assert targets / there.sum() == pytest.approx(0.306, abs=0.016)
    assert targets / (1 + 2 * drawn["pairs"]).sum() == pytest.approx(0.127, abs=0.008)
    assert np.bincount(drawn["pairs"])[1:] / 10_000 == pytest.approx([0.25] * 4, abs=0.022)


def test_the_ideal_observer_earns_1_whatever_the_number_of_pairs():
    record = played()
    assert (record["performance"] == 1).all()
    assert errors(record) == [0, 0, 0, 0]
    assert (record["aborts"] == 0).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ignores", "earned"), [("digit", 0.694), ("first", 0.889), ("second", 0.889)]
)
def test_shortcuts_earn_what_the_page_says(ignores, earned):
    """4 SEs of 10,000 trials (SD below 0.33): false alarms 6 in 10**5."""
    record = played(ignores=ignores)
    assert record["performance"].mean() == pytest.approx(earned, abs=0.014)
    assert np.ptp(errors(record)) < 0.045


def test_never_saying_yes_earns_as_little_as_ignoring_the_digit():
    """4 SEs of 4,000 trials: false alarms 6 in 10**5."""

    class No(BestLoop):
        """Says no."""

        def __call__(self, env, observations):
            return np.minimum(super().__call__(env, observations), 1)

    found = run(TwelveAX(), No(), 4000, num_envs=100, seed=1)["performance"].mean()
    assert found == pytest.approx(0.694, abs=0.021)


def test_who_forgets_the_digit_errs_more_the_longer_ago_it_was():
    """4 SEs of 2,500 pairs or more: false alarms 6 in 10**5."""
    found = errors(played(forgets=0.2))
    np.testing.assert_allclose(found, [0.061, 0.11, 0.149, 0.18], atol=0.031)
    assert found[3] > found[0] + 0.08


def test_every_cx_after_a_1_is_wrong_if_the_first_letter_is_ignored():
    record = played(ignores="first")
    rows = (record["digit"] == "1") & (record["pair"][:, 0] == 6)
    assert rows.any()
    assert (record["pair 1.outcome"][rows] == "error").all()


def test_an_impossible_share_is_refused():
    with pytest.raises(InvalidValueError, match="TwelveAX"):
        TwelveAX(p_target=2.0)
