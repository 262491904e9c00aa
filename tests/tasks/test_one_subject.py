"""Sessions keep subjects apart, and tasks can be written for one subject."""

from __future__ import annotations

import copy
import pickle
from collections import deque

import numpy as np
import pytest

from neurogym_core import Choice, Outcome, Session, Task, TaskWrapper, make, make_vec, run
from neurogym_core.errors import TaskDefinitionError, UnknownNameError
from neurogym_core.tasks.constrained import draw_constrained
from neurogym_core.tasks.describe import describe
from neurogym_core.tasks.drawing import answers_of, fresh_session


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


class ByArrays(Reversal):
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


class BySubject(Reversal):
    def new_session_one(self, session, rng):
        session.good = int(rng.random() < 0.5)
        session.hits, session.reversals = deque(maxlen=5), 0
        session.subject.day = getattr(session.subject, "day", 0) + 1

    def draw_one(self, session, rng):
        session.hits.append(session.previous["outcome"] == Outcome.CORRECT)
        if sum(session.hits) >= 4:
            session.good = 1 - session.good
            session.reversals += 1
            session.hits.clear()
        return {
            "good": session.good,
            "bonus": int(rng.integers(0, 4)),
            "reversals": session.reversals,
            "day": session.subject.day,
        }


def played(env, actions):
    """Play and return good, bonus, reversals and day of every trial."""
    rows = []
    for action in actions:
        *_, over, info = env.step(action)
        if "trial" in info:
            rows.append([info["trial"][name] for name in ("good", "bonus", "reversals", "day")])
        if over:
            env.reset()
    return rows


def choices(n, seed=0):
    return np.random.default_rng(seed).integers(0, 2, n).tolist()


# ---------------------------------------------------------------------- arrays only


@pytest.mark.parametrize(
    "value",
    [[], [0, 0, 0], deque(), {}, 0, 0.5, "left", None, np.zeros(4), np.float64(1), np.zeros(())],
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
        assert "draw_one" in said


@pytest.mark.parametrize("shared", [[], None, deque()], ids=str)
def test_a_session_refuses_arrays_of_objects(shared):
    objects = np.empty(3, object)
    objects[:] = [shared] * 3
    with pytest.raises(TaskDefinitionError, match=r"shape \(3,\) and dtype object"):
        Session(3).hits = objects


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


# ---------------------------------------------------------------------- one subject


def test_both_forms_give_the_same_trials_for_the_same_seed():
    actions = choices(200)
    found = []
    for task in (ByArrays, BySubject):
        env = make(task())
        env.reset(seed=5)
        found.append(np.array(played(env, actions)))
    np.testing.assert_array_equal(*found)
    reversals, days = found[0][:, 2], found[0][:, 3]
    assert reversals.max() > 2
    assert set(days.tolist()) == {1, 2, 3, 4, 5}


def test_both_forms_agree_for_many_subjects_where_nothing_is_random():
    tasks = []
    for cls in (ByArrays, BySubject):
        names = ("new_session", "draw") if cls is ByArrays else ("new_session_one", "draw_one")

        def fixed(name, cls=cls):
            method = getattr(cls, name)
            return lambda self, session, rng: method(self, session, Fixed())

        tasks.append(type(cls.__name__, (cls,), {name: fixed(name) for name in names})())
    one, other = (run(task, "guess", 400, num_envs=4, seed=3) for task in tasks)
    for name in ("good", "bonus", "reversals", "day", "choice"):
        np.testing.assert_array_equal(one[name], other[name])


class Fixed:
    """A generator without chance."""

    def random(self, n=None):
        return 0.25 if n is None else np.full(n, 0.25)

    def integers(self, low, high, n=None):
        return 2 if n is None else np.full(n, 2)


def test_a_subject_is_not_changed_by_what_others_do():
    runs = []
    for seed in (1, 2):
        env = make_vec(BySubject(), 3)
        env.reset(seed=4)
        mine, others = choices(120), choices(240, seed)
        rows = []
        for k in range(120):
            *_, info = env.step(np.array([others[2 * k], mine[k], others[2 * k + 1]]))
            if "trial" not in info:  # the step after the end of a session
                continue
            trial = info["trial"]
            rows.append([trial[name][1] for name in ("good", "bonus", "reversals", "day")])
        runs.append(rows)
    assert runs[0] == runs[1]


def test_a_subject_among_others_equals_the_subject_alone():
    task, rng = BySubject(), np.random.default_rng(0)
    whole = fresh_session(task, rng, 3)
    # Its state and its generator, alone in a session of one.
    alone = copy.deepcopy(whole).take(np.array([1]))
    for k in range(30):
        together, single = (task.draw(session, rng) for session in (whole, alone))
        for name in together:
            assert together[name][1] == single[name][0]
        for session, rows in ((whole, np.arange(3)), (alone, np.array([1]))):
            session.trial += 1
            outcome = np.where((k * (rows - 1) + k) % 5 < 4, Outcome.CORRECT, Outcome.ERROR)
            drawn = together if session is whole else single
            where = np.arange(len(rows))
            session.remember(where, {**drawn, "outcome": outcome.astype(np.int8)})
    assert together["reversals"][1] > 2


def test_the_previous_trial_of_one_subject_has_scalars_from_the_first_trial_on():
    seen = []

    class Watching(BySubject):
        def define(self):
            super().define()
            self.vary(cue=Choice(("left", "right")), pair=Choice(((0, 1), (1, 0))))

        def new_trial(self, trial):
            super().new_trial(trial)
            trial.record(cue_=trial["cue"], pair_=trial["pair"])

        def draw_one(self, session, rng):
            seen.append(dict(session.previous))
            assert type(session.trial) is int
            return super().draw_one(session, rng)

    env = make(Watching())
    env.reset(seed=1)
    seen.clear()
    env.reset(seed=1)
    played(env, [0, 1, 1])
    first, second = seen[0], seen[1]
    assert first.keys() == second.keys()
    assert (first["choice"], first["outcome"], first["cue"]) == (-1, Outcome.NONE, "")
    assert second["choice"] == 0
    kinds = {name: type(value) for name, value in second.items()}
    assert kinds == {
        "good": int, "bonus": int, "reversals": int, "day": int, "cue": str, "pair": np.ndarray,
        "choice": int, "outcome": Outcome, "reward": float, "performance": float,
    }  # fmt: skip


@pytest.mark.parametrize("again", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("envs", [1, 3])
def test_a_copy_of_an_env_continues_as_the_env_and_apart_from_it(again, envs):
    env = make_vec(BySubject(), envs)
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


def test_conditions_that_draw_one_leaves_out_are_drawn_as_declared():
    class Some(Reversal):
        def draw_one(self, session, rng):
            return {"reversals": session.trial, "day": 0}

    record = run(Some, "guess", 120, num_envs=2, seed=1)
    assert set(record["bonus"].tolist()) == {0, 1, 2, 3}
    assert set(record["reversals"].tolist()) == set(range(40))


class Plain(BySubject):
    """Without outcomes: its trials are drawn ahead."""

    reads_outcomes = False

    def draw_one(self, session, rng):
        session.hits.append(rng.random() < 0.5)
        return {"reversals": sum(session.hits), "day": 0}


def test_trials_without_outcomes_are_drawn_ahead_for_each_subject():
    record = run(Plain, "guess", 400, num_envs=4, seed=1)
    assert set(record["reversals"].tolist()) <= set(range(6))
    assert len({tuple(record["reversals"][record["env"] == env]) for env in range(4)}) == 4


class Doubled(TaskWrapper):
    """A wrapper that overrides `draw`."""

    def draw(self, session, rng):
        return super().draw(session, rng)


@pytest.mark.parametrize("wrap", [None, Doubled])
def test_wrappers_give_each_subject_its_conditions(wrap):
    task = Plain() if wrap is None else wrap(Plain())
    rng = np.random.default_rng(0)
    bonus = np.arange(12).reshape(4, 3) % 4
    drawn = draw_constrained(task, fresh_session(task, rng, 3), rng, 4, {"bonus": bonus})
    np.testing.assert_array_equal(drawn["bonus"], bonus)


def test_conditions_that_make_imposes_win():
    assert set(run(BySubject(conditions={"bonus": 3}), "guess", 30, seed=1)["bonus"]) == {3}


# ---------------------------------------------------------------------- only set by draw


def test_a_condition_that_is_declared_as_a_type_is_recorded_as_draw_sets_it():
    record = run(BySubject, "oracle", 40, num_envs=1, seed=1)
    np.testing.assert_array_equal(record["reversals"], np.arange(40) // 4)
    task = BySubject()
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

        def new_session_one(self, session, rng):
            session.good = int(rng.integers(2))

        def draw_one(self, session, rng):
            session.good = 1 - session.good
            return {"good": session.good}

    assert answers_of(Alternating()).tolist() == [0, 1]
    assert (run(Alternating, "oracle", 20, seed=1)["outcome"] == "correct").all()


def test_a_condition_that_draw_has_to_set_and_does_not_is_refused():
    with pytest.raises(TaskDefinitionError, match=r"reversals=int, .*Expected .*Return it"):
        cls(draw_one=lambda self, session, rng: {"good": 1})()
    with pytest.raises(TaskDefinitionError, match=r"reversals=int, .*Expected .*Return it"):
        Reversal()


@pytest.mark.parametrize("value", [0.5, "left", True], ids=repr)
def test_a_condition_of_another_type_than_declared_is_refused(value):
    def draw_one(self, session, rng):
        return {"reversals": value, "day": 0}

    with pytest.raises(TaskDefinitionError, match=r"'reversals' as .*Expected one int.*astype"):
        cls(draw_one=draw_one)()


# ---------------------------------------------------------------------- mistakes


def cls(**methods):
    return type("Wrong", (methods.pop("base", Reversal),), methods)


def test_the_two_forms_cannot_be_mixed():
    with pytest.raises(TaskDefinitionError, match=r"Wrong has 'draw', .* and 'draw_one', for one"):
        cls(draw=ByArrays.draw, draw_one=BySubject.draw_one)
    with pytest.raises(TaskDefinitionError, match=r"'draw'.* and 'draw_one'.*task wrappers have"):
        cls(base=TaskWrapper, draw_one=BySubject.draw_one)
    with pytest.raises(TaskDefinitionError, match=r"new_session_one\(\) without draw_one\(\)"):
        cls(new_session_one=BySubject.new_session_one)


@pytest.mark.parametrize("value", [None, [1], 3], ids=repr)
def test_a_draw_one_that_returns_no_dict_is_refused(value):
    with pytest.raises(TaskDefinitionError, match=r"draw_one\(\) returned .*Expected .*Return"):
        cls(draw_one=lambda self, session, rng: value)()


@pytest.mark.parametrize("value", [None, [1, 2], np.array([1]), {}], ids=repr)
def test_a_draw_one_that_returns_no_single_value_is_refused(value):
    with pytest.raises(
        TaskDefinitionError, match=r"returned good=.*the value of one trial.*Return"
    ):
        cls(draw_one=lambda self, session, rng: {"good": value})()


def test_a_draw_one_that_returns_an_unknown_condition_is_refused():
    with pytest.raises(UnknownNameError, match=r"'god'.*returned by draw_one\(\).*'good'"):
        cls(draw_one=lambda self, session, rng: {"god": 1})()


def reading(name: str, one: bool, reads: bool, where: str = "session"):
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
        return {} if one else self.draw_conditions(rng, len(session))

    return type("Reads", (Reads,), {"draw_one" if one else "draw": draw})


@pytest.mark.parametrize("one", [False, True], ids=["arrays", "one subject"])
@pytest.mark.parametrize("where", ["session", "subject"])
def test_results_that_are_not_kept_are_refused_with_the_attribute_that_keeps_them(one, where):
    with pytest.raises(TaskDefinitionError, match=r"'outcome'.*not kept.*reads_outcomes = True"):
        run(reading("outcome", one, reads=False, where=where), "guess", 3, seed=0)


@pytest.mark.parametrize("one", [False, True], ids=["arrays", "one subject"])
def test_an_unknown_column_of_the_last_trial_lists_the_known_ones(one):
    known = "'good', 'choice', 'outcome', 'reward', 'performance'"
    with pytest.raises(UnknownNameError, match=f"'outcom'.*Did you mean 'outcome'.*{known}"):
        run(reading("outcom", one, reads=True), "guess", 3, seed=0)


def test_the_last_trials_of_a_session_survive_copies_and_pickles():
    session = fresh_session(ByArrays(), np.random.default_rng(0), 2)
    for other in (
        copy.deepcopy(session),
        pickle.loads(pickle.dumps(session)),
        session.take(np.array([0])),
    ):
        assert other.previous.keys() == session.previous.keys()
        with pytest.raises(UnknownNameError, match="'outcom'"):
            other.previous["outcom"]
