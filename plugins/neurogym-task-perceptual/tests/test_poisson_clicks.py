"""PoissonClicks: rates, trains, and the side with more clicks."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_perceptual.poisson_clicks import PoissonClicks

from neurogym_core import InvalidValueError, run


@pytest.fixture(scope="module")
def record():
    return run(PoissonClicks(), "oracle", 4000, seed=1)


def test_trains_last_as_long_as_drawn_from_100_to_1200_ms(record):
    played = record["duration.stimulus"]
    np.testing.assert_array_equal(played, np.floor(record["length"] / 10 + 0.5) * 10)
    assert played.min() == pytest.approx(100, abs=20)
    assert played.max() == pytest.approx(1200, abs=20)
    for side in ("left", "right"):
        after = np.arange(120) >= (played / 10)[:, None]
        assert not record[side][after].any()


def test_both_trains_begin_with_a_click(record):
    assert (record["left"][:, 0] >= 1).all()
    assert (record["right"][:, 0] >= 1).all()


def test_clicks_are_poisson_with_rates_that_sum_to_40(record):
    """16 means and variances, within 5 standard errors."""
    seconds = record["duration.stimulus"] / 1000
    for rate in (1, 3, 9, 14, 26, 31, 37, 39):
        rows = record["rate"] == rate
        for side, expected in (("right", rate), ("left", 40 - rate)):
            clicks = record[f"{side}_clicks"][rows] - 1  # without the first
            mean = expected * seconds[rows]
            off = (clicks - mean).sum() / np.sqrt(mean.sum())
            assert abs(off) < 5
            fano = ((clicks - mean) ** 2).sum() / mean.sum()
            assert fano == pytest.approx(1, abs=0.35)


def test_the_side_with_more_clicks_is_right_and_ties_go_to_the_higher_rate(record):
    left, right = record["left_clicks"], record["right_clicks"]
    np.testing.assert_array_equal(left, record["left"].sum(axis=1))
    choice = record.codes()
    assert (choice[right > left] == 1).all()
    assert (choice[left > right] == 0).all()
    tied = left == right
    assert tied.any()
    np.testing.assert_array_equal(choice[tied], record["rate"][tied] > 20)
    assert ((right > left) != (record["rate"] > 20))[~tied].any()


@pytest.mark.parametrize("dt", [10, 20, 50])
def test_clicks_are_heard_on_their_steps(dt):
    task = PoissonClicks(dt=dt)
    batch = task.sample(30, seed=2)
    steps = np.split(batch.render(None), np.cumsum(batch.duration.sum(axis=1))[:-1])
    for trial, obs in enumerate(steps):
        begin = int(batch.period_steps["fixation"][trial])
        end = begin + int(batch.period_steps["stimulus"][trial])
        heard = obs[:, task.channels["stimulus"]]
        for unit, side in enumerate(("left", "right")):
            drawn = batch.conditions[side][trial]
            np.testing.assert_array_equal(heard[begin:end, unit], drawn[: end - begin])
            assert heard[:, unit].sum() == drawn.sum()


def test_counting_is_right_in_all_trials_but_ties():
    record = run(PoissonClicks(), "integrator", 600, seed=3)
    untied = record["left_clicks"] != record["right_clicks"]
    assert (record["outcome"][untied] == "correct").all()


def test_evidence_early_and_late_counts_alike(record):
    """The kernel of a subject that counts is flat; here the subject is the right answer."""
    rows = record["duration.stimulus"] >= 600
    surplus = (record["right"] - record["left"])[rows, 1:60]
    chosen = record.codes()[rows][:, None]
    expected = 2 * record["rate"][rows][:, None] - 40
    residual = surplus - expected * 0.01  # without the mean, which the rate determines
    kernel = (residual * (2 * chosen - 1)).mean(axis=0)
    early, late = kernel[:29].mean(), kernel[30:].mean()
    assert early == pytest.approx(late, abs=4.5 * np.sqrt(2 * 0.4 / 29 / rows.sum()))
    assert min(early, late) > 0


def test_single_env_and_vector_env_agree(same_in_both):
    same_in_both(PoissonClicks(dt=50))


@pytest.mark.parametrize("wrong", [{"rates": (50,)}, {"rates": (-1,)}, {"shortest": 0}])
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="PoissonClicks"):
        PoissonClicks(**wrong)
