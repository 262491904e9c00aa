"""`RecordTrials`: records every finished trial, in memory and on disk, in every kind of env."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from neurogym_records import read_csv
from small_tasks import Choosing, Going, Steering

from neurogym_core import RecordTrials, make, make_vec
from neurogym_core.errors import InvalidValueError, NotSupportedError


def play(env, steps: int, seed: int = 0) -> list[dict]:
    """Play at random; return the trials of `info` as rows."""
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
def test_memory_and_file_have_the_trials_of_info(task, tmp_path):
    env = make(task, wrap=("RecordTrials", {"file": tmp_path / "trials.csv"}), trials_per_session=5)
    told = play(env, 300)
    assert len(told) > 10
    assert len(env.record) == len(told)
    assert read_csv(tmp_path / "trials.csv") == env.record
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
    assert read_csv(file) == env.record
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
    record = read_csv(file)
    assert (record["trial"] == 0).sum() == 2
    with pytest.raises(NotSupportedError, match=r"trials\.csv.*memory=True.*read_csv"):
        env.record  # noqa: B018
    with pytest.raises(InvalidValueError, match=r"which exists\. .* append=True"):
        make(Choosing, wrap=("RecordTrials", {"file": file}))
    with pytest.raises(InvalidValueError, match="Record another task in another file"):
        play(make(Going, wrap=("RecordTrials", {"file": file, "append": True})), 50)
    with pytest.raises(InvalidValueError, match="Expected a place for the record"):
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
    with pytest.warns(UserWarning, match="ended in half a line, .* was removed"):
        env = recording(file)
    assert file.read_bytes() == b"".join(lines[:-1])
    finished = play(env, 100, seed=5)
    record = read_csv(file)
    assert len(record) == rows + len(finished)
    np.testing.assert_array_equal(record["side"][rows:], [trial["side"] for trial in finished])


def test_half_a_header_is_no_header(tmp_path):
    file = tmp_path / "trials.csv"
    file.write_text('"trial","en')
    with pytest.warns(UserWarning, match="half a line"):
        env = recording(file)
    finished = play(env, 100)
    assert len(read_csv(file)) == len(finished)


def test_nothing_is_lost_when_the_run_is_killed(tmp_path):
    """The process is killed without cleaning up; all trials that it reported are in the file."""
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
    record = read_csv(tmp_path / "trials.csv")
    assert len(record) >= told == 50
    np.testing.assert_array_equal(record["trial"], np.arange(len(record)))
