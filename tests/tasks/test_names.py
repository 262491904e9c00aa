"""A name that an author chooses never collides silently with one of the core's."""

from __future__ import annotations

import dataclasses
import inspect
import types

import numpy as np
import pytest

from neurogym_core import Choice, Task, TaskWrapper, TrialBuilder, make
from neurogym_core.errors import TaskDefinitionError
from neurogym_core.players import TaskView
from neurogym_core.tasks import building, drawing, making, parameters
from neurogym_core.tasks.building import max_steps
from neurogym_core.tasks.drawing import answer_of
from neurogym_core.tasks.parameters import AUTHORS, BASE_PARAMETERS, with_settings
from neurogym_core.tasks.state import STATE, TaskState
from neurogym_core.trials.layout import Layout


def public(cls: type) -> list[str]:
    return sorted(name for name in dir(cls) if not name.startswith("_"))


def functions_of(module: types.ModuleType) -> set[str]:
    return {name for name, _ in inspect.getmembers(module, inspect.isfunction)}


FIELDS = {field.name for cls in (TaskState, Layout) for field in dataclasses.fields(cls)}
PRIVATE = sorted(
    {
        f"_{name.lstrip('_')}"
        for name in FIELDS.union(*map(functions_of, (drawing, parameters, building, making)))
    }
    | {
        name
        for cls in (Task, TaskWrapper, TrialBuilder)
        for name in vars(cls)
        if name.startswith("_") and not name.endswith("__")
    }
    | {
        "_answer",
        "_levels",
        "_declared",
        "_dimensions",
        "_overrides",
        "_parameters",
        "_imposed",
        "_settings",
        "_own",
    }
)
"""Names that an author may give to helpers: all that the core uses anywhere, with "_" before
them.
"""


class Sides(Task):
    timing = {"stimulus": 300, "decision": 100}

    def define(self):
        self.observe(stimulus=2)
        self.act(fixate=1, choose=2)
        self.vary(side=Choice((0, 1)))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        trial.show("stimulus", np.eye(2)[trial["side"]], during="stimulus")
        trial.answer("choose", trial.correct_choice, during="decision")


def made(base, **body):
    return type("Mine", (base,), body)


# ---------------------------------------------------------------------- names that are refused


@pytest.mark.parametrize("name", [name for name in public(Task) if name not in BASE_PARAMETERS])
def test_no_parameter_can_have_a_public_name_of_the_task(name):
    with pytest.raises(
        TaskDefinitionError,
        match=f"Mine declares the parameter '{name}'.*taken by the core; choose another",
    ):
        made(Sides, __annotations__={name: "float"}, **{name: 1.0})


@pytest.mark.parametrize("name", sorted(BASE_PARAMETERS))
def test_parameters_that_every_task_has_can_be_declared_again_with_another_default(name):
    kind = made(Sides, __annotations__={name: "int"}, **{name: 1})
    assert TaskView(kind()).parameters[name] == 1


@pytest.mark.parametrize(
    "name", [name for name in public(TaskWrapper) if name not in BASE_PARAMETERS]
)
def test_no_parameter_of_a_wrapper_can_have_a_public_name_of_the_wrapper(name):
    with pytest.raises(TaskDefinitionError, match=f"Mine declares the parameter '{name}'"):
        made(TaskWrapper, __annotations__={name: "float"}, **{name: 1.0})


@pytest.mark.parametrize("name", [*sorted(set(public(Task)) - AUTHORS - BASE_PARAMETERS), STATE])
def test_no_method_can_have_a_name_of_the_core_that_is_not_for_authors(name):
    with pytest.raises(
        TaskDefinitionError,
        match=f"Mine defines '{name}', a name that is taken by the core; choose another",
    ):
        made(Sides, **{name: lambda self: None})


@pytest.mark.parametrize("name", sorted(set(public(Task)) - AUTHORS - BASE_PARAMETERS))
def test_define_cannot_set_an_attribute_of_the_core(name):
    def define(self):
        Sides.define(self)
        setattr(self, name, 1)

    with pytest.raises(
        TaskDefinitionError,
        match=f"Mine.{name} was set in define.*taken by the core; choose another",
    ):
        made(Sides, define=define)()


@pytest.mark.parametrize("name", ["reward", "choice", "steps"])
def test_no_condition_can_have_the_name_of_a_column_of_every_record(name):
    def define(self):
        Sides.define(self)
        self.vary(**{name: Choice((0, 1))})

    with pytest.raises(
        TaskDefinitionError, match=f"Mine declares the condition '{name}'.*choose another"
    ):
        made(Sides, define=define)()


@pytest.mark.parametrize(
    "body",
    [{"sample": lambda self: None}, {"__annotations__": {"actions": "int"}, "actions": 3}],
    ids=["method", "parameter"],
)
def test_a_mixin_cannot_bring_a_name_of_the_core_either(body):
    mixin = type("Mixin", (), body)
    with pytest.raises(
        TaskDefinitionError, match="a name that is taken by the core; choose another"
    ):
        type("Mine", (mixin, Sides), {})


def test_a_mixin_may_define_all_methods_of_authors():
    mixin = type("Mixin", (), {"_scale": lambda self: 2, "scale": 3, "supervised": False})
    task = type("Mine", (mixin, Sides), {})()
    assert (task._scale(), task.scale, task.supervised) == (2, 3, False)


def test_an_annotated_declaration_is_refused_as_a_parameter():
    with pytest.raises(
        TaskDefinitionError, match=r"For the task.s .supervised., drop the annotation: supervised ="
    ):
        made(Sides, __annotations__={"supervised": "bool"}, supervised=False)


# ---------------------------------------------------------------------- names that are free


@pytest.mark.parametrize("name", PRIVATE)
def test_an_authors_helper_may_have_any_private_name(name):
    def define(self):
        self.observe(stimulus=2)
        self.act(fixate=1, choose=2)
        self.vary(side=Choice((0, 1)))
        self.correct_choice(getattr(self, name))

    task = made(Sides, define=define, **{name: lambda self, conditions: 1 - conditions["side"]})()
    batch = task.sample(20, seed=1)
    np.testing.assert_array_equal(answer_of(task, batch.conditions), 1 - batch.conditions["side"])
    assert set(task.factorial()["side"]) == {0, 1}
    assert with_settings(task, dt=50) == made_again(task)
    env = make(task)
    env.reset(seed=0)
    for _ in range(12):
        env.step(0)


def made_again(task: Task) -> Task:
    return type(task)(dt=50)


@pytest.mark.parametrize("name", PRIVATE)
def test_an_authors_attribute_may_have_any_private_name(name):
    def define(self):
        setattr(self, name, "mine")
        Sides.define(self)

    task = made(Sides, define=define)()
    assert getattr(task, name) == "mine"
    assert set(task.sample(20, seed=1).conditions["side"]) == {0, 1}
    assert max_steps(task) == 4


@pytest.mark.parametrize("name", PRIVATE)
def test_an_attribute_of_a_wrapper_may_have_any_private_name(name):
    def define(self):
        setattr(self, name, "mine")

    task = made(TaskWrapper, define=define)(Sides())
    assert getattr(task, name) == "mine"
    assert set(task.sample(20, seed=1).conditions["side"]) == {0, 1}
    assert with_settings(task, dt=50).dt == 50


@pytest.mark.parametrize("name", ["show", "n", "dt", "conditions", "duration", "_side"])
def test_a_condition_may_have_the_name_of_a_verb_or_of_an_attribute_of_a_trial(name):
    read = []

    def define(self):
        Sides.define(self)
        self.vary(**{name: Choice((3, 4))})

    def new_trial(self, trial):
        Sides.new_trial(self, trial)
        read.append(trial[name])

    task = made(Sides, define=define, new_trial=new_trial)()
    batch = task.sample(60, seed=0)
    np.testing.assert_array_equal(read[-1], batch.conditions[name])
    assert set(batch.conditions[name]) == {3, 4}
