"""Controls that a network has to exceed, made from its trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from neurogym_core import TrialRecord
from neurogym_neural.activity import Activity, nanmean
from neurogym_neural.coding import fitted, predicted
from neurogym_neural.verdicts import System

UNITS = 64
"""Units of the controls that are made from inputs and outputs."""
FILTERS = ((100.0,), (200.0,), (400.0,), (700.0,), (1000.0,), (200.0, 200.0), (300.0, 300.0))
"""Time constants of the stages of the leaky filters, ms.

A pulse decays less in two stages, since the second one has its peak later. Two of 400 ms keep it
for 600 ms as an integrator does, and single ones above 1,000 ms nearly so: both are no control.
"""
READOUT = 200.0
"""Last ms of a trial in which the readout of an untrained network is fitted."""
PULSE_MS, PULSE = 100.0, 0.2
"""Duration in ms of the pulse of evidence, and its size."""


def with_fitted_readout(untrained: System, wanted: Any, *, seed: int = 0) -> System:
    """Return an untrained network with the answers of a readout that was fitted to its activity.

    The readout sees the mean of the last 200 ms of the trial. It is fitted on half of the trials,
    and answers the others, so that all answers are of trials that it has not seen.

    Args:
        untrained: its activity.
        wanted: (n,) the right answers, as the record writes them.
        seed: seed of the halves.
    """
    wanted = np.asarray(wanted)
    levels, labels = np.unique(wanted, return_inverse=True)
    rates = _at_the_end(untrained.activity)
    order = np.random.default_rng(seed).permutation(len(wanted))
    said = np.empty(len(wanted), wanted.dtype)
    for test in (order[::2], order[1::2]):
        train = np.setdiff1d(order, test)
        weights = fitted(rates[train], labels[train], len(levels), 1e-3)
        said[test] = levels[predicted(weights, rates[test])]
    answered = _with(untrained.activity, choice=said)
    return System(answered, untrained.pulsed, float((said == wanted).mean()))


def controls_of(
    network: System,
    inputs: Activity,
    outputs: Activity,
    *,
    pulsed_inputs: Activity | None = None,
    pulsed_outputs: Activity | None = None,
    seed: int = 0,
) -> dict[str, list[System]]:
    """Return the controls that need no other network, one or more systems for each name.

    "inputs" are 64 rectified random mixtures of the inputs. "filters" are the same of leaky filters
    of the inputs: of each of `FILTERS`, and of all. "copy" are random mixtures of the
    outputs. "inputs and copy" have both: the units of both beside each other, 64 mixtures of them,
    and 64 rectified mixtures. "shuffled" is the network with its trials permuted. All have the
    answers of the network.

    Args:
        network: the network.
        inputs, outputs: activity of its inputs and outputs in the same trials.
        pulsed_inputs, pulsed_outputs: the same with the pulse.
        seed: seed of mixtures and permutation.
    """
    rng = np.random.default_rng(seed)
    bias = 0.5 * rng.standard_normal(UNITS)

    def mixture(
        *signals: Signals, variant: str = "", rectified: bool = True, mixed: bool = True
    ) -> System:
        parts = [one(inputs, outputs) for one in signals]
        scales = [_scale(part) for part in parts]
        width = sum(part.shape[2] for part in parts)
        weights = rng.standard_normal((width, UNITS)) if mixed else np.eye(width)

        def made(given: Activity, found: list[np.ndarray]) -> Activity:
            together = [part / scale for part, scale in zip(found, scales, strict=True)]
            rates = np.concatenate(together, axis=2) @ weights
            return _units(given, np.maximum(rates + bias, 0) if rectified else rates)

        pulsed = None
        if pulsed_inputs is not None and pulsed_outputs is not None:
            pulsed = made(pulsed_inputs, [one(pulsed_inputs, pulsed_outputs) for one in signals])
        plain = _with(made(inputs, parts), **dict(network.activity.record))
        return System(plain, pulsed, variant=variant)

    filters = {
        f"{' + '.join(f'{tau:g}' for tau in taus)} ms": partial(_leaky_inputs, taus=taus)
        for taus in FILTERS
    }
    both: tuple[Signals, Signals] = (_own_inputs, _own_outputs)
    return {
        "inputs": [mixture(_own_inputs)],
        "filters": [
            *(mixture(one, variant=name) for name, one in filters.items()),
            mixture(*filters.values(), variant="all"),
        ],
        "copy": [mixture(_own_outputs, rectified=False)],
        "inputs and copy": [
            mixture(*both, variant="beside", rectified=False, mixed=False),
            mixture(*both, variant="mixed", rectified=False),
            mixture(*both, variant="rectified"),
        ],
        "shuffled": [shuffled(network, seed=seed)],
    }


Signals = Callable[[Activity, Activity], np.ndarray]
"""Signals (n, T, k) of inputs and outputs, of which a control has mixtures."""


def _own_inputs(inputs: Activity, _: Activity) -> np.ndarray:
    return inputs.rates


def _own_outputs(_: Activity, outputs: Activity) -> np.ndarray:
    return outputs.rates


def _leaky_inputs(inputs: Activity, _: Activity, taus: Sequence[float]) -> np.ndarray:
    return leaky(inputs, *taus)


def _scale(signals: np.ndarray) -> np.ndarray:
    """Return the standard deviation of each signal over trials and steps; 1 if it is constant.

    Without it, slow filters, which are small, would drown in the noise of spikes.
    """
    sd = np.sqrt(nanmean((signals - nanmean(signals, axis=(0, 1))) ** 2, axis=(0, 1)))
    scale: np.ndarray = np.where(sd > 1e-6 * max(float(sd.max()), 1e-12), sd, 1.0)
    return scale


def shuffled(system: System, *, seed: int = 0) -> System:
    """Return a system whose trials have the conditions and answers of other trials.

    The time of the answer is that of the other trial, too, from the onset of the period of answers.
    """
    activity = system.activity
    order = np.random.default_rng(seed).permutation(len(activity))
    mixed = {name: values[order] for name, values in activity.record.items()}
    events = dict(activity.events)
    if "answer" in events:
        took = activity.record["reaction_time"] if "reaction_time" in mixed else events["answer"]
        events["answer"] = events["answer"] - took + took[order]
    moved = activity._with(activity.rates, events=events)
    return System(_with(moved, **mixed), system.pulsed)


def leaky(activity: Activity, *taus: float) -> np.ndarray:
    """Return a leaky filter of each unit, (n, T, units); NaN where the trial has ended.

    Args:
        activity: the inputs.
        taus: time constant of each stage, ms; a stage filters the output of the one before.
    """
    rates = np.nan_to_num(activity.rates)
    for tau in taus:
        alpha = min(activity.step / tau, 1.0)
        state, steps = rates[:, 0], []
        for now in rates.transpose(1, 0, 2):
            state = (1 - alpha) * state + alpha * now
            steps.append(state)
        rates = np.stack(steps, axis=1)
    return np.where(np.isfinite(activity.rates[:, :, :1]), rates, np.nan)


def _at_the_end(activity: Activity) -> np.ndarray:
    """Return the mean of the last 200 ms of each trial, (n, units)."""
    steps = np.isfinite(activity.rates[:, :, 0]).sum(axis=1)
    back = max(round(READOUT / activity.step), 1)
    means = [
        activity.rates[k, max(steps[k] - back, 0) : steps[k]].mean(axis=0)
        for k in range(len(activity))
    ]
    return np.array(means, np.float64)


def _units(activity: Activity, rates: np.ndarray) -> Activity:
    return Activity(
        rates,
        activity.record,
        step=activity.step,
        events={name: ms for name, ms in activity.events.items() if name != "trial"},
        event=activity.event,
        start=activity.start,
        facts=activity.facts,
    )


def _with(activity: Activity, **columns: Any) -> Activity:
    """Return the activity with other columns of the record."""
    record: Mapping[str, Any] = {**dict(activity.record), **columns}
    return activity._with(activity.rates, record=TrialRecord(record))
