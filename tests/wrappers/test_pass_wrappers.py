"""`PassAction` and `PassReward`: the appended values, resets, and single versus vector envs."""

from __future__ import annotations

import copy
import pickle
from typing import ClassVar

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from neurogym_core import (
    Axis,
    Choice,
    Dataset,
    PassAction,
    PassReward,
    Task,
    TaskEnv,
    TaskVectorEnv,
    make,
    make_vec,
)
from neurogym_core.errors import NotSupportedError, UnknownNameError

WRAPS = {
    "one-hot": ("PassAction", {}),
    "raw": ("PassAction", {"raw": True}),
    "reward": ("PassReward", {}),
    "both": None,
}


class Small(Task):
    trials_per_session: int | None = 2
    timing: ClassVar = {"fixation": 100, "decision": 200}

    def define(self):
        self.observe(fixation=1, stimulus=1)
        self.act(fixate=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("fixation", "decision")
        trial.show("fixation", 1, during="fixation")
        trial.show("stimulus", trial["side"], during="decision", noise=1)
        trial.answer("choose", trial["side"], during="decision")


class Reach(Small):
    """Continuous actions."""

    def define(self):
        self.observe(stimulus=1)
        self.act(position=Axis(size=2))
        self.vary(side=Choice(2))

    def new_trial(self, trial):
        trial.periods("decision")
        trial.show("stimulus", trial["side"], during="decision", noise=1)
        trial.answer(
            "position",
            np.stack([trial["side"], -trial["side"]], axis=1),
            during="decision",
            tolerance=0.1,
        )


def wrap_of(name: str) -> list:
    return [("PassAction", {}), ("PassReward", {})] if name == "both" else [WRAPS[name]]


def test_the_last_action_is_one_hot():
    env = make(Small, wrap="PassAction")
    obs, _ = env.reset(seed=0)
    assert obs.tolist()[2:] == [0, 0, 0]
    for action in (0, 2, 1):
        obs = env.step(action)[0]
        assert obs.tolist()[2:] == np.eye(3)[action].tolist()
    assert env.reset()[0].tolist()[2:] == [0, 0, 0]


def test_the_last_action_as_it_is():
    env = make(Small, wrap=("PassAction", {"raw": True}))
    env.reset(seed=0)
    assert [env.step(action)[0][2] for action in (2, 0)] == [2, 0]
    assert env.observation_space.high[2] == 2


def test_the_last_reward():
    env = make(Small, wrap="PassReward")
    assert env.reset(seed=0)[0][2] == 0
    obs, reward, *_ = env.step(1)
    assert (reward, obs[2]) == (-0.1, np.float32(-0.1))


def test_continuous_actions_are_appended_as_they_are():
    env = make(Reach, wrap="PassAction")
    assert env.reset(seed=0)[0].tolist()[1:] == [0, 0]
    action = np.array([0.25, -0.5], np.float32)
    assert env.step(action)[0].tolist()[1:] == [0.25, -0.5]
    assert env.observation_space.low.tolist()[1:] == [-1, -1]


@pytest.mark.parametrize("task", [Small, Reach])
@pytest.mark.parametrize("name", WRAPS)
def test_observations_are_float32_and_in_the_declared_space(task, name):
    env = make(task, wrap=wrap_of(name))
    env.action_space.seed(0)
    obs, _ = env.reset(seed=0)
    for _ in range(200):
        assert obs.dtype == np.float32
        assert env.observation_space.contains(obs)
        obs, _, _, truncated, _ = env.step(env.action_space.sample())
        if truncated:
            obs, _ = env.reset()


@pytest.mark.filterwarnings("ignore:.*A Box observation space m.*infinity:UserWarning")
@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version:UserWarning")
@pytest.mark.filterwarnings("error")  # the last one here is the first that is applied
@pytest.mark.parametrize("wrapper", [PassAction, PassReward])
def test_gymnasium_finds_nothing_wrong(wrapper):
    check_env(wrapper(TaskEnv(Small())), skip_render_check=True)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("task", [Small, Reach])
@pytest.mark.parametrize("name", WRAPS)
def test_the_vector_form_is_the_single_form_in_both_autoreset_modes(task, name, mode):
    single = make(task, wrap=wrap_of(name))
    vector = make_vec(task, 1, wrap=wrap_of(name), autoreset_mode=mode)
    single.action_space.seed(0)
    a, b = single.reset(seed=3)[0], vector.reset(seed=3)[0]
    sessions, truncated = 0, False
    for _ in range(300):
        np.testing.assert_array_equal(a, b[0])
        action = single.action_space.sample()
        if truncated and mode == "NextStep":
            a, reward, truncated = single.reset()[0], 0.0, False
        else:
            a, reward, _, truncated, _ = single.step(action)
        b, rewards, _, truncations, infos = vector.step(np.asarray(action)[None])
        assert b.dtype == np.float32
        assert vector.observation_space.contains(b)
        assert (reward, truncated) == (pytest.approx(rewards[0]), truncations[0])
        if truncated and mode == "SameStep":
            np.testing.assert_array_equal(infos["final_obs"][0], a)
            a = single.reset()[0]
        sessions += truncated
    assert sessions > 10


def test_only_the_env_whose_session_ended_gets_zeros():
    env = make_vec(Small, 2, wrap=["PassAction", "PassReward"])
    env.reset(seed=0)
    over = np.zeros(2, bool)
    seen = 0
    for step in range(60):
        # The first env answers at once and so ends its sessions earlier than the second, which
        # rests.
        obs, _, _, truncated, _ = env.step(np.array([1 + step % 2, 0]))
        assert ((obs[:, 2:5].sum(axis=1) == 0) == over).all()
        assert (obs[over, 5] == 0).all()
        seen += over[0] != over[1]
        over = truncated
    assert seen > 5


@pytest.mark.parametrize(
    "mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED]
)
def test_gymnasiums_own_vector_envs_can_be_wrapped(mode):
    env = PassAction.vector(
        SyncVectorEnv([lambda: gymnasium.make("CartPole-v1")] * 2, autoreset_mode=mode)
    )
    obs, _ = env.reset(seed=0)
    zeros = np.zeros(2, bool)
    for _ in range(60):
        obs, _, terminated, truncated, info = env.step(np.array([1, 0]))
        over = terminated | truncated
        if mode == AutoresetMode.SAME_STEP:
            assert all(len(info["final_obs"][i]) == 6 for i in np.flatnonzero(over))
        if mode == AutoresetMode.DISABLED and over.any():
            obs, _ = env.reset(options={"reset_mask": over})
        fresh = zeros if mode == AutoresetMode.NEXT_STEP else over
        np.testing.assert_array_equal(obs[:, 4:], np.where(fresh[:, None], 0, [[0, 1], [1, 0]]))
        zeros = over


def test_copies_and_pickles_are_independent():
    for env in (make(Small, wrap=wrap_of("both")), make_vec(Small, 2, wrap=wrap_of("both"))):
        env.reset(seed=0)
        action = np.ones(2, int) if hasattr(env, "num_envs") else 1
        clones = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
        expected = env.step(action)[0]
        for clone in clones:
            np.testing.assert_array_equal(clone.step(action)[0], expected)


def test_the_spec_says_how_it_was_wrapped():
    env = make(Small, wrap=[("PassAction", {"raw": True}), "PassReward"])
    assert [(w.name, w.kwargs) for w in env.spec.additional_wrappers] == [
        ("PassAction", {"raw": True}),
        ("PassReward", {}),
    ]


class Odd(gymnasium.Env):
    observation_space = Dict({"x": Box(-1, 1, (2,))})
    action_space = Discrete(2)


class OddActions(Odd):
    observation_space = Box(-1, 1, (2,))
    action_space = MultiDiscrete([2, 2])


def test_envs_they_cannot_be_applied_to():
    with pytest.raises(NotSupportedError, match="observations are Dict"):
        PassReward(Odd())
    with pytest.raises(NotSupportedError, match="MultiDiscrete"):
        PassAction(OddActions())
    with pytest.raises(NotSupportedError, match="wraps envs, not tasks"):
        Dataset(Small, wrap="PassReward")
    with pytest.raises(UnknownNameError, match="Did you mean 'raw'"):
        make(Small, wrap=("PassAction", {"rawest": True}))


def test_action_ids_may_start_anywhere():
    class Shifted(gymnasium.Env):
        observation_space = Box(-1, 1, (1,))
        action_space = Discrete(3, start=-1)

        def reset(self, *, seed=None, options=None):
            return np.zeros(1, np.float32), {}

        def step(self, action):
            return np.zeros(1, np.float32), 0.0, False, False, {}

    hot, raw = PassAction(Shifted()), PassAction(Shifted(), raw=True)
    assert hot.step(-1)[0].tolist() == [0, 1, 0, 0]
    assert raw.step(-1)[0].tolist() == [0, -1]
    assert (raw.observation_space.low[1], raw.observation_space.high[1]) == (-1, 1)


def test_wrapped_vector_envs_still_report_their_properties():
    env = make_vec(Small, 2, wrap="PassAction")
    assert isinstance(env.unwrapped, TaskVectorEnv)
    assert env.single_observation_space.shape == (5,)
    assert env.observation_space.shape == (2, 5)
