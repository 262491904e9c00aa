"""G: Gymnasium's rules for envs, and the ways its users make envs."""

from __future__ import annotations

import json
import warnings
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env

from neurogym_check.candidate import Candidate
from neurogym_check.check_types import NotApplicable, check, require
from neurogym_check.side_by_side import first_difference
from neurogym_check.single_and_vector import play_both
from neurogym_check.trajectories import has_nan, mixed, trajectory
from neurogym_core import MissingDependencyError, NotSupportedError, TaskEnv, TaskVectorEnv
from neurogym_core.players import TaskView
from neurogym_core.tools import describe


@check("G000")
def task_can_be_made_and_stepped(candidate: Candidate) -> None:
    """The task can be made with its default settings, reset, and stepped once.

    The message is the error that the task raised. Until this check passes, the checks that play the
    task do not apply."""
    candidate.require_made()


@check("G001")
def gymnasium_check_env_passes(candidate: Candidate) -> None:
    """Gymnasium's `check_env` passes.

    The message of `check_env` says what it expects. The core follows Gymnasium's rules, so in a
    Task the fault is in a hook (step_action, step_observation, step_target)."""
    env = candidate.env().unwrapped
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(env, skip_render_check=True, skip_close_check=candidate.kind != "task")
    if candidate.kind == "task":
        # A task that is made warns of rounded times, and not Gymnasium. Gymnasium warns of
        # unbounded observations; here Gaussian noise makes them usual.
        found = [one.message for one in caught if one.category.__name__ != "TimeWarning"]
        texts = [text for text in map(str, found) if "infinity" not in text]
        require(not texts, f"Gymnasium's check_env warns: {texts[:1]}")


@check("G002")
def settings_round_trip_through_json(candidate: Candidate) -> None:
    """The settings of a task can be written as JSON, and make the same task again.

    Gymnasium's specs, the command line and the registry store parameters as JSON: numbers, texts,
    tuples of these, and distributions, but no functions, sets or objects. For an id,
    `gymnasium.make` also gets the spec read from JSON, and must make an env that shows the same."""
    if candidate.kind == "task":
        _settings_make_the_task_again(candidate.task)
    if isinstance(candidate.source, str):
        _spec_makes_the_env_again(candidate)
    elif candidate.kind != "task":
        raise NotApplicable("an env class has no spec; pass an id or a file")


def _settings_make_the_task_again(task: Any) -> None:
    parameters = {row["name"]: row["value"] for row in describe(task)["parameters"]}
    try:
        again = json.loads(json.dumps({**parameters, **TaskView(task).settings}, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise AssertionError(
            f"The parameters {parameters!r} cannot be written as JSON: {error}."
        ) from error
    made = TaskView(task).changed(**again)
    require(made == task, f"Made from its JSON, the task is {made!r}, expected {task!r}.")


def _spec_makes_the_env_again(candidate: Candidate) -> None:
    env = candidate.fresh_env()
    spec = EnvSpec.from_json(env.spec.to_json())
    again = candidate.with_small_blocks(gymnasium.make(spec, disable_env_checker=True))
    require(
        again.observation_space == env.observation_space,
        f"The env made from its spec has the observation space {again.observation_space}, expected"
        f" {env.observation_space}.",
    )
    require(
        again.action_space == env.action_space,
        f"The env made from its spec has the action space {again.action_space}, expected"
        f" {env.action_space}.",
    )
    one, other = (trajectory(made, mixed(5), 60, seed=5) for made in (env, again))
    require(one == other, "The env made from its spec differs from the first, with the same seed.")


@check("G003")
def vector_env_agrees_with_the_single_env(candidate: Candidate) -> None:
    """A vector env of one agrees with the single env, and one of N has arrays with N rows.

    A vector env of one must show, ask, pay and record the same as the single env. Hooks run for all
    envs at once: `now.trial_state`, `now.conditions` and `action` have shape (N, …), with N = 1 in
    the single env. Write hooks without `int()`, `float()`, `.item()` and `if`; use np.where
    instead. An env that is not a Task is played in Gymnasium's SyncVectorEnv."""
    if candidate.kind == "task":
        _play_single_and_vector(candidate)
        several: Any = candidate.vector_env(3)
    else:
        several = gymnasium.vector.SyncVectorEnv([candidate.env] * 3)
    several.action_space.seed(3)
    observations, _ = several.reset(seed=3)
    for _ in range(candidate.several(100, 1000)):
        require(
            observations in several.observation_space,
            f"The observations of {several.num_envs} envs are outside of their space.",
        )
        observations, *result = several.step(several.action_space.sample())
        _check_arrays(several.num_envs, *result)
        if candidate.kind == "task":
            _check_arrays_of_a_task(*result)


def _play_single_and_vector(candidate: Candidate) -> None:
    """Play sessions of the default length, and short ones in both autoreset modes."""
    short = TaskView(candidate.task).changed(trials_per_session=2)
    most = max(200, candidate.affordable(5 * TaskView(short).max_steps))
    for task, mode, steps, limit in (
        (candidate.task, "SameStep", candidate.several(300, 2000), 0),
        (short, "SameStep", 60, most),
        (short, "NextStep", 60, most),
    ):
        single = candidate.with_small_blocks(TaskEnv(task, info="full"))
        vector = candidate.with_small_blocks(
            TaskVectorEnv(task, 1, autoreset_mode=mode, info="full")
        )
        play_both(single, vector, mode, steps, seed=7, most=limit)


def _check_arrays(n: int, reward: Any, terminated: Any, truncated: Any, info: Any) -> None:
    shapes = [np.shape(values) for values in (reward, terminated, truncated)]
    require(
        shapes == [(n,)] * 3,
        f"Rewards and flags of {n} envs have the shapes {shapes}, expected ({n},).",
    )
    require(
        np.isfinite(reward).all(), f"The rewards of {n} envs are {reward}, expected finite numbers."
    )


def _check_arrays_of_a_task(reward: Any, terminated: Any, truncated: Any, info: Any) -> None:
    types = [values.dtype for values in (reward, terminated, truncated, info["new_trial"])]
    require(
        types == [np.float64, bool, bool, bool],
        f"Rewards, flags and info['new_trial'] of a vector env are {types}, expected float64 and"
        " bool.",
    )
    lengths = {name: len(info[name]) for name in ("gt", "period", "new_trial")}
    require(
        set(lengths.values()) == {len(reward)},
        f"info of {len(reward)} envs has the lengths {lengths}, expected {len(reward)}.",
    )
    if "trial" in info:
        require(
            np.array_equal(info["_trial"], info["new_trial"]),
            f"info['_trial'] is {info['_trial']}, expected info['new_trial'], which is"
            f" {info['new_trial']}.",
        )
        missing = [name for name, values in info["trial"].items() if has_nan(values)]
        require(not missing, f"The records of a vector env have NaN in {missing}.")


@check("G004", level="full", kinds=("task",))
def envs_of_a_vector_env_are_independent(candidate: Candidate) -> None:
    """An env's observations, rewards and trials do not depend on the actions in other envs.

    A hook must treat each row separately: no mean over envs, no `.any()` that decides for all, no
    attribute of the task that one env writes and another reads. Use `now.trial_state`. So must
    `draw`: keep the history of subjects in arrays on `session`, not on the task."""
    _actions_of_others_change_nothing(candidate)
    task = candidate.task
    if not task.reads_outcomes:
        return  # trials do not depend on actions
    try:
        difference = first_difference(task)
    except NotSupportedError as error:
        raise NotApplicable(f"its trials cannot be compared: {error}") from error
    if difference is not None:
        trial, name, one, other = difference
        raise AssertionError(
            f"The condition {name!r} of trial {trial} of one subject is {one}, and {other} if other"
            " subjects do something else, expected the same."
        )


def _actions_of_others_change_nothing(candidate: Candidate) -> None:
    calm, busy = (candidate.vector_env(2) for _ in range(2))
    for env in (calm, busy):
        env.reset(seed=9)
    space = busy.single_action_space
    space.seed(9)
    ended = np.zeros(2, bool)
    for step in range(candidate.affordable(50 * TaskView(candidate.task).typical_steps)):
        actions = calm.target.copy()
        others = actions.copy()
        others[1] = space.sample()
        one, other = calm.step(actions), busy.step(others)
        require(
            one[1][0] == other[1][0],
            f"The first env's reward at step {step} depends on the second env's actions.",
        )
        ended |= one[4]["new_trial"] | other[4]["new_trial"]
        if ended.any():
            return  # the order in which trials end decides which env is dealt the next one
        require(
            np.array_equal(one[0][0], other[0][0]),
            f"The first env's observation after step {step} depends on the second env's actions.",
        )


@check("G005", level="full")
def render_modes_work(candidate: Candidate) -> None:
    """The env can be made and rendered in each of the render modes that it declares.

    "rgb_array" returns a picture, (height, width, 3) uint8; "human", which opens a window, is not
    tried. A Task is rendered if neurogym-plot is installed, which draws it; a plain Gymnasium env
    declares its modes in `metadata["render_modes"]`."""
    modes = [mode for mode in candidate.env().metadata.get("render_modes", []) if mode != "human"]
    if not modes:
        raise NotApplicable('it declares no render mode other than "human"')
    for mode in modes:
        env = candidate.fresh_env(render_mode=mode)
        env.reset(seed=1)
        for _ in range(3):
            env.step(env.action_space.sample())
        try:
            picture = env.render()
        except MissingDependencyError as error:
            if candidate.kind != "task":
                raise
            # Frames of a Task are drawn by neurogym-plot from its tables, not by the task.
            raise NotApplicable(f"frames are not drawn here: {error}") from error
        require(
            picture is not None,
            f"render() returns None with render_mode={mode!r}, expected a picture.",
        )
        if mode == "rgb_array":
            shape, dtype = np.shape(picture), getattr(picture, "dtype", None)
            fits = len(shape) == 3 and shape[2] == 3 and dtype == np.uint8
            require(fits, f"render() returns {shape} {dtype}, expected (height, width, 3) uint8.")
        env.close()
