"""`session.record` puts columns into the record of the trial that is drawn."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from neurogym_records import read_csv

from neurogym_core import (
    Choice,
    Dataset,
    Outcome,
    RecordTrials,
    Task,
    make,
    make_vec,
    run,
)
from neurogym_core.errors import TaskDefinitionError

COLUMNS = ("reversals", "recent", "phase")


class Swap(Task):
    """The right side changes after three correct choices; the count is a column."""

    trials_per_session = 30
    timing = {"light": 200, "choice": 100}

    def define(self):
        self.observe(light=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("light", "choice")
        trial.show("light", trial["side"][:, None] == [0, 1], during="light", noise=1)
        trial.answer("choose", trial["side"], during="choice")


class Remembering(Swap):
    reads_outcomes = True

    def new_session(self, session, rng):
        n = len(session)
        session.side, session.reversals = np.zeros(n, int), np.zeros(n, int)
        session.recent = np.zeros((n, 3), bool)

    def draw(self, session, rng):
        hit = session.previous["outcome"] == Outcome.CORRECT
        recent = np.column_stack((session.recent[:, 1:], hit))
        over = recent.all(axis=1)
        session.recent = recent & ~over[:, None]
        session.side = session.side ^ over
        session.reversals = session.reversals + over
        phase = np.where(session.reversals == 0, "first", "later")
        session.record(reversals=session.reversals, recent=session.recent, phase=phase)
        return self.draw_conditions(rng, len(session), {"side": session.side})


class Clock(Swap):
    """The column does not depend on outcomes, so that trials are drawn in blocks."""

    def draw(self, session, rng):
        session.record(count=session.trial)
        return self.draw_conditions(rng, len(session))


def test_a_column_is_that_of_the_trial_that_was_drawn(kernel):
    record = run(Remembering, "oracle", 9, num_envs=1, seed=1)
    assert record["reversals"].tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert record["recent"].sum(axis=1).tolist() == [0, 1, 2] * 3
    assert record["phase"].tolist() == ["first"] * 3 + ["later"] * 6


def test_both_kernels_give_the_same_record(kernel, monkeypatch):
    record = run(Remembering, "guess", 70, num_envs=1, seed=3)
    monkeypatch.setenv("NGYM_KERNEL", "plain")
    assert run(Remembering, "guess", 70, num_envs=1, seed=3) == record


def test_subjects_side_by_side_have_the_columns_of_their_own_history(kernel):
    """Columns follow from a subject's own outcomes, not from those of the others."""
    record = run(Remembering, "guess", 160, num_envs=4, seed=2)
    for subject in range(4):
        mine = record[record["subject"] == subject]
        reversals, run_of = 0, 0
        for trial, row in enumerate(mine.rows()):
            if trial % 30 == 0:
                reversals = run_of = 0
            elif mine["outcome"][trial - 1] == "correct":
                run_of += 1
            else:
                run_of = 0
            if run_of == 3:
                reversals, run_of = reversals + 1, 0
            assert row["reversals"] == reversals, (subject, trial)


def test_env_and_vector_env_report_the_column(kernel):
    env, vector = make(Remembering, seed=1), make_vec(Remembering, 2, seed=1)
    env.reset(seed=1)
    vector.reset(seed=1)
    for _ in range(9):
        *_, info = env.step(env.unwrapped.target)
        *_, infos = vector.step(vector.unwrapped.target)
    assert info["trial"]["recent"] == [False, True, True]
    assert infos["trial"]["recent"].tolist() == [[False, True, True]] * 2
    assert infos["trial"]["phase"].tolist() == ["first"] * 2


def test_a_copy_of_an_env_has_the_columns(kernel):
    env = make(Remembering, seed=1)
    env.reset(seed=1)
    for _ in range(10):
        env.step(env.unwrapped.target)
    for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        infos = [
            [one.step(one.unwrapped.target)[4] for _ in range(8)]
            for one in (copy.deepcopy(env), other)
        ]
        ended = [[dict(info["trial"]) for info in each if "trial" in info] for each in infos]
        assert ended[0] == ended[1]
        assert ended[0][0]["reversals"] == 1


def test_csv_and_record_trials_keep_the_columns(tmp_path):
    record = run(Remembering, "oracle", 7, num_envs=1, seed=1)
    record.to_csv(tmp_path / "one.csv")
    assert read_csv(tmp_path / "one.csv") == record
    env = RecordTrials(make(Remembering, seed=1), tmp_path / "two.csv")
    env.reset(seed=1)
    for _ in range(21):
        env.step(env.unwrapped.target)
    for one in (env.record, read_csv(tmp_path / "two.csv")):
        assert all(np.array_equal(one[name], record[name]) for name in COLUMNS)


def test_datasets_and_their_scores_carry_the_column():
    batch = next(Dataset(Clock, batch_size=3, seq_len=70, seed=1))
    scored = batch.score(batch.targets)
    assert scored["count"].tolist() == [*range(23)] * 3
    assert batch.trials.notes["count"].max() >= 23


def test_blocks_of_trials_have_the_column_of_each_trial(kernel):
    record = run(Clock, "oracle", 70, num_envs=2, seed=1)
    assert record["count"].tolist() == [*range(30), *range(5)] * 2
    assert Clock().sample(3, seed=1).notes["count"].tolist() == [0, 0, 0]


def test_a_recorded_column_changes_no_trial():
    class Silent(Clock):
        def draw(self, session, rng):
            return self.draw_conditions(rng, len(session))

    with_column, without = (run(task, "guess", 200, seed=5) for task in (Clock, Silent))
    assert with_column["reaction_time"].tolist() == without["reaction_time"].tolist()
    assert with_column["choice"].tolist() == without["choice"].tolist()


class Refused(Swap):
    def draw(self, session, rng):
        session.record(**self.columns(session))
        return self.draw_conditions(rng, len(session))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (lambda self, session: {"count": 3}, r"record\(count=…\) was given .*one row for each"),
        (lambda self, session: {"count": [1, 2]}, "one row for each of the"),
        (
            lambda self, session: {"path": np.zeros((len(session), 3, 2))},
            r"shape \(\d+, 3, 2\)",
        ),
        (lambda self, session: {"x": np.full(len(session), None)}, "bools, numbers or texts"),
        (lambda self, session: {"reward": session.trial}, "the name of a column that every"),
        (lambda self, session: {"side": session.trial}, "the name of a condition"),
    ],
)
def test_columns_that_a_record_cannot_hold_are_refused_when_the_task_is_made(columns, message):
    task = type("Wrong", (Refused,), {"columns": columns})
    with pytest.raises(TaskDefinitionError, match=message):
        task()


def test_the_line_of_a_refused_column_is_in_the_traceback():
    task = type("Wrong", (Refused,), {"columns": lambda self, session: {"count": 3}})
    with pytest.raises(TaskDefinitionError) as caught:
        task()
    lines = [str(entry.statement).strip() for entry in caught.traceback]
    assert "session.record(**self.columns(session))" in lines


def test_a_column_that_grows_is_refused():
    class Grows(Swap):
        def draw(self, session, rng):
            session.record(sides=np.zeros((len(session), 1 + session.trial[0])))
            return self.draw_conditions(rng, len(session))

    with pytest.raises(TaskDefinitionError, match="Expected one shape in all"):
        run(Grows, "oracle", 5, num_envs=1, seed=1)


def test_a_column_that_only_some_trials_have_is_refused():
    class Sometimes(Swap):
        def draw(self, session, rng):
            if (session.trial > 2).all():
                session.record(late=session.trial)
            return self.draw_conditions(rng, len(session))

    with pytest.raises(TaskDefinitionError, match="recorded late in some trials"):
        run(Sometimes, "oracle", 5, num_envs=1, seed=1)


def test_recording_in_draw_ahead_is_refused():
    class Ahead(Swap):
        def draw(self, session, rng):
            return self.draw_conditions(rng, len(session))

        def draw_ahead(self, session, rng, trials):
            session.record(late=session.trial)
            return super().draw_ahead(session, rng, trials)

    class Alone(Ahead):
        def draw_ahead(self, session, rng, trials):
            session.record(late=session.trial)
            side = rng.integers(0, 2, (trials, len(session)))
            return {"side": side}

    with pytest.raises(TaskDefinitionError, match="Expected a call in draw"):
        run(Alone, "oracle", 5, num_envs=1, seed=1)


def test_recording_on_the_subject_is_refused():
    class Wrong(Swap):
        def draw(self, session, rng):
            session.subject.record(day=session.trial)
            return self.draw_conditions(rng, len(session))

    with pytest.raises(TaskDefinitionError, match=r"Write session\.record"):
        Wrong()


class Growing(Remembering):
    """The texts of a column grow from trial to trial, as names of stages can."""

    def draw(self, session, rng):
        session.record(stage=np.full(len(session), "x" * (1 + int(np.max(session.trial)))))
        return self.draw_conditions(rng, len(session))


def test_longer_texts_of_later_trials_are_not_cut(kernel):
    record = run(Growing, "oracle", 9, num_envs=1, seed=1)
    assert record["stage"].tolist() == ["x" * k for k in range(1, 10)]
