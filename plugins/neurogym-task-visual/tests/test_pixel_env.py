"""Properties of all image tasks: periods, seeds, sessions, rewards and infos."""

from __future__ import annotations

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from neurogym_task_visual.drifting_plaid import DriftingPlaid
from neurogym_task_visual.random_dot_motion import RandomDotMotion
from neurogym_task_visual.visual_search import VisualSearch

from neurogym_core import InvalidValueError, UnknownNameError, make

SMALL = {
    RandomDotMotion: {"fixation": 32, "stimulus": 64, "decision": 48},
    VisualSearch: {"fixation": 32, "sample": 32, "delay": 32, "decision": 48},
    DriftingPlaid: {"fixation": 30, "stimulus": 30, "decision": 50},
}
every = pytest.mark.parametrize("cls", list(SMALL))


def small(cls, **settings):
    return cls(**{"size": 32, "timing": SMALL[cls], **settings})


def away(env):
    """An action that is more than resting but no answer, for tasks whose answers are places."""
    return np.array([0.9, 0.0], np.float32) if isinstance(env, VisualSearch) else 1


@every
@pytest.mark.filterwarnings("ignore:.*not within the minimum space:UserWarning")
def test_the_env_checker_of_gymnasium_accepts_the_env(cls):
    check_env(small(cls), skip_render_check=True)


@every
def test_make_makes_it_with_settings(cls):
    env = make(
        f"visual/{cls.__name__}-v0", size=48, timing={"decision": 80}, rewards={"correct": 2.0}
    )
    image, _ = env.reset(seed=1)
    assert image.shape == (48, 48, 3)
    assert image.dtype == np.uint8
    while not env.unwrapped.asked:
        env.step(env.unwrapped.target)
    assert env.step(env.unwrapped.target)[1] == 2
    again = gymnasium.make(f"neurogym_core.gym:visual/{cls.__name__}-v0")
    assert again.reset(seed=1)[0] in again.observation_space


@every
@pytest.mark.parametrize("dt", [8, 16, 40])
def test_periods_last_as_declared(cls, dt, seen):
    images = seen(cls(size=16, dt=dt))
    for name, ms in cls.timing.items():
        assert abs(len(images[name]) * dt - ms) <= dt / 2


@every
def test_the_correct_action_is_rewarded_once_and_reported(cls):
    env = small(cls)
    env.reset(seed=2)
    for _ in range(10):
        trial, paid, info = env.trial, [], {"new_trial": False}
        while not info["new_trial"]:
            gt, period = env.target, env.period
            _, reward, terminated, truncated, info = env.step(gt)
            np.testing.assert_array_equal(info["gt"], gt)
            assert info["period"] == period
            paid.append(reward)
        assert paid == [0] * (len(paid) - 1) + [1]
        assert (terminated, truncated) == (False, False)
        record = info["trial"]
        assert {name: record[name] for name in trial} == trial
        assert (record["outcome"], info["performance"]) == ("correct", 1)
        assert record["reaction_time"] == env.dt
        assert (record["reward"], record["steps"], record["aborts"]) == (1, len(paid), 0)


@every
@pytest.mark.parametrize("dt", [8, 32])
def test_acting_too_early_costs_by_time_and_answers_nothing(cls, dt):
    long = {**SMALL[cls], "fixation": 320}
    env = small(cls, dt=dt, timing=long)
    env.reset(seed=3)
    paid = 0.0
    while env.period == "fixation":
        paid += env.step(away(env))[1]
    assert paid == pytest.approx(-0.32)
    while not env.asked:
        env.step(env.target)
    *_, info = env.step(env.target)
    assert (info["trial"]["outcome"], info["trial"]["aborts"]) == ("correct", 320 // dt)


@every
def test_resting_is_a_miss(cls):
    env = small(cls, rewards={"miss": -0.5})
    env.reset(seed=4)
    info = {"new_trial": False}
    while not info["new_trial"]:
        _, reward, *_, info = env.step(env.right_action(False))
    assert reward == -0.5
    assert info["trial"]["outcome"] == "miss"
    assert "reaction_time" not in info["trial"]
    assert info["performance"] == 0


def play(env, steps, seed=None):
    env.action_space.seed(5)
    seen = [env.reset(seed=seed)[0]]
    for _ in range(steps):
        image, reward, _, truncated, info = env.step(env.action_space.sample())
        seen += [image, reward, str(info)]
        if truncated:
            env.reset()
    return seen


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@every
def test_a_seed_fixes_everything(cls):
    first = play(small(cls), 60, seed=6)
    assert same(first, play(small(cls), 60, seed=6))
    assert not same(first, play(small(cls), 60, seed=7))
    env = small(cls)
    play(env, 17, seed=1)
    assert same(first, play(env, 60, seed=6))


@every
@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))],
    ids=["deepcopy", "pickle"],
)
def test_a_copy_continues_alike_and_independently(cls, copied):
    env = small(cls)
    play(env, 13, seed=8)
    other = copied(env)
    ahead = play(other, 40)
    assert same(play(env, 40), ahead)


@every
def test_sessions_end_and_continue(cls):
    env = small(cls, trials_per_session=3)
    env.reset(seed=9)
    for number in range(1, 10):
        info = {"new_trial": False}
        while not info["new_trial"]:
            image, _, terminated, truncated, info = env.step(env.target)
        assert (terminated, truncated) == (False, number % 3 == 0)
        if truncated:
            trial = env.trial
            np.testing.assert_array_equal(env.reset()[0], image)  # the current trial's first image
            assert env.trial is trial
    single = small(cls, trials_per_session=1)
    single.reset(seed=9)
    flags = (False, False)
    while not any(flags):
        _, _, *flags, _ = single.step(single.target)
    assert flags == [True, False]


@every
def test_conditions_can_be_imposed(cls):
    env = small(cls)
    for name, distribution in env.declared.items():
        value = distribution.support()[-1]
        made = small(cls, conditions={name: value if isinstance(value, str) else value.item()})
        for seed in range(5):
            made.reset(seed=seed)
            assert made.trial[name] == value
            env.reset(
                seed=seed,
                options={
                    "conditions": {name: str(value) if value.dtype.kind == "U" else value.item()}
                },
            )
            assert env.trial[name] == value
    env.reset(seed=0)
    names = {tuple(env.trial.values()) for seed in range(20) if env.reset(seed=seed)}
    assert len(names) > 1  # imposing ends with a reset that has a seed


@every
def test_rendering_returns_the_current_image(cls):
    env = small(cls, render_mode="rgb_array")
    image, _ = env.reset(seed=10)
    np.testing.assert_array_equal(env.render(), image)
    image, *_ = env.step(env.target)
    np.testing.assert_array_equal(env.render(), image)
    assert small(cls).render() is None


@every
def test_returned_images_do_not_change_later(cls):
    env = small(cls)
    image, _ = env.reset(seed=11)
    kept = image.copy()
    image[:] = 7
    again, _ = small(cls).reset(seed=11)
    np.testing.assert_array_equal(again, kept)
    for _ in range(3):
        env.step(env.target)
    assert (image == 7).all()


@every
def test_impossible_settings_and_actions_are_refused(cls):
    for wrong in ({"size": 4}, {"dt": 0}, {"trials_per_session": 0}, {"render_mode": "human"}):
        with pytest.raises(InvalidValueError):
            small(cls, **wrong)
    for unknown in (
        {"timing": {"stimulsu": 1}},
        {"rewards": {"corect": 1.0}},
        {"conditions": {"colur": 1}},
    ):
        with pytest.raises(UnknownNameError):
            small(cls, **unknown)
    env = small(cls)
    env.reset(seed=12)
    with pytest.raises(InvalidValueError, match="action"):
        env.step(99)
