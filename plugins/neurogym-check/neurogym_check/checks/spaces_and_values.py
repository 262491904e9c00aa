"""S: what an env shows, pays and tells stays what it declares, under any kind of play."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np

from neurogym_check.candidate import Candidate
from neurogym_check.check_types import check, require
from neurogym_check.trajectories import Recording, print_of
from neurogym_core.tasks.building import max_steps_of
from neurogym_core.tasks.state import period_names_of


@check("S001")
def observations_are_in_the_observation_space(candidate: Candidate) -> None:
    """Every observation is in the observation space, of exactly its dtype and shape, and finite.

    A hook `step_observation` returns what it was given with some units changed; an env of its own
    casts to the dtype of its space before it returns. Look for divisions by zero where values are
    not finite."""
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
    """One of a Box is looked at in detail, and all together: asking the space takes longer than
    playing.
    """
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
    """Rewards are finite Python numbers, flags are bools, and nothing in `info` is NaN.

    Cast with float(…) and bool(…): arrays and NumPy scalars break JSON logs and `is True`. What is
    not known is left out of `info` (an absent reaction time is an absent key)."""
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
                f"The reward {when} is {reward!r} ({type(reward).__name__}).",
            )
            kinds = bool | np.bool_ if plain else bool
            flags = isinstance(terminated, kinds) and isinstance(truncated, kinds)
            require(
                flags,
                f"terminated and truncated {when} are {terminated!r} and {truncated!r}, expected"
                " bools.",
            )
            found = _nan_in(info)
            require(not found, f"info[{found!r}] {when} is NaN.")


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
    """What was returned stays as it is: the env does not write into it later.

    Return a copy. Replay buffers, lists of observations and vector envs would otherwise hold the
    last one many times."""
    for name, recording in candidate.recordings.items():
        for step, (observation, before) in enumerate(
            zip(recording.observations, recording.prints, strict=True)
        ):
            require(
                print_of(observation) == before,
                f"The observation returned {_when(step, name)} was changed later.",
            )


@check("S004", kinds=("task", "trial env"))
def every_trial_ends(candidate: Candidate) -> None:
    """A trial ends, whatever the subject does.

    Give every period a duration, or the task a `max_duration` (ms) after which a trial is a miss.
    Who never answers would otherwise never see a second trial, and a random subject hardly ever.
    """
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
    """Steps within which a trial ends: those of `max_duration`, which are ten times the usual ones
    if nothing is said.
    """
    limit = candidate.several(3000, 10000)
    if candidate.kind != "task":
        return limit
    return max(
        int(max_steps_of(candidate.task, candidate.batch.duration.sum(axis=1)).max()) + 1,
        limit // 10,
    )


@check("S005", kinds=("task", "trial env"))
def targets_are_in_the_action_space(candidate: Candidate) -> None:
    """What is right on a step, `info["gt"]`, is an action of the action space.

    The hook `step_target` returns action ids, (N,), or for continuous actions values in the units
    of the axes, (N, k); an env that reports trials gives actions that exist."""
    recording = candidate.recordings.get("mixed", candidate.recordings["random"])
    space = recording.env.action_space
    for step, result in enumerate(recording.results):
        target = result[4].get("gt")
        fits = target is not None and np.asarray(target, dtype=space.dtype) in space
        require(fits, f"The target of step {step} is {target!r}, which is none of {space}.")
        require(
            np.array_equal(np.asarray(target, dtype=space.dtype), target),
            f"The target of step {step} is {target!r}.",
        )


@check("S006", kinds=("task", "trial env"))
def info_has_its_keys(candidate: Candidate) -> None:
    """After every step, `info` has the target, the period and whether a trial has ended; the record
    and the performance of a trial are there exactly when it has. After a reset there is no target.

    A Task gets `info` from the core, and an env in the classic form from `PeriodEnv`: return the
    dict of `step` without removing keys, and let `new_trial` be a bool."""
    _, info = candidate.env().reset(seed=1)
    require("gt" not in info, "info of reset has 'gt', which belongs to steps.")
    names = period_names_of(candidate.task) if candidate.kind == "task" else None
    for name, recording in candidate.recordings.items():
        for step, result in enumerate(recording.results):
            info, when = result[4], f"at step {step} of {name} play"
            missing = sorted({"gt", "period", "new_trial"} - info.keys())
            require(not missing, f"info has no {missing} {when}.")
            ended = info["new_trial"]
            require(type(ended) is bool, f"info['new_trial'] {when} is {ended!r}, expected a bool.")
            known = names is None or info["period"] in names
            require(known, f"info['period'] {when} is {info['period']!r}, none of {names}.")
            for key in ("trial", "performance"):
                require(
                    (key in info) == ended,
                    f"info {'has no' if ended else 'has'} {key!r} {when}, where"
                    f" info['new_trial'] is {ended}.",
                )
