"""Only `new_session` sees the trial that ends a session, and only once."""

from __future__ import annotations

import numpy as np
import pytest

from neurogym_core import Choice, Task, TaskEnv, TaskVectorEnv


class Tally(Task):
    """Counts in `subject.counted` every trial that it learns of, in `draw` or in `new_session`."""

    trials_per_session = 3
    timing = {"choice": 100}
    reads_outcomes = True

    def define(self):
        self.observe(light=1)
        self.act(choose=2)
        self.vary(right=Choice(2), counted=Choice(1000))
        self.correct_choice("right")

    def new_session(self, session, rng):
        subject = session.subject
        if not hasattr(subject, "counted"):
            subject.counted = np.zeros(len(session), int)
        if subject.previous:
            subject.counted += subject.previous["outcome"] > 0

    def draw(self, session, rng):
        session.subject.counted += session.previous["outcome"] > 0
        return {
            "right": rng.integers(0, 2, len(session)),
            "counted": session.subject.counted.copy(),
        }

    def new_trial(self, trial):
        trial.periods("choice")
        trial.show("light", trial["counted"], during="choice")
        trial.answer("choose", trial["right"], during="choice")


@pytest.mark.parametrize("length", [1, 3])
def test_every_finished_trial_is_learned_of_once(length):
    env = TaskEnv(Tally(trials_per_session=length))
    env.reset(seed=1)
    for number in range(1, 12):
        _, _, terminated, truncated, _ = env.step(0)
        if terminated or truncated:
            env.reset()
        assert env.conditions["counted"] == number


def test_sessions_of_several_subjects_end_apart():
    env = TaskVectorEnv(Tally(), 4, autoreset_mode="SameStep")
    env.reset(seed=2)
    for number in range(1, 12):
        env.step(np.zeros(4, int))
        assert env.conditions["counted"].tolist() == [number] * 4


def test_giving_a_session_up_ends_none():
    env = TaskEnv(Tally())
    env.reset(seed=3)
    for _ in range(4):
        *_, truncated, _ = env.step(0)
        if truncated:
            env.reset()
    env.reset()
    env.reset()
    assert env.conditions["counted"] == 4
