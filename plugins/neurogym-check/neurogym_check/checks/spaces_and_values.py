"""S: observations, rewards, flags and `info` follow their declarations under any play."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np

from neurogym_check.candidate import Candidate
from neurogym_check.check_types import check, require
from neurogym_check.trajectories import Recording, print_of
from neurogym_core.players import TaskView


@check("S001")
def observations_are_in_the_observation_space(candidate: Candidate) -> None:
    """Every observation is finite and in the observation space, with exactly its dtype and shape.

    The hook `step_observation` returns its argument `obs` with some units changed. A plain
    Gymnasium env casts observations to the dtype of its space. If values are not finite, look for
    divisions by zero."""
    if candidate.kind == "task":
        space, size = candidate.env().observation_space, candidate.task.channels.size
        require(
            space.dtype == np.float32 and space.shape == (size,),
            f"The observation space of a task with {size} channel units is {space.dtype}"
            f" {space.shape}, expected float32 {(size,)}.",
        )
    for name, recording in candidate.recordings.items():
        _check_observations(recording.env.observation_space, recording.observations, name)


def _check_observations(space: gymnasium.Space, observations: list[Any], play: str) -> None:
    """Check that observations are in a space; those of a Box in one table, which is faster."""
    if not isinstance(space, gymnasium.spaces.Box):
        for step, observation in enumerate(observations):
            require(
                observation in space, f"The observation {_when(step, play)} is outside of {space}."
            )
        return
    for step, observation in enumerate(observations):
        dtype, shape = (
            getattr(observation, "dtype", type(observation).__name__),
            np.shape(observation),
        )
        fits = dtype == space.dtype and shape == space.shape
        require(
            fits,
            f"The observation {_when(step, play)} is {dtype} {shape}, expected {space.dtype}"
            f" {space.shape}.",
        )
    table = np.stack(observations).reshape(len(observations), -1)
    finite = np.isfinite(table).all(axis=1)
    step = int(np.argmin(finite))
    require(
        finite.all(), f"The observation {_when(step, play)} is not finite: {observations[step]}."
    )
    inside = ((table >= space.low.reshape(-1)) & (table <= space.high.reshape(-1))).all(axis=1)
    step = int(np.argmin(inside))
    require(
        inside.all(),
        f"The observation {_when(step, play)} is {observations[step]}, outside of {space}.",
    )


def _when(step: int, play: str) -> str:
    return f"after reset ({play} play)" if step == 0 else f"after step {step - 1} of {play} play"


@check("S002")
def rewards_and_flags_have_plain_types(candidate: Candidate) -> None:
    """Rewards are finite Python numbers, flags are bools, and no value in `info` is NaN.

    Cast with float(…) and bool(…): arrays and NumPy scalars break JSON logs and `is True`. Leave
    out the keys of `info` whose values are unknown, as for an absent reaction time."""
    plain = candidate.kind == "env"
    for name, recording in candidate.recordings.items():
        for step, result in enumerate(recording.results):
            _, reward, terminated, truncated, info = result
            when = f"at step {step} of {name} play"
            number = (
                isinstance(reward, int | float | np.number) and np.ndim(reward) == 0
                if plain
                else type(reward) is float
            )
            require(
                number and np.isfinite(reward),
                f"The reward {when} is {reward!r} ({type(reward).__name__}), expected a finite"
                " float.",
            )
            kinds = bool | np.bool_ if plain else bool
            flags = isinstance(terminated, kinds) and isinstance(truncated, kinds)
            require(
                flags,
                f"terminated and truncated {when} are {terminated!r} and {truncated!r}, expected"
                " bools.",
            )
            found = _nan_in(info)
            require(not found, f"info[{found!r}] {when} is NaN, expected a value or no key.")


def _nan_in(info: Mapping[str, Any], prefix: str = "") -> str:
    for key, value in info.items():
        if isinstance(value, Mapping):
            if found := _nan_in(value, f"{prefix}{key}."):
                return found
        elif isinstance(value, float | np.floating | np.ndarray | list | tuple):
            array = np.asarray(value)
            if array.dtype.kind == "f" and np.isnan(array).any():
                return f"{prefix}{key}"
    return ""


@check("S003")
def returned_observations_are_not_overwritten(candidate: Candidate) -> None:
    """The env does not write into observations that it has returned.

    Return a copy. Otherwise replay buffers, lists of observations and vector envs hold many copies
    of the last observation."""
    for name, recording in candidate.recordings.items():
        for step, (observation, before) in enumerate(
            zip(recording.observations, recording.prints, strict=True)
        ):
            require(
                print_of(observation) == before,
                f"The env has changed the observation that it returned {_when(step, name)}.",
            )


@check("S004", kinds=("task", "trial env"))
def every_trial_ends(candidate: Candidate) -> None:
    """Every trial ends, whatever the subject does.

    Give every period a duration, or the task a `max_duration` (ms) after which a trial is a miss.
    Otherwise a subject that never answers stays in its first trial, and a random subject seldom
    leaves it."""
    for name, recording in candidate.recordings.items():
        limit, again = _longest(candidate), recording
        if candidate.kind == "task" and candidate.level == "quick" and limit > 2000:
            continue  # the core ends it, at max_duration; the full level waits for that
        while not again.trials and len(again.results) < limit:
            again = (
                Recording(recording.env, recording.policy)
                if again is recording
                else again.extend(500)
            )
        require(again.trials, f"No trial ends within {limit} steps of {name} play.", steps=limit)


def _longest(candidate: Candidate) -> int:
    """Return the number of steps within which a trial must end; `max_duration` for a Task."""
    limit = candidate.several(3000, 10000)
    if candidate.kind != "task":
        return limit
    interface = TaskView(candidate.task).interface
    return max(
        int(interface.max_steps_of(candidate.batch.duration.sum(axis=1)).max()) + 1,
        limit // 10,
    )


@check("S005", kinds=("task", "trial env"))
def targets_are_in_the_action_space(candidate: Candidate) -> None:
    """The target of every step, `info["gt"]`, is in the action space.

    The hook `step_target` returns action ids, (N,), or for continuous actions values in the units
    of the axes, (N, k). An env that reports trials returns actions of its action space."""
    recording = candidate.recordings.get("mixed", candidate.recordings["random"])
    space = recording.env.action_space
    for step, result in enumerate(recording.results):
        target = result[4].get("gt")
        fits = target is not None and np.asarray(target, dtype=space.dtype) in space
        require(fits, f"The target of step {step} is {target!r}, expected an action of {space}.")
        require(
            np.array_equal(np.asarray(target, dtype=space.dtype), target),
            f"The target of step {step} is {target!r}, expected values of dtype {space.dtype}.",
        )


@check("S006", kinds=("task", "trial env"))
def info_has_the_required_keys(candidate: Candidate) -> None:
    """`info` has the keys of a step on every step, and those of a trial when a trial ends.

    Every step has `gt` (the target), `period`, and the bool `new_trial`; a Task has the first two
    with `make(…, info="full")`, which the check asks for. `trial` (the record) and `performance`
    are present exactly if `new_trial` is true. The `info` of a reset has no `gt`. The
    core makes the `info` of a Task, and `PeriodEnv` that of an env in the classic form: return the
    dict of `step` without removing keys."""
    _, info = candidate.env().reset(seed=1)
    require("gt" not in info, "info of reset has 'gt', expected in info of steps only.")
    names = TaskView(candidate.task).period_names if candidate.kind == "task" else None
    for name, recording in candidate.recordings.items():
        for step, result in enumerate(recording.results):
            info, when = result[4], f"at step {step} of {name} play"
            missing = sorted({"gt", "period", "new_trial"} - info.keys())
            require(not missing, f"info has no {missing} {when}.")
            ended = info["new_trial"]
            require(type(ended) is bool, f"info['new_trial'] {when} is {ended!r}, expected a bool.")
            known = names is None or info["period"] in names
            require(known, f"info['period'] {when} is {info['period']!r}, expected one of {names}.")
            for key in ("trial", "performance"):
                require(
                    (key in info) == ended,
                    f"info {'has no' if ended else 'has'} {key!r} {when}, but info['new_trial'] is"
                    f" {ended}.",
                )
