"""AX-CPT: preparing by the cue costs errors in AY, and forgetting it errors in BX."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from neurogym_task_cognition.ax_cpt import AXCPT, PAIRS
from neurogym_task_cognition.observers import BestContext

from neurogym_core import InvalidValueError, run

IDEAL = 0.935


@cache
def played(task, ignores="", trials=10_000):
    return run(task, BestContext(ignores), trials, num_envs=100, seed=1)


def errors(record):
    """Share of errors of each pair."""
    wrong = record["outcome"] != "correct"
    return {pair: wrong[record["pair"] == pair].mean() for pair in PAIRS}


@pytest.mark.parametrize(("pair", "right"), [("AX", 1), ("AY", 0), ("BX", 0), ("BY", 0)])
def test_the_target_is_an_x_after_an_a(pair, right):
    task = AXCPT()
    seen = task.sample(1, seed=1, pair=pair).render(None)
    cue, probe = seen[30, task.channels["cue"]], seen[-1, task.channels["probe"]]
    np.testing.assert_allclose(cue, [pair[0] == "A", pair[0] == "B"])
    np.testing.assert_allclose(probe, [pair[1] == "X", pair[1] == "Y"])
    assert not seen[-1, task.channels["cue"]].any()
    assert (
        run(task, "oracle", 3, seed=1, conditions={"pair": pair}).codes("choice") == right
    ).all()


@pytest.mark.parametrize(("task", "shares"), [
    (AXCPT(), (0.7, 0.1, 0.1, 0.1)), (AXCPT(p_target=0.4), (0.4, 0.2, 0.2, 0.2)),
])  # fmt: skip
def test_pairs_are_as_likely_as_in_the_paper(task, shares):
    """4 SEs of 10,000 trials: false alarms 6 in 10**5."""
    pairs = task.sample(10_000, seed=3).conditions["pair"]
    for pair, share in zip(PAIRS, shares, strict=True):
        assert (pairs == pair).mean() == pytest.approx(share, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "ignores", "earned"),
    [
        (AXCPT(), "", IDEAL),
        (AXCPT(), "cue", 0.802),
        (AXCPT(), "probe", 0.9),
        (AXCPT(p_target=0.4), "", 0.925),
        (AXCPT(p_target=0.4), "cue", 0.693),
        (AXCPT(p_target=0.4), "probe", 0.8),
    ],
)
def test_the_ideal_observer_and_its_halves_earn_what_the_page_says(task, ignores, earned):
    """4 SEs of 10,000 trials (SD below 0.47): false alarms 6 in 10**5."""
    found = played(task, ignores)["performance"].mean()
    assert found == pytest.approx(earned, abs=0.019)


@pytest.mark.parametrize("ignores", ["cue", "probe"])
def test_without_noise_either_half_of_the_pair_alone_is_right_in_nine_tenths(ignores):
    """4 SEs of 10,000 trials: false alarms 6 in 10**5."""
    record = played(AXCPT(sigma=0.1), ignores)
    assert (record["outcome"] == "correct").mean() == pytest.approx(0.9, abs=0.012)


@pytest.mark.slow
def test_who_prepares_errs_in_ay_and_who_forgets_errs_in_bx():
    """4 SEs of 1,000 trials of a pair are 0.06: false alarms 2 in 10,000."""
    prepared, forgetful = errors(played(AXCPT())), errors(played(AXCPT(), "cue"))
    assert prepared["AY"] == pytest.approx(0.34, abs=0.06)
    assert prepared["BX"] == 0
    assert forgetful["BX"] == pytest.approx(0.99, abs=0.015)
    assert forgetful["AY"] == pytest.approx(0.21, abs=0.055)


def test_who_prepares_is_slower_in_ay_than_in_by():
    record = played(AXCPT())
    right, time = record["outcome"] == "correct", record["reaction_time"]
    slow, fast = (time[right & (record["pair"] == pair)].mean() for pair in ("AY", "BY"))
    assert slow > fast + 150
    assert fast == 20


def test_without_noise_the_ideal_observer_shows_neither():
    record = played(AXCPT(sigma=0.1), trials=2000)
    assert (record["performance"] == 1).all()


@pytest.mark.slow
def test_sensitivity_to_context_tells_the_cue_from_its_neglect():
    """Hits in AX minus false alarms in BX; 4 SEs of the latter are 0.013."""
    for ignores, low, high in (("", 0.98, 1.0), ("cue", -0.03, 0.03)):
        found = errors(played(AXCPT(), ignores))
        assert low <= 1 - found["AX"] - found["BX"] <= high


def test_a_right_answer_earns_less_the_later_it_comes():
    assert (run(AXCPT(), "oracle", 50, seed=1)["reward"] == 1).all()
    late = run(AXCPT(), "late_oracle", 50, seed=1)
    np.testing.assert_allclose(late["performance"], 1 - 480 / 1500, atol=0.03)
    assert (run(AXCPT(price=0.0), "late_oracle", 50, seed=1)["reward"] == 1).all()


@pytest.mark.parametrize("wrong", [{"p_target": 1.5}, {"price": -1.0}])
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="AXCPT"):
        AXCPT(**wrong)
