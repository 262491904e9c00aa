"""`SB3VecEnv` equals `DummyVecEnv` of single envs, step by step."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete
from neurogym_sb3 import SB3VecEnv
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor, VecNormalize

from neurogym_core import InvalidValueError, NotSupportedError, PassAction, PassReward, make

SHARED = ("TimeLimit.truncated", "trial", "performance")
WRAPS = ([], ["PassReward"], ["PassAction", "PassReward"])


def pair(task, wrap, seed):
    """Return SB3VecEnv with one env, and DummyVecEnv; both play the same stream."""
    ours = SB3VecEnv(task, 1, wrap=wrap)
    theirs = DummyVecEnv([lambda: Monitor(make(task, wrap=wrap))])
    for env in (ours, theirs):
        env.seed(seed)
    return ours, theirs


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("name", ["sides", "one_trial"])
def test_every_step_is_that_of_a_dummy_vec_env(name, wrap, request):
    ours, theirs = pair(request.getfixturevalue(name), wrap, seed=4)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    np.testing.assert_array_equal(ours.reset(), theirs.reset())
    rng = np.random.default_rng(1)
    ends = 0
    for _ in range(200):
        action = rng.integers(0, 3, 1)
        mine, other = ours.step(action), theirs.step(action)
        for a, b in zip(mine[:3], other[:3], strict=True):
            np.testing.assert_array_equal(a, b)
            assert a.dtype == b.dtype
        (info,), (expected,) = mine[3], other[3]
        assert {key: info.get(key) for key in SHARED} == {key: expected.get(key) for key in SHARED}
        assert (
            ("terminal_observation" in info)
            == ("terminal_observation" in expected)
            == bool(mine[2][0])
        )
        if mine[2][0]:
            ends += 1
            np.testing.assert_array_equal(
                info["terminal_observation"], expected["terminal_observation"]
            )
            assert {key: info["episode"][key] for key in "rl"} == {
                key: expected["episode"][key] for key in "rl"
            }
    assert ends > 5


def test_long_sessions_are_truncated_and_single_trials_terminated(sides, one_trial):
    for task, cut in ((sides, True), (one_trial, False)):
        env = SB3VecEnv(task, 3, seed=1)
        env.reset()
        ended = []
        for _ in range(60):
            _, _, dones, infos = env.step(np.zeros(3, int))
            ended += [
                info["TimeLimit.truncated"] for info, done in zip(infos, dones, strict=True) if done
            ]
            assert not any(
                info["TimeLimit.truncated"]
                for info, done in zip(infos, dones, strict=True)
                if not done
            )
        assert ended
        assert set(ended) == {cut}


def test_episodes_add_up_over_many_envs(sides):
    env = SB3VecEnv(sides, 7, seed=1)
    env.reset()
    rng = np.random.default_rng(0)
    rewards, dones, infos = zip(
        *(env.step(rng.integers(0, 3, 7))[1:] for _ in range(300)), strict=True
    )
    rewards, dones = np.array(rewards), np.array(dones)
    assert rewards.dtype == np.float32
    for one in range(7):
        begin = 0
        for end in np.flatnonzero(dones[:, one]):
            episode = infos[end][one]["episode"]
            assert episode["l"] == end + 1 - begin
            assert episode["r"] == pytest.approx(rewards[begin : end + 1, one].sum(), abs=1e-4)
            begin = end + 1
        trials = [info[one]["trial"] for info in infos if "trial" in info[one]]
        assert [trial["trial"] for trial in trials] == list(range(len(trials)))
        assert len(trials) // 5 == dones[:, one].sum()
        assert all(trial["env"] == one for trial in trials)


def test_recent_performance_is_the_mean_of_the_trials_played(sides):
    env = SB3VecEnv(sides, 4, seed=1)
    assert np.isnan(env.recent_performance)
    env.reset()
    seen = []
    rng = np.random.default_rng(0)
    for _ in range(60):
        infos = env.step(rng.integers(0, 3, 4))[3]
        seen += [info["performance"] for info in infos if "trial" in info]
    assert env.recent_performance == pytest.approx(np.mean(seen))


def test_a_seed_applies_to_one_reset(sides):
    env = SB3VecEnv(sides, 2)

    def begin():
        return np.concatenate([env.reset(), *(env.step(np.zeros(2, int))[0] for _ in range(8))])

    env.seed(3)
    first, second = begin(), begin()
    env.seed(3)
    np.testing.assert_array_equal(begin(), first)
    assert not np.array_equal(first, second)


def test_options_are_for_all_envs(sides):
    env = SB3VecEnv(sides, 2, seed=1)
    env.set_options({"conditions": {"side": 1}})
    env.reset()
    sides_seen = set()
    for _ in range(30):
        sides_seen |= {
            info["trial"]["side"] for info in env.step(np.ones(2, int))[3] if "trial" in info
        }
    assert sides_seen == {1}
    env.set_options([{"conditions": {"side": 1}}, {}])
    with pytest.raises(InvalidValueError, match="one dict for all"):
        env.reset()


def test_the_wrappers_of_stable_baselines3_can_wrap_it(sides):
    env = VecNormalize(VecMonitor(SB3VecEnv(sides, 3, wrap=["PassReward"], seed=1)))
    obs = env.reset()
    for _ in range(30):
        obs, rewards, _, _ = env.step(np.ones(3, int))
    assert obs.shape == (3, 4)
    assert np.isfinite(rewards).all()


def test_it_has_the_methods_that_stable_baselines3_calls(sides):
    env = SB3VecEnv(sides, 3, wrap=["PassReward"], seed=1)
    assert isinstance(env.action_space, Discrete)
    assert isinstance(env.observation_space, Box)
    assert env.get_attr("num_envs", [0, 2]) == [3, 3]
    assert env.env_is_wrapped(PassReward) == [True] * 3
    assert env.env_is_wrapped(PassAction, indices=1) == [False]
    assert env.env_is_wrapped(Monitor) == [True] * 3
    assert env.get_images() == [None] * 3
    with pytest.raises(NotSupportedError, match="Make another"):
        env.set_attr("sigma", 2)
    with pytest.raises(NotSupportedError, match="one vector env"):
        env.env_method("reset")
    env.close()


def test_it_renders_the_trials_for_a_video():
    env = SB3VecEnv("PerceptualDecisionMaking-v0", 2, render_mode="rgb_array")
    env.reset()
    env.step(np.zeros(2, int))
    frames = env.get_images()
    assert len(frames) == 2
    assert env.render(mode="rgb_array").ndim == 3
