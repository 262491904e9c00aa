"""`run` lets a subject play."""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, Task, run


class Sides(Task):
    """Go to the side that is shown."""

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
    """Goes where it is shown, and notes what it sees and is asked about."""

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


def test_with_wrappers_of_envs_a_subject_sees_what_they_show_and_asks_the_env_itself():
    subject = Onlooker()
    record = run(Sides, subject, 50, seed=1, wrap=["PassReward", "PassAction"])
    assert (record["outcome"] == "correct").all()
    assert subject.seen[0].shape[1] > 2 + 1
    assert isinstance(subject.begun, Sides)
    assert any((seen[:, 2] == 1).any() for seen in subject.seen), "no reward was ever passed"


def test_reference_subjects_play_through_wrappers():
    assert run(Sides, "oracle", 20, seed=1, wrap="PassReward")["performance"].mean() == 1
