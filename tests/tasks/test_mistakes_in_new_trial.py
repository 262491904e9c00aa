"""Mistakes in `new_trial` raise when the task is made, not while it is played."""

from __future__ import annotations

import numpy as np
import pytest

from neurogym_core import STAY, Choice, Task, TaskWrapper, make_task, run
from neurogym_core.errors import TaskDefinitionError, TrialLayoutError
from neurogym_core.tasks.building import max_steps


class Sides(Task):
    timing = {"stimulus": 300, "decision": 200}

    def define(self):
        self.observe(stimulus=2)
        self.act(fixate=1, choose=2, bet=1)
        self.vary(side=Choice((0, 1)))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        trial.show("stimulus", np.eye(2)[trial["side"]], during="stimulus")
        self.ask(trial)

    def ask(self, trial):
        trial.answer("choose", trial["side"], during="decision")


def asking(ask) -> type[Task]:
    return type("Mine", (Sides,), {"ask": lambda self, trial: ask(trial)})


# ---------------------------------------------------------------------- conditions are items


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("side", r"no attribute 'side'. Conditions are items: trial\['side'\]"),
        ("sid", r"no attribute 'sid'. Conditions are items: trial\['side'\]"),
        ("anwser", r"no attribute 'anwser'. Did you mean trial.answer"),
    ],
)
def test_an_attribute_that_is_none_names_the_condition_or_the_verb(name, said):
    with pytest.raises(AttributeError, match=said):
        asking(lambda trial: getattr(trial, name))()


# ---------------------------------------------------------------------- conditions are read-only


def test_a_condition_cannot_be_written_to():
    def ask(trial):
        trial.answer("choose", trial["side"], during="decision")
        trial["side"][:] = 0

    with pytest.raises(
        TaskDefinitionError,
        match=r"Mine.new_trial writes into a read-only array.*x = trial\['side'\].copy\(\)",
    ) as caught:
        asking(ask)()
    assert "destination is read-only" in str(caught.value.__cause__)


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_condition_cannot_be_changed_in_place(wrapped):
    def ask(trial):
        side = trial["side"]
        side += 1
        trial.answer("choose", side, during="decision")

    kind = asking(ask)
    with pytest.raises(TaskDefinitionError, match=r"write x = trial\['side'\].copy\(\)"):
        TaskWrapper(kind()) if wrapped else kind()


def test_a_copy_of_a_condition_may_be_changed():
    def ask(trial):
        side = trial["side"].copy()
        side[:] = 0
        trial.answer("choose", side, during="decision")

    batch = asking(ask)().sample(20, seed=1)
    assert set(batch.conditions["side"]) == {0, 1}
    assert set(batch.table("asked").any(axis=1)) == {True}


def test_conditions_by_name_cannot_be_written_to():
    def ask(trial):
        trial.answer("choose", trial["side"], during="decision")
        trial.conditions["side"][:] = 0

    with pytest.raises(TaskDefinitionError, match=r"write x = trial\['side'\].copy\(\)"):
        asking(ask)()


def test_the_caller_may_still_change_the_conditions():
    batch = Sides().sample(4, seed=1)
    batch.conditions["side"][:] = 1
    assert batch.conditions["side"].tolist() == [1, 1, 1, 1]


# ---------------------------------------------------------------------- two answers on one step


@pytest.mark.parametrize(
    "second",
    [
        {"during": "decision"},
        {"during": ("stimulus", "decision")},
        {"during": "stimulus", "start": 200},
        {"during": "decision", "start": 100},
        {"during": "decision", "slot": "choose"},
    ],
    ids=str,
)
def test_two_answers_to_one_slot_on_one_step_are_refused(second):
    def ask(trial):
        trial.answer(
            "choose", trial["side"], during=("stimulus", "decision"), start=200, then="wait"
        )
        trial.answer("choose", 1 - trial["side"], **second)

    with pytest.raises(
        TrialLayoutError, match=r"Mine.new_trial asks 'choose' twice on the same steps of .*slot=…"
    ):
        asking(ask)()


def test_an_overlap_in_a_few_trials_is_refused_and_counted():
    def ask(trial):
        rare = np.arange(trial.n) == 2
        trial.answer("choose", trial["side"], during="decision", where=trial["side"] >= 0)
        trial.answer("choose", 0, during="decision", where=rare)

    with pytest.raises(TrialLayoutError, match=r"of 'decision', in 1 of \d+ trials"):
        asking(ask)()


def test_a_timed_answer_that_overlaps_another_is_refused():
    def ask(trial):
        trial.answer_at("bet", 100, during="decision", tolerance=50, slot="when")
        trial.answer_at("bet", 200, during="decision", tolerance=50, slot="when")
        trial.answer("choose", trial["side"], during="stimulus", then="wait")

    with pytest.raises(TrialLayoutError, match="asks 'when' twice"):
        asking(ask)()


@pytest.mark.parametrize(
    "ask",
    [
        lambda trial: (
            trial.answer("choose", 0, during="decision", where=trial["side"] == 0),
            trial.answer("choose", 1, during="decision", where=trial["side"] == 1),
        ),
        lambda trial: (
            trial.answer("choose", trial["side"], during="stimulus", then="wait"),
            trial.answer("choose", trial["side"], during="decision"),
        ),
        lambda trial: (
            trial.answer("choose", trial["side"], during="decision", stop=100, then="wait"),
            trial.answer("choose", trial["side"], during="decision", start=100),
        ),
        lambda trial: (
            trial.answer("choose", trial["side"], during="decision", slot="first", then="wait"),
            trial.answer("bet", 0, during="decision", slot="second"),
        ),
        lambda trial: (
            trial.answer("choose", trial["side"], during="decision"),
            trial.offer("bet", 0.4, during="decision", slot="choose"),
        ),
        lambda trial: trial.answer("choose", trial["side"], during=("decision", "decision")),
    ],
    ids=[
        "other trials",
        "other periods",
        "one after another",
        "two groups",
        "a sure bet",
        "one period named twice",
    ],
)
def test_answers_that_do_not_overlap_are_allowed(ask):
    assert asking(ask)().sample(5, seed=0).table("asked").all(axis=1).any()


def test_answers_may_meet_in_a_period_that_is_left_out():
    def ask(trial):
        trial.answer(
            "choose", trial["side"], during=("stimulus", "decision"), stop=300, then="wait"
        )
        trial.answer("choose", trial["side"], during="decision")

    assert asking(ask)(timing={"stimulus": 300}).sample(3, seed=0).tables.slots.names == ("choose",)


# ---------------------------------------------------------------------- the truth of an array


@pytest.mark.parametrize("wrapped", [False, True])
def test_an_array_as_a_truth_value_is_explained(wrapped):
    def ask(trial):
        if trial["side"] == 0:
            trial.answer("choose", 0, during="decision")

    kind = asking(ask)
    with pytest.raises(
        TaskDefinitionError, match=r"Mine.new_trial .*Use np.where.*where="
    ) as caught:
        TaskWrapper(kind()) if wrapped else kind()
    assert "ambiguous" in str(caught.value.__cause__)


def test_other_errors_of_new_trial_are_left_as_they_are():
    def ask(trial):
        raise ValueError("mine")

    with pytest.raises(ValueError, match=r"^mine$"):
        asking(ask)()


# ---------------------------------------------------------------------- longest trials of sequences


class Short(Sides):
    timing = {"stimulus": 100, "decision": 100}


class Long(Sides):
    timing = {"stimulus": {"uniform": [100, 4700]}, "decision": 100}


LONGEST = 48

SEQUENCES = [
    ("Transfer", {"other_tasks": (Long(),), "block_lengths": 5}),
    ("Mixture", {"other_tasks": (Long(),), "order": "sequence", "block_length": 5}),
    ("Mixture", {"other_tasks": (Long(),), "order": "performance"}),
    ("Mixture", {"other_tasks": (Long(),), "weights": (0.999, 0.001)}),
    ("Curriculum", {"stages": ({"timing": {"stimulus": 4700}},)}),
]


@pytest.mark.parametrize(
    "wrap", SEQUENCES, ids=lambda wrap: f"{wrap[0]} {wrap[1].get('order', '')}"
)
@pytest.mark.parametrize("around", [(), ("Noise", {"sigma": 1.0})], ids=["alone", "wrapped"])
def test_the_longest_trial_of_a_sequence_is_that_of_its_longest_task(wrap, around):
    task = make_task(Short, wrap=[wrap, *([around] if around else [])])
    assert max_steps(Short()) == 2
    assert max_steps(task) == LONGEST


def test_the_longest_trial_of_a_sequence_within_a_sequence_is_found():
    inner = make_task(Short, wrap=("Curriculum", {"stages": ({"timing": {"stimulus": 4700}},)}))
    task = make_task(
        Short, wrap=("Mixture", {"other_tasks": (inner,), "order": "sequence", "block_length": 9})
    )
    assert max_steps(task) == LONGEST


def test_the_longest_trial_of_a_sequence_that_is_scheduled_is_that_of_its_longest_task():
    mixture = make_task(Short, wrap=("Mixture", {"other_tasks": (Long(),)}))
    task = make_task(
        mixture,
        wrap=("Schedule", {"blocks": ({"task": "Short"}, {"task": "Long"}), "block_length": 5}),
    )
    assert max_steps(task) == LONGEST


def test_the_longest_trial_of_a_schedule_is_that_of_its_longest_block():
    class Stretched(Sides):
        def define(self):
            super().define()
            self.vary(lasts=Choice((1, 9)))

        def new_trial(self, trial):
            trial.periods("stimulus", "decision", stimulus=100 * trial["lasts"])
            trial.show("stimulus", 1, during="stimulus")
            self.ask(trial)

    task = make_task(
        Stretched, wrap=("Schedule", {"blocks": ({"lasts": 1}, {"lasts": 9}), "block_length": 5})
    )
    assert max_steps(task) == 9 + 2


def test_the_longest_trial_is_not_longer_than_those_played():
    task = make_task(Short, wrap=("Transfer", {"other_tasks": (Long(),), "block_lengths": 5}))
    record = run(task, "oracle", 200, seed=1)
    assert LONGEST - 3 <= record["steps"].max() <= max_steps(task)


def test_the_longest_trial_in_which_a_hook_repeats_a_period_is_its_limit():
    class Again(Sides):
        max_duration = 5000

        def new_trial(self, trial):
            trial.periods("stimulus", "decision", repeat=("stimulus", "decision"))
            self.ask(trial)

        def step_action(self, now, action):
            return None, np.where(now.in_period("decision"), now.number_of("stimulus"), STAY)

    task = Again()
    assert max_steps(task) == 50
    assert run(task, "rest", 1, seed=1)["steps"] == 50
