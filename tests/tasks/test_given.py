"""Conditions that a wrapper decides reach the innermost task, through all wrappers between."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from neurogym_core import Choice, Session, Task, TaskWrapper
from neurogym_core.errors import InvalidValueError
from neurogym_core.tasks.drawing import draw_constrained, fresh_session


class Plain(Task):
    timing: ClassVar = {"stimulus": 100}

    def define(self):
        self.observe(stimulus=1)
        self.act(fixate=1, choose=2)
        self.vary(side=Choice(2), strength=Choice((1, 2, 3)))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("stimulus")
        trial.show("stimulus", trial["strength"], during="stimulus")
        trial.answer("choose", trial["side"], during="stimulus")


class Counting(Plain):
    """The strength depends on the number of the trial."""

    def draw(self, session: Session, rng):
        return self.draw_conditions(rng, len(session), {"strength": session.trial % 3 + 1})


class Flashing(TaskWrapper):
    """Declares another condition, and overrides `draw`."""

    def define(self):
        self.vary(flash=Choice((False, True)))

    def new_trial(self, trial):
        super().new_trial(trial)
        trial.show("stimulus", 1, during="stimulus", where=np.atleast_1d(trial["flash"]))

    def draw(self, session: Session, rng):
        return {**super().draw(session, rng), "flash": session.trial % 2 == 1}


class Passing(TaskWrapper):
    """Does not change the drawing."""

    def define(self):
        self.vary(shift=Choice((0, 1)))

    def new_trial(self, trial):
        super().new_trial(trial)
        trial.show("stimulus", trial["shift"], during="stimulus")


STACKS = (
    Plain(),
    Counting(),
    Passing(Plain()),
    Passing(Counting()),
    Flashing(Counting()),
    Passing(Flashing(Counting())),
)


@pytest.mark.parametrize("task", STACKS, ids=lambda task: task.name)
def test_given_values_are_kept_and_the_rest_is_drawn_as_before(task):
    rng = np.random.default_rng(0)
    session = fresh_session(task, rng, 4)
    session.trial[:] = 7
    side = rng.integers(0, 2, (6, 4))
    drawn = draw_constrained(task, session, rng, 6, {}, side)
    assert set(drawn) == set(task.conditions)
    assert all(values.shape == (6, 4) for values in drawn.values())
    np.testing.assert_array_equal(drawn["side"], side)
    np.testing.assert_array_equal(session.trial, 7)  # as it was
    number = 7 + np.arange(6)[:, None]
    if "Counting" in task.name:
        np.testing.assert_array_equal(drawn["strength"], np.broadcast_to(number % 3 + 1, (6, 4)))
    if "Flashing" in task.name:
        np.testing.assert_array_equal(drawn["flash"], np.broadcast_to(number % 2 == 1, (6, 4)))


def test_values_that_the_task_decides_cannot_be_given():
    rng = np.random.default_rng(0)
    task = Counting()
    with pytest.raises(InvalidValueError, match=r"the draw\(\) of Counting imposes strength"):
        draw_constrained(task, fresh_session(task, rng, 2), rng, 1, {"strength": np.ones((1, 2))})


def test_an_answer_that_the_draw_excludes_is_refused_with_the_possible_ones():
    class Computed(Counting):
        def define(self):
            super().define()
            self.correct_choice(lambda known: known["strength"] % 2)

    task, rng = Computed(), np.random.default_rng(0)
    session, answer = fresh_session(task, rng, 2), np.array([[0, 0]])
    with pytest.raises(InvalidValueError, match=r"given the right answer .*array\(\[0, 1\]\)"):
        draw_constrained(task, session, rng, 1, {}, answer)


def test_sessions_within_sessions_are_taken_and_put_back():
    session = Session(4, Session(4))
    session.inner = Session(4, Session(4))
    session.inner.level = np.arange(4)
    rows = np.array([1, 3])
    part = session.take(rows)
    np.testing.assert_array_equal(part.inner.level, rows)
    part.inner.level = np.array([10, 30])
    part.inner.subject.seen = np.array([1.0, 2.0])
    np.testing.assert_array_equal(session.inner.level, np.arange(4))
    session.put(rows, part)
    np.testing.assert_array_equal(session.inner.level, [0, 10, 2, 30])
    np.testing.assert_array_equal(session.inner.subject.seen, [0, 1, 0, 2])
