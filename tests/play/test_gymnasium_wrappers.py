"""Gymnasium's own wrappers and vector envs, which see the small infos of a step."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium import wrappers
from gymnasium.vector import AutoresetMode

from neurogym_core import make, make_vec

TASK = "perceptual/PerceptualDecisionMaking-v0"
ID = f"neurogym_core.gym:{TASK}"
TRIALS = 3
"""Number of trials per session."""


def vector_env(kind, **settings):
    """Three envs, in one of Gymnasium's forms of vector envs."""
    settings["trials_per_session"] = TRIALS
    return gymnasium.make_vec(ID, num_envs=3, vectorization_mode=kind, **settings)


def test_statistics_of_episodes_are_those_of_sessions():
    env = wrappers.RecordEpisodeStatistics(make(TASK, trials_per_session=TRIALS))
    env.reset(seed=1)
    env.action_space.seed(1)
    paid, recorded, trials, sessions = 0.0, 0.0, 0, 0
    while sessions < 4:
        _, reward, terminated, truncated, info = env.step(env.action_space.sample())
        assert ("trial" in info) == ("performance" in info) == info["new_trial"]
        assert ("episode" in info) == (terminated or truncated)
        paid += reward
        trials += info["new_trial"]
        recorded += info["trial"]["reward"] if "trial" in info else 0.0
        if "episode" in info:
            assert trials == TRIALS
            assert info["episode"]["r"] == pytest.approx(paid) == pytest.approx(recorded)
            paid, recorded, trials, sessions = 0.0, 0.0, 0, sessions + 1
            env.reset()


def test_autoreset_goes_on_with_the_next_session():
    env = wrappers.Autoreset(make(TASK, trials_per_session=TRIALS))
    env.reset(seed=1)
    numbers, over = [], False
    for _ in range(400):
        _, reward, terminated, truncated, info = env.step(0)
        if over:  # the step that resets
            assert (reward, terminated, truncated, info) == (0, False, False, {})
        over = terminated or truncated
        numbers += [info["trial"]["trial"]] if "trial" in info else []
    assert numbers == list(range(len(numbers)))
    assert len(numbers) > 2 * TRIALS


def test_a_time_limit_cuts_a_trial_and_the_next_session_begins_a_new_one():
    env = wrappers.TimeLimit(make(TASK), 5)
    env.reset(seed=1)
    for step in range(1, 26):
        _, _, terminated, truncated, info = env.step(0)
        assert (terminated, truncated, info["new_trial"]) == (False, step % 5 == 0, False)
        if truncated:
            env.reset()
            assert env.unwrapped.period == "fixation"
    while "trial" not in info:
        info = env.env.step(0)[4]
    assert info["trial"]["trial"] == 5  # five trials were dropped


@pytest.mark.parametrize("vector", [False, True])
def test_rewards_are_normalised(vector):
    if vector:
        env = wrappers.vector.NormalizeReward(make_vec(TASK, 3))
    else:
        env = wrappers.NormalizeReward(make(TASK))
    env.reset(seed=1)
    target = type(env.unwrapped).target.fget
    rewards = np.array([env.step(target(env.unwrapped))[1] for _ in range(300)])
    assert np.isfinite(rewards).all()
    assert rewards.max() > 1  # rewards of 1 are rare, and count in units of their deviation


def test_processes_give_the_same_as_one_process():
    sync, processes = vector_env("sync"), vector_env("async")
    try:
        np.testing.assert_array_equal(sync.reset(seed=1)[0], processes.reset(seed=1)[0])
        rng, ended = np.random.default_rng(0), 0
        for _ in range(150):
            actions = rng.integers(0, 3, 3)
            one, other = sync.step(actions), processes.step(actions)
            for mine, theirs in zip(one[:4], other[:4], strict=True):
                np.testing.assert_array_equal(mine, theirs)
            assert one[4].keys() == other[4].keys() >= {"new_trial", "_new_trial"}
            if "trial" in one[4]:
                ended += 1
                np.testing.assert_array_equal(one[4]["performance"], other[4]["performance"])
                np.testing.assert_array_equal(
                    one[4]["trial"]["outcome"], other[4]["trial"]["outcome"]
                )
        assert ended > 10
    finally:
        processes.close()


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("kind", ["sync", "vector_entry_point"])
def test_statistics_of_vector_envs_are_those_of_sessions(kind, mode):
    keyword = "autoreset_mode"
    settings = {keyword: mode} if kind == "vector_entry_point" else {}
    if kind == "sync":
        settings = {"vector_kwargs": {keyword: mode}}
    env = wrappers.vector.RecordEpisodeStatistics(vector_env(kind, **settings))
    env.reset(seed=1)
    env.action_space.seed(1)
    trials, sessions = np.zeros(3, int), 0
    for _ in range(400):
        _, _, terminated, truncated, info = env.step(env.action_space.sample())
        over = terminated | truncated
        # A single env's last info of a session is in `final_info` only.
        final = info.get("final_info", {}).get("_trial", False) & over
        trials += final | info.get("_trial", False)
        if over.any():
            assert (trials[over] % TRIALS == 0).all()
            assert (info["episode"]["l"][over] > 0).all()
            sessions += int(over.sum())
    assert sessions > 6
