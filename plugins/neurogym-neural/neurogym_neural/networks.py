"""Activity of the network of a training run, and of all its controls. Needs neurogym-torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from neurogym_core import InvalidValueError, MissingDependencyError, NotSupportedError
from neurogym_core.tools import how_to_install
from neurogym_neural.activity import Activity
from neurogym_neural.controls import (
    PULSE,
    PULSE_MS,
    controls_of,
    shuffled,
    with_fitted_readout,
)
from neurogym_neural.perturbations import Pulse
from neurogym_neural.verdicts import PULSE_AT, System

LAYERS = ("hidden", "outputs", "inputs")


@dataclass(frozen=True, eq=False)
class Recorded:
    """A network of a run in one of its tasks, with its controls.

    Attributes:
        task: the task.
        network: the network, a `torch.nn.Module`.
        systems: "network" and the controls of `CONTROLS` -> activity, of one or more networks.
        rule: how the network answered, in a sentence.
        inputs: activity of its inputs.
    """

    task: Any
    network: Any
    systems: dict[str, list[System]]
    rule: str
    inputs: Activity


def record_run(
    run: Any,
    trials: int = 800,
    *,
    which: int = 0,
    bound: float | None = None,
    seed: int = 0,
    untrained: Sequence[int] = (1000,),
) -> Recorded:
    """Record the network of a run, untrained ones of other seeds, and the other controls.

    All are recorded in the same trials, with the same noise, without and with a pulse of evidence
    if the task has a channel "stimulus" of two units. The untrained networks have the settings of
    the run and own seeds; a readout fitted to their activity answers for them.

    Args:
        run: a `neurogym_training.runs.Run`.
        trials: number of trials.
        which: index of the task, if the run has several.
        bound: the network answers when the probability of an answer exceeds it; None: the rule of
            its training.
        seed: seed of trials, noise and controls.
        untrained: seeds of the untrained networks.

    Raises:
        MissingDependencyError: neurogym-torch is not installed.
        NotSupportedError: the run has no network that torch trained.
    """
    trainer = _trainer(run)
    if which not in range(len(trainer.tasks)):
        raise InvalidValueError(
            f"which={which!r} was given for a run of {len(trainer.tasks)} tasks. Expected 0 to"
            f" {len(trainer.tasks) - 1}. Give one of these."
        )
    task = trainer.tasks[which]
    own, pulsed = _both(trainer, task, trials, which, bound, seed)
    network = System(own["hidden"], pulsed.get("hidden"), _performance(own["hidden"]))
    wanted = _wanted(task, trials, seed)
    naive = []
    for number in untrained:
        other = replace(run.experiment, seed=number).make_trainer()
        plain, moved = _both(other, task, trials, which, None, seed)
        one = System(plain["hidden"], moved.get("hidden"))
        naive.append(one if wanted is None else with_fitted_readout(one, wanted, seed=seed))
    controls = controls_of(
        network,
        own["inputs"],
        own["outputs"],
        pulsed_inputs=pulsed.get("inputs"),
        pulsed_outputs=pulsed.get("outputs"),
        seed=seed,
    )
    systems = {"network": [network], "untrained": naive} | controls
    return Recorded(task, trainer.network, systems, _rule(trainer, bound), own["inputs"])


def bound_for(run: Any, reaction_time: float, *, which: int = 0, seed: int = 0) -> float:
    """Return the bound with which the network of a run has this median reaction time, in ms.

    Raises:
        InvalidValueError: no bound reaches it.
    """
    trainer = _trainer(run)
    from neurogym_torch import fit_bound

    return fit_bound(
        trainer.network, trainer.tasks[which], reaction_time, layout=trainer.layout, which=which,
        targets=trainer.targets, seed=seed,
    )  # fmt: skip


def record_tasks(run: Any, trials: int = 200, *, seed: int = 0, untrained_seed: int = 1000) -> Any:
    """Record the network of a run in all its tasks; "task" of the record is the task's index.

    Args:
        run, seed, untrained_seed: as in `record_run`.
        trials: number of trials of each task.

    Returns:
        name -> `System`: "network", "untrained", "inputs" and "shuffled", in which the task of each
        trial is that of another one.
    """
    trainer = _trainer(run)
    naive = replace(run.experiment, seed=untrained_seed).make_trainer()
    found: dict[str, list[Activity]] = {"network": [], "untrained": [], "inputs": []}
    performance = []
    for which, task in enumerate(trainer.tasks):
        for name, one in (("network", trainer), ("untrained", naive)):
            own = _recorded(one, task, trials, which, None, seed)
            performance += [_performance(own["hidden"])] if name == "network" else []
            layers = [(name, "hidden")] + ([("inputs", "inputs")] if name == "network" else [])
            for target, layer in layers:
                shown = own[layer]
                found[target].append(
                    Activity(shown.rates, {"task": np.full(len(shown), which)}, step=shown.step)
                )
    systems = {name: System(Activity.concatenate(parts)) for name, parts in found.items()}
    systems["network"] = replace(systems["network"], performance=float(np.mean(performance)))
    return systems | {"shuffled": shuffled(systems["network"], seed=seed)}


def step_of(network: Any, inputs: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the step function of a network for a constant input, for `fixed_points`.

    Args:
        network: a `neurogym_torch.Network` whose state is one tensor, as of LeakyRNN, LowRankRNN
            and GRU; a copy in double precision without noise is used.
        inputs: (n_inputs,).

    Raises:
        NotSupportedError: the state is no single tensor.
    """
    import copy

    import torch

    own = copy.deepcopy(network).double().cpu()
    if not hasattr(own, "unroll") or not isinstance(own.initial_state(1), torch.Tensor):
        raise NotSupportedError(
            f"{type(network).__name__} has no single state. Expected a network whose unroll() takes"
            " and returns one tensor. Use LeakyRNN, LowRankRNN or GRU."
        )
    if hasattr(own, "noise"):
        own.noise = 0.0
    shown = torch.as_tensor(np.asarray(inputs, np.float64))

    @torch.no_grad()
    def step(states: np.ndarray) -> np.ndarray:
        rows = shown.expand(len(states), 1, -1)
        after: np.ndarray = own.unroll(rows, torch.as_tensor(states))[2].numpy()
        return after

    return step


def _trainer(run: Any) -> Any:
    try:
        import neurogym_torch  # noqa: F401
        import torch
    except ImportError as error:
        raise MissingDependencyError(
            "The activity of a run needs neurogym-torch, which is not installed. Install it:"
            f" {how_to_install('neurogym-torch')}."
        ) from error
    trainer = run.trainer()
    if not isinstance(getattr(trainer, "network", None), torch.nn.Module) or not hasattr(
        trainer, "layout"
    ):
        raise NotSupportedError(
            f"The run {str(run.folder)!r} was trained by {run.experiment.trainer!r}, which has no"
            " network of neurogym-torch. Expected a run of `ngym train --model rnn`, gru, lstm or"
            " low-rank. Train one of these."
        )
    if not run.started:
        raise InvalidValueError(
            f"The run {str(run.folder)!r} has no checkpoint yet. Expected a trained network. Train"
            f" it: ngym train --resume {run.folder}."
        )
    return trainer


def _recorded(
    trainer: Any,
    task: Any,
    trials: int,
    which: int,
    bound: float | None,
    seed: int,
    change: Any = None,
) -> dict[str, Activity]:
    from neurogym_torch import record_activity

    activity = record_activity(
        trainer.network, task, trials, layers=LAYERS, layout=trainer.layout, which=which,
        targets=trainer.targets, answers=trainer.answers, bound=bound, change=change, seed=seed,
    )  # fmt: skip
    return {name: activity.select(layer=name) for name in LAYERS}


def _both(
    trainer: Any, task: Any, trials: int, which: int, bound: float | None, seed: int
) -> tuple[dict[str, Activity], dict[str, Activity]]:
    plain = _recorded(trainer, task, trials, which, bound, seed)
    change = _pulse(task)
    if change is None:
        return plain, {}
    return plain, _recorded(trainer, task, trials, which, bound, seed, change)


def _pulse(task: Any) -> Pulse | None:
    """Return a pulse of evidence to the inputs, or None if the task has no such one."""
    part = dict(task.channels).get("stimulus")
    if part is None or part.stop - part.start != 2 or task.actions.continuous:
        return None
    if "stimulus" not in task.sample(1, 0).period_names:
        return None
    units = (part.start, part.start + 1)
    return Pulse(units, (PULSE, -PULSE), at="stimulus", after=PULSE_AT, ms=PULSE_MS)


def _wanted(task: Any, trials: int, seed: int) -> np.ndarray | None:
    """Return the right choices as the record writes them; None: choices have no names."""
    if task.actions.continuous:
        return None
    from neurogym_core.players import replay

    batch = task.sample(trials, seed)
    rows = np.arange(len(batch))
    right = np.zeros((len(batch), int(batch.steps.max())), int)
    for row in rows:
        segments = np.repeat(np.arange(batch.duration.shape[1]), batch.duration[row])
        target = batch.target[row][segments][: right.shape[1]]
        right[row, : len(target)] = target
    choices: np.ndarray = replay(task, batch, right)["choice"]
    return choices if len(np.unique(choices)) > 1 else None


def _performance(activity: Activity) -> float:
    """Return the mean performance of the answered trials; of all, if fewer than half are.

    A bound that is not reached within the trial is no error of the network's decisions.
    """
    record = activity.record
    answered = record["choice"] != "none" if "choice" in record else np.ones(len(record), bool)
    used = answered if answered.mean() >= 0.5 else np.ones(len(record), bool)
    return float(np.nanmean(record["performance"][used]))


def _rule(trainer: Any, bound: float | None) -> str:
    if bound is not None:
        return f"it answers when the probability of an answer exceeds the bound {bound:.3g}"
    if trainer.answers == "last":
        return "it answers at the last step on which it can"
    return "it answers at the first step on which its largest output is an answer"
