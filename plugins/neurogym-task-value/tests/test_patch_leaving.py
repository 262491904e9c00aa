"""PatchLeaving: depletion, time, and the marginal value theorem."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_value.patch_leaving import LEAVE, PatchLeaving, TreePatchLeaving

from neurogym_core import InvalidValueError, make, run


class LeaveAfter:
    """Leaves a tree after a number of harvests."""

    carries_state = False

    def __init__(self, harvests):
        self.harvests = harvests

    def __call__(self, env, observations):
        harvests = env.stepper.trial_state["harvests"]
        return env.is_asked * np.where(harvests < self.harvests, 1, LEAVE)


def rate(record):
    return record["reward"].sum() / record["steps"].sum()


def test_a_harvest_gives_the_apples_of_the_last_one_times_the_depletion():
    env = make(TreePatchLeaving, first_sd=0, depletion_sd=1e-4, seed=1)
    env.reset(seed=1)
    rewards, shown = [], []
    for _ in range(60):
        obs, reward, *_, info = env.step(1 if env.unwrapped.is_asked else 0)
        rewards += [reward] if reward else []
        shown += [obs[1]] if obs[1] else []
        assert "trial" not in info
    np.testing.assert_allclose(rewards, 10 * 0.88 ** np.arange(len(rewards)), rtol=1e-2)
    np.testing.assert_allclose(shown, np.array(rewards[: len(shown)]) / 10, rtol=1e-4)
    assert len(rewards) == 7


def test_factors_have_the_declared_mean_and_sd():
    """False alarms: below 1e-4 (four standard errors of 1,600 factors)."""
    record = run(TreePatchLeaving(first_sd=0), LeaveAfter(2), 1600, seed=1)
    factors = record["reward"] / 10 - 1
    assert abs(factors.mean() - 0.88) < 4 * 0.07 / 40
    assert abs(factors.std() - 0.07) < 0.01


def test_a_visit_takes_the_travel_and_the_harvests():
    record = run(TreePatchLeaving(), LeaveAfter(4), 20, seed=1)
    assert (record["harvests"] == 4).all()
    assert (record["steps"] * 0.5 == 6 + 4 * (3 + 0.5)).all()
    assert (record.codes() == 1).all()


@pytest.mark.slow
@pytest.mark.parametrize("travel", [6000, 12000])
def test_no_fixed_number_of_harvests_earns_more_per_time_than_the_oracle(travel):
    task = TreePatchLeaving(timing={"travel": travel})
    best = rate(run(task, "oracle", 600, seed=1))
    rates = [rate(run(task, LeaveAfter(n), 600, seed=1)) for n in range(1, 13)]
    assert max(rates) < best
    assert rates[0] < 0.75 * best


def test_the_oracle_stays_longer_where_travel_is_longer_and_depletion_slower():
    stays = [
        run(task, "oracle", 300, seed=1)["harvests"].mean()
        for task in (
            TreePatchLeaving(),
            TreePatchLeaving(timing={"travel": 12000}),
            TreePatchLeaving(depletion=0.94),
        )
    ]
    assert stays[0] + 1 < stays[1]
    assert stays[0] + 1 < stays[2]


def test_a_subject_that_never_decides_is_stopped_after_five_minutes():
    record = run(TreePatchLeaving(), "rest", 3, seed=1)
    assert (record["steps"] == 600).all()
    assert (record["outcome"] == "miss").all()
    assert (record["harvests"] == 1).all()


def test_wrong_numbers_are_refused():
    for wrong in ({"depletion": 1.2}, {"depletion_sd": 0.5}, {"first": 0.0}):
        with pytest.raises(InvalidValueError, match="give some apples, and a beta distribution"):
            TreePatchLeaving(**wrong)


@pytest.mark.slow
def test_performance_rises_with_staying_and_is_no_measure_of_success():
    """The oracle's mean of 2,000 trees has an SE of 0.003."""
    stays = run(TreePatchLeaving(), lambda env, obs: np.where(env.is_asked, 1, 0), 40, seed=1)
    best = run(TreePatchLeaving(), "oracle", 2000, seed=1)
    rate, best_rate = (one["reward"].sum() / one["steps"].sum() for one in (stays, best))
    assert stays["performance"].mean() == 1
    assert best["performance"].mean() == pytest.approx(0.88, abs=0.012)
    assert rate / best_rate == pytest.approx(1 / 6, abs=0.02)


def earns(subject, trials=50, **settings):
    """Mean performance in stays of seven minutes; its SE is below 0.004."""
    return run(PatchLeaving(**settings), subject, trials, num_envs=50, seed=1)["performance"].mean()


def test_performance_is_the_reward_rate_relative_to_the_best_one():
    """Five SEs are 0.02: false alarms 1 in 10**6."""
    assert earns("oracle") == pytest.approx(0.99, abs=0.02)
    assert earns(LeaveAfter(1)) == pytest.approx(0.63, abs=0.02)
    assert earns(LeaveAfter(4)) == pytest.approx(0.99, abs=0.02)
    assert earns("guess") == pytest.approx(0.82, abs=0.03)
    assert earns("rest") < 0.03


def test_never_leaving_earns_a_ninth():
    assert earns(LeaveAfter(1000)) == pytest.approx(0.12, abs=0.02)


def test_where_travel_is_longer_the_oracle_earns_as_much_of_the_possible():
    assert earns("oracle", timing={"travel": 12000}) == pytest.approx(0.98, abs=0.025)


def test_a_stay_lasts_seven_minutes_and_trees_follow_each_other():
    record = run(PatchLeaving(first_sd=0, depletion_sd=1e-4), LeaveAfter(4), 4, num_envs=2, seed=1)
    assert (record["steps"] == 840).all()
    # 20 s for each tree: 6 s of travel, and four harvests of 3.5 s.
    assert (record["trees"] == 21).all()
    assert record["fresh"].shape == (4, 45)
    visit = 10 * (0.88 ** np.arange(4)).sum()
    np.testing.assert_allclose(record["reward"], 21 * visit, rtol=0.02)


@pytest.mark.parametrize("task", [TreePatchLeaving, PatchLeaving])
def test_events_are_the_harvests_with_their_apples(task):
    """The cumulative record of apples is the sum of the rewards of a trial."""
    record = run(task(), "oracle", 10, seed=1)
    events = record.events
    harvests = events["name"] == "harvest"
    for trial in range(10):
        eaten = events["value"][harvests & (events["trial"] == trial)]
        assert eaten.sum() == pytest.approx(record["reward"][trial], rel=1e-6)
    if "trees" in record:
        arrivals = np.bincount(events["trial"][~harvests], minlength=10)
        assert (arrivals == record["trees"]).all()
    else:
        assert harvests.sum() == record["harvests"].sum() == len(events)
