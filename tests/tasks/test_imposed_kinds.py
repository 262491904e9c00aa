"""Bools and texts can be imposed wherever conditions can, without conversion."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_wrappers import Curriculum, Schedule

from neurogym_core import Choice, Dataset, Task, Uniform, make, make_task, make_vec, run
from neurogym_core.errors import InvalidValueError, TaskDefinitionError, TrialLayoutError


class Kinds(Task):
    """A trial with a bool, a computed bool, a computed text, and numbers."""

    timing = {"only": 100}

    def define(self):
        self.observe(light=1)
        self.act(rest=1, choose=2)
        self.vary(
            offered=Choice((True, False)), late=lambda rng, prior: rng.random(prior.n) < 0.5,
            place=lambda rng, prior: np.array(["left", "right"])[rng.integers(0, 2, prior.n)],
            side=Choice(2), strength=Uniform(0, 1),
        )  # fmt: skip

    def new_trial(self, trial):
        trial.periods("only")
        trial.record("late", "place", "strength")
        trial.show("light", 1, during="only", where=trial["offered"])
        trial.answer("choose", trial["side"], during="only")


def columns(name: str, imposed) -> list[np.ndarray]:
    """A condition in every way of playing."""
    conditions = {name: imposed}
    made = make_task(Kinds, conditions=conditions)
    vector = make_vec(Kinds, 2, conditions=conditions).unwrapped.task
    return [
        run(Kinds, "rest", 30, seed=0, conditions=conditions)[name],
        run(made, "rest", 30, seed=0)[name],
        run(make(Kinds, conditions=conditions).unwrapped.task, "rest", 30, seed=0)[name],
        run(vector, "rest", 30, seed=0)[name],
        run(Schedule(Kinds(), blocks=(conditions,)), "rest", 30, seed=0)[name],
        run(Curriculum(Kinds(), stages=({"conditions": conditions},)), "rest", 30, seed=0)[name],
        Dataset(Kinds, conditions=conditions, batch_size=30, seed=0)
        .task.sample(30, seed=0)
        .conditions[name],
    ]


@pytest.mark.parametrize(
    ("name", "imposed"),
    [
        ("offered", True),
        ("offered", False),
        ("offered", np.False_),
        ("late", True),
        ("place", "left"),
        ("place", "up, down"),
    ],
)
def test_a_bool_or_a_text_holds_in_every_trial(name, imposed):
    for column in columns(name, imposed):
        np.testing.assert_array_equal(column, np.full(len(column), imposed))
        assert column.dtype.kind == np.asarray(imposed).dtype.kind


def test_several_bools_are_equally_likely():
    assert set(
        make_task(Kinds, conditions={"offered": [True, False]})
        .sample(50, seed=0)
        .conditions["offered"]
    ) == {True, False}


def test_one_and_zero_are_true_and_false_where_the_condition_is_a_bool():
    column = make_task(Kinds, conditions={"offered": 1}).sample(5, seed=0).conditions["offered"]
    assert column.dtype == bool
    assert column.all()


@pytest.mark.parametrize("imposed", [True, "left", "unifrom(0, 1)"])
@pytest.mark.parametrize("name", ["side", "strength"])
def test_a_condition_of_numbers_takes_neither_and_is_named(name, imposed):
    with pytest.raises(
        InvalidValueError,
        match=f"Kinds was given the condition {name}={imposed!r}".replace("(", r"\(").replace(
            ")", r"\)"
        ),
    ):
        make_task(Kinds, conditions={name: imposed})


def test_a_distribution_that_is_written_wrongly_is_no_text():
    with pytest.raises(InvalidValueError, match="place='unifrom"):
        make_task(Kinds, conditions={"place": "unifrom(0, 1)"})


@pytest.mark.parametrize("play", ["run", "sample", "make"])
def test_a_duration_that_is_no_number_is_one_error(play):
    with pytest.raises((InvalidValueError, TrialLayoutError), match=r"only.*'abc'"):
        if play == "run":
            run(Kinds, "rest", 3, conditions={"duration.only": "abc"})
        elif play == "sample":
            Kinds().sample(3, **{"duration.only": "abc"})
        else:
            make_task(Kinds, conditions={"duration.only": "abc"})


# ---------------------------------------------------------------------- arrays of Python objects


class Objects(Kinds):
    """Draws texts as pandas has them."""

    def define(self):
        super().define()
        self.vary(
            place=lambda rng, prior: np.array(["left", "right"], dtype=object)[
                rng.integers(0, 2, prior.n)
            ]
        )


def test_texts_of_dtype_object_are_texts_to_every_player():
    assert set(run(Objects, "rest", 60, seed=0)["place"]) == {"left", "right"}
    assert make(Objects, trials_per_session=1).reset(seed=0)[0].shape == (1,)
    assert next(iter(Dataset(Objects, batch_size=5, seed=0))) is not None
    imposed = run(
        Kinds, "rest", 40, seed=0, conditions={"place": np.array(["up", "down"], dtype=object)}
    )
    assert set(imposed["place"]) == {"up", "down"}


class Mixed(Kinds):
    """Draws values that no column can hold."""

    def draw(self, session, rng):
        drawn = super().draw(session, rng)
        return {**drawn, "place": np.array([None] * len(session), dtype=object)}


def test_objects_that_are_no_texts_are_refused_when_the_task_is_made():
    with pytest.raises(TaskDefinitionError, match="draws 'place' as an array of dtype object"):
        Mixed()


# ---------------------------------------------------------------------- several values per trial


class Several(Task):
    """Conditions of three values in every trial: declared, computed, and computed texts."""

    timing = {"only": 100}

    def define(self):
        self.observe(light=3)
        self.act(rest=1, choose=2)
        self.vary(
            side=Choice(2), listed=Choice([(0, 0, 1), (1, 1, 0)]),
            computed=lambda rng, prior: rng.integers(0, 2, (prior.n, 3)),
            words=lambda rng, prior: np.array(["a", "b"])[rng.integers(0, 2, (prior.n, 3))],
        )  # fmt: skip

    def new_trial(self, trial):
        trial.periods("only")
        trial.record("listed", "words")
        trial.show("light", trial["computed"], during="only")
        trial.answer("choose", trial["side"], during="only")


SEVERAL = [
    ("listed", [0, 1, 1]),
    ("computed", [0, 1, 1]),
    ("computed", (0, 1, 1)),
    ("computed", np.array([0, 1, 1])),
    ("words", ["a", "b", "b"]),
]


@pytest.mark.parametrize(("name", "imposed"), SEVERAL)
def test_one_list_holds_in_every_trial_computed_or_not(name, imposed):
    conditions = {name: imposed}
    scheduled = Schedule(Several(), blocks=(conditions,))
    for task in (make_task(Several, conditions=conditions), scheduled):
        record = run(task, "rest", 20, seed=0)
        assert record[name].tolist() == [list(imposed)] * 20
    dataset = Dataset(Several, conditions=conditions, batch_size=4, seed=0)
    assert next(dataset).trials.conditions[name].tolist() == [list(imposed)] * 4


@pytest.mark.parametrize("name", ["listed", "computed"])
@pytest.mark.parametrize("written", [[[0, 1, 1], [1, 0, 0]], "choice([[0, 1, 1], [1, 0, 0]])"])
def test_a_list_of_lists_is_drawn_from(name, written):
    record = run(make_task(Several, conditions={name: written}), "rest", 60, seed=0)
    assert set(map(tuple, record[name].tolist())) == {(0, 1, 1), (1, 0, 0)}


@pytest.mark.parametrize("name", ["listed", "computed"])
@pytest.mark.parametrize("value", [1, [0, 1], [[0, 1], [1, 1]], ["a", "b", "c"], [[0], [0, 1]],
                                   Uniform(0, 1), True])  # fmt: skip
def test_values_of_another_number_or_type_are_refused_where_they_are_imposed(name, value):
    with pytest.raises(InvalidValueError, match=f"{name}=.* numbers in every trial. Give a list"):
        make_task(Several, conditions={name: value})
    with pytest.raises(InvalidValueError, match=f"{name}=.* numbers in every trial. Give a list"):
        Schedule(Several(), blocks=({name: value},))


class Declared(Task):
    """Conditions that only `draw` sets, of each type."""

    timing = {"only": 100}

    def define(self):
        self.observe(light=1)
        self.act(rest=1, choose=2)
        self.vary(late=bool, count=int, level=float, place=str)

    def draw(self, session, rng):
        n = len(session)
        return {
            "late": np.zeros(n, bool),
            "count": np.arange(n),
            "level": rng.random(n),
            "place": np.full(n, "here"),
        }

    def new_trial(self, trial):
        trial.periods("only")
        trial.record("late", "count", "level", "place")
        trial.show("light", 1, during="only")
        trial.answer("choose", 0, during="only")


@pytest.mark.parametrize(
    ("name", "imposed"),
    [("late", True), ("count", 7), ("level", 0.5), ("level", 2), ("place", "there")],
)
def test_what_draw_sets_takes_values_of_its_type(name, imposed):
    record = run(Declared, "rest", 3, seed=0, conditions={name: imposed})
    assert record[name].tolist() == [imposed] * 3


@pytest.mark.parametrize(("name", "imposed"), [("late", 2), ("count", 0.5), ("level", np.nan)])
def test_and_no_others(name, imposed):
    with pytest.raises(InvalidValueError, match=r"Expected (whole )?numbers|Expected True"):
        run(Declared, "rest", 3, seed=0, conditions={name: imposed})
