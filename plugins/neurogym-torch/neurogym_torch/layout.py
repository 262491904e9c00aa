"""`NetworkLayout`: the inputs and outputs of one network for several tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from neurogym_core import NotSupportedError, Task


class NetworkLayout:
    """Maps the channels and actions of several tasks to the units of one network.

    Channels of the same name and size share units, and so do actions. Units that a task does not
    use have input 0 and target 0. With `rule`, one additional input per task is 1 throughout its
    trials.

    Args:
        tasks: the tasks; all with discrete actions, or all with continuous ones.
        rule: whether to add the rule inputs; default: if there are several tasks.

    Attributes:
        n_inputs, n_outputs: numbers of units that a network needs.
        channels, actions: name -> slice of the inputs or outputs; a name with several sizes is
            written ``name[size]``. ``channels["rule"]`` is the rule input (``channels["rule of the
            layout"]`` if a task has a channel of that name).
    """

    def __init__(self, tasks: Sequence[Task], rule: bool | None = None) -> None:
        self.tasks = list(tasks)
        if len({task.actions.continuous for task in self.tasks}) > 1:
            names = ", ".join(task.name for task in self.tasks)
            raise NotSupportedError(
                f"{names} cannot be learned by one network: some have discrete actions and some"
                " continuous ones. Train them separately."
            )
        self.channels = _union([task.channels for task in self.tasks])
        self.actions = _union([task.actions for task in self.tasks])
        self._inputs = [_columns(task.channels, self.channels) for task in self.tasks]
        self._outputs = [_columns(task.actions, self.actions) for task in self.tasks]
        self.n_inputs = max(part.stop for part in self.channels.values())
        self.n_outputs = max(part.stop for part in self.actions.values())
        self.rule = len(self.tasks) > 1 if rule is None else rule
        if self.rule:
            self._rule = self.n_inputs
            name = "rule" if "rule" not in self.channels else "rule of the layout"
            self.channels[name] = slice(self._rule, self._rule + len(self.tasks))
            self.n_inputs += len(self.tasks)

    def __repr__(self) -> str:
        units = f"{self.n_inputs} inputs, {self.n_outputs} outputs"
        return f"<NetworkLayout of {len(self.tasks)} tasks: {units}>"

    def inputs(self, which: int, observations: Tensor) -> Tensor:
        """Return observations (…, obs) of a task as inputs of the network, (…, n_inputs)."""
        wide = observations.new_zeros(*observations.shape[:-1], self.n_inputs)
        wide[..., self._inputs[which].to(wide.device)] = observations
        if self.rule:
            wide[..., self._rule + which] = 1
        return wide

    def targets(self, which: int, targets: Tensor) -> Tensor:
        """Return targets of a task as targets of the network.

        They are ids (B, T), or values of its outputs (B, T, n_outputs).
        """
        columns = self._outputs[which].to(targets.device)
        if not targets.is_floating_point():
            return columns[targets]
        wide = targets.new_zeros(*targets.shape[:-1], self.n_outputs)
        wide[..., columns] = targets
        return wide

    def outputs(self, which: int, outputs: Tensor) -> Tensor:
        """Return the outputs (…, actions) of a task from those of the network, (…, n_outputs)."""
        return outputs[..., self._outputs[which].to(outputs.device)]


def _union(parts: Sequence) -> dict[str, slice]:
    """Return slices for all pairs of name and size, in order of first occurrence."""
    sizes: dict[str, list[int]] = {}
    for named in parts:
        for name in named:
            size = named[name].stop - named[name].start
            if size not in sizes.setdefault(name, []):
                sizes[name].append(size)
    union, start = {}, 0
    for name, several in sizes.items():
        for size in several:
            union[name if len(several) == 1 else f"{name}[{size}]"] = slice(start, start + size)
            start += size
    return union


def _columns(named: Any, union: dict[str, slice]) -> Tensor:
    """Return the positions of a task's units in the union, (units,) int64."""
    parts = []
    for name in named:
        size = named[name].stop - named[name].start
        part = union.get(name) or union[f"{name}[{size}]"]
        parts.append(torch.arange(part.start, part.stop))
    return torch.cat(parts)
