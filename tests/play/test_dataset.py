"""Supervised batches: complete, masked, in new arrays, and without extra steps."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest

from neurogym_core import Choice, Dataset, Ring, Session, Task, TruncatedExponential
from neurogym_core.play import dataset as dataset_module


class Dots(Task):
    """Noise, a random delay, and a response window."""

    timing = {"dots": 300, "delay": TruncatedExponential(300, 100, 900), "answer": 200}

    def define(self):
        self.observe(dots=2)
        self.act(rest=1, choose=Ring(2))
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("dots", "delay", "answer")
        trial.show("dots", trial["side"][:, None] == (0, 1), during="dots", noise=2.0)
        trial.loss_weight(0, during="dots", stop=100)
        trial.answer("choose", trial["side"], during="answer")


class Equal(Dots):
    """All trials are of one length."""

    timing = {"delay": 400}


class Blocks(Dots):
    """The side stays for a few trials."""

    trials_per_session: int | None = 4

    def new_session(self, session: Session, rng):
        session.side = rng.integers(0, 2, len(session))

    def draw(self, session: Session, rng):
        return {"side": session.side.copy()}


KINDS = [Dots, Equal, Blocks]
SHAPES = [(1, None), (5, None), (1, 7), (5, 7), (4, 100), (3, 1)]
every_shape = pytest.mark.parametrize(("size", "seq_len"), SHAPES)
every_kind = pytest.mark.parametrize("kind", KINDS)


def take(dataset, n):
    return [next(dataset) for _ in range(n)]


def streams(batches):
    """Inputs, targets, weights and onsets of every stream, batches concatenated."""
    return [
        np.concatenate([getattr(batch, name) for batch in batches], axis=1)
        for name in ("inputs", "targets", "weights", "new_trial")
    ]


@every_kind
@every_shape
def test_batches_have_the_shapes_they_promise(kind, size, seq_len):
    dataset = Dataset(kind(), size, seq_len, seed=0)
    assert (dataset.n_inputs, dataset.n_outputs) == (2, 3)
    for batch in take(dataset, 4):
        steps = batch.inputs.shape[1] if seq_len is None else seq_len
        assert batch.inputs.shape == (size, steps, 2)
        assert batch.targets.shape == batch.weights.shape == batch.new_trial.shape == (size, steps)
        assert (batch.inputs.dtype, batch.targets.dtype, batch.weights.dtype) == (
            np.float32,
            np.int64,
            np.float32,
        )


@every_kind
def test_whole_trials_begin_at_once_and_are_padded_with_weight_0(kind):
    for batch in take(Dataset(kind(), 6, seed=0), 5):
        assert batch.new_trial[:, 0].all()
        assert batch.new_trial.sum() == 6
        assert batch.complete.all()
        assert batch.row.tolist() == list(range(6))
        for row, stop in enumerate(batch.stop):
            assert not batch.weights[row, stop:].any()
            assert not batch.inputs[row, stop:].any()
            assert batch.weights[row, :stop].tolist() == [0] + [1] * (stop - 1)
            assert (
                batch.targets[row, :stop].tolist()
                == [0] * (stop - 2) + [1 + batch.conditions["side"][row]] * 2
            )
        assert batch.stop.max() == batch.inputs.shape[1]


@every_kind
@every_shape
def test_streams_are_trials_back_to_back(kind, size, seq_len):
    if seq_len is None:
        pytest.skip("whole trials")
    batches = take(Dataset(kind(), size, seq_len, seed=3), max(300 // seq_len, 4))
    _, targets, weights, onsets = streams(batches)
    assert onsets[:, 0].all()
    for row in range(size):
        starts = [*np.flatnonzero(onsets[row]).tolist()]
        for start, stop in pairwise(starts):
            assert 6 <= stop - start <= 14
            assert weights[row, start:stop].tolist() == [0] + [1] * (stop - start - 1)
            shown = targets[row, start:stop]
            assert not shown[:-2].any()
            assert shown[-1] == shown[-2] > 0
    # The places of the trials, batch by batch.
    told = [
        (row, start + i * seq_len, stop + i * seq_len)
        for i, batch in enumerate(batches)
        for row, start, stop in zip(batch.row, batch.start, batch.stop, strict=True)
    ]
    assert {(row, start) for row, start, _ in told} == set(
        zip(*(axis.tolist() for axis in np.nonzero(onsets)), strict=True)
    )
    ends = {}
    for row, start, stop in told:
        assert ends.setdefault((row, start), stop) == stop
    for (row, _), stop in ends.items():
        assert stop >= onsets.shape[1] or onsets[row, stop]


@every_kind
@every_shape
def test_batches_report_the_conditions_of_their_trials(kind, size, seq_len):
    for batch in take(Dataset(kind(), size, seq_len, seed=3), 5):
        assert (
            len(batch.row)
            == len(batch.start)
            == len(batch.stop)
            == len(batch.conditions["side"])
            == len(batch.trials)
        )
        for row, start, stop, side in zip(
            batch.row, batch.start, batch.stop, batch.conditions["side"], strict=True
        ):
            inside = batch.targets[row, max(start, 0) : stop]
            assert set(inside.tolist()) <= {0, 1 + side}
        np.testing.assert_array_equal(
            batch.complete, (batch.start >= 0) & (batch.stop <= batch.inputs.shape[1])
        )


@every_kind
@every_shape
def test_a_batch_never_changes_later(kind, size, seq_len):
    dataset = Dataset(kind(), size, seq_len, seed=1)
    batches = take(dataset, 3)
    names = ("inputs", "targets", "weights", "new_trial")
    before = [[getattr(batch, name).copy() for name in names] for batch in batches]
    take(dataset, 30)
    for batch, copies in zip(batches, before, strict=True):
        for name, was in zip(names, copies, strict=True):
            np.testing.assert_array_equal(getattr(batch, name), was)
    again = Dataset(kind(), size, seq_len, seed=1)
    for batch in batches:  # the places of its trials can be read late
        expected = next(again)
        for name in ("row", "start", "stop"):
            np.testing.assert_array_equal(getattr(batch, name), getattr(expected, name))
        np.testing.assert_array_equal(batch.conditions["side"], expected.conditions["side"])


@every_kind
@every_shape
def test_writing_into_a_batch_does_not_change_later_batches(kind, size, seq_len):
    one, other = (Dataset(kind(), size, seq_len, seed=1) for _ in range(2))
    for _ in range(12):
        batch, expected = next(one), next(other)
        np.testing.assert_array_equal(batch.inputs, expected.inputs)
        np.testing.assert_array_equal(batch.targets, expected.targets)
        np.testing.assert_array_equal(batch.weights, expected.weights)
        for array in (batch.inputs, batch.targets, batch.weights, batch.new_trial):
            assert array.flags.writeable
            array[...] = 77


@every_kind
@every_shape
def test_restart_returns_to_the_seed_and_iter_goes_on(kind, size, seq_len):
    dataset = Dataset(kind(), size, seq_len, seed=1)
    first = [batch.inputs for batch in take(dataset, 4)]
    fifth = next(iter(dataset)).inputs
    np.testing.assert_array_equal(fifth, take(Dataset(kind(), size, seq_len, seed=1), 5)[4].inputs)
    dataset.restart()
    for batch in first:
        np.testing.assert_array_equal(next(dataset).inputs, batch)


@every_kind
def test_splits_of_a_seed_are_disjoint(kind):
    rows = {}
    for split in (None, "train", "validation"):
        batches = take(Dataset(kind(), 4, 50, seed=1, split=split), 10)
        rows[split] = {
            tuple(step)
            for batch in batches
            for step in batch.inputs.reshape(-1, 2).tolist()
            if any(step)
        }
        assert len(rows[split]) > 300
    assert rows["train"].isdisjoint(rows["validation"])
    assert rows[None].isdisjoint(rows["train"] | rows["validation"])
    again = take(Dataset(kind(), 4, 50, seed=1, split="train"), 1)[0]
    np.testing.assert_array_equal(
        again.inputs, take(Dataset(kind(), 4, 50, seed=1, split="train"), 1)[0].inputs
    )


@every_kind
@every_shape
def test_every_step_generated_is_delivered(kind, size, seq_len, monkeypatch):
    """Nothing is rendered twice or thrown away (chunks of small batches are rendered ahead, and
    delivered later).
    """
    rendered = []
    fill = dataset_module.fill_function()

    def counted(tables, steps, *args):
        rendered.append(int(steps.duration.sum()))
        return fill(tables, steps, *args)

    monkeypatch.setattr(dataset_module, "fill_function", lambda: counted)
    dataset = Dataset(kind(), size, seq_len, seed=1)
    first = next(dataset)
    rendered_with_it = sum(rendered)
    delivered = int(first.stop.sum()) if seq_len is None else size * seq_len
    per_chunk = rendered_with_it // delivered
    assert rendered_with_it == per_chunk * delivered
    for _ in range(2 * per_chunk - 1):
        batch = next(dataset)
        delivered += int(batch.stop.sum()) if seq_len is None else size * seq_len
    assert sum(rendered) == delivered


def test_memory_stays_where_it_is():
    dataset = Dataset(Dots(), 64, 100, seed=0)
    take(dataset, 20)

    def most(batches: int) -> int:
        """Return the peak of the memory in use, since blocks are drawn from time to time."""
        used = []
        for _ in range(batches):
            next(dataset)
            used.append(tracemalloc.get_traced_memory()[0])
        return max(used)

    tracemalloc.start()
    try:
        early, late = most(60), most(240)
    finally:
        tracemalloc.stop()
    assert late < early + 500_000


class Counts(Dots):
    """Shows how many steps of the trial were played, which its hook counts."""

    trial_state = {"played": 0.0}

    def step_action(self, now, action):
        now.trial_state["played"] = now.trial_state["played"] + 1
        return np.zeros(now.n), None

    def step_observation(self, now, obs):
        obs[:] = now.trial_state["played"][:, None]
        return obs


def test_rows_that_wait_for_longer_trials_keep_what_their_hooks_remember():
    dataset = Dataset(Counts(), 8, seed=0)
    for _ in range(3):
        batch = next(dataset)
        assert len(set(batch.stop.tolist())) > 1
        played = np.arange(batch.inputs.shape[1]) < batch.stop[np.argsort(batch.row), None]
        counted = np.broadcast_to(np.arange(batch.inputs.shape[1]), played.shape)
        np.testing.assert_array_equal(batch.inputs[:, :, 0], np.where(played, counted, 0))


def test_units_are_bumps_of_the_ring_and_are_read_back():
    dataset = Dataset(Dots(), 3, seed=0, targets="units")
    ids = Dataset(Dots(), 3, seed=0)
    for _ in range(3):
        batch, plain = next(dataset), next(ids)
        assert batch.targets.shape == (*plain.targets.shape, 3)
        np.testing.assert_array_equal(batch.inputs, plain.inputs)
        for row, stop in enumerate(batch.stop):
            np.testing.assert_array_equal(
                batch.targets[row, :stop, 0], plain.targets[row, :stop] == 0
            )
        record = batch.score(batch.targets)
        assert (record["performance"] == 1).all()


def test_a_score_distinguishes_correct_from_wrong_answers():
    batch = next(Dataset(Dots(), 8, seed=0))
    side = batch.conditions["side"]
    assert (batch.score(batch.targets)["outcome"] == "correct").all()
    resting = batch.score(np.zeros_like(batch.targets))
    assert (resting["outcome"] == "miss").all()
    assert (resting.codes() == -1).all()
    wrong = np.where(batch.targets > 0, 3 - batch.targets, 0)
    scored = batch.score(wrong)
    assert (scored["outcome"] == "error").all()
    np.testing.assert_array_equal(scored.codes(), 1 - side)
    np.testing.assert_array_equal(scored["reaction_time"], np.full(8, 100.0))
    hasty = batch.score(np.ones_like(batch.targets))
    np.testing.assert_array_equal(hasty["aborts"], batch.stop - 2)
    np.testing.assert_allclose(hasty["reward"], -0.1 * (batch.stop - 2) + (side == 0), atol=1e-9)
    logits = np.zeros((*batch.targets.shape, 3))
    np.put_along_axis(logits, batch.targets[..., None], 1.0, axis=-1)
    assert batch.score(logits) == batch.score(batch.targets)


def test_a_batch_without_a_whole_trial_has_an_empty_record():
    batch = next(Dataset(Dots(), 4, 3, seed=0))
    record = batch.score(batch.targets)
    assert len(record) == 0
    assert {"side", "choice", "performance"} <= set(record.columns)


def test_outputs_are_read_by_the_largest_and_as_units_by_rest_above_a_half():
    """A network that is trained on action ids has no threshold of its rest unit."""
    for kind, outcome in (("action", "correct"), ("units", "miss")):
        batch = next(Dataset(Dots(), 8, seed=0, targets=kind))
        outputs = np.zeros((*batch.weights.shape, 3), np.float32)
        outputs[..., 0] = 0.6
        # In the last step but one, the window is open.
        outputs[np.arange(8), batch.stop - 2, 1 + batch.conditions["side"]] = 0.9
        assert (batch.score(outputs)["outcome"] == outcome).all()


class Hooked(Dots):
    """Played step by step, since there is a hook."""

    def step_action(self, now, action):
        return None, None


def test_streams_that_are_stepped_are_cut_into_batches_of_any_length():
    long, short = (
        streams(take(Dataset(Hooked(), 2, seq_len, seed=3), 84 // seq_len)) for seq_len in (42, 7)
    )
    for one, other in zip(long, short, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.shape[:2] == (2, 84)
