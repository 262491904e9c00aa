"""Compare a single env with a vector env of one, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from neurogym_check.check_types import CheckFailedError
from neurogym_check.trajectories import mixed
from neurogym_core import TaskEnv, TaskVectorEnv


def play_both(
    single: TaskEnv, vector: TaskVectorEnv, mode: str, steps: int, seed: int, *, most: int = 0
) -> None:
    """Play the same actions in both envs, and require that both show, ask, pay and record the same.

    Half of the actions are random, half are targets: random play alone seldom reaches the later
    response windows of a trial.

    Args:
        single: the single env.
        vector: a vector env of one, of the same task.
        mode: autoreset mode of `vector`, "SameStep" or "NextStep".
        steps: number of steps to play.
        seed: seed of both envs and of the actions.
        most: if larger than `steps`, play until a session has ended, for at most `most` steps.

    Raises:
        CheckFailedError: the envs differ; the message names the step and the difference.
    """
    act, ended = mixed(seed), False
    observation, _ = single.reset(seed=seed)
    _require_equal("observation", 0, observation, vector.reset(seed=seed)[0][0])
    for step in range(max(steps, most)):
        if step >= steps and ended:
            return
        for name in ("target", "period", "can_wait"):
            _require_equal(name, step, getattr(single, name), getattr(vector, name)[0])
        conditions = vector.conditions
        for name, value in single.conditions.items():
            _require_equal(f"trial[{name!r}]", step, value, conditions[name][0])
        action = act(single)
        observation, reward, *flags, info = single.step(action)
        observations, rewards, *several, infos = vector.step(np.asarray(action)[None])
        _require_equal("flags", step, flags, [values[0] for values in several])
        _require_near("reward", step, reward, rewards[0])
        _require_equal_info(step, info, infos)
        if not any(flags):
            _require_equal("observation", step, observation, observations[0])
            continue
        ended = True
        if mode == "SameStep":
            _require_equal("final_obs", step, observation, infos["final_obs"][0])
            _require_equal("_final_info", step, True, infos["_final_info"][0])
            _require_equal_info(step, info, infos["final_info"])
        else:
            _require_equal("the presence of final_info", step, False, "final_info" in infos)
            _require_equal("observation", step, observation, observations[0])
            # The step that resets has reward 0 and no flags, whatever the action.
            observations, rewards, *several, infos = vector.step(np.asarray(action)[None])
            reset = [rewards[0], *(values[0] for values in several), infos["new_trial"][0]]
            _require_equal("reward and flags of the reset", step, [0.0, False, False, False], reset)
        _require_equal("observation after a reset", step, single.reset()[0], observations[0])


def _require_equal(what: str, step: int, one: Any, other: Any) -> None:
    if not np.array_equal(one, other):
        raise CheckFailedError(
            f"The vector env of one differs from the single env at step {step}: {what} is"
            f" {other!r}, expected {one!r}.",
            step=step,
        )


def _require_near(what: str, step: int, one: float, other: float) -> None:
    """Require equality up to rounding: the envs may add rewards in another order."""
    if abs(one - other) > 1e-9:
        _require_equal(what, step, one, other)


def _require_equal_info(step: int, info: Mapping[str, Any], infos: Mapping[str, Any]) -> None:
    for name in ("gt", "period", "new_trial"):
        _require_equal(f"info[{name!r}]", step, info[name], infos[name][0])
    _require_equal("the presence of info['trial']", step, "trial" in info, "trial" in infos)
    if "trial" not in info:
        return
    _require_near("info['performance']", step, info["performance"], infos["performance"][0])
    _require_equal("info['_trial']", step, True, infos["_trial"][0])
    record, columns = info["trial"], infos["trial"]
    for name, value in record.items():
        compare = _require_near if isinstance(value, float) else _require_equal
        compare(f"info['trial'][{name!r}]", step, value, columns[name][0])
    absent = {name for name in columns if not name.startswith("_")} - set(record)
    for name in sorted(absent):  # only a reaction time may be absent, and its mask must say so
        known = name.endswith("reaction_time") and not columns[f"_{name}"][0]
        _require_equal(f"the absence of info['trial'][{name!r}]", step, True, known)
