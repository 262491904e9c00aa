"""Networks of several seeds that are trained at once, each as it would be alone.

Steps of small networks cost more in calls than in arithmetic. Here, one call computes a step of all
networks: their recurrent weights are stacked, and a batched product takes the place of several
small ones. The rest, the trials, the noise, the optimizer, the tests and the checkpoints, belongs
to each network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
from neurogym_training.training import Criterion, Watch, limited
from torch import Tensor
from torch.nn import functional

from neurogym_core import InvalidValueError
from neurogym_torch.networks import GRU, LeakyRNN, Network, State
from neurogym_torch.trainers import SupervisedTrainer


def train_together(
    trainers: Sequence[SupervisedTrainer],
    until: int,
    *,
    out: Sequence[str | Path] | None = None,
    criterion: Criterion | Sequence[Criterion] = None,
    progress: bool = False,
) -> list[str]:
    """Train several networks of one kind at once, with one call per step for all of them.

    Each network ends with the weights and the curve that its ``train`` would give, up to the
    rounding of float32. A `GRU` or a `LeakyRNN` is sped up; other networks take turns. The seconds
    in the curves are those of all networks together. A network that is done or has met its
    criterion leaves, and the others continue.

    Args:
        trainers: trainers of one class, with the same settings and different seeds. A trainer that
            has loaded a checkpoint continues from there.
        until: total number of updates of each network.
        out: one folder per trainer, for its checkpoints and its curve; each can be resumed alone.
        criterion: one for all, or one per trainer; see `Trainer.train`.
        progress: show a progress bar, with the numbers of the first network.

    Returns:
        For each trainer, "criterion" or "updates", as `Trainer.train` returns it.

    Raises:
        InvalidValueError: there is no trainer, their networks differ in more than the seed, or
            `out` or `criterion` has another length.
        KeyboardInterrupt: Ctrl-C was pressed. With `out`, all checkpoints are written first.
    """
    trainers = list(trainers)
    _check(trainers)
    folders = _each("out", [None] * len(trainers) if out is None else out, trainers)
    listed = criterion if isinstance(criterion, Sequence) else [criterion] * len(trainers)
    criteria = _each("criterion", listed, trainers)
    with limited(trainers[0].threads) as threads, ExitStack() as stack:
        watches = [
            stack.enter_context(
                Watch(
                    trainer,
                    until,
                    out=folder,
                    criterion=wanted,
                    progress=progress and trainer is trainers[0],
                    threads=threads,
                )
            )
            for trainer, folder, wanted in zip(trainers, folders, criteria, strict=True)
        ]
        try:
            _learn(list(zip(trainers, watches, strict=True)), until)
        except KeyboardInterrupt:
            for watch in watches:
                watch.save()
            raise
    return [watch.ended_by for watch in watches]


def _check(trainers: list[SupervisedTrainer]) -> None:
    if not trainers:
        raise InvalidValueError(
            "train_together() was given no trainers. Expected at least one. Give one per seed."
        )
    kinds = {
        (type(one).__name__, type(one.network).__name__, str(_without_seed(one)))
        for one in trainers
    }
    if len(kinds) > 1:
        raise InvalidValueError(
            f"train_together() was given trainers of {len(kinds)} kinds: {sorted(kinds)}. Expected"
            " one class of trainers whose networks differ in nothing but the seed. Train the"
            " others by themselves."
        )


def _without_seed(trainer: SupervisedTrainer) -> dict[str, Any]:
    settings = getattr(trainer.network, "settings", {})
    return {name: value for name, value in settings.items() if name != "seed"}


def _each(name: str, given: Sequence[Any], trainers: list[SupervisedTrainer]) -> list[Any]:
    if isinstance(given, str) or len(given) != len(trainers):
        raise InvalidValueError(
            f"train_together() was given {name}={given!r} for {len(trainers)} trainers. Expected"
            " one for each, in a list. Give as many."
        )
    return list(given)


def _learn(pairs: list[tuple[SupervisedTrainer, Watch]], until: int) -> None:
    """Train all until each has done `until` updates or has met its criterion."""
    going = []
    for trainer, watch in pairs:
        if watch.met_before or trainer.done >= until:
            continue
        if trainer.curve or not trainer.tested(watch):
            going.append((trainer, watch))
    while going:
        losses = update_together([trainer for trainer, _ in going])
        going = [
            (trainer, watch)
            for (trainer, watch), loss in zip(going, losses, strict=True)
            if not trainer.finished(loss, until, watch)
        ]
        for _, watch in pairs:  # the one that sees Ctrl-C may be that of a network that has left
            watch.tick()


def update_together(trainers: Sequence[SupervisedTrainer]) -> list[Tensor]:
    """Train each network on its next batch, and return the losses."""
    # The product of all networks computes no gradients of their rates, and in float32 alone.
    if any(trainer.regularised or trainer.optimizing.mixed for trainer in trainers):
        return [trainer.update() for trainer in trainers]
    batches = [next(trainer.data) for trainer in trainers]
    unrolled = unroll_together(
        [trainer.network for trainer in trainers],
        [batch.inputs for batch in batches],
        [trainer.state for trainer in trainers],
        [trainer.noise for trainer in trainers],
    )
    losses = [
        trainer.loss_of(batch, outputs, hidden, state)
        for trainer, batch, (outputs, hidden, state) in zip(
            trainers, batches, unrolled, strict=True
        )
    ]
    for trainer in trainers:
        trainer.optimizing.zero_grad()
    torch.stack(losses).sum().backward()
    for trainer in trainers:
        trainer.step()
    return [loss.detach() for loss in losses]


def unroll_together(
    networks: Sequence[Network],
    inputs: Sequence[Tensor],
    states: Sequence[State] | None = None,
    generators: Sequence[torch.Generator | None] | None = None,
) -> list[tuple[Tensor, Tensor, State]]:
    """Return the outputs, firing rates and last states of several networks, as `unroll` does.

    Args:
        networks: networks of one class and size, with separate weights.
        inputs: for each, (B, T, n_inputs); T may differ between them.
        states: for each, the state before the first step; None: `initial_state`.
        generators: for each, the generator of its recurrent noise.
    """
    states = [None] * len(networks) if states is None else states
    generators = [None] * len(networks) if generators is None else generators
    recurrence = _RECURRENCES.get(type(networks[0]))
    sizes = {len(rows) for rows in inputs}
    plain = all(getattr(network, "plain", True) for network in networks)
    if recurrence is None or not plain or len(sizes) > 1:
        given: Any = zip(networks, inputs, states, generators, strict=True)
        return [network.unroll(*own) for network, *own in given]
    first = torch.stack(
        [
            network.initial_state(len(rows)) if state is None else state
            for network, rows, state in zip(networks, inputs, states, strict=True)
        ]
    )
    drives, weights = recurrence.prepare(networks, inputs, generators)
    longest = max(drive.shape[1] for drive in drives)
    # Steps first, so that a step of all networks is one piece of memory.
    drive = torch.stack(
        [
            functional.pad(drive, (0, 0, 0, longest - drive.shape[1])).transpose(0, 1)
            for drive in drives
        ],
        dim=1,
    )
    hidden = recurrence.unroll(drive, first, *weights)
    found = []
    network: Any  # a GRU or a LeakyRNN, which have `read`
    for number, (network, rows) in enumerate(zip(networks, inputs, strict=True)):
        own = hidden[: rows.shape[1], number].transpose(0, 1)
        found.append((network.read(own), own, own[:, -1]))
    return found


class _GatedSteps(torch.autograd.Function):
    """Steps of several GRUs, with the gradient that follows from their equations.

    Everything in the gradient that does not depend on later steps is computed for all steps at
    once, and so are the gradients of the weights.
    """

    @staticmethod
    def forward(ctx: Any, drive: Tensor, first: Tensor, weights: Tensor, bias: Tensor) -> Tensor:
        """Return firing rates, (T, S, B, hidden).

        Args:
            ctx: of torch.
            drive: input of reset gate, update gate and candidate, (T, S, B, 3 hidden).
            first: rates before the first step, (S, B, hidden).
            weights: recurrent weights in the same order, (S, 3 hidden, hidden).
            bias: bias of the candidate within the reset gate, (S, hidden).
        """
        steps, n, batch, _ = drive.shape
        units = first.shape[2]
        turned = weights.transpose(1, 2)
        to_gates, to_candidate = turned[..., : 2 * units], turned[..., 2 * units :]
        inner_bias = bias[:, None].expand(n, batch, units).contiguous()
        gate_drive, candidate_drive = drive[..., : 2 * units], drive[..., 2 * units :]
        gates = drive.new_empty(steps, n, batch, 2 * units)
        inner, candidate = (drive.new_empty(steps, n, batch, units) for _ in range(2))
        rates = drive.new_empty(steps + 1, n, batch, units)
        rates[0] = first
        for t in range(steps):
            now, gate, within, new = rates[t], gates[t], inner[t], candidate[t]
            torch.baddbmm(gate_drive[t], now, to_gates, out=gate).sigmoid_()
            torch.baddbmm(inner_bias, now, to_candidate, out=within)
            torch.addcmul(candidate_drive[t], gate[..., :units], within, out=new).tanh_()
            torch.lerp(new, now, gate[..., units:], out=rates[t + 1])
        ctx.save_for_backward(weights, gates, inner, candidate, rates)
        return rates[1:]

    @staticmethod
    def backward(ctx: Any, wanted: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
        """Return the gradients of the arguments of `forward`."""
        weights, gates, inner, candidate, rates = ctx.saved_tensors
        steps, n, batch, units = candidate.shape
        reset, update = (part.contiguous() for part in gates.split(units, dim=3))
        by_candidate = (1 - update) * (1 - candidate * candidate)
        by_update = (rates[:-1] - candidate) * update * (1 - update)
        by_reset = inner * reset * (1 - reset)
        through = candidate.new_empty(steps, n, batch, 3 * units)
        to_candidate = candidate.new_empty(steps, n, batch, units)
        # Gradient by the rates: the part of later steps, to which each step adds its own.
        flow = torch.zeros_like(rates[0])
        for t in range(steps - 1, -1, -1):
            flow = flow + wanted[t]
            step, new = through[t], to_candidate[t]
            torch.mul(flow, by_candidate[t], out=new)
            torch.mul(new, by_reset[t], out=step[..., :units])
            torch.mul(flow, by_update[t], out=step[..., units : 2 * units])
            torch.mul(new, reset[t], out=step[..., 2 * units :])
            flow = torch.baddbmm(flow.mul_(update[t]), step, weights)
        flat = _by_network(through)
        to_weights = flat.transpose(1, 2) @ _by_network(rates[:-1])
        to_drive = torch.cat([through[..., : 2 * units], to_candidate], dim=3)
        return to_drive, flow, to_weights, flat[..., 2 * units :].sum(dim=1)


class _LeakySteps(torch.autograd.Function):
    """Steps of several leaky networks, with the gradient that follows from their equations."""

    @staticmethod
    def forward(
        ctx: Any, drive: Tensor, first: Tensor, weights: Tensor, alpha: float, activation: str
    ) -> Tensor:
        """Return firing rates, (T, S, B, hidden).

        Args:
            ctx: of torch.
            drive: external input, (T, S, B, hidden).
            first: rates before the first step, (S, B, hidden).
            weights: recurrent weights, (S, hidden, hidden).
            alpha: dt / tau.
            activation: name of f.
        """
        f, derivative = _ACTIVATIONS[activation]
        turned = weights.transpose(1, 2).contiguous()
        total = torch.empty_like(drive)
        rates = drive.new_empty(len(drive) + 1, *first.shape)
        rates[0] = first
        for t in range(len(drive)):
            torch.baddbmm(drive[t], rates[t], turned, out=total[t])
            torch.lerp(rates[t], f(total[t]), alpha, out=rates[t + 1])
        ctx.alpha = alpha
        ctx.save_for_backward(weights, derivative(total).mul_(alpha), rates)
        return rates[1:]

    @staticmethod
    def backward(ctx: Any, wanted: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        """Return the gradients of the arguments of `forward`."""
        weights, slope, rates = ctx.saved_tensors
        through = torch.empty_like(slope)
        flow = torch.zeros_like(rates[0])
        for t in range(len(slope) - 1, -1, -1):
            flow = flow + wanted[t]
            torch.mul(flow, slope[t], out=through[t])
            flow = torch.baddbmm(flow, through[t], weights, beta=1 - ctx.alpha)
        to_weights = _by_network(through).transpose(1, 2) @ _by_network(rates[:-1])
        return through, flow, to_weights, None, None


def _by_network(values: Tensor) -> Tensor:
    """Return (T, S, B, k) as (S, T * B, k)."""
    return values.transpose(0, 1).flatten(1, 2)


_ACTIVATIONS: dict[str, tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]] = {
    "softplus": (functional.softplus, torch.sigmoid),
    "relu": (torch.relu, lambda total: (total > 0).to(total.dtype)),
    "tanh": (torch.tanh, lambda total: 1 - torch.tanh(total) ** 2),
}
"""Each activation and its derivative."""


class _GatedTogether:
    """Several GRUs."""

    @staticmethod
    def prepare(networks: Sequence[Any], inputs: Sequence[Tensor], generators: Any) -> Any:
        drives = []
        for network, rows in zip(networks, inputs, strict=True):
            layer, units = network.recurrent, network.hidden
            # Both biases of the gates are added here; that of the candidate is within the reset.
            bias = layer.bias_ih_l0 + functional.pad(layer.bias_hh_l0[: 2 * units], (0, units))
            drives.append(functional.linear(rows, layer.weight_ih_l0, bias))
        layers = [network.recurrent for network in networks]
        weights = torch.stack([layer.weight_hh_l0 for layer in layers])
        bias = torch.stack([layer.bias_hh_l0[-layer.hidden_size :] for layer in layers])
        return drives, (weights, bias)

    unroll = staticmethod(_GatedSteps.apply)


class _LeakyTogether:
    """Several leaky networks."""

    @staticmethod
    def prepare(networks: Sequence[Any], inputs: Sequence[Tensor], generators: Any) -> Any:
        given = zip(networks, inputs, generators, strict=True)
        drives = [network.drive(rows, generator) for network, rows, generator in given]
        weights = torch.stack([network.recurrent_weights for network in networks])
        first = networks[0]
        return drives, (weights, first.alpha, first.settings["activation"])

    unroll = staticmethod(_LeakySteps.apply)


_RECURRENCES: dict[type, Any] = {GRU: _GatedTogether, LeakyRNN: _LeakyTogether}
