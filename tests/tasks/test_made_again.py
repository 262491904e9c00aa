"""A task that is made again is tried again only if its settings or its class have changed."""

from __future__ import annotations

import pickle
import warnings

import cloudpickle
import numpy as np
import pytest

from neurogym_core import Choice, Task, TaskWrapper, TrialLayoutError
from neurogym_core.players import TaskView

calls: list[str] = []


def a_class() -> type[Task]:
    class Light(Task):
        strength: float = 1.0
        timing = {"light": 300, "decision": 300}

        def define(self):
            self.observe(light=2)
            self.act(rest=1, choose=2)
            self.vary(side=Choice(2))
            self.correct_choice("side")

        def new_trial(self, trial):
            calls.append("new_trial")
            trial.periods("light", "decision")
            trial.show("light", self.strength * np.eye(2)[trial["side"]], during="light")
            trial.answer("choose", trial["side"], during="decision")

    return Light


def tries(make) -> int:
    calls.clear()
    make()
    return len(calls)


def facts(task: Task) -> tuple:
    view = TaskView(task)
    example = {name: value.tolist() for name, value in view.example.items()}
    return view.period_names, view.typical_steps, view.repeated_periods, example


def test_an_equal_task_is_not_tried_again_and_has_the_same_facts():
    cls = a_class()
    first = cls()
    assert tries(cls) == 0
    assert facts(cls()) == facts(first)
    assert cls() == first


@pytest.mark.parametrize(
    "settings",
    [{"strength": 2.0}, {"dt": 50}, {"timing": {"light": 500}}, {"rewards": {"correct": 2.0}},
     {"conditions": {"side": 1}}],
)  # fmt: skip
def test_other_settings_are_tried(settings):
    cls = a_class()
    cls()
    assert tries(lambda: cls(**settings)) > 0
    assert facts(cls(**settings)) == facts(a_class()(**settings))


def test_a_class_that_was_edited_is_tried_and_its_mistake_is_found():
    cls = a_class()
    cls()
    cls.new_trial = lambda self, trial: trial.periods("light", "decision")
    with pytest.raises(TrialLayoutError, match="never reads the condition"):
        cls()


def test_an_edited_class_attribute_is_tried_also_in_a_base_and_within_a_wrapper():
    base = a_class()

    class Derived(base):
        pass

    class Wrapper(TaskWrapper):
        pass

    Derived(), Wrapper(Derived())
    assert tries(lambda: Wrapper(Derived())) == 0
    base.timing = {"light": 700, "decision": 300}
    assert tries(Derived) > 0
    assert TaskView(Wrapper(Derived())).typical_steps == 10


def test_a_mistake_is_found_each_time():
    cls = a_class()
    cls.timing = {"light": 0, "decision": 0}
    for _ in range(2):
        with pytest.raises(TrialLayoutError, match="lasts 0 steps"):
            cls()


@pytest.mark.parametrize("settings", [{"timing": {"light": 0.5}}, {"max_duration": 2}, {"dt": 250}])
def test_a_warning_is_given_each_time(settings):
    cls = a_class()
    for _ in range(2):
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            cls(**settings)
        assert given


def test_a_class_of_a_notebook_is_sent_to_other_processes_as_before_it_was_made():
    cls = a_class()
    before = len(cloudpickle.dumps(cls))
    task = cls()
    assert len(cloudpickle.dumps(cls)) < before + 200  # without the facts
    sent = pickle.loads(cloudpickle.dumps(task))
    assert repr(sent) == repr(task)
    assert facts(sent) == facts(task)
