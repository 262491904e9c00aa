"""`run` lets a subject play."""

from __future__ import annotations

import gc
import importlib
import weakref

import numpy as np
import pytest

from neurogym_core import Choice, Task, make_vec, run
from neurogym_core.errors import InvalidValueError


class Sides(Task):
    """Report the side of the stimulus."""

    timing = {"fixation": 200, "decision": 300}
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self):
        self.observe(sides=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2), answer="side")

    def new_trial(self, trial):
        trial.periods("fixation", "decision")
        trial.show("sides", np.eye(2)[trial.side], during="decision")
        trial.answer("choose", trial.side, during="decision")


class Onlooker:
    """Reports the side, and records observations and open windows."""

    def __init__(self):
        self.seen = []

    def begin(self, env):
        self.begun = env.task

    def __call__(self, env, observations):
        self.seen.append(observations)
        return np.where(env.is_asked, 1 + observations[:, :2].argmax(axis=1), 0)


def test_a_subject_plays_so_many_trials():
    record = run(Sides, Onlooker(), 50, seed=1)
    assert len(record) == 50
    assert (record["outcome"] == "correct").all()


def test_a_subject_gets_the_observations_of_env_wrappers_and_reads_the_env_itself():
    subject = Onlooker()
    record = run(Sides, subject, 50, seed=1, wrap=["PassReward", "PassAction"])
    assert (record["outcome"] == "correct").all()
    assert subject.seen[0].shape[1] > 2 + 1
    assert isinstance(subject.begun, Sides)
    assert any((seen[:, 2] == 1).any() for seen in subject.seen), "no reward was ever passed"


def test_reference_subjects_play_through_wrappers():
    assert run(Sides, "oracle", 20, seed=1, wrap="PassReward")["performance"].mean() == 1


# ---------------------------------------------------------------------- interrupted and long runs


class Stopping(Onlooker):
    """Presses Ctrl-C on its 40th step."""

    def __call__(self, env, observations):
        if len(self.seen) == 40:
            raise KeyboardInterrupt
        return super().__call__(env, observations)


def test_ctrl_c_hands_over_the_trials_that_ended():
    with pytest.raises(KeyboardInterrupt) as stopped:
        run(Sides, Stopping(), 1000, num_envs=4, seed=1)
    record = stopped.value.record
    assert len(record) > 20
    assert record == run(Sides, Onlooker(), 1000, num_envs=4, seed=1)[: len(record)]


def test_ctrl_c_before_a_trial_ended_hands_over_none():
    def at_once(env, observations):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        run(Sides, at_once, 5, seed=1)
    assert len(stopped.value.record) == 0


def test_trials_become_columns_as_they_come(monkeypatch):
    """Trials that ended long ago keep no block in memory."""
    module = importlib.import_module("neurogym_core.play.run")
    monkeypatch.setattr(module, "KEPT", 50)
    env = make_vec(Sides, 4, autoreset_mode="SameStep", seed=0)
    env.reset(seed=0)
    played, alive = module.Played(), []
    for _ in range(600):
        *_, info = env.step(np.zeros(4, int))
        played.add(info)
        if "trial" in info:
            alive.append(weakref.ref(info["trial"].finished))
    del info
    gc.collect()
    assert len(alive) > 100
    assert sum(one() is not None for one in alive) <= 13
    assert len(played.record()) == played.count == 4 * len(alive)


@pytest.mark.parametrize("kept", [1, 7, 10_000])
def test_how_often_trials_become_columns_is_not_seen(monkeypatch, kept):
    expected = run(Sides, "random", 300, seed=2, num_envs=7)
    monkeypatch.setattr(importlib.import_module("neurogym_core.play.run"), "KEPT", kept)
    assert run(Sides, "random", 300, seed=2, num_envs=7) == expected


# ---------------------------------------------------------------------- arguments


def test_a_seed_is_any_whole_number():
    assert run(Sides, "random", 30, seed=np.int64(3)) == run(Sides, "random", 30, seed=3)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"seed": -1}, "seed=-1. Expected a whole number, at least 0"),
        ({"seed": 1.5}, "seed=1.5"),
        ({"seed": True}, "seed=True"),
        ({"num_envs": 0}, "num_envs=0"),
        ({"n_trials": 0}, "n_trials=0"),
    ],
)
def test_impossible_numbers_are_reported(settings, said):
    with pytest.raises(InvalidValueError, match=said):
        run(Sides, "random", **{"n_trials": 5, **settings})


# ---------------------------------------------------------------------- slots of some trials only


class Confident(Sides):
    """Asks for confidence after a correct answer only, and has trials without any slot."""

    reads_outcomes = True
    batched = False

    def define(self):
        super().define()
        self.act(rest=1, choose=2, sure=1)
        self.vary(kind=Choice(3))

    def draw(self, session, rng):
        return self.draw_conditions(rng, len(session))

    def new_trial(self, trial):
        trial.periods("fixation", "decision")
        trial.show("sides", np.eye(2)[trial.side], during="decision")
        trial.record("kind")
        if trial.kind > 0:
            trial.answer("choose", trial.side, during="decision", then="wait")
        if trial.kind > 1:
            trial.answer("sure", 0, during="decision", then="wait")


def test_a_slot_that_only_some_trials_ask_has_columns_in_every_trial():
    for envs in (1, 3):
        record = run(Confident, Onlooker(), 60, seed=1, num_envs=envs)
        assert len(record) == 60
        once, never = record["kind"] < 2, record["kind"] < 1
        assert (record["sure.choice"][once] == -1).all()
        assert (record["sure.outcome"][once] == "none").all()
        assert np.isnan(record["sure.reaction_time"]).all()
        assert (record["sure.outcome"][~once] == "miss").all()
        assert (record["choose.choice"][never] == -1).all()
        assert (record["choose.choice"] == record["side"])[~never].all()
        assert (record["choose.outcome"][~never] == "correct").all()
        assert (record["choose.outcome"][never] == "none").all()
        assert (
            record["outcome"] == np.where(never, "none", np.where(once, "correct", "miss"))
        ).all()
