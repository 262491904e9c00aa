"""`Tables`: k rows that may be one in memory, payoffs on demand, and types that are joined."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from neurogym_core import Choice, Dataset, Task
from neurogym_core.trials.arrays import one_row
from neurogym_core.trials.batch import TrialBatch
from neurogym_core.trials.lay_out import lay_out
from neurogym_core.trials.tables import ARRAYS, PAYOFFS, Tables


class Sides(Task):
    """A light on one of two sides, and a reward that depends on the side."""

    timing = {"light": 300, "go": 200}

    def define(self):
        self.observe(light=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice((0, 1)), pay=Choice((1.0, 2.0)))

    def new_trial(self, trial):
        trial.periods("light", "go")
        trial.show("light", np.eye(2)[trial["side"]], during="light", noise=1)
        trial.answer("choose", trial["side"], during="go", correct=trial["pay"])


def stored_rows(tables):
    return {name: len(one_row(getattr(tables, name))) for name in ARRAYS}


def test_arrays_have_a_row_in_memory_per_type_only_where_types_differ():
    tables = Sides().sample(8, side=[0, 1] * 4, pay=[1, 1, 2, 2] * 2).tables
    rows = stored_rows(tables)
    differ = {"shown", "target", "reward", "outcome", "score", "correct_reward"}
    assert {name for name, k in rows.items() if k == 8} == differ
    assert {k for name, k in rows.items() if name not in differ} == {1}
    assert {len(getattr(tables, name)) for name in ARRAYS} == {8}
    assert stored_rows(pickle.loads(pickle.dumps(tables))) == rows
    assert stored_rows(Sides().sample(8, side=1, pay=1).tables)["reward"] == 1


def test_all_rows_are_those_of_tables_of_one_trial_each():
    task, sides, pays = Sides(), [0, 1, 1], [2.0, 1.0, 2.0]
    together = task.sample(3, side=sides, pay=pays)
    for row in range(3):
        alone = task.sample(1, side=sides[row], pay=pays[row])
        for name in ARRAYS:
            np.testing.assert_array_equal(together.table(name)[row], alone.table(name)[0], name)


def test_a_dataset_builds_no_payoffs_until_it_scores():
    dataset = Dataset(Sides(), 4, seed=0)
    batch = next(dataset)
    tables = dataset._source._blocks[0][1].tables
    assert not set(PAYOFFS) & set(vars(tables))
    batch.score(batch.targets)
    assert set(PAYOFFS) <= set(vars(tables))


def test_a_pickle_has_the_used_types_and_no_layout():
    batch = Sides().sample(500, seed=0).take([3, 7, 3])
    copied = pickle.loads(pickle.dumps(batch))
    assert len(copied.tables) == 2
    assert copied.tables.layout is None
    np.testing.assert_array_equal(copied.table("reward"), batch.table("reward"))
    np.testing.assert_array_equal(copied.render(1), batch.render(1))


class Waiting(Task):
    """Trials whose period without a timer is cut, or not; a press leads out of it."""

    timing = {"ready": math.inf, "light": 300}
    max_duration: float | None = 2000

    def define(self):
        self.observe(light=1)
        self.act(rest=1, press=1)
        self.vary(cue=Choice((0, 1)), ramp=Choice((0, 1)))

    def new_trial(self, trial):
        trial.periods("ready", "light")
        if trial["cue"].any():
            trial.show("light", 1, during="ready", stop=300)
        if trial["ramp"].any():
            trial.timecourse("light", [2, 3, 4], during="light" if trial["cue"].any() else "ready")
        trial.answer("press", 0, during="ready", then="light")


@pytest.mark.parametrize("others", [[(0, 0), (1, 0)], [(1, 0), (0, 0)], [(0, 0), (1, 1), (0, 1)]])
def test_joined_types_keep_their_tails_and_show_what_they_showed(others):
    parts = [Waiting().sample(1, cue=cue, ramp=ramp % 2 * (1 - cue)) for cue, ramp in others]
    joined = TrialBatch.concatenate(parts)
    tail = np.flatnonzero(joined.tables.endless)
    assert joined.period[tail].tolist() == [0]
    assert (joined.duration[:, tail] > 0).all()
    for row, part in enumerate(parts):
        alone = joined.take([row])
        for name, steps in part.period_steps.items():
            assert alone.period_steps[name] == steps
        np.testing.assert_array_equal(alone.path.sum(axis=1), part.path.sum(axis=1))
        np.testing.assert_array_equal(alone.render(None), part.render(None))
        np.testing.assert_array_equal(alone.render_targets(), part.render_targets())


def test_types_that_ask_other_slots_are_joined():
    class Asks(Sides):
        def new_trial(self, trial):
            trial.periods("light", "go")
            slot = "slot" + str(trial["side"][0])
            trial.answer(
                "choose", trial["side"], during="go", slot=slot, correct=trial["pay"], miss=-3
            )

    one, other = (Asks().sample(1, side=side, pay=1).tables for side in (0, 1))
    joined = Tables.concatenate([one, other])
    assert joined.slots.names == ("slot0", "slot1")
    assert joined.asked.tolist() == [[True, False], [False, True]]
    assert joined.miss_reward.tolist() == [[-3, 0], [0, -3]]
    assert joined.slot[:, 1].max(axis=1).tolist() == [0, 1]
    assert joined.needs.tolist() == [-1, -1]


def test_tables_can_be_laid_out_again_from_their_layout():
    tables = Sides().sample(3, seed=0).tables
    again = lay_out(tables.layout)
    assert all(
        np.array_equal(getattr(tables, n), getattr(again, n), equal_nan=True) for n in ARRAYS
    )
