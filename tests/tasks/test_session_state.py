"""The state of sessions keeps subjects apart, and outlives trials and sessions."""

from __future__ import annotations

import copy
import pickle
from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurogym_core import Choice, Outcome, Session, Task, make_vec, run
from neurogym_core.errors import TaskDefinitionError, UnknownNameError
from neurogym_core.tasks.drawing import answers_of, fresh_session
from neurogym_core.tools import describe


class Reversal(Task):
    """A good arm, which changes after four hits within five trials."""

    reads_outcomes = True
    trials_per_session = 40
    timing = {"choice": 100}

    def define(self):
        self.observe(light=1)
        self.act(pull=2)
        self.vary(good=Choice(2), bonus=Choice(4), reversals=int, day=int)

    def new_trial(self, trial):
        trial.periods("choice")
        trial.show("light", trial["bonus"], during="choice")
        trial.answer("pull", trial["good"], during="choice")


class Reversing(Reversal):
    def new_session(self, session, rng):
        n = len(session)
        session.good = (rng.random(n) < 0.5).astype(int)
        session.hits, session.reversals = np.zeros((n, 5), bool), np.zeros(n, int)
        if not hasattr(session.subject, "day"):
            session.subject.day = np.zeros(n, int)
        session.subject.day = session.subject.day + (session.subject.previous.get("day", 0) >= 0)

    def draw(self, session, rng):
        hit = session.previous["outcome"] == Outcome.CORRECT
        session.hits = np.column_stack((session.hits[:, 1:], hit))
        over = session.hits.sum(axis=1) >= 4
        session.good = np.where(over, 1 - session.good, session.good)
        session.reversals = session.reversals + over
        session.hits = np.where(over[:, None], False, session.hits)
        bonus = rng.integers(0, 4, len(session))
        return {
            "good": session.good,
            "bonus": bonus,
            "reversals": session.reversals,
            "day": session.subject.day,
        }


def choices(n, seed=0):
    return np.random.default_rng(seed).integers(0, 2, n).tolist()


# ---------------------------------------------------------------------- arrays only


@pytest.mark.parametrize(
    "value",
    [
        [],
        [0, 0, 0],
        deque(),
        {},
        0,
        0.5,
        "left",
        None,
        np.zeros(4),
        np.float64(1),
        np.zeros(()),
        np.array([[], [1], None], object),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["hits", "_hits", "trial"])
def test_a_session_refuses_what_has_no_row_per_subject(name, value):
    session = Session(3, Session(3))
    for holder, owner in ((session, "session"), (session.subject, "session.subject")):
        with pytest.raises(TaskDefinitionError) as caught:
            setattr(holder, name, value)
        said = str(caught.value)
        assert said.startswith(f"{owner}.{name} was set to ")
        assert "one row for each of the 3 subjects" in said
        assert "np.zeros(len(session))" in said
        assert "np.zeros((len(session), k))" in said


@pytest.mark.parametrize(
    "value", [np.zeros(3), np.zeros((3, 2), bool), np.array(["a", "b", "c"])], ids=repr
)
def test_a_session_takes_arrays_with_a_row_per_subject(value):
    session = Session(3)
    session.hits = value
    assert session.take(np.array([2])).hits.tolist() == value[2:].tolist()


def test_a_list_on_the_session_is_refused_when_the_task_is_made():
    def new_session(self, session, rng):
        session.hits = []

    with pytest.raises(TaskDefinitionError, match=r"session\.hits was set to \[\] \(list\)"):
        type("Mixed", (Reversal,), {"new_session": new_session})()


def test_a_session_that_a_part_begins_is_put_back_with_rows_for_all():
    session = Session(3)
    part = session.take(np.array([1]))
    part.inner = Session(1)
    part.inner.level = np.array([7])
    session.put(np.array([1]), part)
    assert len(session.inner) == 3
    assert session.inner.level.tolist() == [0, 7, 0]


# ---------------------------------------------------------------------- players


@pytest.mark.parametrize("again", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("envs", [1, 3])
def test_a_copy_of_an_env_continues_as_the_env_and_apart_from_it(again, envs):
    env = make_vec(Reversing(), envs)
    env.reset(seed=2)
    actions = np.array(choices(100 * envs)).reshape(100, envs)
    for action in actions[:25]:
        env.step(action)
    found = []
    for one in (again(env), env):
        rows = []
        for action in actions[25:]:
            *_, info = one.step(action)
            if "trial" not in info:  # the step after the end of a session
                continue
            trial = info["trial"]
            rows.append([trial[name].tolist() for name in ("good", "bonus", "reversals", "day")])
        found.append(rows)
    assert found[0] == found[1]
    assert max(max(row[3]) for row in found[0]) > 1


def test_conditions_that_make_imposes_win():
    assert set(run(Reversing(conditions={"bonus": 3}), "guess", 30, seed=1)["bonus"]) == {3}


# ---------------------------------------------------------------------- only set by draw


def test_a_condition_that_is_declared_as_a_type_is_recorded_as_draw_sets_it():
    record = run(Reversing, "oracle", 40, num_envs=1, seed=1)
    np.testing.assert_array_equal(record["reversals"], np.arange(40) // 4)
    task = Reversing()
    assert "int, set by draw" in str(describe(task)["conditions"])
    assert set(task.factorial()) == {"good", "bonus"}
    assert task.sample(2, seed=1, reversals=9).conditions["reversals"].tolist() == [9, 9]


def test_the_answers_of_a_task_may_be_set_by_draw_alone():
    class Alternating(Reversal):
        def define(self):
            self.observe(light=1)
            self.act(pull=2)
            self.vary(good=int, bonus=Choice(4))
            self.correct_choice("good")

        def new_session(self, session, rng):
            session.good = rng.integers(0, 2, len(session))

        def draw(self, session, rng):
            session.good = 1 - session.good
            return self.draw_conditions(rng, len(session), {"good": session.good})

    assert answers_of(Alternating()).tolist() == [0, 1]
    assert (run(Alternating, "oracle", 20, seed=1)["outcome"] == "correct").all()


def test_a_condition_that_draw_has_to_set_and_does_not_is_refused():
    with pytest.raises(TaskDefinitionError, match=r"reversals=int, .*Expected .*Return it"):
        cls(draw=lambda self, session, rng: self.draw_conditions(rng, len(session)))()
    with pytest.raises(TaskDefinitionError, match=r"reversals=int, .*Expected .*Return it"):
        Reversal()


@pytest.mark.parametrize("value", [0.5, "left", True], ids=repr)
def test_a_condition_of_another_type_than_declared_is_refused(value):
    def draw(self, session, rng):
        n = len(session)
        given = {"reversals": np.full(n, value), "day": np.zeros(n, int)}
        return self.draw_conditions(rng, n, given)

    with pytest.raises(TaskDefinitionError, match=r"'reversals' as .*Expected one int.*astype"):
        cls(draw=draw)()


# ---------------------------------------------------------------------- mistakes


def cls(**methods):
    return type("Wrong", (Reversal,), methods)


def reading(name: str, reads: bool, where: str = "session"):
    """A task that reads a column of the last trial."""

    class Reads(Task):
        reads_outcomes = reads
        timing = {"choice": 100}

        def define(self):
            self.observe(light=1)
            self.act(pull=2)
            self.vary(good=Choice(2))

        def new_trial(self, trial):
            trial.periods("choice")
            trial.answer("pull", trial["good"], during="choice")

    def draw(self, session, rng):
        owner = session if where == "session" else session.subject
        owner.previous[name]
        return self.draw_conditions(rng, len(session))

    return type("Reads", (Reads,), {"draw": draw})


@pytest.mark.parametrize("where", ["session", "subject"])
def test_results_that_are_not_kept_are_refused_with_the_attribute_that_keeps_them(where):
    with pytest.raises(TaskDefinitionError, match=r"'outcome'.*not kept.*reads_outcomes = True"):
        run(reading("outcome", reads=False, where=where), "guess", 3, seed=0)


def test_an_unknown_column_of_the_last_trial_lists_the_known_ones():
    known = "'good', 'choice', 'outcome', 'reward', 'performance'"
    with pytest.raises(UnknownNameError, match=f"'outcom'.*Did you mean 'outcome'.*{known}"):
        run(reading("outcom", reads=True), "guess", 3, seed=0)


def test_the_last_trials_of_a_session_survive_copies_and_pickles():
    session = fresh_session(Reversing(), np.random.default_rng(0), 2)
    for other in (
        copy.deepcopy(session),
        pickle.loads(pickle.dumps(session)),
        session.take(np.array([0])),
    ):
        assert other.previous.keys() == session.previous.keys()
        with pytest.raises(UnknownNameError, match="'outcom'"):
            other.previous["outcom"]


# ---------------------------------------------------------------------- the last trials


@settings(max_examples=30)
@given(st.data())
def test_each_session_remembers_its_own_last_trial_whatever_the_others_do(data):
    """Numbers become floats and texts longer as they come; sessions that have not played have 0, or
    -1 for the choice.
    """
    n = data.draw(st.integers(1, 4))
    session = Session(n)
    expected: dict[str, list] = {}
    kinds = {
        "choice": st.integers(-1, 3),
        "paid": st.floats(-1, 1),
        "name": st.text("ab", max_size=3),
    }
    for _ in range(data.draw(st.integers(1, 5))):
        rows = sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1)))
        finished = {
            name: data.draw(st.lists(values, min_size=len(rows), max_size=len(rows)))
            for name, values in kinds.items()
        }
        if data.draw(st.booleans()):  # a whole number
            finished["paid"] = [1] * len(rows)
        before = {name: value.copy() for name, value in session.previous.items()}
        kept = dict(session.previous)
        session.remember(np.array(rows), finished)
        for name, value in kept.items():  # values that were read stay the same
            np.testing.assert_array_equal(value, before[name])
        for name, values in finished.items():
            fill = {"choice": -1, "paid": 0, "name": ""}[name]
            for row, value in zip(rows, values, strict=True):
                expected.setdefault(name, [fill] * n)[row] = value
        for name, values in expected.items():
            assert session.previous[name].tolist() == values
