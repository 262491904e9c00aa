"""`Monitor` prints and draws progress, `TTLPulse` marks periods, in every type of env."""

from __future__ import annotations

import io

import gymnasium
import numpy as np
import pytest
from neurogym_records import read_csv
from neurogym_wrappers import Monitor, TTLPulse
from small_tasks import Choosing, Steering

from neurogym_core import (
    Choice,
    InvalidValueError,
    NotSupportedError,
    PassReward,
    RecordTrials,
    UnknownNameError,
    make,
    make_vec,
)


def play(env, steps: int) -> None:
    """Play with random actions."""
    env.reset(seed=0)
    env.action_space.seed(0)
    for _ in range(steps):
        *_, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            env.reset()


# ---------------------------------------------------------------------- monitor


@pytest.mark.parametrize("envs", [0, 1, 3])
def test_a_line_after_every_so_many_trials(envs):
    out = io.StringIO()
    settings = {"every": 5, "out": out}
    env = (
        make_vec(Choosing, envs, wrap=("Monitor", settings))
        if envs
        else make(Choosing, wrap=("Monitor", settings))
    )
    assert np.isnan(env.running_performance)
    env.reset(seed=0)
    trials = 0
    while trials < 20:
        target = env.unwrapped.target
        *_, info = env.step(target)
        trials += int(np.sum(info["_trial"])) if "_trial" in info else int("trial" in info)
    lines = out.getvalue().splitlines()
    assert len(lines) == trials // 5
    assert lines[0].startswith("trials 5   performance 1.000   reward 1.000   ")
    assert env.running_performance == 1


def test_on_a_terminal_it_stays_one_line():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    out = Terminal()
    play(make(Choosing, wrap=("Monitor", {"every": 2, "out": out})), 100)
    assert "\n" not in out.getvalue()
    assert out.getvalue().count("\r") > 3


@pytest.mark.parametrize("vector", [False, True])
@pytest.mark.parametrize("task", [Choosing, Steering])
def test_figures_of_whole_trials_are_saved(task, vector, tmp_path):
    wrap = [
        "PassReward",
        ("Monitor", {"every": 4, "folder": tmp_path / "figures", "out": io.StringIO()}),
    ]
    env = make_vec(task, 2, wrap=wrap) if vector else make(task, wrap=wrap)
    env.reset(seed=0)
    env.action_space.seed(0)
    for _ in range(60):
        env.step(env.action_space.sample())
    pictures = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert pictures[0] == "trial-00000004.png"
    assert len(pictures) >= 2
    whole = env._watch._whole
    assert len(whole.observations) == len(whole.actions) == len(whole.periods)
    assert whole.observations[0].shape == (task().channels.size,)


# ---------------------------------------------------------------------- pulses


@pytest.mark.parametrize("envs", [0, 1, 3])
def test_signals_are_high_in_their_periods(envs):
    wrap = ("ttl_pulse", {"periods": [["stimulus"], ["fixation", "decision"]]})
    env = (
        make_vec(Choosing, envs, wrap=wrap, info="full")
        if envs
        else make(Choosing, wrap=wrap, info="full")
    )
    info = env.reset(seed=0)[1]
    rng = np.random.default_rng(0)
    for _ in range(60):
        period = np.asarray(info["period"]).astype(str)
        np.testing.assert_array_equal(info["signal_0"], period == "stimulus")
        np.testing.assert_array_equal(info["signal_1"], period != "stimulus")
        assert type(info["signal_0"]) is (np.ndarray if envs else int)
        info = env.step(rng.integers(0, 4, envs) if envs else int(rng.integers(4)))[4]


@pytest.mark.parametrize(
    ("periods", "error", "says"),
    [
        ([["stimulis"]], UnknownNameError, "Did you mean 'stimulus'"),
        ([], InvalidValueError, "at least one period per line"),
        ([[]], InvalidValueError, "at least one period per line"),
    ],
)
def test_impossible_lines_are_refused(periods, error, says):
    with pytest.raises(error, match=says):
        make(Choosing, wrap=("TTLPulse", {"periods": periods}))
    with pytest.raises(NotSupportedError, match="no task"):
        TTLPulse(gymnasium.make("CartPole-v1"))


def test_an_env_that_cannot_be_watched_is_refused():
    with pytest.raises(InvalidValueError, match="a whole number of trials"):
        make(Choosing, wrap=("Monitor", {"every": 0}))
    with pytest.raises(NotSupportedError, match="the env has no task"):
        Monitor(gymnasium.make("CartPole-v1"), folder="figures")


def test_they_stand_on_each_other_and_say_nothing_of_their_own():
    plain = make(Choosing, wrap="PassReward")
    wrapped = RecordTrials(Monitor(PassReward(make(Choosing)), every=3, out=io.StringIO()))
    wrapped.action_space.seed(0)
    a, b = plain.reset(seed=1), wrapped.reset(seed=1)
    np.testing.assert_array_equal(a[0], b[0])
    for _ in range(100):
        action = wrapped.action_space.sample()
        a, b = plain.step(action), wrapped.step(action)
        np.testing.assert_array_equal(a[0], b[0])
        assert a[1:4] == b[1:4]


def test_a_condition_of_several_values_is_spread_over_columns(tmp_path):
    file = tmp_path / "t.csv"
    env = make(
        Choosing,
        wrap=["VariableMapping", ("RecordTrials", {"file": file})],
        conditions={"strength": Choice((1, 2))},
    )
    play(env, 60)
    assert read_csv(file)["mapping"].shape[1] == 3
