"""Activations of a network that plays, trial by trial, with the record of its answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from neurogym_neural import Activity, Pulse, Silence

from neurogym_core import InvalidValueError, NotSupportedError, TrialRecord, make_task, run
from neurogym_core.players import TaskView
from neurogym_core.tools import unknown
from neurogym_jax import ppo

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
    change: Callable[[Activity], np.ndarray] | None = None,
    silence: Silence | None = None,
    push: Pulse | None = None,
    seed: int = 0,
    **conditions: Any,
) -> Activity:
    """Let a network play, and record its activations and answers.

    A trial ends with the answer, as in training, and the state of the network lasts for a session;
    networks of neurogym-torch see each trial to its end, from their first state. A time of the
    activity is the onset of the step whose observation the network has just seen. The periods and
    the answers are events; units have a "layer".

    With a perturbation, the same trials are played twice: each begins with the state that the
    network had there without it. So a trial differs from that of the same seed without the
    perturbation by its effect alone, and nothing of it reaches the next trial.

    Args:
        subject: the subject of a `JaxPPOTrainer`.
        task: an id, a Task or a class.
        trials: number of trials of all envs together.
        layers: "hidden" (the state), "outputs" (of the policy), "inputs".
        num_envs: number of envs, with a session each; 1 with a perturbation.
        change: a perturbation of the inputs, such as `Pulse` and `Freeze` of neurogym-neural. It is
            called on every step with the inputs of one trial until then, an Activity (1, steps,
            units) with the conditions, and with the periods that have begun as events; the network
            sees its last step.
        silence: units that are silenced.
        push: a pulse to the states of units, after each step within it: states change from the
            next step on.
        seed: seed of the trials and of all noise.
        conditions: imposed on all trials.

    Raises:
        UnknownNameError: there is no such layer, or the task has no such period.
        InvalidValueError, NotSupportedError: as `run`. Or the network has no such unit, or a
            perturbation would change the trials themselves, which follow from earlier answers or
            are shared by several envs.
    """
    for name in layers:
        if name not in LAYERS:
            raise unknown("layer", name, LAYERS, of="JaxSubject")
    task, kept = make_task(task), _Kept(subject)
    given = {"num_envs": num_envs, "seed": seed, "conditions": conditions or None}
    perturbation = _Perturbation(change, silence, push)
    perturbed = any(part is not None for part in perturbation)
    if perturbed and task.reads_outcomes:
        raise NotSupportedError(
            f"A perturbation was given for {task.name}, whose trials follow from earlier answers."
            " Expected a task whose trials are the same after other answers. Leave the"
            " perturbation out."
        )
    if perturbed and num_envs != 1:
        raise InvalidValueError(
            f"A perturbation was given with num_envs={num_envs!r}. Expected 1 env, since several"
            " share the trials: each takes the next one when it has answered. Leave num_envs out."
        )
    record = run(task, kept, trials, **given)
    if perturbed:
        kept = _Kept(subject, perturbation, kept.starts)
        record = run(task, kept, trials, **given)
    number, inputs, hidden = kept.arrays()
    found = {"hidden": hidden, "outputs": _outputs(subject, hidden), "inputs": inputs}
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


class _Perturbation(NamedTuple):
    """The perturbations of `record_activity`."""

    change: Callable[[Activity], np.ndarray] | None = None
    silence: Silence | None = None
    push: Pulse | None = None


def _outputs(subject: JaxSubject, hidden: np.ndarray) -> np.ndarray:
    """Return the outputs of the policy, (…, actions), for states (…, units)."""
    outputs: np.ndarray = hidden @ subject.weights["policy"] + subject.weights["policy_bias"]
    return outputs


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
    """Plays as a `JaxSubject`, and keeps the number of the trial, the observation and the state.

    Args:
        subject: the network.
        perturbation: of each trial, or None.
        starts: states with which trials begin, by (env, number of the trial); None: those that it
            has then.

    Attributes:
        starts: the states with which the trials began.
    """

    carries_state = True
    default_split = "test"

    def __init__(
        self,
        subject: JaxSubject,
        perturbation: _Perturbation | None = None,
        starts: dict[tuple[int, int], np.ndarray] | None = None,
    ) -> None:
        self._subject, self._perturbation, self._given = subject, perturbation, starts or {}
        self.starts: dict[tuple[int, int], np.ndarray] = {}

    def begin(self, env: Any) -> None:
        self._subject.begin(env)
        self._steps: list[tuple[np.ndarray, ...]] = []
        self._shown = [_Shown() for _ in range(env.num_envs)]

    def __call__(self, env: Any, observations: np.ndarray) -> np.ndarray:
        subject, number = self._subject, env.trial_number.copy()
        subject.forget(env)
        before = self._steps[-1][0] if self._steps else np.full(len(number), -1)
        for one in np.flatnonzero(number != before):
            trial = int(one), int(number[one])
            subject.hidden[one] = self._given.get(trial, subject.hidden[one])
            self.starts[trial] = subject.hidden[one].copy()
            self._shown[one] = _Shown()
        inputs = np.array(observations)
        if self._perturbation is None:
            subject.hidden, logits, _ = ppo.network_step(
                subject.weights, subject.hidden, inputs, np
            )
            states = subject.hidden
        else:
            inputs, states, logits = self._perturbed(env, inputs, self._perturbation)
        self._steps.append((number, inputs, states.copy()))
        return subject.actions(logits)

    def _perturbed(
        self, env: Any, inputs: np.ndarray, perturbation: _Perturbation
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Play a step; return its inputs, the states that the outputs heard, and the outputs."""
        change, silence, push = perturbation
        subject, conditions = self._subject, env.conditions
        width = subject.hidden.shape[1]
        quiet, added = np.zeros_like(subject.hidden, bool), np.zeros_like(subject.hidden)
        for one, period in enumerate(env.period):
            self._shown[one].add(inputs[one].copy(), str(period))
            own = TrialRecord({name: values[[one]] for name, values in conditions.items()})
            shown = self._shown[one].activity(own, env.task)
            if change is not None:
                inputs[one] = _last(change(shown), shown)
            if silence is not None:
                quiet[one] = silence.mask(shown, width)[0, -1]
            if push is not None:
                added[one] = push.added(shown, width)[0, -1]
        states, logits, _ = ppo.network_step(subject.weights, subject.hidden, inputs, np)
        if silence is not None:
            states = np.where(quiet, np.float32(0), states)
            logits = _outputs(subject, states)
        # After the step: the outputs have heard its states already.
        subject.hidden = np.where(quiet, np.float32(0), states + added)
        return inputs, states, logits

    def arrays(self) -> tuple[np.ndarray, ...]:
        """Return trials (steps, envs), inputs (steps, envs, obs), states (steps, envs, units)."""
        return tuple(np.stack(values) for values in zip(*self._steps, strict=True))


class _Shown:
    """The inputs of the current trial of one env, and its periods, until now."""

    def __init__(self) -> None:
        self._inputs: list[np.ndarray] = []
        self._periods: list[str] = []

    def add(self, inputs: np.ndarray, period: str) -> None:
        """Add a step: its inputs, (units,), and the name of its period."""
        self._inputs.append(inputs)
        self._periods.append(period)

    def activity(self, record: TrialRecord, task: Any) -> Activity:
        """Return the steps, with an event for each period of the task; NaN: not begun yet."""
        events = {}
        names = np.asarray(self._periods)
        for period in TaskView(task).period_names:
            onset = end = np.nan
            if (during := names == period).any():
                first = int(during.argmax())
                after = np.flatnonzero(~during[first:])
                onset = first * task.dt
                end = (first + int(after[0]) if len(after) else len(names)) * task.dt
            events[period], events[f"{period}.end"] = np.array([onset]), np.array([end])
        return Activity(
            np.stack(self._inputs)[None], record, step=task.dt, events=events,
            units={"layer": ["inputs"] * len(self._inputs[0])},
        )  # fmt: skip


def _last(changed: np.ndarray, shown: Activity) -> np.ndarray:
    """Return the inputs of the last step, (units,), after a perturbation."""
    found = np.asarray(changed, np.float32)
    if found.shape != shown.rates.shape:
        raise InvalidValueError(
            f"change= returned inputs of shape {found.shape}. Expected {shown.rates.shape}, those"
            " of `activity.rates`. Return a changed copy of them."
        )
    last: np.ndarray = np.where(np.isfinite(found), found, shown.rates)[0, -1]
    return last


__all__ = ["record_activity"]
