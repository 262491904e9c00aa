"""`TrialWrapper` changes the trials of classic envs."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from neurogym_classic import TrialWrapper

from neurogym_core import NotSupportedError, PassAction, PassReward, TaskEnv, make, make_task
from neurogym_core.players import resolve

DelayedDots = resolve(f"{Path(__file__).parent / 'files' / 'as_neurogym.py'}:DelayedDots")


class Alternate(TrialWrapper):
    """Answers alternate; the wrapper counts them."""

    def __init__(self, env, start=0):
        super().__init__(env)
        self.n = start

    def new_trial(self, **kwargs):
        self.n += 1
        return self.env.new_trial(**{"ground_truth": self.n % 2, **kwargs})


class Easy(TrialWrapper):
    def new_trial(self, **kwargs):
        kwargs.setdefault("coh", float(self.rng.choice([90, 100])))
        return self.env.new_trial(**kwargs)


def trials(env, n=6):
    """Return the conditions of `n` trials."""
    seen = []
    while len(seen) < n:
        *_, truncated, info = env.step(0)
        if info["new_trial"]:
            seen.append((info["trial"]["ground_truth"], info["trial"]["coh"]))
        if truncated:
            env.reset()
    return seen


def test_all_trials_pass_through_all_wrappers():
    env = Easy(Alternate(DelayedDots()))
    env.reset(seed=0)
    assert [gt for gt, _ in trials(env)] == [1, 0, 1, 0, 1, 0]
    assert {coh for _, coh in trials(env, 20)} == {90.0, 100.0}


@pytest.mark.parametrize(
    "wrap",
    [[Alternate, PassAction, PassReward], [PassAction, (Alternate, {"start": 2}), PassReward]],
)
def test_they_combine_with_wrappers_that_do_not_define_new_trial(wrap):
    env = make(DelayedDots, wrap=wrap)
    obs, _ = env.reset(seed=0)
    assert obs.shape == (7,)
    assert [gt for gt, _ in trials(env)] == [1, 0, 1, 0, 1, 0]


def test_a_seed_restores_the_wrappers_state():
    env = Easy(Alternate(DelayedDots()))
    env.reset(seed=0)
    first = trials(env)
    trials(env, 3)
    env.reset(seed=0)
    assert trials(env) == first


def test_imposed_conditions_override_those_of_the_wrapper():
    env = Easy(DelayedDots())
    env.reset(seed=0, options={"conditions": {"coh": 3.0}})
    assert {coh for _, coh in trials(env)} == {3.0}


def test_copies_and_pickles_are_independent():
    env = make(DelayedDots, wrap=[Alternate, Easy])
    env.reset(seed=0)
    trials(env, 3)
    clones = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    expected = trials(env)
    for clone in clones:
        assert clone.unwrapped is not env.unwrapped
        assert trials(clone) == expected


def test_attributes_of_the_env_are_the_wrappers():
    env = Easy(Alternate(DelayedDots(), start=3))
    env.reset(seed=0)
    assert (env.dt, env.n, env.task) == (100, 4, env.unwrapped)
    assert env.timing["fixation"] == 200
    with pytest.raises(AttributeError, match="nothing"):
        env.nothing  # noqa: B018
    assert not hasattr(env, "_nothing")


def test_other_envs_are_refused():
    for env in (gymnasium.make("CartPole-v1"), TaskEnv(make_task("PerceptualDecisionMaking-v0"))):
        with pytest.raises(NotSupportedError, match="Expected a classic env"):
            Easy(env)


def test_the_last_action_and_reward_are_zero_after_a_reset():
    env = make(DelayedDots, wrap=[PassAction, PassReward], trials_per_session=1)
    obs, _ = env.reset(seed=0)
    assert not obs[3:].any()
    obs, reward, *_ = env.step(2)
    np.testing.assert_array_equal(obs[3:], np.array([0, 0, 1, reward], np.float32))
    assert not env.reset()[0][3:].any()
