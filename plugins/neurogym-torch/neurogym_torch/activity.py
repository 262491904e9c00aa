"""Activations of a network, trial by trial, with the record of its answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from neurogym_neural import Activity
from torch import Tensor, nn

from neurogym_core import (
    InvalidValueError,
    NotSupportedError,
    Task,
    TrialBatch,
    TrialRecord,
    make_task,
)
from neurogym_core.players import Block, Chunk, Part, Steps, TaskView, noise_key, replay
from neurogym_core.tools import unknown
from neurogym_torch.layout import NetworkLayout
from neurogym_torch.own import as_network
from neurogym_torch.rendering import render
from neurogym_torch.subjects import NetworkSubject


@torch.no_grad()
def record_activity(
    network: nn.Module,
    task: Any,
    trials: int | Mapping[str, np.ndarray] = 100,
    *,
    layers: Sequence[str] = ("hidden",),
    layout: NetworkLayout | None = None,
    which: int = 0,
    targets: str = "action",
    change: Callable[[Activity], np.ndarray] | None = None,
    seed: int = 0,
    **conditions: Any,
) -> Activity:
    """Present whole trials to a network, and record its activations and answers.

    Every trial is presented to its end, even if the network answers early; its row in the record
    ends with the answer. A time of the activity is the onset of the step whose observation the
    network has just seen. The periods and the answers are events; units have a "layer".

    Args:
        network: a `Network`, or any other module as in `OwnNetwork`.
        task: an id, a Task or a class.
        trials: number of trials, or a design: conditions by name, (n,) each, as
            ``task.factorial()`` returns them.
        layers: "hidden" (firing rates), "outputs", "inputs", or the name of any module of the
            network, such as "readout".
        layout, which: as in `NetworkSubject`.
        targets: the targets of its training, "action" or "units".
        change: a perturbation: a function of the inputs, as an Activity with the record of the
            conditions, that returns the inputs to present, (n, T, units). Trials and noise are
            those of the same seed without it, so that differences are its effect.
        seed: seed of the trials and of all noise.
        conditions: imposed on all trials.

    Raises:
        UnknownNameError: the network has no such layer.
        NotSupportedError: the observations depend on the subject's actions, so the task has no
            table.
    """
    task = make_task(task)
    batch = task.sample(trials, seed, **conditions)
    device = next(network.parameters()).device
    inputs = render(_chunk(task, batch, seed), device).inputs
    wide = inputs if layout is None else layout.inputs(which, inputs)
    if change is not None:
        wide = _changed(change, wide, batch, task.dt)
    with _Watched(
        network,
        [name for name in layers if name not in ("hidden", "outputs", "inputs")],
        wide.shape[:2],
    ) as watched:
        outputs, hidden = as_network(network)(
            wide, generator=torch.Generator(device).manual_seed(2 * seed + 1)
        )
    found = {"hidden": hidden, "outputs": outputs, "inputs": wide, **watched.found()}
    subject = NetworkSubject(network, layout, which, targets=targets)
    own = outputs if layout is None else layout.outputs(which, outputs)
    rows = own.cpu().numpy()
    actions = subject._actions(task, rows.reshape(-1, rows.shape[2])).reshape(
        *rows.shape[:2], *((-1,) if task.actions.continuous else ())
    )
    rates = np.concatenate([found[name].cpu().numpy() for name in layers], axis=2)
    sizes = [found[name].shape[2] for name in layers]
    record = replay(task, batch, actions, timed=True)
    return Activity(
        _trimmed(rates, batch.steps),
        record,
        step=task.dt,
        events={**_periods(batch, task.dt), **_answers(record)},
        units={
            "id": np.concatenate([np.arange(size) for size in sizes]),
            "layer": np.repeat(list(layers), sizes),
        },
        facts={"task": task.name, "dt": float(task.dt), "seed": seed},
    )


def _changed(
    change: Callable[[Activity], np.ndarray], inputs: Tensor, batch: TrialBatch, dt: float
) -> Tensor:
    """Return the inputs after a perturbation."""
    shown = Activity(
        _trimmed(inputs.cpu().numpy(), batch.steps),
        TrialRecord(batch.conditions),
        step=dt,
        events=_periods(batch, dt),
        units={"layer": ["inputs"] * inputs.shape[2]},
    )
    found = np.asarray(change(shown), np.float32)
    if found.shape != tuple(inputs.shape):
        raise InvalidValueError(
            f"change= returned inputs of shape {found.shape}. Expected {tuple(inputs.shape)}, those"
            " of `activity.rates`. Return a changed copy of them."
        )
    return torch.where(
        torch.from_numpy(np.isfinite(found)).to(inputs.device),
        torch.from_numpy(np.nan_to_num(found)).to(inputs.device),
        inputs,
    )


def _periods(batch: TrialBatch, dt: float) -> dict[str, np.ndarray]:
    """Return onset and end of each period, ms from the start of the trial, (n,) each."""
    found = {}
    for number, name in enumerate(batch.period_names):
        onset = batch.first_round[:, batch.period < number].sum(axis=1)
        steps = batch.first_round[:, batch.period == number].sum(axis=1)
        found[name] = np.where(steps > 0, onset * dt, np.nan)
        found[f"{name}.end"] = found[name] + steps * dt
    return found


def _answers(record: TrialRecord) -> dict[str, np.ndarray]:
    """Return "answer", or "SLOT.answer", ms from the start of the trial to the end of its step."""
    return {
        name.removesuffix("_time"): record[name] - record["trial_start"]
        for name in record
        if name.endswith("answer_time")
    }


def _chunk(task: Task, batch: TrialBatch, seed: int) -> Chunk:
    """Place each trial in a separate row, with the noise of ``batch.render(seed)``."""
    if TaskView(task).hooks:
        raise NotSupportedError(
            f"{task.name} shows observations that depend on the subject's actions. Expected a task"
            " with a table of trials. Record while it plays: run(…)."
        )
    rows = np.arange(len(batch))
    block = Block(batch.tables, batch.kind, 0, batch.conditions, stride=0)
    steps = Steps(batch.kind, rows, batch.path)
    part = Part(block, rows, steps, row=rows, start=np.zeros_like(rows))
    shape = (len(batch), int(batch.steps.max()))
    return Chunk((part,), shape, padded=True, key=noise_key(np.random.SeedSequence(seed)))


def _trimmed(values: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Return (n, T, units) with NaN after the end of each trial."""
    return np.where(
        (np.arange(values.shape[1]) < steps[:, None])[..., None], values, np.float32(np.nan)
    )


class _Watched:
    """Keeps the outputs of modules, called once with (n, T, …) or on every step with (n, …)."""

    def __init__(self, network: nn.Module, names: Sequence[str], shape: tuple[int, int]) -> None:
        modules = dict(network.named_modules())
        for name in names:
            if name not in modules or not name:
                raise unknown(
                    "layer",
                    name,
                    ["hidden", "outputs", "inputs", *filter(None, modules)],
                    of=type(network).__name__,
                )
        self._modules = {name: modules[name] for name in names}
        self._shape = tuple(shape)
        self._given: dict[str, list[Tensor]] = {name: [] for name in names}

    def __enter__(self) -> _Watched:
        self._hooks = [
            module.register_forward_hook(self._keeper(name))
            for name, module in self._modules.items()
        ]
        return self

    def __exit__(self, *error: Any) -> None:
        for hook in self._hooks:
            hook.remove()

    def _keeper(self, name: str) -> Any:
        def keep(module: nn.Module, given: Any, result: Any) -> None:
            self._given[name].append(result[0] if isinstance(result, tuple) else result)

        return keep

    def found(self) -> dict[str, Tensor]:
        """Return the outputs, name -> (n, T, units)."""
        return {name: self._joined(name, given) for name, given in self._given.items()}

    def _joined(self, name: str, given: list[Tensor]) -> Tensor:
        if len(given) == 1 and tuple(given[0].shape[:2]) == self._shape:
            return given[0]
        if len(given) == self._shape[1] and all(len(step) == self._shape[0] for step in given):
            return torch.stack([step.reshape(self._shape[0], -1) for step in given], dim=1)
        shapes = [tuple(step.shape) for step in given[:3]]
        raise InvalidValueError(
            f"The layer {name!r} gave {len(given)} tensors of shapes {shapes} for {self._shape[0]}"
            f" trials of {self._shape[1]} steps; expected one (trials, steps, units), or one"
            " (trials, units) per step. Name another layer."
        )
