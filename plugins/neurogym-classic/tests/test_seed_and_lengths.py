"""`seed` and `trial_length_stats`, which files and tests written for NeuroGym call."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_classic import TrialEnv, TrialWrapper, TruncExp, spaces

from neurogym_core import InvalidValueError, make


class Seeded(TrialEnv):
    """Seeds itself before it has spaces and timing."""

    def __init__(self, dt=100, timing=None, seed=42):
        super().__init__(dt=dt)
        self.returned = self.seed(seed)
        self.timing = {"delay": [300, 500], "go": 200} if timing is None else timing
        self.observation_space = spaces.Box(-np.inf, np.inf, shape=(2,), dtype=np.float32)
        self.action_space = spaces.Discrete(3)

    def _new_trial(self, **kwargs):
        trial = {"side": int(self.rng.randint(2)), **kwargs}
        if self.timing:
            self.add_period(list(self.timing))
            self.add_ob(trial["side"])
            self.add_randn(0, 1)
        return trial

    def _step(self, action):
        return self.ob_now, float(action == self.trial["side"]), False, False, {"new_trial": False}


def played(env, steps=60):
    """Return the observations, rewards and actions of a subject that samples the action space."""
    seen = [env.reset()[0].tolist()]
    for _ in range(steps):
        action = env.action_space.sample()
        observation, reward, *_ = env.step(action)
        seen.append((observation.tolist(), reward, int(action)))
    return seen


def after(seed, env=None):
    env = Seeded() if env is None else env
    assert env.seed(seed) == [seed]
    return played(env)


def test_a_seed_fixes_trials_noise_and_sampled_actions():
    assert after(1) == after(1)
    assert after(1) != after(2)


def test_init_can_seed_before_there_are_spaces():
    one, other = Seeded(seed=5), Seeded(seed=5)
    assert one.returned == [5]
    assert one.reset()[0].tolist() == other.reset()[0].tolist()
    assert one.reset()[0].tolist() != Seeded(seed=6).reset()[0].tolist()


def test_a_trial_drawn_before_the_seed_is_not_shown_after_it():
    env = Seeded()
    env.reset()  # no step: this trial would be continued by another reset
    assert after(1, env) == after(1)


def test_a_reset_keeps_the_trial_that_a_seed_has_drawn():
    env = Seeded()
    env.seed(3)
    env.new_trial()
    assert env.reset()[0].tolist() == env.ob[0].tolist()
    assert env.num_tr == 1


def test_no_seed_is_another_sequence_each_time():
    assert after(None) != after(None)


def test_a_reset_with_a_seed_leaves_the_action_space_alone():
    env = Seeded()
    env.action_space.seed(9)
    expected = [int(env.action_space.sample()) for _ in range(30)]
    env.action_space.seed(9)
    env.reset(seed=1)
    assert [int(env.action_space.sample()) for _ in range(30)] == expected


def test_seeds_pass_wrappers_of_trials(ref):
    env = TrialWrapper(Seeded())
    assert after(4, env) == after(4)
    made = make(ref("as_neurogym", "DelayedDots"))
    assert made.unwrapped.seed(4) == [4]


@pytest.mark.parametrize(
    ("timing", "mean", "sd", "p95", "longest"),
    [
        ({"fixation": 300, "stimulus": 500, "decision": 200}, 10, 0, 10, 10),
        ({"fixation": 300, "stimulus": ["choice", [300, 400, 500]]}, 7, (2 / 3) ** 0.5, 8, 8),
        ({"fixation": 300, "stimulus": ["uniform", [400, 600]]}, 7.5, 0.5, 8, 8),
        ({"stimulus": 250}, 2, 0, 2, 2),  # rounded down
        ({}, 0, 0, 0, 0),
    ],
)
def test_the_statistics_of_trial_lengths(timing, mean, sd, p95, longest):
    stats = Seeded(timing=timing).trial_length_stats(num_trials=1000)
    assert list(stats) == ["mean", "std", "percentile_95", "max"]
    assert all(type(value) is float for value in stats.values())
    # The SE of the mean is at most 0.026: 5 of them are missed once in two million runs.
    assert stats["mean"] == pytest.approx(mean, abs=0.13)
    assert stats["std"] == pytest.approx(sd, abs=0.07)
    assert (stats["percentile_95"], stats["max"]) == (p95, longest)


def test_the_statistics_of_an_exponential_delay():
    stats = Seeded(timing={"delay": TruncExp(400, 100, 500)}).trial_length_stats(2000)
    below = np.array([1 - np.exp(-k / 4) for k in (1, 2, 3, 4)]) / (1 - np.exp(-1))
    mean = 1 + (1 - below[:3]).sum()  # 1 to 4 steps: delays from 100 to below 500 ms
    assert stats["mean"] == pytest.approx(mean, abs=0.12)  # SE 0.025
    assert stats["max"] == 4


def test_counting_lengths_changes_nothing_that_follows():
    one, other = Seeded(), Seeded()
    for env in (one, other):
        env.reset(seed=1)
        env.step(0)
    first = one.trial_length_stats(50)
    assert one.trial_length_stats(50) == first
    assert (one.num_tr, one.t_ind) == (other.num_tr, other.t_ind) == (1, 1)
    assert repr([one.step(0) for _ in range(40)]) == repr([other.step(0) for _ in range(40)])


def test_lengths_are_those_of_the_trials_that_wrappers_make():
    class Longer(TrialWrapper):
        def new_trial(self, **kwargs):
            self.unwrapped.timing["go"] = 1000
            return self.env.new_trial(**kwargs)

    env = Longer(Seeded(timing={"go": 200}))
    assert env.trial_length_stats(3)["mean"] == 10
    assert env.unwrapped.timing == {"go": 200}


@pytest.mark.parametrize("number", [0, -1, 2.5, True])
def test_the_number_of_trials_is_checked(number):
    with pytest.raises(InvalidValueError, match=rf"num_trials={number!r}.*at least 1"):
        Seeded().trial_length_stats(number)
