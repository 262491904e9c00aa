"""Activations of a network, trial by trial, with the record of its answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from neurogym_neural import Activity, Pulse, Silence
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
from neurogym_torch.networks import Network, _Rate
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
    answers: str = "first",
    bound: float | None = None,
    change: Callable[[Activity], np.ndarray] | None = None,
    silence: Silence | None = None,
    push: Pulse | None = None,
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
        targets, answers, bound: as in `NetworkSubject`.
        change: a perturbation: a function of the inputs, as an Activity with the record of the
            conditions, that returns the inputs to present, (n, T, units), such as `Pulse` and
            `Freeze` of neurogym-neural. Trials and noise are those of the same seed without it, so
            that differences are its effect.
        silence: units that are silenced; trials and noise are those without it, too.
        push: a pulse to the states of units (of a LowRankRNN, before their nonlinearity; of an
            LSTM, the hidden state), after each step within it: rates change from the next step on.
        seed: seed of the trials and of all noise.
        conditions: imposed on all trials.

    Raises:
        UnknownNameError: the network has no such layer, or the task no such period.
        InvalidValueError: the network has no such unit, or states that cannot be changed.
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
        (wide.shape[0], wide.shape[1]),
    ) as watched:
        generator = torch.Generator(device).manual_seed(2 * seed + 1)
        if silence is None and push is None:
            outputs, hidden = as_network(network)(wide, generator=generator)
        else:
            shown = _shown(wide, batch, task.dt)
            mask = added = None
            if silence is not None:
                width = _width(network, "Silence", silence.units)
                mask = torch.from_numpy(silence.mask(shown, width)).to(device)
            if push is not None:
                width = _width(network, "push", push.units)
                added = torch.from_numpy(push.added(shown, width)).to(device)
            outputs, hidden = _perturbed(network, wide, mask, added, generator)
    found = {"hidden": hidden, "outputs": outputs, "inputs": wide, **watched.found()}
    subject = NetworkSubject(network, layout, which, targets=targets, answers=answers, bound=bound)
    own = outputs if layout is None else layout.outputs(which, outputs)
    rows = own.cpu().numpy()
    actions = subject._actions(task, rows.reshape(-1, rows.shape[2])).reshape(
        *rows.shape[:2], *((-1,) if task.actions.continuous else ())
    )
    if answers == "last":
        last = np.arange(rows.shape[1]) == batch.steps[:, None] - 1
        actions = np.where(last, actions, task.actions.rest)
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
        facts={"task": task.name, "dt": float(task.dt), "seed": seed, "answers": bound or answers},
    )


def _width(network: nn.Module, name: str, units: Sequence[int]) -> int:
    """Return the number of recurrent units, or raise InvalidValueError for units beyond it."""
    known = isinstance(network, Network) and hasattr(network, "read")
    width = int(network.hidden) if known else 0  # type: ignore[arg-type]
    given = np.asarray(units, int)
    if not len(given) or given.min() < 0 or given.max() >= width:
        raise InvalidValueError(
            f"{name} was given units={list(units)!r}. Expected indices below {width}, the"
            f" units of {type(network).__name__}; only networks of neurogym-torch have units that"
            " can be silenced or pushed. Give others."
        )
    return width


def _perturbed(
    network: Any,
    inputs: Tensor,
    mask: Tensor | None,
    added: Tensor | None,
    generator: torch.Generator,
) -> tuple[Tensor, Tensor]:
    """Return outputs and rates with silent or pushed units, with the noise of the plain trials."""
    state: Any = network.initial_state(len(inputs))
    rates = []
    # The noise of all steps is drawn at once, as without a perturbation.
    drive = network.drive(inputs, generator) if isinstance(network, _Rate) else None
    step = network._step() if isinstance(network, _Rate) else None
    for t in range(inputs.shape[1]):
        if step is not None and drive is not None:
            state, rate = step(state, drive[:, t])
        else:
            _, hidden, state = network.unroll(inputs[:, t : t + 1], state)
            rate = hidden[:, 0]
        if added is not None:  # after the step: its rates are known already
            first, *rest = (state,) if isinstance(state, Tensor) else state
            first = first + added[:, t]
            state = first if isinstance(state, Tensor) else (first, *rest)
        if mask is not None:
            quiet = mask[:, t]
            rate = rate.masked_fill(quiet, 0)
            state = (
                state.masked_fill(quiet, 0)
                if isinstance(state, Tensor)
                else tuple(part.masked_fill(quiet, 0) for part in state)
            )
        rates.append(rate)
    found = torch.stack(rates, dim=1)
    return network.read(found), found


def fit_bound(
    network: nn.Module,
    task: Any,
    reaction_time: float,
    trials: int = 400,
    *,
    layout: NetworkLayout | None = None,
    which: int = 0,
    targets: str = "action",
    seed: int = 0,
    **conditions: Any,
) -> float:
    """Return the bound at which the median reaction time of a network is closest to a wanted one.

    A higher bound is slower, and trials in which it is not reached have no answer.

    Args:
        network, task, trials, layout, which, targets, seed, conditions: as in `record_activity`.
        reaction_time: wanted median of the reaction times of all trials, ms; trials without an
            answer count as the slowest.

    Raises:
        InvalidValueError: no bound reaches half or double the wanted time.
    """
    found = {}
    low, high = 0.0, 1.0
    for _ in range(12):
        bound = (low + high) / 2
        record = record_activity(
            network, task, trials, layers=("outputs",), layout=layout, which=which,
            targets=targets, bound=bound, seed=seed, **conditions,
        ).record  # fmt: skip
        median = float(np.median(np.nan_to_num(record["reaction_time"], nan=np.inf)))
        found[bound] = median
        low, high = (low, bound) if median > reaction_time else (bound, high)
    best = min(found, key=lambda one: abs(found[one] - reaction_time))
    if not reaction_time / 2 <= found[best] <= reaction_time * 2:
        raise InvalidValueError(
            f"fit_bound() was given reaction_time={reaction_time!r} ms; the closest median of this"
            f" network is {found[best]:g} ms, at the bound {best:.3g}. Expected a time that it"
            " reaches. Give another time, or train the network longer."
        )
    return best


def _changed(
    change: Callable[[Activity], np.ndarray], inputs: Tensor, batch: TrialBatch, dt: float
) -> Tensor:
    """Return the inputs after a perturbation."""
    found = np.asarray(change(_shown(inputs, batch, dt)), np.float32)
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


def _shown(inputs: Tensor, batch: TrialBatch, dt: float) -> Activity:
    """Return the inputs with the conditions of the trials."""
    return Activity(
        _trimmed(inputs.cpu().numpy(), batch.steps),
        TrialRecord(batch.conditions),
        step=dt,
        events=_periods(batch, dt),
        units={"layer": ["inputs"] * inputs.shape[2]},
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
