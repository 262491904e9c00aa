"""Activations of a network that plays, trial by trial, with the record of its answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from neurogym_neural import Activity

from neurogym_core import TrialRecord, make_task, run
from neurogym_core.tools import unknown

if TYPE_CHECKING:
    from neurogym_jax.trainers import JaxSubject

LAYERS = ("hidden", "outputs", "inputs")


def record_activity(
    subject: JaxSubject,
    task: Any,
    trials: int = 100,
    *,
    layers: Sequence[str] = ("hidden",),
    num_envs: int = 1,
    seed: int = 0,
    **conditions: Any,
) -> Activity:
    """Let a network play, and record its activations and answers.

    A trial ends with the answer, as in training, and the state of the network lasts for a session;
    networks of neurogym-torch see each trial to its end, from their first state. A time of the
    activity is the onset of the step whose observation the network has just seen. The periods and
    the answers are events; units have a "layer".

    Args:
        subject: the subject of a `JaxPPOTrainer`.
        task: an id, a Task or a class.
        trials: number of trials of all envs together.
        layers: "hidden" (the state), "outputs" (of the policy), "inputs".
        num_envs: number of envs, with a session each.
        seed: seed of the trials and of all noise.
        conditions: imposed on all trials.

    Raises:
        UnknownNameError: there is no such layer.
        InvalidValueError, NotSupportedError: as `run`.
    """
    for name in layers:
        if name not in LAYERS:
            raise unknown("layer", name, LAYERS, of="JaxSubject")
    task, kept = make_task(task), _Kept(subject)
    record = run(task, kept, trials, num_envs=num_envs, seed=seed, conditions=conditions or None)
    number, inputs, hidden = kept.arrays()
    outputs = hidden @ subject.weights["policy"] + subject.weights["policy_bias"]
    found = {"hidden": hidden, "outputs": outputs, "inputs": inputs}
    values = np.concatenate([found[name] for name in layers], axis=2)  # (steps, envs, units)
    rates = np.full((len(record), int(record["steps"].max()), values.shape[2]), np.nan, np.float32)
    for row, (env, trial) in enumerate(zip(record["subject"], record["trial"], strict=True)):
        steps = values[number[:, env] == trial, env]
        rates[row, : len(steps)] = steps
    sizes = [found[name].shape[2] for name in layers]
    return Activity(
        rates, record, step=task.dt, events=_events(record),
        units={
            "id": np.concatenate([np.arange(size) for size in sizes]),
            "layer": np.repeat(list(layers), sizes),
        },
        facts={"task": task.name, "dt": float(task.dt), "seed": seed, "answers": "first"},
    )  # fmt: skip


def _events(record: TrialRecord) -> dict[str, np.ndarray]:
    """Return onset and end of the periods and the answers, ms from the start of the trial."""
    found = {}
    for name in record:
        kind, _, period = name.partition(".")
        if kind in ("onset", "offset") and period:
            event = period if kind == "onset" else f"{period}.end"
        elif name.endswith("answer_time"):
            event = name.removesuffix("_time")
        else:
            continue
        found[event] = record[name] - record["trial_start"]
    return found


class _Kept:
    """Plays as a `JaxSubject`, and keeps the number of the trial, the observation and the state."""

    carries_state = True
    default_split = "test"

    def __init__(self, subject: JaxSubject) -> None:
        self._subject = subject

    def begin(self, env: Any) -> None:
        self._subject.begin(env)
        self._steps: list[tuple[np.ndarray, ...]] = []

    def __call__(self, env: Any, observations: np.ndarray) -> np.ndarray:
        number = env.trial_number.copy()
        actions = self._subject(env, observations)
        self._steps.append((number, np.array(observations), self._subject.hidden.copy()))
        return actions

    def arrays(self) -> tuple[np.ndarray, ...]:
        """Return trials (steps, envs), inputs (steps, envs, obs), states (steps, envs, units)."""
        return tuple(np.stack(values) for values in zip(*self._steps, strict=True))


__all__ = ["record_activity"]
