"""Supervised trainers of this package's networks, for Python and for ``ngym train --model``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from neurogym_training.training import Trainer, Watch, threads_for

from neurogym_core import InvalidValueError, NotSupportedError, TrialRecord
from neurogym_core.players import TaskView
from neurogym_core.tools import replacing, unknown
from neurogym_torch.data import TorchBatch, split_seed
from neurogym_torch.losses import LOSSES, balanced_weights, masked_loss
from neurogym_torch.mixture import MixBatch, TaskMix
from neurogym_torch.networks import (
    CHECKPOINT,
    GRU,
    LSTM,
    LeakyRNN,
    LowRankRNN,
    Network,
    loaded,
)
from neurogym_torch.optimizing import Optimizing
from neurogym_torch.stages import stages_of
from neurogym_torch.subjects import ANSWERS, NetworkSubject, only_where


class SupervisedTrainer(Trainer):
    """Trains a recurrent network on targets, with a masked, weighted loss.

    A run that is resumed from its checkpoint ends with the same weights, to the last bit, as an
    uninterrupted one (on the CPU with the same number of threads).

    Args:
        tasks: one, or several, one per batch, with a rule input (see `TaskMix`).
        seed: seed of weights, trials and noise.
        batch: trials per batch.
        hidden: number of recurrent units.
        learning_rate: learning rate of the first update.
        optimizer: "adam", "adamw", "rmsprop" or "sgd".
        weight_decay: L2 penalty of the weights; with "adamw" decoupled from the gradients.
        schedule: course of the learning rate, "constant", "step", "exponential", "linear" or
            "cosine".
        schedule_updates, schedule_factor: after that many updates, the learning rate is this
            fraction of the first one. Then "step" and "exponential" go on, and the others end.
        rate_cost: weight in the loss of the mean squared activity of the units (L2), over the steps
            of the trials (Song et al. 2016, Yang et al. 2019).
        rate_l1: the same of the mean absolute activity, for few active units.
        weight_l1: weight in the loss of the mean absolute value of the parameters that are trained,
            biases excepted.
        frozen: patterns of names of parameters that are not trained, such as ``("input*",)``.
        precision: "float32", or "bfloat16" for the outputs of the network in training, by
            ``torch.autocast``. Parameters, loss, optimizer and tests remain float32.
        loss: "cross-entropy" over the actions, or "mse" on the action units (rings: bumps).
            Continuous actions: always "mse".
        rest_weight: weight of the rest output in "mse" (Yang et al. 2019: 2).
        weight_power: power of the loss weights of the task; 2: as if they multiplied the errors
            before these are squared (the code of Yang et al. 2019).
        balance: weight of answers in "cross-entropy", 0 to 1; see `balanced_weights`.
        clip: maximum norm of the gradients, which are scaled down to it; 0: no maximum.
        answers: the answer of a trial: the "first" action other than rest, which ends the trial; or
            the outputs on the "last" step, whatever came before (Yang et al. 2019).
        seq_len: None: whole trials, each from the initial state; T: streams of trials, T steps per
            batch, with the state kept between batches.
        shares: relative frequencies of several tasks, one each, or by name, ``{"CtxDM1": 5}``,
            with 1 for the others; None: equal.
        stages: easier versions of the tasks, which are learned first, one mapping each: settings of
            the tasks that differ, as in ``{"timing": {"delay": 0}}``, and "shares". The tasks
            themselves are the last stage, and tests play them. The curve has the stage, from 0,
            and its accuracy on its own trials.
        advance_at: accuracy of a test on trials of the stage that ends it; a stage with "updates"
            ends with the first test after so many instead.
        test_every: updates between tests (and checkpoints).
        test_trials: trials per test and task, always the same, of the validation split.
        device: "cpu", "cuda", …
        threads: CPU threads while learning; 0: one for up to 512 hidden units, else those of torch.
    """

    kind = "model"
    unit = "updates"
    network_class: ClassVar[type[Network]]

    def __init__(
        self,
        tasks: Any,
        *,
        seed: int = 0,
        batch: int = 64,
        hidden: int = 128,
        learning_rate: float = 5e-3,
        loss: str = "cross-entropy",
        rest_weight: float = 1.0,
        weight_power: float = 1.0,
        balance: float = 0.5,
        clip: float = 1.0,
        optimizer: str = "adam",
        weight_decay: float = 0.0,
        schedule: str = "constant",
        schedule_updates: int = 1000,
        schedule_factor: float = 0.1,
        rate_cost: float = 0.0,
        rate_l1: float = 0.0,
        weight_l1: float = 0.0,
        frozen: tuple | None = None,
        precision: str = "float32",
        answers: str = "first",
        seq_len: int | None = None,
        shares: Any = None,
        stages: Any = None,
        advance_at: float = 0.8,
        test_every: int = 100,
        test_trials: int = 500,
        device: str = "cpu",
        threads: int = 0,
    ) -> None:
        super().__init__(tasks, seed=seed)
        self.threads = threads_for(threads, hidden)
        costs = {"rate_cost": rate_cost, "rate_l1": rate_l1, "weight_l1": weight_l1,
                 "weight_power": weight_power}  # fmt: skip
        self._check(loss, answers, test_every, costs)
        self.loss = "mse" if self.tasks[0].actions.continuous else loss
        self.targets = (
            "units" if self.loss == "mse" and not self.tasks[0].actions.continuous else "action"
        )
        self.answers = answers
        if not 0 <= balance <= 1:
            raise InvalidValueError(
                f"{type(self).__name__} was given balance={balance!r}. Expected 0 (weights as the"
                " task sets them) to 1 (answers weigh as much as rest). Give a number between."
            )
        self.rest_weight, self.test_every = rest_weight, test_every
        self.rate_cost, self.rate_l1, self.weight_l1 = rate_cost, rate_l1, weight_l1
        self.balance, self.weight_power = balance, weight_power
        self.device = torch.device(device)
        kwargs: dict[str, Any] = {"targets": self.targets, "device": device}
        ahead = 2 if self.device.type == "cuda" else 0  # the CPU has other work
        self.stages = stages_of(stages, self.tasks, advance_at)
        self.stage, self.begun = 0, 0
        *self._easier, self.tests = (
            TaskMix(tasks, test_trials, None, seed, self.splits["tests"], **kwargs)
            for tasks in (*(one.tasks for one in self.stages), self.tasks)
        )
        self._trials = [
            TaskMix(
                tasks, batch, seq_len, own, self.splits["training"],
                shares=shares if mixed is None else mixed, prefetch=ahead, **kwargs,
            )
            for tasks, mixed, own in (
                *(
                    (one.tasks, one.shares, split_seed(seed, number))
                    for number, one in enumerate(self.stages)
                ),
                (self.tasks, None, seed),
            )
        ]  # fmt: skip
        self.layout = self.tests.layout
        self._check_layouts()
        self.carry = seq_len is not None
        self.network = self._make_network(hidden).to(self.device)
        self._freeze(frozen or ())
        self.optimizing = Optimizing(
            [one for one in self.network.parameters() if one.requires_grad],
            optimizer=optimizer,
            learning_rate=learning_rate,
            weight_decay=weight_decay,
            schedule=schedule,
            schedule_updates=schedule_updates,
            schedule_factor=schedule_factor,
            clip=clip,
            precision=precision,
            device=self.device,
        )
        self.noise = torch.Generator(self.device).manual_seed(seed + 1)
        self._unit_weights = self._weights_of_units()
        self.state: Any = None

    @property
    def data(self) -> TaskMix:
        """The batches of the stage."""
        return self._trials[self.stage]

    def _check_layouts(self) -> None:
        for number, mix in enumerate(self._trials):
            one = mix.layout
            if (one.n_inputs, one.actions) != (self.layout.n_inputs, self.layout.actions):
                raise InvalidValueError(
                    f"The stage {number} has other inputs or actions than the tasks: {one}."
                    f" Expected {self.layout}. Change settings that leave them as they are."
                )

    @property
    def regularised(self) -> bool:
        """Whether rates or weights have a cost in the loss."""
        return bool(self.rate_cost or self.rate_l1 or self.weight_l1)

    def _freeze(self, patterns: Sequence[str] | str) -> None:
        """Leave the parameters out of training whose names match a pattern."""
        patterns = [patterns] if isinstance(patterns, str) else list(patterns)
        named = dict(self.network.named_parameters())
        for pattern in patterns:
            matching = [name for name in named if fnmatchcase(name, str(pattern))]
            if not matching:
                raise unknown("parameter", str(pattern), named, of=type(self.network).__name__)
            for name in matching:
                named[name].requires_grad_(False)
        if not any(one.requires_grad for one in named.values()):
            raise InvalidValueError(
                f"frozen={tuple(patterns)!r} names all parameters. Expected some to train. Leave"
                " some out."
            )

    def _check(self, loss: str, answers: str, test_every: int, costs: Mapping[str, float]) -> None:
        for name, value, known in (("loss", loss, LOSSES), ("answers", answers, ANSWERS)):
            if value not in known:
                raise InvalidValueError(
                    f"{type(self).__name__} was given {name}={value!r}; give"
                    f" {' or '.join(map(repr, known))}."
                )
        if test_every < 1:
            raise InvalidValueError(
                f"{type(self).__name__} was given test_every={test_every!r}; it needs at least 1"
                " update."
            )
        for name, cost in costs.items():
            if not cost >= 0:
                raise InvalidValueError(
                    f"{type(self).__name__} was given {name}={cost!r}. Expected a weight, 0 or"
                    " more. Give another."
                )
        for task in self.tasks:
            actions = task.actions
            untriggered = actions.continuous and actions.trigger is None
            if answers == "last" and (actions.rest is None or untriggered):
                raise NotSupportedError(
                    f"answers='last' was given, but {task.name} has no rest action, so every step"
                    " is an answer. Use 'first'."
                )
            if TaskView(task).hooks or task.reads_outcomes:
                raise NotSupportedError(
                    f"The trials of {task.name} depend on the subject's actions, so they"
                    " cannot be scored afterwards. Train an agent on it: --algo."
                )

    def _make_network(self, hidden: int) -> Network:
        return self.network_class(
            self.layout.n_inputs, self.layout.n_outputs, hidden, seed=self.seed
        )

    def _weights_of_units(self) -> torch.Tensor | None:
        rest = self.tasks[0].actions.rest_name
        if self.targets != "units" or rest is None or self.rest_weight == 1:
            return None
        weights = torch.ones(self.layout.n_outputs, device=self.device)
        weights[self.layout.actions[rest]] = self.rest_weight
        return weights

    # ---- learning ----

    def _learn(self, until: int, watch: Watch) -> None:
        if not self.curve and self.tested(watch):
            return
        while self.done < until:
            if self.finished(self.update(), until, watch):
                return

    def update(self) -> torch.Tensor:
        """Train on one batch, and return the loss."""
        batch = next(self.data)
        with self.optimizing.computing():
            outputs, hidden, state = self.network.unroll(batch.inputs, self.state, self.noise)
        loss = self.loss_of(batch, outputs, hidden, state)
        self.optimizing.zero_grad()
        loss.backward()
        self.step()
        return loss.detach()

    def step(self) -> None:
        """Change the weights along their gradients, and count the update."""
        self.optimizing.step(self.done)
        self.done += 1

    def finished(self, loss: torch.Tensor, until: int, watch: Watch) -> bool:
        """Follow an update with a test where one is due; return whether training ends."""
        if self.done % 10 == 0:
            watch.tick(loss=float(loss))
        last = self.done >= until
        return ((self.done % self.test_every == 0 or last) and self.tested(watch)) or last

    def loss_of(
        self, batch: MixBatch, outputs: torch.Tensor, hidden: torch.Tensor, state: Any
    ) -> torch.Tensor:
        """Return the loss of the outputs for a batch, and keep the state for the next one."""
        if self.carry:  # gradients do not cross batches
            self.state = (
                state.detach()
                if isinstance(state, torch.Tensor)
                else tuple(part.detach() for part in state)
            )
        weights = self.weights_of(batch)
        loss = masked_loss(outputs.float(), batch.targets, weights, self._unit_weights)
        if self.weight_l1:
            free = [one for one in self.network.parameters() if one.requires_grad and one.dim() > 1]
            size = sum(one.numel() for one in free)
            loss = loss + self.weight_l1 * sum(one.abs().sum() for one in free) / size
        if not (self.rate_cost or self.rate_l1):
            return loss
        if not getattr(self.network, "returns_activations", True):
            raise NotSupportedError(
                f"{type(self).__name__} was given rate_cost={self.rate_cost:g},"
                f" rate_l1={self.rate_l1:g}, but the network returns outputs only. Expected"
                " (outputs, activations). Return both, or leave them out."
            )
        rates = _played(hidden.float(), batch)
        return loss + self.rate_cost * (rates**2).mean() + self.rate_l1 * rates.abs().mean()

    def weights_of(self, batch: MixBatch) -> torch.Tensor:
        """Return the weights of the steps, larger where the target is an answer; see `balance`."""
        rest = self.tasks[batch.which].actions.rest
        if rest is not None:  # in the units of the network
            rest = int(self.layout.targets(batch.which, torch.tensor(rest)))
        weights = batch.weights**self.weight_power if self.weight_power != 1 else batch.weights
        return balanced_weights(batch.targets, weights, rest, self.balance)

    # ---- testing ----

    def tested(self, watch: Watch) -> bool:
        """Test, and return whether the criterion is met."""
        record, measured = self.test()
        return watch.point(record, **measured, **self._advanced())

    def _advanced(self) -> dict[str, float]:
        """Begin the next stage if this one ends; return the columns of the curve about it."""
        if not self.stages:
            return {}
        now, accuracy = self.stage, float("nan")
        if now < len(self.stages):
            records, _ = self._tested_on(self._easier[now])
            accuracy = float(np.mean([record["performance"].mean() for record in records]))
            if self.stages[now].ends(accuracy, self.done - self.begun):
                self.stage, self.begun, self.state = now + 1, self.done, None
        return {"stage": now, "stage accuracy": accuracy}

    @torch.no_grad()
    def test(self) -> tuple[TrialRecord, dict[str, float]]:
        """Return the record of the test trials, and the losses and accuracies on them.

        For several tasks, the record has the columns that all tasks share, and `task`.
        """
        records, losses = self._tested_on(self.tests)
        measured = {"loss": float(np.mean(losses))}
        return records[0] if len(records) == 1 else self._joined(records), measured

    @torch.no_grad()
    def _tested_on(self, tests: TaskMix) -> tuple[list[TrialRecord], list[float]]:
        """Return the record and the loss of each task."""
        tests.restart()
        noise = torch.Generator(self.device).manual_seed(self.seed + 2)
        records, losses = [], []
        for which, dataset in enumerate(tests.datasets):
            batch = MixBatch.widened(next(dataset), which, self.layout)
            outputs, _ = self.network(batch.inputs, generator=noise)
            losses.append(
                float(masked_loss(outputs, batch.targets, batch.weights, self._unit_weights))
            )
            records.append(self._score(batch, outputs))
        return records, losses

    def _score(self, batch: MixBatch, outputs: torch.Tensor) -> TrialRecord:
        if self.answers == "first":
            return batch.score(outputs)
        own = self.layout.outputs(batch.which, outputs).cpu().numpy()
        actions = self.tasks[batch.which].actions
        last = np.zeros(own.shape[:2], bool)
        last[batch.row, batch.stop - 1] = True
        if actions.continuous:
            said = np.clip(own, -1, 1)
        else:
            said = actions.decode_units(own) if self.targets == "units" else own.argmax(axis=2)
        return TorchBatch.score(batch, only_where(last, said, actions))

    def _joined(self, records: list[TrialRecord]) -> TrialRecord:
        common = ("outcome", "performance", "reward", "aborts", "steps")
        columns = {name: np.concatenate([record[name] for record in records]) for name in common}
        names = [f"{number} {task.name}" for number, task in enumerate(self.tasks)]
        which = np.repeat(names, [len(record) for record in records])
        return TrialRecord({"task": which, **columns})

    def subject(self, which: int = 0) -> NetworkSubject:
        """Return the network as a subject of one of the tasks."""
        return NetworkSubject(
            self.network,
            self.layout,
            which,
            targets=self.targets,
            answers=self.answers,
            carry=self.carry,
            seed=self.seed,
        )

    def export(self, path: Path) -> None:
        from neurogym_torch.exchange import export

        export(self.network, path)

    # ---- checkpoints ----

    def save(self, folder: Path) -> None:
        state = {
            "done": self.done,
            "curve": self.curve,
            "network": self.network.saved(),
            "optimizer": self.optimizing.optimizer.state_dict(),
            "data": self.data.state(),
            "noise": self.noise.get_state(),
            "state": self.state,
            "stage": [self.stage, self.begun],
        }
        with replacing(Path(folder) / CHECKPOINT) as temporary:
            torch.save(state, temporary)

    def load(self, folder: Path) -> None:
        state = loaded(Path(folder) / CHECKPOINT, self.device)
        self.done, self.curve, self.state = state["done"], list(state["curve"]), state["state"]
        self.network.load_state_dict(state["network"]["weights"])
        self.optimizing.optimizer.load_state_dict(state["optimizer"])
        self.stage, self.begun = state.get("stage", (0, 0))
        self.data.go_to(state["data"])
        self.noise.set_state(state["noise"].cpu())


def _played(hidden: torch.Tensor, batch: MixBatch) -> torch.Tensor:
    """Return the activity (B, T, units) on the steps of the trials, (steps, units)."""
    steps = torch.arange(hidden.shape[1], device=hidden.device)
    played = torch.zeros(len(hidden), dtype=torch.long, device=hidden.device)
    row, stop = (torch.from_numpy(part).to(hidden.device) for part in (batch.row, batch.stop))
    # Rows are filled from their first step; only the steps after the last trial are padding.
    played = played.scatter_reduce(0, row, stop, "amax")
    return hidden[steps < played[:, None]]


class _RateTrainer(SupervisedTrainer):
    """Base of trainers of rate networks, whose dt is that of the tasks."""

    _own: dict[str, Any]
    """The settings of the network."""

    def _make_network(self, hidden: int) -> Network:
        dt, layout = self._dt(), self.layout
        if self._own["tau"] is None:
            self._own["tau"] = max(100.0, dt)
        network: Network = self.network_class(
            layout.n_inputs, layout.n_outputs, hidden, dt=dt, seed=self.seed, **self._own
        )
        return network

    def _dt(self) -> float:
        steps = {float(task.dt) for task in self.tasks}
        if len(steps) > 1:
            raise InvalidValueError(
                f"The tasks have dt = {sorted(steps)} ms, but one network has one dt. Give all"
                " tasks the same dt."
            )
        return steps.pop()


class LeakyTrainer(_RateTrainer):
    """Trains a `LeakyRNN`.

    Args:
        tau: time constant, ms, or (low, high); at least the task's dt; None: 100, or the task's dt
            if it is longer.
        activation: "relu", "softplus" or "tanh".
        noise: SD of the recurrent noise.
        learn_tau, dale, excitatory, sparsity, connections, adaptation, adaptation_tau, plasticity,
            areas, between, delay, learn_start, output, initial, gain: as in `LeakyRNN`.
        common: further settings, as in `SupervisedTrainer`.
    """

    network_class = LeakyRNN

    def __init__(
        self,
        tasks: Any,
        *,
        tau: float | tuple | None = None,
        learn_tau: bool = False,
        activation: str = "relu",
        noise: float = 0.0,
        dale: bool = False,
        excitatory: float = 0.8,
        sparsity: float = 0.0,
        connections: Any = None,
        adaptation: float = 0.0,
        adaptation_tau: float = 500.0,
        plasticity: str = "none",
        areas: int = 1,
        between: float = 0.2,
        delay: float = 0.0,
        learn_start: bool = False,
        output: str = "linear",
        initial: str = "gaussian",
        gain: float = 1.2,
        **common: Any,
    ) -> None:
        self._own = {
            "tau": tau,
            "learn_tau": learn_tau,
            "activation": activation,
            "noise": noise,
            "dale": dale,
            "excitatory": excitatory,
            "sparsity": sparsity,
            "connections": connections,
            "adaptation": adaptation,
            "adaptation_tau": adaptation_tau,
            "plasticity": plasticity,
            "areas": areas,
            "between": between,
            "delay": delay,
            "learn_start": learn_start,
            "output": output,
            "initial": initial,
            "gain": gain,
        }
        super().__init__(tasks, **common)
        if output == "sigmoid" and self.targets != "units":
            raise InvalidValueError(
                "LeakyTrainer was given output='sigmoid' with other targets than those of units,"
                " which lie between 0 and 1. Expected loss='mse' and a task with choices. Leave"
                " output out, or give that loss."
            )


class LowRankTrainer(_RateTrainer):
    """Trains a `LowRankRNN`.

    Args:
        rank: rank of the recurrent weights.
        tau: time constant, ms; at least the task's dt; None: 100, or the task's dt if it is longer.
        noise: SD of the recurrent noise.
        common: further settings, as in `SupervisedTrainer`.
    """

    network_class = LowRankRNN

    def __init__(
        self,
        tasks: Any,
        *,
        rank: int = 2,
        tau: float | None = None,
        noise: float = 0.0,
        **common: Any,
    ) -> None:
        self._own = {"rank": rank, "tau": tau, "noise": noise}
        super().__init__(tasks, **common)


class GRUTrainer(SupervisedTrainer):
    """Trains a `GRU`.

    Args:
        memory: longest initial time constant, in steps, as in `GRU`.
        common: further settings, as in `SupervisedTrainer`.
    """

    network_class = GRU

    def __init__(self, tasks: Any, *, memory: float = 30.0, **common: Any) -> None:
        self._memory = memory
        super().__init__(tasks, **common)

    def _make_network(self, hidden: int) -> Network:
        return GRU(
            self.layout.n_inputs, self.layout.n_outputs, hidden, memory=self._memory, seed=self.seed
        )


class LSTMTrainer(SupervisedTrainer):
    """Trains an `LSTM`; settings as in `SupervisedTrainer`."""

    network_class = LSTM
