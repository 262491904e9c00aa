"""Controls that a network has to exceed, made from its trials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from neurogym_core import TrialRecord
from neurogym_neural.activity import Activity
from neurogym_neural.coding import fitted, predicted
from neurogym_neural.verdicts import System

UNITS = 64
"""Units of the controls that are made from inputs and outputs."""
FILTERS = (100.0, 400.0)
"""Time constants of the leaky filters, ms."""
READOUT = 200.0
"""Last ms of a trial in which the readout of an untrained network is fitted."""
PULSE_AT, PULSE_MS, PULSE = 100.0, 100.0, 0.2
"""Onset of the pulse from that of the stimulus, its duration in ms, and its size."""


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
) -> dict[str, System]:
    """Return the controls that need no other network.

    "inputs" are 64 rectified random mixtures of the inputs, "filters" the same of leaky filters of
    the inputs (100 and 400 ms), "copy" random mixtures of the outputs, and "shuffled" the network
    with its trials permuted. All have the answers of the network.

    Args:
        network: the network.
        inputs, outputs: activity of its inputs and outputs in the same trials.
        pulsed_inputs, pulsed_outputs: the same with the pulse.
        seed: seed of mixtures and permutation.
    """
    rng = np.random.default_rng(seed)
    width = inputs.rates.shape[2]
    one, two = (rng.standard_normal((k * width, UNITS)) for k in (1, len(FILTERS)))
    copied = rng.standard_normal((outputs.rates.shape[2], UNITS))
    bias = 0.5 * rng.standard_normal(UNITS)

    def made(activity: Activity | None, ways: str) -> Activity | None:
        if activity is None:
            return None
        if ways == "copy":
            return _units(activity, activity.rates @ copied)
        mixed = activity.rates @ one if ways == "inputs" else leaky(activity) @ two
        return _units(activity, np.maximum(mixed + bias, 0))

    found = {}
    for name, plain, pulsed in (
        ("inputs", inputs, pulsed_inputs),
        ("filters", inputs, pulsed_inputs),
        ("copy", outputs, pulsed_outputs),
    ):
        activity = made(plain, name)
        found[name] = System(_with(activity, **dict(network.activity.record)), made(pulsed, name))  # type: ignore[arg-type]
    found["shuffled"] = shuffled(network, seed=seed)
    return found


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


def leaky(activity: Activity) -> np.ndarray:
    """Return leaky filters of each unit, (n, T, units * filters); NaN where the trial has ended."""
    found = []
    rates = np.nan_to_num(activity.rates)
    for tau in FILTERS:
        alpha = min(activity.step / tau, 1.0)
        state, steps = rates[:, 0], []
        for now in rates.transpose(1, 0, 2):
            state = (1 - alpha) * state + alpha * now
            steps.append(state)
        found.append(np.stack(steps, axis=1))
    ended = ~np.isfinite(activity.rates[:, :, :1])
    return np.where(ended, np.nan, np.concatenate(found, axis=2))


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
