"""`now.event`: events within trials, in a table beside the record."""

from __future__ import annotations

import copy
import pickle
from typing import ClassVar

import numpy as np
import pytest

from neurogym_core import Choice, Task, TrialRecord, make, make_vec, run
from neurogym_core.errors import InvalidValueError, TaskDefinitionError
from neurogym_core.wrappers.record_trials import RecordTrials


class Pecks(Task):
    """Every peck is an event; its value is the number of pecks so far."""

    dt: float = 50
    timing: ClassVar = {"rest": 100, "work": Choice((200, 300))}
    trial_state: ClassVar = {"pecks": 0}

    def define(self):
        self.observe(light=1)
        self.act(rest=1, peck=("left", "right"))
        self.vary(side=Choice(2))

    def new_trial(self, trial):
        trial.periods("rest", "work")
        trial.hold(during=("rest", "work"), cost=0)
        trial.record("pecks")

    def step_action(self, now, action):
        now.trial_state["pecks"] = now.trial_state["pecks"] + (action > 0)
        for k, name in enumerate(("left", "right")):
            now.event(action == k + 1, name, now.trial_state["pecks"])
        return None, None


def test_events_have_the_time_of_the_end_of_their_step():
    def player(env, observations):
        step = next(counter)
        return np.array([{1: 1, 3: 2, 4: 2}.get(step, 0)])

    counter = iter(range(100))
    record = run(Pecks(timing={"work": 200}), player, 2, seed=1)
    assert record.events.columns == ("subject", "env", "session", "trial", "time", "name", "value")
    assert record.events["time"].tolist() == [100, 200, 250]
    assert record.events["name"].tolist() == ["left", "right", "right"]
    assert record.events["value"].tolist() == [1, 2, 3]
    assert record.events["trial"].tolist() == [0, 0, 0]
    assert len(record[1:].events) == 0


@pytest.mark.parametrize("num_envs", [None, 1, 3])
def test_the_record_has_all_events_and_no_other(num_envs):
    record = run(Pecks(), "random", 31, seed=2, num_envs=num_envs)
    events = record.events
    numbers = np.stack([events["subject"], events["trial"]])
    for i in range(len(record)):
        mine = (numbers == [[record["subject"][i]], [record["trial"][i]]]).all(axis=0)
        assert mine.sum() == record["pecks"][i]
        assert events["value"][mine].tolist() == list(range(1, record["pecks"][i] + 1))
        time = events["time"][mine]
        assert ((time > record["trial_start"][i]) & (time <= record["trial_stop"][i])).all()
    if num_envs is None:
        assert (np.diff(events["time"]) > 0).all()  # one subject, one clock


def test_the_events_of_other_players_are_the_same(tmp_path):
    env = RecordTrials(make(Pecks, seed=3), tmp_path / "trials.csv")
    env.reset(seed=3)
    for step in range(60):
        env.step(step % 3)
    record = env.record
    assert len(record) > 5
    assert len(record.events) == record["pecks"].sum()
    envs = make_vec(Pecks, 2, seed=3, info="numeric")
    envs.reset(seed=3)
    for _ in range(30):
        envs.step(np.array([1, 2]))


def test_selections_joins_copies_and_pickles_keep_events():
    record = run(Pecks(), "random", 20, seed=4)
    assert len(record[::2].events) + len(record[1::2].events) == len(record.events)
    chosen = record[[3, 3, 1]]
    counts = [int((record.events["trial"] == k).sum()) for k in (3, 3, 1)]
    assert len(chosen.events) == sum(counts)
    assert np.bincount(chosen.event_log.row, minlength=3).tolist() == counts
    joined = TrialRecord.concatenate([record[:7], record[7:]])
    for other in (
        joined,
        copy.deepcopy(record),
        pickle.loads(pickle.dumps(record)),
        record.coded(),
    ):
        assert other.events == record.events


def test_an_abandoned_trial_has_no_events_in_the_record():
    env = RecordTrials(make(Pecks, seed=5))
    env.reset(seed=5)
    env.step(1)
    env.reset()
    for _ in range(8):
        env.step(0)
    assert len(env.record) > 0
    assert len(env.record.events) == 0


def test_envs_that_sit_out_a_step_write_no_events():
    envs = RecordTrials.vector(make_vec(Pecks, 2, trials_per_session=1, seed=1))
    envs.reset(seed=1)
    for _ in range(40):
        envs.step(np.array([1, 2]))
    record = envs.record
    assert (record["pecks"] == record["steps"]).all()
    assert len(record.events) == record["steps"].sum()


def test_files_have_the_events_beside_the_trials(tmp_path):
    from neurogym_records import read_csv, read_record

    record = run(Pecks(), "random", 12, seed=6, num_envs=2)
    record.to_csv(tmp_path / "trials.csv")
    for read in (read_csv, read_record):
        again = read(tmp_path / "trials.csv")
        assert again == record
        assert again.events == record.events
        assert len(again.events)
    # Another record of the same name must not get these events.
    run(Pecks(), "rest", 3, seed=6).to_csv(tmp_path / "trials.csv")
    assert len(read_csv(tmp_path / "trials.csv").events) == 0
    run(Pecks(), "rest", 3, seed=6).to_csv(tmp_path / "quiet.csv")
    assert not (tmp_path / "quiet.events.csv").exists()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"name": ""}, r"now\.event\(\) name=''"),
        ({"name": 3}, r"name=3"),
        ({"value": np.nan}, r"now\.event\('x'\) values with nan"),
        ({"value": np.zeros((2, 2))}, r"shape \(2, 2\)"),
        ({"where": 1.0}, r"now\.event\(\) where= of type float64"),
    ],
)
def test_wrong_events_are_errors_that_name_the_call(given, says):
    class Wrong(Pecks):
        def step_action(self, now, action):
            now.event(**{"where": action >= 0, "name": "x", **given})
            return None, None

    with pytest.raises(TaskDefinitionError, match=says):
        run(Wrong(), "random", 2, seed=1, num_envs=2)


@pytest.mark.parametrize(
    "events",
    [
        {"row": [2], "time": [1.0], "name": ["x"], "value": [1]},
        {"row": [0, 1], "time": [1.0], "name": ["x"], "value": [1]},
        {"row": [0], "time": [1.0], "name": ["x"]},
    ],
)
def test_events_of_no_trial_are_refused(events):
    with pytest.raises(InvalidValueError, match=r"events= of a TrialRecord"):
        TrialRecord({"trial": [0, 1]}, events=events)


@pytest.mark.parametrize("num_envs", [None, 3])
def test_a_recorded_session_has_its_events_in_a_file_beside_the_trials(tmp_path, num_envs):
    file = tmp_path / "run" / "trials.csv"
    beside = file.with_suffix(".events.csv")

    def play(append):
        if num_envs is None:
            env = RecordTrials(make(Pecks), file=file, append=append)
        else:
            env = RecordTrials.vector(make_vec(Pecks, num_envs), file=file, append=append)
        env.reset(seed=1)
        for step in range(60):
            env.step(step % 3 if num_envs is None else np.full(num_envs, step % 3))
        return env.record

    record = play(append=False)
    record.events.to_csv(tmp_path / "expected.csv")
    assert len(record.events)
    assert beside.read_text() == (tmp_path / "expected.csv").read_text()
    lines = len(beside.read_text().splitlines())
    play(append=True)
    assert len(beside.read_text().splitlines()) == 2 * lines - 1
    file.unlink()
    with pytest.raises(InvalidValueError, match=r"trials\.events\.csv"):
        play(append=False)
