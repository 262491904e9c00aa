"""`Dataset.next_table`: the same trials as the batches, before they are rendered."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from neurogym_core import Choice, Dataset, Task, Uniform
from neurogym_core.errors import NotSupportedError


class Waiting(Task):
    timing: ClassVar = {"wait": Uniform(200, 900), "go": 200}

    def define(self):
        self.observe(cue=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2), answer="side")

    def new_trial(self, trial):
        trial.periods("wait", "go")
        trial.show("cue", np.eye(2)[trial.side], during="wait", start=100)
        trial.answer("choose", trial.side, during="go")


class Stepped(Waiting):
    def step_target(self, now):
        return np.zeros(now.n, int)


@pytest.mark.parametrize("seq_len", [None, 13, 3000])
def test_a_table_holds_what_a_batch_shows(seq_len):
    tables, batches = (Dataset(Waiting(), 16, seq_len, seed=1) for _ in range(2))
    table, rows = tables.next_table(), 0
    trials, steps = table.trials, table.shape[1]
    shown = trials.render(None, table.duration, table.skip)
    lengths = table.duration.sum(axis=1)
    wide = np.zeros((*table.shape, 2), np.float32)
    for trial, (row, start) in enumerate(zip(table.row, np.maximum(table.start, 0), strict=True)):
        wide[row, start : start + lengths[trial]] = shown[rows : rows + lengths[trial]]
        rows += lengths[trial]
    inputs = [next(batches)]
    while sum(batch.inputs.shape[1] for batch in inputs) < steps:
        inputs.append(next(batches))
    np.testing.assert_array_equal(wide, np.concatenate([batch.inputs for batch in inputs], axis=1))
    np.testing.assert_array_equal(table.new_trial, np.concatenate([batch.new_trial for batch in inputs], axis=1))
    assert set(table.placed().conditions) == {"side"}


def test_a_task_that_is_stepped_through_has_no_table():
    dataset = Dataset(Stepped(), 2, seed=1)
    assert not dataset.from_table
    assert Dataset(Waiting(), 2, seed=1).from_table
    with pytest.raises(NotSupportedError, match="Use next"):
        dataset.next_table()
