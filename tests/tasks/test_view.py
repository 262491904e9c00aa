"""`TaskView`: a read-only view of a task."""

from __future__ import annotations

import numpy as np
import pytest

from neurogym_core import Choice, Constant, ReactionTime, Task
from neurogym_core.players import TaskView


class Sides(Task):
    dt: int = 100
    sides: int = 2
    timing = {"stimulus": 200, "decision": 100}

    def define(self) -> None:
        self.observe(stimulus=self.sides)
        self.act(fixate=1, choose=self.sides)
        self.vary(side=Choice(self.sides), strength=Choice((0.5, 1.0)))
        self.correct_choice("side")

    def draw(self, session, rng):
        session.record(half=session.trial / 2)
        return super().draw(session, rng)

    def new_trial(self, trial) -> None:
        trial.periods("stimulus", "decision")
        trial.show("stimulus", trial["strength"][:, None], during="stimulus")
        trial.answer("choose", trial["side"], during="decision")


def test_settings_are_plain_and_make_an_equal_task():
    task = Sides(sides=3, conditions={"strength": Constant(1.0)})
    view = TaskView(task)
    assert view.settings == {"sides": 3, "conditions": {"strength": 1.0}}
    assert Sides(**view.settings) == task
    assert view.changed(sides=2) == Sides(conditions={"strength": 1.0})


def test_settings_of_a_wrapper_are_its_own_and_those_of_the_task_can_be_changed():
    wrapped = ReactionTime(Sides())
    view = TaskView(wrapped)
    assert "sides" not in view.settings
    assert view.parameters["sides"] == 2
    assert TaskView(view.changed(sides=3)).wrapped == Sides(sides=3)
    assert TaskView(Sides()).wrapped is None


def test_distributions_are_those_that_make_imposed():
    view = TaskView(Sides(conditions={"strength": 1.0}, timing={"decision": 300}))
    assert [*view.distributions] == ["side", "strength"]
    assert view.distributions["strength"].support().tolist() == [1.0]
    assert [*view.imposed] == ["strength"]


def test_draws_have_conditions_and_recorded_columns_apart():
    task, rng = Sides(), np.random.default_rng(0)
    conditions, columns = TaskView(task).draw(rng, 5)
    assert {*conditions} == {"side", "strength"}
    assert {*columns} == {"half"}
    assert conditions["side"].shape == columns["half"].shape == (5,)
    conditions, columns = TaskView(task).draw_next(TaskView(task).fresh_session(rng, 3), rng)
    assert conditions["side"].shape == columns["half"].shape == (3,)


def test_a_view_changes_nothing():
    view = TaskView(Sides())
    for mapping in (view.parameters, view.imposed, view.example):
        with pytest.raises(TypeError):
            mapping["side"] = 0
    with pytest.raises(AttributeError):
        view.stateful = True


def test_answers_are_those_that_the_task_declares():
    view, rng = TaskView(Sides(sides=3)), np.random.default_rng(0)
    assert view.answers.tolist() == [0, 1, 2]
    assert view.answer({"side": np.array([2, 0])}).tolist() == [2, 0]
    assert view.evidence({"side": np.array([2, 0])}) is None
    wanted = np.array([[0, 2], [1, 0], [2, 2]])
    drawn = view.draw_constrained(view.fresh_session(rng, 2), rng, 3, answer=wanted)
    assert (drawn["side"] == wanted).all()
    assert drawn["strength"].shape == (3, 2)


def test_conditions_of_make_replace_drawn_ones_and_are_replaced_by_imposed_ones():
    view, rng = TaskView(Sides(conditions={"side": 0, "strength": 1.0})), np.random.default_rng(0)
    drawn = {"side": np.ones(4, int), "strength": np.full(4, 0.5)}
    imposed = view.impose(drawn, rng, 4, {"side": 1})
    assert imposed["side"].tolist() == [1] * 4
    assert imposed["strength"].tolist() == [1.0] * 4


def test_the_example_layout_has_the_calls_of_new_trial_for_20_trials():
    layout = TaskView(Sides()).example_layout
    assert layout.n == 20
    assert layout.timeline.names == ("stimulus", "decision")
    assert [show.channel for show in layout.shows] == ["stimulus"]
    assert [len(slot.right) for slot in layout.slots] == [20]
    assert (
        TaskView(Sides()).example_layout.shows[0].value.tolist() == layout.shows[0].value.tolist()
    )
