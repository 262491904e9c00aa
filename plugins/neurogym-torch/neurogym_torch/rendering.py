"""Rendering on the device: tables of trials are copied there, and become steps with noise.

Tables hold one entry for each segment of each type of trial; a batch has one for each step. So
little is copied, and the device repeats entries and adds noise. The numbers are those of the core,
bit for bit: `noise.py` computes the noise of a trial from its serial number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from neurogym_core.players import Chunk, Interface, Part
from neurogym_torch.noise import gaussian


class Rendered(NamedTuple):
    """Inputs, targets and weights of B rows of T steps.

    Their shapes are (B, T, obs) float32, (B, T[, units]) int64 or float32, and (B, T) float32.
    """

    inputs: Tensor
    targets: Tensor
    weights: Tensor


def render(
    chunk: Chunk, device: torch.device | str = "cpu", *, targets: str = "action", noise: bool = True
) -> Rendered:
    """Return the steps of a chunk, as tensors made on the device.

    Args:
        chunk: from `Dataset.next_chunk`.
        device: device of the tensors.
        targets: "action" or "best" (ids; values in [-1, 1] for continuous actions) or "units" (one
            per action unit).
        noise: whether to add noise to the observations.
    """
    task, steps = chunk.parts[0].types.interface, chunk.shape[0] * chunk.shape[1]
    device = torch.device(device)
    inputs = torch.zeros(steps, chunk.parts[0].types.n_units, device=device)
    weights = torch.zeros(steps, device=device)
    wanted = None
    for part in chunk.parts:
        on = _OnDevice(part, chunk.shape[1], task, device)
        inputs[on.at] = on.inputs(chunk.key if noise else None)
        weights[on.at] = on.weights()
        found = on.targets(targets)
        wanted = found.new_zeros(steps, *found.shape[1:]) if wanted is None else wanted
        wanted[on.at] = found
    assert wanted is not None, "a chunk has a part"
    return Rendered(
        *(flat.reshape(*chunk.shape, *flat.shape[1:]) for flat in (inputs, wanted, weights))
    )


def moved(tensor: Tensor, device: torch.device) -> Tensor:
    """Return a tensor of the CPU on a device; on CUDA, the caller does not wait for the copy."""
    if device.type != "cuda":
        return tensor.to(device)
    # Only copies from pinned memory are asynchronous. torch keeps that memory until they are done.
    return tensor.pin_memory().to(device, non_blocking=True)


class _OnDevice:
    """The steps of the trials of a part, on a device.

    Attributes:
        place: (steps,) index of the (type, segment) of each step, among the types that occur.
        trial, clock: (steps,) trial of each step, and number of the step in that trial.
        at: (steps,) position among all steps of the chunk, row after row.
    """

    def __init__(self, part: Part, width: int, task: Interface, device: torch.device) -> None:
        self.tables, self.task, self.device = part.types, task, device
        # A block may hold many more types than occur here.
        self.types, of_type = np.unique(part.steps.kind, return_inverse=True)
        self.serial, path = self._put(part.steps.serial), part.steps.path
        duration = part.steps.duration
        n, columns = duration.shape
        segments = self.tables.shown.shape[1]
        played = self._put(duration.sum(axis=1))
        total = int(duration.sum())
        begin = played.cumsum(0) - played
        self.trial = torch.arange(n, device=device).repeat_interleave(played, output_size=total)
        within = torch.arange(total, device=device) - begin[self.trial]
        skip = np.zeros(n, np.int64) if part.steps.skip is None else part.steps.skip
        self.clock = within + self._put(skip)[self.trial]
        offset = part.row * width + np.maximum(part.start, 0)
        self.at = within + self._put(offset)[self.trial]
        entry = torch.arange(n * columns, device=device)
        self._entry = entry.repeat_interleave(self._put(duration).flatten(), output_size=total)
        # A path has one column for each segment, once for every round.
        segment = np.arange(columns) % segments
        self.place = self._put(of_type.reshape(-1, 1) * segments + segment).flatten()[self._entry]
        self._onset = np.cumsum(path, axis=1) - path  # first step of each segment

    def _put(self, array: np.ndarray) -> Tensor:
        # Copied, because torch warns about arrays that are read-only, as tables are.
        return moved(torch.from_numpy(np.array(array)), self.device)

    def _of_types(self, values: np.ndarray) -> Tensor:
        """Return (k, S, …) values of the types that occur, as (places, …)."""
        return self._put(values[self.types]).flatten(0, 1)

    def inputs(self, key: int | None) -> Tensor:
        """Return observations, (steps, obs) float32; `key` is that of the noise, or None."""
        tables = self.tables
        shown = (
            self._scripted(tables.script)
            if len(tables.script)
            else self._of_types(tables.shown)[self.place]
        )
        if key is not None:
            self._add_noise(shown, key)
        return shown

    def _add_noise(self, shown: Tensor, key: int) -> None:
        noisy = np.flatnonzero(self.tables.sd.any(axis=(0, 1)))
        if not len(noisy):
            return
        units = slice(int(noisy[0]), int(noisy[-1]) + 1)
        level = self._of_types(self.tables.sd[..., units])
        steps = level.any(dim=1)[self.place].nonzero().squeeze(1)
        numbers = gaussian(key, self.serial[self.trial[steps]], self.clock[steps], units)
        shown[steps, units] += numbers.mul_(level[self.place[steps]])

    def targets(self, kind: str) -> Tensor:
        """Return targets, (steps[, …]), as `Dataset.encode` does."""
        tables, actions = self.tables, self.task.actions
        if actions.continuous:
            if len(tables.target_script):
                return self._scripted(actions.from_task_units(tables.target_script))
            return self._of_types(actions.from_task_units(tables.target))[self.place]
        ids = self._of_types(tables.target)[self.place]
        return ids if kind != "units" else self._put(self.task.actions.unit_targets())[ids]

    def weights(self) -> Tensor:
        """Return weights, (steps,) float32."""
        return self._of_types(self.tables.weight)[self.place]

    def _scripted(self, script: np.ndarray) -> Tensor:
        """Return rows of a script, (steps, …).

        Only the rows of the types that occur are copied to the device.
        """
        lengths = self.tables.rows[self.types].sum(axis=1)
        first = self.tables.script_at[self.types, 0]
        begin = np.cumsum(lengths) - lengths
        rows = np.repeat(first - begin, lengths) + np.arange(lengths.sum())
        segment = self._put(self.tables.script_at[self.types] - (first - begin)[:, None]).flatten()[
            self.place
        ]
        within = self.clock - self._put(self._onset).flatten()[self._entry]
        endless = self._put(np.tile(self.tables.endless, len(self.types)))[self.place]
        return self._put(script[rows])[segment + within.masked_fill(endless, 0)]
