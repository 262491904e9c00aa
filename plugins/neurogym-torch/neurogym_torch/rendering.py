"""Rendering on the device: the table of some trials goes there, steps and noise are made there.

A table holds one entry per segment, some dozen per trial; a batch holds one per step. So a little is copied, and the
device repeats and adds noise. Without noise the result is what NumPy renders; the noise has the same distribution, from
torch's generator.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from neurogym_core.play.dataset import Table, unit_targets
from neurogym_core.tasks.task import Task
from neurogym_core.trials.batch import Frame


class Rendered(NamedTuple):
    """inputs (B, T, obs) float32; targets (B, T) int64 or (B, T, k) float32; weights (B, T) float32."""

    inputs: Tensor
    targets: Tensor
    weights: Tensor


def render(
    table: Table, device: torch.device | str = "cpu", generator: torch.Generator | None = None, targets: str = "action"
) -> Rendered:
    """The steps of a table, on the device.

    Args:
        table: from `Dataset.next_table`.
        device: where to.
        generator: of the noise, on that device; None renders without noise.
        targets: "action" or "best" (ids; values in [-1, 1] for continuous actions) or "units" (one per action unit).
    """
    on = _OnDevice(table, torch.device(device))
    inputs = on.inputs()
    if generator is not None:
        on.add_noise(inputs, generator)
    wanted = _encoded(on.targets(), table.trials.task, targets)
    if on.padded:
        wanted = wanted * on.real.reshape(-1, *[1] * (wanted.ndim - 1))
    return Rendered(*(flat.reshape(*table.shape, *flat.shape[1:]) for flat in (inputs, wanted, on.weights())))


class _OnDevice:
    """The arrays of a table on a device, and `index` (steps,): the segment that every step is in.

    Rows shorter than the batch end in one more segment that shows nothing, weighs nothing, and has no noise: it is the
    last row of every array over segments.
    """

    def __init__(self, table: Table, device: torch.device) -> None:
        self.table, self.trials, self.device = table, table.trials, device
        lengths = table.duration.sum(axis=1)
        total = table.shape[0] * table.shape[1]
        self.padded = int(lengths.sum()) < total
        duration = table.duration
        if self.padded:
            duration = np.concatenate([duration, (table.shape[1] - lengths)[:, None]], axis=1)
        self.duration = self._put(duration)
        n, segments = table.duration.shape
        segment = torch.arange(n * segments, device=device).reshape(n, segments)
        if self.padded:
            segment = torch.cat([segment, torch.full((n, 1), n * segments, device=device)], dim=1)
        self.index = segment.flatten().repeat_interleave(self.duration.flatten(), output_size=total)
        self.real = self.index < n * segments

    def _put(self, array: np.ndarray) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    def _steps_of(self, per_segment: np.ndarray) -> Tensor:
        """(n, S, …) values of segments as (steps, …)."""
        flat = self._put(per_segment).flatten(0, 1)
        return torch.cat([flat, flat.new_zeros(1, *flat.shape[1:])]).index_select(0, self.index)

    def inputs(self) -> Tensor:
        """(steps, obs) float32 without noise."""
        inputs = self._steps_of(self.trials.shown)
        for frame in self.trials.frames:
            if not frame.target:
                columns, rows, values = self._frame(frame)
                inputs[rows, columns] += values
        return inputs

    def add_noise(self, inputs: Tensor, generator: torch.Generator) -> None:
        """Add Gaussian noise of the table's SD, in place."""
        units = self.trials.noisy
        if units is None:
            return
        level = self.trials.noise[:, :, units]
        sd = self._steps_of(np.broadcast_to(level, (*self.table.duration.shape, level.shape[2])))
        z = torch.randn(sd.shape, generator=generator, device=self.device)
        inputs[:, units] += z.mul_(sd)

    def targets(self) -> Tensor:
        """(steps,) int64 or (steps, k) float32 in task units."""
        targets = self._steps_of(self.trials.target)
        for frame in self.trials.frames:
            if frame.target:
                columns, rows, values = self._frame(frame)
                targets[rows, columns] = values
        return targets

    def weights(self) -> Tensor:
        """(steps,) float32."""
        return self._steps_of(self.trials.weight)

    def _frame(self, frame: Frame) -> tuple[slice, Tensor, Tensor]:
        """Columns and steps that a frame covers, and its values there."""
        trial, step = self._clock()
        start, stop = self._put(frame.start)[trial], self._put(frame.stop)[trial]
        k = step - start
        rows = torch.nonzero((k >= 0) & (step < stop) & (k < frame.values.shape[1]) & self.real).squeeze(1)
        values = self._put(frame.values)
        which = torch.zeros_like(rows) if len(values) == 1 else trial[rows]
        return frame.columns, rows, values[which, k[rows]]

    def _clock(self) -> tuple[Tensor, Tensor]:
        """Which trial every step is in, and its number there, as if all periods were played in order; (steps,) each."""
        lengths = self.duration.sum(dim=1)
        trial = torch.arange(len(lengths), device=self.device).repeat_interleave(lengths, output_size=len(self.index))
        begin = lengths.cumsum(0) - lengths
        step = torch.arange(len(self.index), device=self.device) - begin[trial] + self._put(self.table.skip)[trial]
        if self.trials.jumps:
            laid, path = self.trials.duration, self.trials.path
            step = step + self._steps_of((np.cumsum(laid, axis=1) - laid) - (np.cumsum(path, axis=1) - path))
        return trial, step


def _encoded(targets: Tensor, task: Task, kind: str) -> Tensor:
    """Targets as `Dataset.encode` gives them."""
    if task.actions.continuous:
        low, high = (
            torch.tensor(edge, dtype=torch.float32, device=targets.device)
            for edge in (task.actions.low, task.actions.high)
        )
        return (2 * (targets - low) / (high - low) - 1).clamp(-1, 1)
    if kind != "units":
        return targets
    return torch.from_numpy(unit_targets(task)).to(targets.device)[targets]
