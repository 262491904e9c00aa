"""`ClassicBatches`: supervised batches of a classic env, built by its `new_trial`."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete

from neurogym_core import Dataset, NotSupportedError
from neurogym_core.players import Batch, Placed


class ClassicBatch(Batch):
    """A batch of a classic env; weights are 1 on every step of a trial."""

    def score(self, outputs: Any) -> Any:
        """Raise an error: a classic env scores actions only while it is played."""
        raise NotSupportedError(
            f"{type(self.task).__name__} is a classic env, whose answers are scored by its own"
            " _step; play it instead (make), or write it as a Task."
        )


class ClassicBatches:
    """The batches of a classic env.

    `new_trial` builds the trials: `inputs` are the env's `ob`, `targets` its `gt`; `_step` is never
    called. Each row has a copy of the env with separate random numbers, so that a trial can depend
    on the earlier trials of its row.

    Args:
        env: the env, with its wrappers.
        dataset: the dataset, which has the settings.
        sequence: seeds of the rows.

    Attributes:
        n_inputs, n_outputs: numbers of units that a network needs.

    Raises:
        NotSupportedError: `new_trial` builds no observations or no targets, `post_step` changes
            observations, or targets are not actions.
    """

    def __init__(self, env: Any, dataset: Dataset, sequence: np.random.SeedSequence) -> None:
        self._env, self.dataset = env, dataset
        self.task = env.unwrapped
        self._check_supported()
        space = self.task.action_space
        discrete = isinstance(space, Discrete)
        self.n_inputs: int = self.task.observation_space.shape[0]
        self.n_outputs: int = int(space.n) if discrete else space.shape[0]
        as_units = discrete and dataset.targets == "units"
        self._units = np.eye(self.n_outputs, dtype=np.float32) if as_units else None
        self._first = int(space.start) if discrete else 0
        seeds = sequence.generate_state(dataset.batch_size, np.uint64)
        self._rows = [_Row(copy.deepcopy(env), int(seed >> 1)) for seed in seeds.tolist()]

    def _check_supported(self) -> None:
        name, wrapper = type(self.task).__name__, self._env
        if self.dataset.targets == "best":
            raise NotSupportedError(
                f"{name} is a classic env, which does not define the best-paid action. Use"
                " targets='action' or 'units'."
            )
        while wrapper is not self.task:
            if type(wrapper).step is not gymnasium.Wrapper.step:
                raise NotSupportedError(
                    f"{type(wrapper).__name__} changes the steps of an env, but a dataset has no"
                    " steps; leave it out of wrap=, or make it a TrialWrapper that changes trials."
                )
            wrapper = wrapper.env
        if len(self.task.observation_space.shape or ()) != 1:
            raise NotSupportedError(
                f"{name} has observations of shape {self.task.observation_space.shape}; datasets"
                " need vectors. Flatten them, or play the env (make)."
            )
        if self.task.changes_observations:
            raise NotSupportedError(
                f"{name} makes its observations while it is played (post_step), so a dataset cannot"
                " build its trials; train with rewards (make)."
            )
        probe = copy.deepcopy(self._env)
        probe.reset(seed=0)
        for built, what, how in (
            (probe.unwrapped._play.shows, "observations", "add_ob or set_ob"),
            (probe.unwrapped._play.asks, "targets", "set_groundtruth"),
        ):
            if not built:
                raise NotSupportedError(
                    f"{name}.new_trial sets no {what} ({how}), so there is nothing to train on;"
                    " train with rewards (make)."
                )
        if probe.unwrapped._play.values:
            raise NotSupportedError(
                f"{name}.new_trial sets targets that are not in {self.task.action_space}; train"
                " with rewards (make)."
            )

    def next_batch(self) -> Batch:
        """Return the next batch."""
        steps = self.dataset.seq_len
        if steps is None:
            return self._whole_trials()
        return self._batch([row.stretch(steps) for row in self._rows], steps)

    def _whole_trials(self) -> Batch:
        trials = [row.new_trial() for row in self._rows]
        steps = max(len(trial.ob) for trial in trials)
        return self._batch([[(0, trial)] for trial in trials], steps)

    def _batch(self, rows: list[list[tuple[int, _Trial]]], steps: int) -> Batch:
        """Return the batch of rows of trials, each with its first step.

        That step is negative if the trial began before the batch.
        """
        shape = (len(rows), steps)
        inputs = np.zeros((*shape, self.n_inputs), np.float32)
        targets = np.zeros(
            (*shape, *self.encode(rows[0][0][1].gt).shape[1:]),
            self.encode(rows[0][0][1].gt).dtype,
        )
        weights, new_trial = np.zeros(shape, np.float32), np.zeros(shape, bool)
        for row, trials in enumerate(rows):
            for start, trial in trials:
                here = slice(max(start, 0), min(start + len(trial.ob), steps))
                there = slice(here.start - start, here.stop - start)
                inputs[row, here], targets[row, here] = (
                    trial.ob[there],
                    self.encode(trial.gt[there]),
                )
                weights[row, here] = 1
                if start >= 0:
                    new_trial[row, start] = True
        return ClassicBatch(
            inputs, targets, weights, new_trial, partial(_placed, rows), self.dataset
        )

    def encode(self, targets: np.ndarray) -> np.ndarray:
        """Return targets in the requested form: ids, values or units."""
        return targets if self._units is None else self._units[targets - self._first]


class _Trial:
    """The observations, targets and conditions of a trial."""

    def __init__(self, env: Any) -> None:
        steps = max(env._index(env.tmax), 1)
        self.ob, self.gt = env.ob[:steps].copy(), env.gt[:steps].copy()
        self.conditions = dict(env.trial)


class _Row:
    """One row of the batches: its env, and the trial that continues in the next batch."""

    def __init__(self, env: Any, seed: int) -> None:
        self.env = env
        env.reset(seed=seed)
        self.trial: _Trial | None = None
        self.start = 0  # first step of the trial in the next batch

    def new_trial(self) -> _Trial:
        env = self.env.unwrapped
        trial = _Trial(env)
        env._top.new_trial()
        return trial

    def stretch(self, steps: int) -> list[tuple[int, _Trial]]:
        """Return the trials that fill the next `steps` steps."""
        trials = []
        while True:
            if self.trial is None:
                self.trial = self.new_trial()
            trials.append((self.start, self.trial))
            stop = self.start + len(self.trial.ob)
            if stop > steps:
                self.start -= steps
                return trials
            self.start, self.trial = stop, None
            if stop == steps:
                self.start = 0
                return trials


def _placed(rows: list[list[tuple[int, _Trial]]]) -> Placed:
    flat = [(row, start, trial) for row, trials in enumerate(rows) for start, trial in trials]
    start = np.array([start for _, start, _ in flat])
    stop = start + [len(trial.ob) for *_, trial in flat]
    conditions = _joined([trial.conditions for *_, trial in flat])
    return Placed(np.array([row for row, *_ in flat]), start, stop, conditions)


def _joined(conditions: list[Mapping[str, Any]]) -> dict[str, np.ndarray]:
    """Return name -> (m, …).

    It is an array of objects if values differ in shape, or if some trials lack them (None).
    """
    names = dict.fromkeys(name for trial in conditions for name in trial)
    return {str(name): _column([trial.get(name) for trial in conditions]) for name in names}


def _column(values: list[Any]) -> np.ndarray:
    if (
        all(value is not None for value in values)
        and len({np.shape(value) for value in values if not isinstance(value, Mapping)}) == 1
    ):
        column = np.array(values)
        if column.dtype.kind != "O":
            return column
    column = np.empty(len(values), object)
    column[:] = values
    return column


__all__ = ["ClassicBatch", "ClassicBatches"]
