"""`Dataset.next_chunk`: the same trials as the batches, before they are rendered."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from neurogym_core import Choice, Dataset, Task, Uniform
from neurogym_core.errors import NotSupportedError
from neurogym_core.trials.rendering import render


class Waiting(Task):
    timing: ClassVar = {"wait": Uniform(200, 900), "go": 200}

    def define(self):
        self.observe(cue=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("wait", "go")
        trial.show("cue", np.eye(2)[trial["side"]], during="wait", start=100, noise=1.0)
        trial.answer("choose", trial["side"], during="go")


class Stepped(Waiting):
    def step_target(self, now):
        return np.zeros(now.n, int)


@pytest.mark.parametrize("seq_len", [None, 13, 3000])
def test_a_chunk_has_the_trials_of_the_batch(seq_len):
    chunks, batches = (Dataset(Waiting(), 16, seq_len, seed=1) for _ in range(2))
    chunk = chunks.next_chunk()
    wide = np.zeros((*chunk.shape, 2), np.float32)
    for part in chunk.parts:
        shown, done = render(part.types, part.steps, chunk.key), 0
        lengths = part.steps.duration.sum(axis=1)
        for row, start, length in zip(part.row, np.maximum(part.start, 0), lengths, strict=True):
            wide[row, start : start + length] = shown[done : done + length]
            done += length
    inputs = [next(batches)]
    while sum(batch.inputs.shape[1] for batch in inputs) < chunk.shape[1]:
        inputs.append(next(batches))
    np.testing.assert_array_equal(wide, np.concatenate([batch.inputs for batch in inputs], axis=1))
    np.testing.assert_array_equal(
        chunk.new_trial, np.concatenate([batch.new_trial for batch in inputs], axis=1)
    )
    assert set(chunk.placed().conditions) == {"side"}


def test_a_task_that_is_stepped_through_has_no_chunks():
    dataset = Dataset(Stepped(), 2, seed=1)
    assert not dataset.from_tables
    assert Dataset(Waiting(), 2, seed=1).from_tables
    with pytest.raises(NotSupportedError, match="Use next"):
        dataset.next_chunk()
