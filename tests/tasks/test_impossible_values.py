"""An imposed value that a condition cannot have is refused, by every way of imposing it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from neurogym_wrappers import Schedule

from neurogym_core import Choice, Dataset, Task, Uniform, make, make_task, make_vec, run
from neurogym_core.errors import InvalidValueError, UnknownNameError


class Dots(Task):
    """Indices, quantities, texts and bools."""

    timing: ClassVar = {"stimulus": 300, "decision": 100}

    def define(self):
        self.observe(stimulus=2)
        self.act(fixate=1, choose=2)
        self.vary(
            direction=Choice(2),
            items=Choice((2, 4, 8)),
            coherence=Choice((0, 6.4, 51.2)),
            angle=Uniform(0, 6),
            word=Choice(("go", "stop")),
            sure=Choice((True, False)),
            computed=lambda rng, prior: rng.integers(0, 2, prior.n),
            pair=Choice([(0, 1), (1, 0)]),
        )
        self.correct_choice("direction")

    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        trial.record("items", "coherence", "angle", "word", "sure", "computed", "pair")
        trial.show("stimulus", trial["direction"][:, None] == [0, 1], during="stimulus")
        trial.answer("choose", trial["direction"], during="decision")


class InTurn(Dots):
    """The same, where a condition is set by `draw`."""

    def define(self):
        super().define()
        self.vary(block=int)

    def draw(self, session, rng):
        n = len(session)
        return {**self.draw_conditions(rng, n, {"block": np.zeros(n, int)}), "block": session.trial}

    def new_trial(self, trial):
        super().new_trial(trial)
        trial.record("block")


WAYS = {
    "make": lambda kind, conditions: make(kind, conditions=conditions),
    "make_vec": lambda kind, conditions: make_vec(kind, 2, conditions=conditions),
    "make_task": lambda kind, conditions: make_task(kind, conditions=conditions),
    "dataset": lambda kind, conditions: Dataset(kind, 2, conditions=conditions),
    "reset": lambda kind, conditions: make(kind).reset(seed=0, options={"conditions": conditions}),
    "run": lambda kind, conditions: run(kind(), "oracle", 4, conditions=conditions),
    "sample": lambda kind, conditions: kind().sample(1, **conditions),
    "design": lambda kind, conditions: kind().sample(conditions),
    "schedule": lambda kind, conditions: Schedule(kind(), blocks=(conditions,)),
}
IMPOSSIBLE = [
    ("direction", 0.5, "Expected whole numbers from 0 to 1, as declared. Give"),
    ("direction", 2, "Expected whole numbers from 0 to 1"),
    ("direction", -1, "Expected whole numbers from 0 to 1"),
    ("items", 4.5, "Expected whole numbers from 2 to 8"),
    ("coherence", 60.0, "Expected numbers from 0 to 51.2"),
    ("coherence", -1, "Expected numbers from 0 to 51.2"),
    ("coherence", float("inf"), "Expected numbers from 0 to 51.2"),
    ("angle", 7.0, "Expected numbers from 0 to 6"),
    ("sure", 0.5, "Expected whole numbers from 0 to 1|one number"),
    ("computed", 0.5, "Expected whole numbers, as declared"),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("name", "value", "says"), IMPOSSIBLE)
def test_a_value_that_a_condition_cannot_have_is_refused(way, name, value, says):
    with pytest.raises(InvalidValueError, match=f"was given the condition {name}={value}.*{says}"):
        WAYS[way](Dots, {name: value})


@pytest.mark.parametrize("way", ["make", "run", "reset", "design", "schedule"])
def test_one_wrong_value_in_a_list_is_enough(way):
    with pytest.raises(InvalidValueError, match=r"direction=\[0.5, 1\]. Expected whole numbers"):
        WAYS[way](Dots, {"direction": [0.5, 1]})


@pytest.mark.parametrize("way", WAYS)
def test_so_is_a_fraction_of_a_count_that_draw_sets(way):
    with pytest.raises(InvalidValueError, match=r"block=0.5.*Expected whole numbers, as declared"):
        WAYS[way](InTurn, {"block": 0.5})


@pytest.mark.parametrize("spec", [Uniform(0, 1), "uniform(0,1)", {"choice": [0, 0.5]}])
@pytest.mark.parametrize("way", ["make", "schedule"])
def test_a_distribution_with_fractions_is_no_index(way, spec):
    with pytest.raises(InvalidValueError, match="Expected whole numbers from 0 to 1"):
        WAYS[way](Dots, {"direction": spec})


@pytest.mark.parametrize("way", ["make", "run", "sample", "schedule"])
def test_a_text_that_is_not_declared_is_refused(way):
    with pytest.raises((InvalidValueError, UnknownNameError), match=r"'halt'.*'stop'"):
        WAYS[way](Dots, {"word": "halt"})


@pytest.mark.parametrize("way", ["make", "run", "sample", "schedule"])
def test_each_of_several_values_must_be_possible(way):
    with pytest.raises(InvalidValueError, match="Expected whole numbers from 0 to 1"):
        WAYS[way](Dots, {"pair": [0, 2]})


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("direction", 1),
        ("direction", 1.0),
        ("items", 3),
        ("coherence", 12.8),
        ("coherence", 51.2),
        ("angle", 6),
        ("sure", True),
        ("sure", 1),
        ("computed", 3),
        ("pair", [1, 1]),
    ],
)
def test_values_between_those_that_are_declared_are_allowed(way, name, value):
    WAYS[way](Dots, {name: value})


def test_a_direction_is_played_as_it_is_imposed():
    record = run(Dots(), "oracle", 4, num_envs=1, conditions={"direction": [0, 1]})
    assert record["choice"].tolist() == record["direction"].tolist() == [0, 1, 0, 1]
