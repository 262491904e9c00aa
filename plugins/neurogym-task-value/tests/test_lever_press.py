"""The lever-press tasks: counting presses."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_value.lever_press import LeverPress, LeverPressWithPoke, LeverPressWithPokeRest

from neurogym_core import Dataset, InvalidValueError, TaskEnv, run

REST, PRESS, POKE = 0, 1, 2
FAMILY = [LeverPress, LeverPressWithPoke, LeverPressWithPokeRest]


def play(task, actions, seed=1, **conditions):
    """Rewards of these actions, from the first step at the lever until the trial ends."""
    env = TaskEnv(task)
    actions = actions if task.rests else [action - 1 for action in actions]
    env.reset(seed=seed, options={"conditions": conditions} if conditions else None)
    while env.period != "lever":
        env.step(REST)
    paid = []
    for action in actions:
        _, reward, *_, info = env.step(action)
        paid.append(round(reward, 9))
        if info["new_trial"]:
            return paid, info["trial"]["outcome"]
    return paid, None


def test_releasing_the_lever_after_four_presses_is_paid():
    assert play(LeverPress(), [PRESS] * 4 + [REST]) == ([0, 0, 0, 0, 10], "correct")
    assert play(LeverPress(), [REST] * 3 + [PRESS] * 4 + [REST])[1] == "correct"


@pytest.mark.parametrize("presses", [1, 3, 5, 20])
def test_fewer_or_more_presses_are_an_error(presses):
    """In an earlier version the fourth press was paid, so pressing was enough without counting."""
    assert play(LeverPress(), [PRESS] * presses + [REST]) == ([0] * (presses + 1), "error")
    poked = play(LeverPressWithPoke(), [PRESS] * presses + [POKE])
    assert poked == ([0] * (presses + 1), "error")


@pytest.mark.parametrize("dt", [10, 20, 50])
def test_a_press_takes_100_ms_at_any_dt(dt):
    steps = 400 // dt
    for held, outcome in (
        (steps - 1, "error"),
        (steps, "correct"),
        (steps + 100 // dt - 1, "correct"),
        (steps + 100 // dt, "error"),
    ):
        assert play(LeverPress(dt=dt), [PRESS] * held + [REST])[1] == outcome


@pytest.mark.parametrize(("task", "best"), [(LeverPress, 0.105), (LeverPressWithPoke, 0.082)])
def test_without_counting_a_tenth_of_the_trials_is_correct(task, best):
    """The best subject without memory; 4,000 trials, five SDs are 2.5 %.

    In an earlier version pressing as long as the cue was on, and poking at random, were always
    paid in the end."""
    rng = np.random.default_rng(0)
    stop = 0.25 if task is LeverPress else 0.2

    def subject(env, observations):
        stops = rng.random(env.num_envs) < stop
        if task is LeverPressWithPoke:
            return np.where(stops, POKE, PRESS) - 1
        return np.where(stops | (observations[:, 0] == 0), REST, PRESS)

    record = run(task(), subject, 4000, num_envs=40, seed=1)
    assert record["performance"].mean() == pytest.approx(best, abs=0.025)


def test_pressing_as_long_as_the_cue_is_on_is_never_paid():
    def subject(env, observations):
        return np.where(observations[:, 0] == 1, PRESS, REST)

    record = run(LeverPress(), subject, 30, seed=1)
    assert set(record["outcome"]) == {"miss"}
    assert not record["reward"].any()


def test_the_cue_comes_with_probability_one_half_on_every_step():
    idle = LeverPress().sample(20_000, seed=2).period_steps["idle"]
    shares = np.bincount(idle, minlength=11)[1:6] / 20_000
    np.testing.assert_allclose(shares, 0.5 ** np.arange(1, 6), atol=5 * 0.5 / np.sqrt(20_000))
    assert idle.max() <= 10


@pytest.mark.parametrize("dt", [10, 100])
def test_pressing_without_a_cue_costs_one_per_press(dt):
    env = TaskEnv(LeverPress(dt=dt))
    obs, _ = env.reset(seed=3, options={"conditions": {"duration.idle": 300}})
    paid = 0.0
    for _ in range(500 // dt):
        obs, reward, *_ = env.step(PRESS)
        assert (env.period, obs[0]) == ("idle", 0)  # restarted
        paid += reward
    assert paid == pytest.approx(-5)
    for _ in range(300 // dt):
        assert env.period == "idle"
        obs, *_ = env.step(REST)
    assert obs[0] == 1
    # Those presses do not count.
    assert not any(env.step(PRESS)[1] for _ in range(400 // dt))
    assert env.step(REST)[1] == 10


def test_no_press_within_five_seconds_is_a_miss():
    record = run(LeverPress(), "rest", 30, seed=4)
    assert set(record["outcome"]) == {"miss"}
    np.testing.assert_allclose(record["steps"] * 100, record["duration.idle"] + 5000)
    assert play(LeverPress(), [PRESS] * 50) == ([0] * 50, "miss")


def test_with_poke_the_presses_must_be_followed_by_a_poke():
    assert play(LeverPressWithPoke(), [PRESS] * 4 + [POKE]) == ([0, 0, 0, 0, 1], "correct")
    assert play(LeverPressWithPoke(), [POKE]) == ([0], "error")
    # With rest, a release of the lever resets the count.
    resting = LeverPressWithPoke(rests=True)
    assert play(resting, [PRESS] * 3 + [REST] + [PRESS] * 4 + [POKE])[1] == "correct"
    assert play(resting, [PRESS] * 4 + [REST, POKE])[1] == "error"


def test_observations_with_poke_are_uninformative():
    env = TaskEnv(LeverPressWithPoke())
    obs, _ = env.reset(seed=5)
    for action in [0, 0, 1, 1, 0, 0, 0, 0, 1] * 20:
        assert obs.tolist() == [1]
        obs, *_ = env.step(action)


def test_with_rest_presses_and_pokes_cost_effort_and_the_reward_scales_with_thirst():
    paid, _ = play(LeverPressWithPokeRest(), [PRESS] * 4 + [POKE], thirst_level=1.0)
    assert paid == [-0.1, -0.1, -0.1, -0.1, 1.9]
    paid, _ = play(LeverPressWithPokeRest(), [PRESS] * 4 + [POKE], thirst_level=0.5)
    assert paid == [-0.1, -0.1, -0.1, -0.1, 0.9]
    paid, _ = play(LeverPressWithPokeRest(dt=20), [PRESS] * 20 + [POKE], thirst_level=1.0)
    assert sum(paid) == pytest.approx(1.5)
    assert play(LeverPressWithPokeRest(), [REST] * 50) == ([0] * 50, "miss")


def levels_of(subject, trials=3000, sessions=30):
    """Levels of thirst of the trials, (sessions, trials of each)."""
    task = LeverPressWithPokeRest(trials_per_session=trials // sessions)
    return run(task, subject, trials, num_envs=sessions, seed=6)["thirst_level"].reshape(
        sessions, -1
    )


def test_a_drink_lowers_thirst_and_time_raises_it():
    """From trial to trial by -0.25, 0 or 0.25 with a drink, by 0, 0.25 or 0.5 without one."""
    drinking, dry = levels_of("oracle"), levels_of("rest")
    assert set(np.unique(np.diff(drinking, axis=1))) == {-0.25, 0, 0.25}
    assert (np.diff(dry, axis=1) >= 0).all()
    assert (dry[:, 20:] == 1).all()
    obs, _ = (env := TaskEnv(LeverPressWithPokeRest())).reset(seed=2)
    assert obs[1] == pytest.approx(env.conditions["thirst_level"])


def test_a_subject_that_always_drinks_is_equally_often_at_every_level():
    """In an earlier version it was always at 0.5, so the channel never varied.

    3,000 trials; a level is kept for two trials on average, so five SDs are below 9 %."""
    for level in (0.5, 0.75, 1.0):
        assert np.mean(levels_of("oracle") == level) == pytest.approx(1 / 3, abs=0.09)


@pytest.mark.parametrize("dt", [10, 20, 100])
@pytest.mark.parametrize("task", FAMILY)
def test_lever_oracles_are_at_their_maximum(task, dt):
    record = run(task(dt=dt), "oracle", 60, seed=7)
    assert set(record["outcome"]) == {"correct"}
    np.testing.assert_allclose(record["performance"], 1)
    assert run(task(dt=dt), "premature", 30, seed=7)["reward"].mean() < record["reward"].mean()


@pytest.mark.parametrize("task", [LeverPress, LeverPressWithPokeRest])
def test_constant_pressing_is_not_rewarded(task):
    assert (
        run(task(), lambda env, obs: np.full(env.num_envs, PRESS), 30, seed=7)["reward"].mean() < 0
    )


@pytest.mark.parametrize("task", FAMILY)
def test_lever_tasks_make_datasets_by_playing(task):
    batch = next(Dataset(task(), batch_size=2, seq_len=40, seed=8))
    assert (batch.weights == 1).all()
    assert set(np.unique(batch.targets)) == ({1, 2} if task is LeverPressWithPokeRest else {0, 1})


@pytest.mark.parametrize("task", FAMILY)
def test_lever_single_and_vector_env_agree(task, same_in_both):
    same_in_both(task(trials_per_session=10), steps=400)


@pytest.mark.parametrize("wrong", [{"presses": 0}, {"press_ms": 0.0}, {"rests": False}])
def test_impossible_levers_are_refused(wrong):
    with pytest.raises(InvalidValueError):
        LeverPress(**wrong)


@pytest.mark.parametrize("dt", [20, 100])
def test_events_are_the_presses_and_pokes(dt):
    record = run(LeverPressWithPoke(dt=dt), "oracle", 50, seed=1)
    events = record.events
    assert (events["name"] == "press").sum() == 4 * 50
    assert (events["name"] == "poke").sum() == 50
    first = events["time"][events["trial"] == 0]
    assert np.allclose(np.diff(first)[:3], 100)
    assert np.isclose(first[4] - first[3], dt)  # the poke ends the trial on the next step


def test_pressing_without_the_cue_is_an_event_of_its_own():
    names = run(LeverPress(), "random", 50, seed=1).events["name"]
    assert {"press", "early press"} == set(names.tolist())
    assert set(run(LeverPress(), "oracle", 50, seed=1).events["name"].tolist()) == {"press"}
