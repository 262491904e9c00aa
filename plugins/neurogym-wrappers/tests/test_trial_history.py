"""`TrialHistory`: the transition matrix is recovered, and the rest of the task does not change.

False alarms: transition counts are compared with their expectation at 5 standard errors for every
row and column, about 1e-6 a comparison and below 1e-4 for all of this file."""

from __future__ import annotations

import copy
import pickle
from typing import ClassVar

import numpy as np
import pytest
from neurogym_wrappers import EvolvingHistory, TrialHistory
from small_tasks import Choosing

from neurogym_core import (
    Choice,
    Dataset,
    InvalidValueError,
    NotSupportedError,
    ReactionTime,
    Session,
    Task,
    TaskEnv,
    TaskVectorEnv,
    Uniform,
    UnknownNameError,
    make_task,
    make_vec,
    run,
)
from neurogym_core.players import TaskView

MATRIX = ((0.1, 0.7, 0.2), (0.5, 0.3, 0.2), (0.25, 0.25, 0.5))


class Simple(Task):
    """The answer is a condition."""

    timing: ClassVar = {"stimulus": 100, "decision": 100}

    def define(self):
        self.observe(stimulus=3)
        self.act(fixate=1, choose=3)
        self.vary(side=Choice(3), strength=Uniform(0, 1))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        trial.show(
            "stimulus", np.eye(3)[trial["side"]] * trial["strength"][:, None], during="stimulus"
        )
        trial.answer("choose", trial["side"], during="decision")


class Named(Simple):
    """The answer is a condition whose values are names."""

    def define(self):
        self.observe(stimulus=3)
        self.act(fixate=1, choose=3)
        self.vary(side=Choice(("a", "b", "c")), strength=Uniform(0, 1))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        trial.show("stimulus", 1, during="stimulus", where=trial["strength"] > 0)
        trial.answer("choose", np.searchsorted(("a", "b", "c"), trial["side"]), during="decision")


class Computed(Simple):
    """The answer is computed from two conditions."""

    def define(self):
        self.observe(stimulus=2)
        self.act(fixate=1, choose=3)
        self.vary(a=Choice(3), b=Choice(3))
        self.correct_choice(lambda drawn: (drawn["a"] + drawn["b"]) % 3)

    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        trial.show("stimulus", np.stack([trial["a"], trial["b"]], axis=1), during="stimulus")
        trial.answer("choose", trial.correct_choice, during="decision")


class Blocks(Computed):
    """`a` comes in blocks of ten, the rest is drawn for every trial."""

    def new_session(self, session: Session, rng):
        session.block = rng.integers(0, 3, len(session))

    def draw(self, session: Session, rng):
        session.block = np.where(session.trial % 10 == 0, (session.block + 1) % 3, session.block)
        return self.draw_conditions(rng, len(session), {"a": session.block})


class AnswerBlocks(Simple):
    """Its own blocks set the correct answer."""

    def draw(self, session: Session, rng):
        return self.draw_conditions(rng, len(session), {"side": session.trial // 10 % 3})


class OwnDraw(Simple):
    """It draws everything itself."""

    def draw(self, session: Session, rng):
        n = len(session)
        return {"side": rng.integers(0, 3, n), "strength": rng.random(n)}


class DecidedBlocks(Blocks):
    """Its blocks impose all conditions."""

    def draw(self, session: Session, rng):
        return self.draw_conditions(rng, len(session), {"a": session.block, "b": session.block})


def transitions(answers: np.ndarray) -> np.ndarray:
    """(trials, sessions) -> counts (m, m), row = previous."""
    counts = np.zeros((3, 3))
    np.add.at(counts, (answers[:-1].ravel(), answers[1:].ravel()), 1)
    return counts


def assert_follows(answers: np.ndarray, matrix: np.ndarray) -> None:
    counts = transitions(answers)
    n = counts.sum(axis=1, keepdims=True)
    expected = n * matrix
    assert (np.abs(counts - expected) <= 5 * np.sqrt(n * matrix * (1 - matrix)) + 1e-9).all(), (
        counts / n
    )


def drawn_answers(task: Task, trials: int = 400, sessions: int = 50, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    session = TaskView(task).fresh_session(rng, sessions)
    drawn = task.draw_ahead(session, rng, trials)
    flat = {name: values.reshape(-1, *values.shape[2:]) for name, values in drawn.items()}
    answers = np.searchsorted(TaskView(task).answers, TaskView(task).answer(flat))
    return answers.reshape(trials, sessions)


@pytest.mark.parametrize("task", [Simple, Named, Computed, Blocks])
def test_the_matrix_is_recovered(task):
    assert_follows(drawn_answers(TrialHistory(task(), probs=MATRIX)), np.array(MATRIX))


@pytest.mark.parametrize("p", [0.0, 0.2, 0.8, 1.0])
def test_a_number_is_the_probability_of_repeating(p):
    expected = np.where(np.eye(3, dtype=bool), p, (1 - p) / 2)
    assert_follows(drawn_answers(TrialHistory(Simple(), probs=p)), expected)


def test_first_answers_are_equally_likely_and_sessions_independent():
    answers = drawn_answers(TrialHistory(Simple(), probs=1.0), trials=2, sessions=9000)[0]
    counts = np.bincount(answers, minlength=3)
    assert (np.abs(counts - 3000) < 5 * np.sqrt(9000 * 2 / 9)).all()


def test_drawing_one_by_one_follows_the_matrix_too():
    task = TrialHistory(Simple(), probs=MATRIX)
    rng = np.random.default_rng(0)
    session = TaskView(task).fresh_session(rng, 400)
    answers = np.stack([task.draw(session, rng)["side"] for _ in range(50)])
    assert_follows(answers, np.array(MATRIX))


def test_other_conditions_stay_as_they_were():
    task = TrialHistory(Simple(), probs=MATRIX)
    rng = np.random.default_rng(0)
    strength = task.draw_ahead(TaskView(task).fresh_session(rng, 50), rng, 200)["strength"]
    assert strength.shape == (200, 50)
    assert abs(strength.mean() - 0.5) < 5 * np.sqrt(1 / 12 / strength.size)


def test_blocks_of_the_task_itself_survive():
    record = run(
        TrialHistory(Blocks(trials_per_session=None), probs=0.9), "oracle", 200, num_envs=1, seed=0
    )
    a = record["a"]
    assert (np.flatnonzero(np.diff(a)) % 10 == 9).all()
    assert len(np.flatnonzero(np.diff(a))) == 19
    assert record["performance"].mean() == 1


@pytest.mark.parametrize("task", [Simple, Blocks])
def test_players_agree_and_follow_the_matrix(task):
    wrapped = TrialHistory(task(trials_per_session=None), probs=MATRIX)
    single, vector = TaskEnv(wrapped), TaskVectorEnv(wrapped, 1)
    a, b = single.reset(seed=3)[0], vector.reset(seed=3)[0]
    answers = []
    for _ in range(2000):
        np.testing.assert_array_equal(a, b[0])
        a, *_, info = single.step(single.target)
        b, *_ = vector.step(vector.target)
        if info["new_trial"]:
            answers.append(
                int(
                    TaskView(wrapped).answer(
                        {k: np.asarray(v)[None] for k, v in info["trial"].items()}
                    )[0]
                )
            )
    assert_follows(np.array(answers)[:, None], np.array(MATRIX))


def test_streams_of_a_dataset_follow_the_matrix():
    batch = next(
        Dataset(
            Simple,
            20,
            2000,
            seed=0,
            wrap=[("TrialHistory", {"probs": MATRIX})],
            trials_per_session=None,
        )
    )
    order = np.lexsort((batch.start, batch.row))
    assert_follows(batch.conditions["side"][order].reshape(20, -1).T, np.array(MATRIX))


def test_the_answer_before_a_session_does_not_matter():
    wrapped = TrialHistory(Simple(trials_per_session=2), probs=1.0)
    side = run(wrapped, "oracle", 3000, num_envs=1, seed=0)["side"].reshape(-1, 2)
    assert (side[:, 0] == side[:, 1]).all()
    repeats = (side[1:, 0] == side[:-1, 1]).mean()
    assert abs(repeats - 1 / 3) < 5 * np.sqrt(2 / 9 / 1499)


def test_it_is_a_value_that_says_what_it_is():
    wrapped = TrialHistory(Simple(), probs=[list(row) for row in MATRIX])
    assert (
        wrapped
        == TrialHistory(Simple(), probs=MATRIX)
        == TrialHistory(Simple(), probs=np.array(MATRIX))
    )
    assert wrapped != TrialHistory(Simple())
    assert len({wrapped, pickle.loads(pickle.dumps(wrapped)), copy.deepcopy(wrapped)}) == 1
    assert TaskView(wrapped).parameters["probs"] == MATRIX
    assert "probs=((0.1, 0.7, 0.2)" in repr(wrapped)
    assert TaskView(wrapped).stateful
    assert not TaskView(wrapped.task).stateful


def test_the_task_itself_is_left_alone():
    task = Blocks()
    before = drawn_answers(task, trials=50)
    TrialHistory(task, probs=0.9)
    np.testing.assert_array_equal(drawn_answers(task, trials=50), before)
    assert "draw_conditions" not in vars(task)


class NoAnswer(Simple):
    def define(self):
        self.observe(stimulus=3)
        self.act(fixate=1, choose=3)
        self.vary(side=Choice(3), strength=Uniform(0, 1))


class Continuous(Simple):
    def define(self):
        super().define()
        self.correct_choice("strength")


class OneAnswer(Simple):
    def define(self):
        self.observe(stimulus=3)
        self.act(fixate=1, choose=3)
        self.vary(side=Choice(1), strength=Uniform(0, 1))
        self.correct_choice("side")


@pytest.mark.parametrize(
    ("task", "says"),
    [
        (NoAnswer(), "declares no correct choice"),
        (Continuous(), "a continuum of numbers"),
        (OneAnswer(), r"only correct answer is \[0\]"),
        (Simple(conditions={"side": 1}), "'side' is imposed"),
        (AnswerBlocks(), r"the draw\(\) of AnswerBlocks imposes side"),
        (OwnDraw(), r"the draw\(\) of OwnDraw decides the right answer itself"),
        (DecidedBlocks(), "both decide about the next trials"),
        (TrialHistory(Simple()), "two wrappers of Simple set the correct answer"),
    ],
)
def test_it_refuses_tasks_it_cannot_apply_to_and_says_why(task, says):
    with pytest.raises(NotSupportedError, match=f"TrialHistory cannot be applied to .*: .*{says}"):
        TrialHistory(task)


@pytest.mark.parametrize(
    "probs",
    [
        1.5,
        -0.1,
        ((0.5, 0.5), (0.5, 0.5)),
        ((0.5, 0.6, 0.2),) * 3,
        ((0.2, 0.8), (1,)),
        (0.2, 0.3, 0.5),
        "0.8",
        None,
    ],
)
def test_impossible_probabilities_are_refused(probs):
    with pytest.raises(InvalidValueError, match="TrialHistory was given probs="):
        TrialHistory(Simple(), probs=probs)


@pytest.mark.parametrize("probs", [1 / 3, ((0.2, 0.3, 0.5),) * 3])
def test_probabilities_without_a_history_have_no_effect_and_are_an_error(probs):
    with pytest.raises(InvalidValueError, match="would not depend on the last one"):
        TrialHistory(Simple(), probs=probs)


def test_by_name_through_make():
    assert make_task(Simple, wrap=("TrialHistory", {"probs": 0.9})) == TrialHistory(
        Simple(), probs=0.9
    )


# ---------------------------------------------------------------------- contexts


def test_contexts_come_in_blocks_and_each_is_recovered():
    kinds = ("repeating", "alternating", "clockwise", "anticlockwise")
    task = TrialHistory(Simple(), probs=0.7, contexts=kinds, order="sequence", block_length=50)
    rng = np.random.default_rng(0)
    drawn = task.draw_ahead(TaskView(task).fresh_session(rng, 200), rng, 400)
    np.testing.assert_array_equal(
        drawn["history"][:, 0], np.asarray(kinds)[np.arange(400) // 50 % 4]
    )
    favoured = {"repeating": (0,), "alternating": (1, 2), "clockwise": (1,), "anticlockwise": (2,)}
    step = (drawn["side"][1:] - drawn["side"][:-1]) % 3
    for kind, steps in favoured.items():
        here = step[drawn["history"][1:] == kind]
        share = np.isin(here, steps).mean()
        assert abs(share - 0.7) < 5 * np.sqrt(0.21 / here.size), kind


def test_matrices_may_be_contexts_and_come_at_random():
    other = tuple(reversed(MATRIX))
    task = TrialHistory(Simple(), contexts=(MATRIX, other), block_length=20, order="random")
    rng = np.random.default_rng(0)
    drawn = task.draw_ahead(TaskView(task).fresh_session(rng, 100), rng, 400)
    side, history = drawn["side"], drawn["history"]
    for k, matrix in enumerate((MATRIX, other)):
        counts = np.zeros((3, 3))
        here = history[1:] == k
        np.add.at(counts, (side[:-1][here], side[1:][here]), 1)
        n = counts.sum(axis=1, keepdims=True)
        expected = np.array(matrix)
        assert (np.abs(counts - n * expected) <= 5 * np.sqrt(n * expected * (1 - expected))).all()


def test_history_is_forgotten_after_an_error_if_asked():
    task = TrialHistory(Simple(trials_per_session=None), probs=1.0, reset_after_error=True)
    assert task.reads_outcomes
    assert len(set(run(task, "oracle", 60, num_envs=1, seed=0)["side"])) == 1
    side = run(task, "rest", 1200, num_envs=2, seed=0)
    repeats = np.concatenate([np.diff(side["side"][side["env"] == env]) == 0 for env in range(2)])
    assert abs(repeats.mean() - 1 / 3) < 5 * np.sqrt(2 / 9 / repeats.size)


def test_random_contexts_favour_one_answer_each_and_are_renewed():
    task = EvolvingHistory(Simple(), probs=0.9, n_contexts=2, renewal_rate=0.0, block_length=100)
    rng = np.random.default_rng(0)
    drawn = task.draw_ahead(TaskView(task).fresh_session(rng, 40), rng, 1000)
    top, count = 0.0, 0
    for session in range(40):
        for context in (0, 1):
            here = drawn["history"][1:, session] == context
            counts = np.zeros((3, 3))
            np.add.at(
                counts, (drawn["side"][:-1, session][here], drawn["side"][1:, session][here]), 1
            )
            top += counts.max(axis=1).sum()
            count += counts.sum()
    assert abs(top / count - 0.9) < 5 * np.sqrt(0.09 / count)
    assert not drawn["generation"].any()
    renewed = EvolvingHistory(Simple(), renewal_rate=0.02)
    drawn = renewed.draw_ahead(TaskView(renewed).fresh_session(rng, 200), rng, 500)
    generations = drawn["generation"][-1].mean()
    assert abs(generations - 10) < 5 * np.sqrt(500 * 0.02 * 0.98 / 200)


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (
            lambda: TrialHistory(Simple(), contexts=("repeat",)),
            UnknownNameError,
            "Did you mean 'repeating'",
        ),
        (
            lambda: TrialHistory(Simple(), contexts=("repeating",), probs=MATRIX),
            InvalidValueError,
            "contexts by name",
        ),
        (
            lambda: TrialHistory(Simple(), contexts=(0.5, 2.0)),
            InvalidValueError,
            "was given probs=2.0",
        ),
        (
            lambda: EvolvingHistory(Simple(), n_contexts=0),
            InvalidValueError,
            "at least one context",
        ),
        (
            lambda: EvolvingHistory(Simple(), probs=1 / 3),
            InvalidValueError,
            "the chance level of 3 answers",
        ),
        (
            lambda: EvolvingHistory(Simple(), contexts=("repeating",)),
            InvalidValueError,
            "draws its contexts at random",
        ),
    ],
)
def test_impossible_contexts_are_refused(make, error, says):
    with pytest.raises(error, match=says):
        make()


def test_it_stands_below_and_above_a_wrapper_of_the_core():
    both = make_task(
        Choosing, wrap=[("TrialHistory", {"probs": 0.9}), ("ReactionTime", {"urgency": -0.1})]
    )
    other = make_task(Choosing, wrap=[ReactionTime, TrialHistory])
    for task in (both, other):
        assert TaskView(task).stateful
        side = run(task, "oracle", 300, num_envs=1, seed=0)["side"]
        # 0.9 (0.8) of 299 pairs repeat; 0.65 is 6 standard errors away.
        assert (side[1:] == side[:-1]).mean() > 0.65
        assert (run(task, "oracle", 20, seed=0)["reaction_time"] == 100).all()
    assert make_vec(both, 3).reset(seed=0)[0].shape == (3, 4)
