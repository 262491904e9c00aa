"""PoissonClicks: rates, trains, and the side with more clicks."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_perceptual.poisson_clicks import NoiselessPoissonClicks, PoissonClicks

from neurogym_core import InvalidValueError, run
from neurogym_core.tools import find_task


@pytest.fixture(scope="module")
def record():
    return run(NoiselessPoissonClicks(), "oracle", 4000, seed=1)


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
    task = NoiselessPoissonClicks(dt=dt)
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
    record = run(NoiselessPoissonClicks(), "integrator", 600, seed=3)
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
    same_in_both(NoiselessPoissonClicks(dt=50))


@pytest.mark.parametrize("wrong", [{"rates": (50,)}, {"rates": (-1,)}, {"shortest": 0}])
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="PoissonClicks"):
        NoiselessPoissonClicks(**wrong)


class Sums:
    """Chooses the side on which it heard more."""

    carries_state = True

    def begin(self, env):
        self.more = np.zeros(env.num_envs)

    def __call__(self, env, obs):
        self.more += obs[:, 2] - obs[:, 1]
        action = np.where(env.is_asked, 1 + (self.more > 0), 0)
        self.more[env.is_asked] = 0
        return action


@pytest.mark.slow
def test_clicks_are_noisy_and_a_sum_is_right_in_85_percent():
    """Five SEs of 3,000 trials are 0.033 and 0.01: false alarms 1 in 10**6."""
    for kind, right, margin in (
        (PoissonClicks, 0.848, 0.033),
        (NoiselessPoissonClicks, 0.993, 0.01),
    ):
        record = run(kind(), Sums(), 3000, num_envs=50, seed=1)
        assert record["performance"].mean() == pytest.approx(right, abs=margin)


def test_without_noise_the_versions_show_the_same():
    loud, exact = (kind().sample(20, seed=1) for kind in (PoissonClicks, NoiselessPoissonClicks))
    known = {name: exact.conditions[name] for name in ("length", "rate", "left", "right")}
    silent = PoissonClicks(click_noise=0).sample(20, seed=2, **known)
    np.testing.assert_array_equal(silent.render(None), exact.render(None))
    heard = loud.render(None)[:, 1:]
    assert (heard != np.round(heard)).any()


def test_negative_noise_is_refused():
    with pytest.raises(InvalidValueError, match="click_noise"):
        PoissonClicks(click_noise=-1)


def test_the_noise_does_not_hide_clicks_so_the_ideal_is_a_counter():
    """Counting the steps that sound is right in 98 %, a sum of the sounds in 85 %; fixed seed."""
    batch = PoissonClicks().sample(4000, seed=5)
    heard, trial = batch.render(0)[:, 1:3], np.repeat(np.arange(len(batch)), batch.steps)
    right = batch.render_targets()[np.cumsum(batch.steps) - 1] == 2

    def correct(values):
        surplus = np.bincount(trial, values[:, 1] - values[:, 0])
        return np.mean(np.where(surplus == 0, 0.5, (surplus > 0) == right))

    assert correct(heard) == pytest.approx(0.84, abs=0.02)
    assert correct((heard != 0) * 1.0) > 0.97
    info = find_task("perceptual/PoissonClicks-v1")
    assert 0.98 < info.ideal["value"] < 1
