"""`RecordTrials` and `Monitor`: every finished trial is kept and counted, in memory, on disk, and
in every kind of env.
"""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from wrapper_small_tasks import Choosing, Going, Steering

from neurogym_core import Choice, TrialRecord, make, make_vec
from neurogym_core.errors import InvalidValueError, NotSupportedError, UnknownNameError
from neurogym_core.wrappers import Monitor, PassReward, RecordTrials, TTLPulse


def play(env, steps: int, seed: int = 0) -> list[dict]:
    """Play at random; the trials that `info` told of, as rows."""
    env.reset(seed=seed)
    env.action_space.seed(seed)
    told = []
    for _ in range(steps):
        *_, terminated, truncated, info = env.step(env.action_space.sample())
        if "trial" in info:
            told.append(dict(info["trial"]))
        if terminated or truncated:
            env.reset()
    return told


@pytest.mark.parametrize("task", [Choosing, Going, Steering])
def test_memory_and_file_hold_what_info_told(task, tmp_path):
    env = make(task, wrap=("RecordTrials", {"file": tmp_path / "trials.csv"}), trials_per_session=5)
    told = play(env, 300)
    assert len(told) > 10
    assert len(env.record) == len(told)
    assert TrialRecord.from_csv(tmp_path / "trials.csv") == env.record
    for row, kept in zip(told, env.record.rows(), strict=True):
        assert {name: value for name, value in kept.items() if value == value} == row


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_the_vector_twin_keeps_the_same_trials(mode, tmp_path):
    file = tmp_path / "trials.csv"
    env = make_vec(
        Choosing,
        3,
        wrap=("RecordTrials", {"file": file}),
        autoreset_mode=mode,
        trials_per_session=4,
    )
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    count = 0
    for _ in range(200):
        *_, info = env.step(rng.integers(0, 4, 3))
        count += int(info["_trial"].sum()) if "_trial" in info else 0
    assert len(env.record) == count > 30
    assert TrialRecord.from_csv(file) == env.record
    assert set(env.record["env"]) == {0, 1, 2}


def test_vector_envs_of_gymnasium_are_recorded_too():
    envs = gymnasium.vector.SyncVectorEnv([lambda: make(Choosing)] * 2)
    env = RecordTrials.vector(envs)
    env.reset(seed=0)
    for _ in range(60):
        env.step(np.array([0, 1]))
    record = env.record
    assert set(record["env"]) == {0, 1}
    resting = record[record["env"] == 0]
    assert set(resting["outcome"]) == {"miss"}
    assert np.isnan(resting["reaction_time"]).all()
    assert np.isfinite(record["reaction_time"][record["env"] == 1]).all()


def test_a_file_that_exists_is_not_overwritten_and_can_be_added_to(tmp_path):
    file = tmp_path / "runs" / "trials.csv"
    for k in range(2):
        env = make(
            Choosing, wrap=("RecordTrials", {"file": file, "append": bool(k), "memory": False})
        )
        play(env, 100, seed=k)
    record = TrialRecord.from_csv(file)
    assert (record["trial"] == 0).sum() == 2
    assert env.record == record  # without memory, from the file
    with pytest.raises(InvalidValueError, match=r"which exists\. .* append=True"):
        make(Choosing, wrap=("RecordTrials", {"file": file}))
    with pytest.raises(InvalidValueError, match="Record another task in another file"):
        play(make(Going, wrap=("RecordTrials", {"file": file, "append": True})), 50)
    with pytest.raises(InvalidValueError, match="has to be kept somewhere"):
        make(Choosing, wrap=("RecordTrials", {"memory": False}))


def recording(file, **settings):
    return make(
        Choosing, wrap=("RecordTrials", {"file": file, "append": True, "memory": False, **settings})
    )


@pytest.mark.parametrize("rows", [0, 3, 200])
@pytest.mark.parametrize("lost", [1, 7])
def test_half_a_last_line_does_not_spoil_the_file(tmp_path, rows, lost):
    """A run that is killed as it writes leaves half a line; the next one adds whole lines to those
    before.
    """
    file = tmp_path / "trials.csv"
    play(recording(file), 2000)
    lines = file.read_bytes().splitlines(keepends=True)[: rows + 2]
    file.write_bytes(b"".join(lines)[:-lost])
    with pytest.warns(UserWarning, match="ended in half a line, .* taken off"):
        env = recording(file)
    assert file.read_bytes() == b"".join(lines[:-1])
    finished = play(env, 100, seed=5)
    record = TrialRecord.from_csv(file)
    assert len(record) == rows + len(finished)
    np.testing.assert_array_equal(record["side"][rows:], [trial["side"] for trial in finished])


def test_half_a_header_is_no_header(tmp_path):
    file = tmp_path / "trials.csv"
    file.write_text('"trial","en')
    with pytest.warns(UserWarning, match="half a line"):
        env = recording(file)
    finished = play(env, 100)
    assert len(TrialRecord.from_csv(file)) == len(finished)


def test_nothing_is_lost_when_the_run_is_killed(tmp_path):
    """The process is killed without a chance to clean up; all trials it told of are in the file."""
    code = (
        "import sys\nfrom neurogym_core import make\nenv = make('GoNogo-v0', wrap=('RecordTrials',"
        " {'file': 'trials.csv'}))\nenv.reset(seed=0)\nn = 0\nwhile True:\n    *_, info ="
        " env.step(0)\n    if 'trial' in info:\n        n += 1\n        print(n, flush=True)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    try:
        for line in child.stdout:
            told = int(line)
            if told == 50:
                break
    finally:
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    record = TrialRecord.from_csv(tmp_path / "trials.csv")
    assert len(record) >= told == 50
    np.testing.assert_array_equal(record["trial"], np.arange(len(record)))


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
    env = make_vec(Choosing, envs, wrap=wrap) if envs else make(Choosing, wrap=wrap)
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
        ([], InvalidValueError, "the periods of every line"),
        ([[]], InvalidValueError, "the periods of every line"),
    ],
)
def test_lines_that_cannot_be_are_told(periods, error, says):
    with pytest.raises(error, match=says):
        make(Choosing, wrap=("TTLPulse", {"periods": periods}))
    with pytest.raises(NotSupportedError, match="no task"):
        TTLPulse(gymnasium.make("CartPole-v1"))


def test_what_cannot_be_watched_is_told():
    with pytest.raises(InvalidValueError, match="a whole number of trials"):
        make(Choosing, wrap=("Monitor", {"every": 0}))
    with pytest.raises(NotSupportedError, match="no task whose trials"):
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
    assert TrialRecord.from_csv(file)["mapping"].shape[1] == 3
