"""Values of another type or shape than those of the task are refused before trials are built."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from neurogym_core import Choice, Dataset, Task, Uniform, make, make_vec, run
from neurogym_core.errors import InvalidValueError, NeurogymError, UnknownNameError


class Drawing(Task):
    """A number, a text, a bool and two numbers in every trial."""

    timing: ClassVar = {"stimulus": 300, "decision": 100}

    def define(self):
        self.observe(stimulus=2)
        self.act(fixate=1, choose=2)
        self.vary(
            side=Choice((0, 1)),
            strength=Uniform(0, 1),
            word=Choice(("go", "stop")),
            sure=Choice((True, False)),
            pair=lambda rng, prior: rng.random((prior.n, 2)),
        )
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        trial.record(text=trial["word"], truth=trial["sure"], sum=trial["pair"].sum(axis=1))
        shown = np.eye(2)[trial["side"]] * trial["strength"][:, None]
        trial.show("stimulus", shown, during="stimulus")
        trial.answer("choose", trial.correct_choice, during="decision")


class InTurn(Drawing):
    """The same, one trial after another."""

    def draw(self, session, rng):
        return self.draw_conditions(rng, len(session))


class Reading(InTurn):
    reads_outcomes = True


def reset(task, conditions):
    make(task).reset(seed=0, options={"conditions": conditions})


def reset_vector(task, conditions):
    env = make_vec(task, 3)
    env.reset(seed=0, options={"conditions": conditions})
    for _ in range(10):
        env.step(np.zeros(3, int))


def played(task, conditions):
    run(task, "oracle", 5, num_envs=1, conditions=conditions)


def sampled(task, conditions):
    task.sample(5, seed=0, **conditions)


def designed(task, conditions):
    task.sample(conditions, seed=0)


def imposed_on_dataset(task, conditions):
    next(iter(Dataset(type(task), 5, seq_len=20, conditions=conditions)))


PLAYERS = [reset, reset_vector, played, sampled, designed]
WRONG = {
    "rows for a number": ({"side": [[0, 1], [1, 0]]}, r"Drawing|InTurn|Reading.*of shape \(2, 2\)"),
    "an array of rows for a number": ({"side": np.zeros((5, 2))}, r"of shape \(5, 2\)"),
    "a ragged list": ({"side": [[0], [0, 1]]}, "unequal lengths"),
    "a ragged list of n": ({"side": [[0], [0, 1], 1, 0, 1]}, "unequal lengths"),
    "None": ({"side": None}, "side=None"),
    "many None": ({"side": [None] * 5}, "side=.None"),
    "text for a number": ({"side": "left"}, "side='left'"),
    "texts for numbers": ({"strength": ["high"] * 5}, "strength=.'high'"),
    "text for a truth": ({"sure": "yes"}, "sure='yes'"),
    "a number for text": ({"word": 3}, "word=3"),
    "bytes for text": ({"word": b"go"}, "word=b'go'"),
    "a dict of values": ({"side": {"a": 1}}, "side={'a': 1}"),
    "a set": ({"side": {1}}, "side={1}"),
    "a distribution": ({"strength": Uniform(0, 1)}, "strength=Uniform"),
    "a function": ({"side": len}, "side=<built-in"),
    "a complex number": ({"strength": 1j}, "strength=1j"),
    "a date": ({"strength": np.datetime64("2020-01-01")}, r"strength=(np|numpy)\.datetime64"),
    "one number for two": ({"pair": 0.5}, r"pair=0.5 of shape \(\).*Expected 2 numbers"),
    "three numbers for two": ({"pair": [1, 2, 3]}, r"of shape \(3,\).*Expected 2 numbers"),
    "rows of three for two": ({"pair": np.zeros((5, 3))}, r"of shape \(5, 3\).*2 numbers"),
    "nothing": ({"side": []}, "no values"),
    "text for a duration": ({"duration.stimulus": "long"}, "duration.stimulus='long'"),
    "None for a duration": ({"duration.stimulus": None}, "duration.stimulus=None"),
    "rows for a duration": ({"duration.stimulus": [[1, 2]]}, r"of shape \(1, 2\)"),
}


@pytest.mark.parametrize("play", PLAYERS, ids=lambda play: play.__name__)
@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("kind", [Drawing, InTurn, Reading], ids=lambda kind: kind.__name__)
def test_values_that_a_condition_cannot_have_are_refused_in_words(kind, wrong, play):
    conditions, says = WRONG[wrong]
    with pytest.raises(InvalidValueError, match=says) as error:
        play(kind(), conditions)
    assert "Expected" in str(error.value)
    assert "Give" in str(error.value)


@pytest.mark.parametrize(
    "wrong",
    # `make` draws from distributions, and from rows of any length where a function draws.
    [name for name in WRONG if name not in ("a distribution", "rows of three for two")],
)
def test_wrong_values_for_make_and_datasets_are_refused_too(wrong):
    with pytest.raises(NeurogymError) as error:
        imposed_on_dataset(Drawing(), WRONG[wrong][0])
    assert next(iter(WRONG[wrong][0])).removeprefix("duration.") in str(error.value)


@pytest.mark.parametrize("values", [[0, 1], [0] * 700], ids=["too few", "too many"])
def test_a_sample_needs_one_value_or_one_for_each_of_its_trials(values):
    with pytest.raises(InvalidValueError, match=f"given {len(values)} values for 5 trials; give"):
        sampled(Drawing(), {"side": values})


@pytest.mark.parametrize("play", [reset, reset_vector, played], ids=lambda play: play.__name__)
@pytest.mark.parametrize("given", [[("side", 1)], "side", 5], ids=["pairs", "text", "number"])
def test_conditions_that_are_no_dict_are_refused(given, play):
    with pytest.raises(InvalidValueError, match=r"was given conditions=.*Give them by name"):
        play(Drawing(), given)


@pytest.mark.parametrize("play", [reset, reset_vector, played, designed])
def test_a_name_that_is_no_text_is_unknown(play):
    with pytest.raises(UnknownNameError, match="Unknown condition 5 of Drawing"):
        play(Drawing(), {5: 1})


def test_values_of_a_condition_are_taken_in_turn_by_players():
    record = run(Drawing(), "oracle", 6, num_envs=1, conditions={"side": [0, 1, 1]})
    assert record["side"].tolist() == [0, 1, 1] * 2


def test_whole_numbers_may_be_written_with_a_point():
    assert Drawing().sample(3, seed=0, side=1.0).conditions["side"].tolist() == [1, 1, 1]


def test_a_design_of_several_numbers_has_a_row_for_each_trial():
    batch = Drawing().sample({"pair": np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])}, seed=0)
    assert batch.conditions["pair"].shape == (3, 2)
    assert len(Drawing().sample({"pair": [0.1, 0.2]}, seed=0)) == 1


@pytest.mark.parametrize("levels", [{"side": [0.5]}, {"word": ["gone"]}, {"strength": [2.0]}])
def test_levels_of_a_design_are_possible_values(levels):
    with pytest.raises(NeurogymError, match=f"given the condition {next(iter(levels))}="):
        Drawing().factorial(**levels)
    design = Drawing().factorial(side=1, strength=[0.5, 1.0], pair=[[0.1, 0.2]])
    assert {name: len(values) for name, values in design.items()} == dict.fromkeys(design, 8)
