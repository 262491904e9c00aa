"""Wrappers keep the columns that `session.record` of the wrapped task adds."""

from __future__ import annotations

import pytest

from neurogym_core import Choice, Task, make_task, run


class Count(Task):
    """Trials have their number in the session as a column."""

    timing = {"stimulus": 200, "decision": 100}

    def define(self):
        self.observe(stimulus=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        trial.show("stimulus", trial["side"][:, None] == [0, 1], during="stimulus")
        trial.answer("choose", trial["side"], during="decision")

    def draw(self, session, rng):
        session.record(count=session.trial)
        return self.draw_conditions(rng, len(session))


class Letter(Count):
    """The column of this name has texts."""

    def draw(self, session, rng):
        session.record(count=session.trial.astype(str))
        return self.draw_conditions(rng, len(session))


class Plain(Count):
    """No column."""

    def draw(self, session, rng):
        return self.draw_conditions(rng, len(session))


@pytest.mark.parametrize("wrap", ["TrialHistory", "SideBias", "ReactionTime", "CatchTrials"])
def test_the_column_counts_all_trials(wrap):
    record = run(make_task(Count, wrap=wrap), "oracle", 30, num_envs=1, seed=1)
    assert record["count"].tolist() == [*range(30)]


def test_a_mixture_counts_the_trials_of_each_task():
    mixed = make_task(Count, wrap=("Mixture", {"other_tasks": (Plain(), Letter())}))
    record = run(mixed, "oracle", 90, num_envs=1, seed=1)
    for task, column in (("Count", "count"), ("Letter", "count.Letter")):
        mine = record["task"] == task
        counted = [int(value) for value in record[column][mine]]
        assert counted == [*range(mine.sum())]


def test_both_tasks_of_a_combination_have_their_column():
    class Distract(Plain):
        def draw(self, session, rng):
            session.record(other=10 + session.trial)
            return self.draw_conditions(rng, len(session))

    settings = {"distractor": Distract(), "onset": 0, "share_actions": False}
    task = make_task(Count, wrap=("Combine", settings))
    record = run(task, "oracle", 12, num_envs=1, seed=1)
    assert (record["other"] == record["count"] + 10).all()
