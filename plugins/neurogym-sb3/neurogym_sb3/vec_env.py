"""`SB3VecEnv`: the vector env of a task, with the interface of Stable-Baselines3."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv

from neurogym_core import InvalidValueError, NotSupportedError, make_vec

RECENT = 200
"""Number of trials that `recent_performance` averages."""


class SB3VecEnv(VecEnv):
    """`num_envs` envs of one task in one set of arrays, for Stable-Baselines3's algorithms.

    It returns the same as a `DummyVecEnv` of single envs with `Monitor`: float32 rewards, the first
    observation of the next session where one ended (``terminal_observation`` holds the last of the
    old one), ``TimeLimit.truncated``, and the ``episode`` statistics r (sum of rewards), l (steps)
    and t (s since its creation). Where a trial ended, the info also has its record, ``trial``, and
    ``performance``.

    Args:
        task: an id, a Task, a class, or ``"file.py:Class"``.
        num_envs: number of envs.
        wrap: wrappers of tasks and of envs, as in `neurogym_core.make_vec`.
        seed: used until `seed` is called.
        split: stream of trials, as in `neurogym_core.make_vec`. Train on "train", and test on
            "validation" (`TrialEvaluation`) and "test" (`neurogym_core.run` of `AgentSubject`).
        render_mode: None or "rgb_array", for `VecVideoRecorder`.
        params: parameters of the task.

    Attributes:
        env: the wrapped vector env of the core.
    """

    def __init__(
        self,
        task: Any,
        num_envs: int = 1,
        *,
        wrap: Any = (),
        seed: int | None = None,
        split: str | None = None,
        render_mode: str | None = None,
        **params: Any,
    ) -> None:
        self.env: Any = make_vec(
            task,
            num_envs,
            wrap=wrap,
            autoreset_mode="SameStep",
            seed=seed,
            split=split,
            render_mode=render_mode,
            **params,
        )
        super().__init__(num_envs, self.env.single_observation_space, self.env.single_action_space)
        self._made = time.time()
        self._return, self._length = np.zeros(num_envs), np.zeros(num_envs, np.int64)
        self._recent: deque[float] = deque(maxlen=RECENT)

    @property
    def task(self) -> Any:
        """The task of the envs."""
        return self.env.unwrapped.task

    @property
    def recent_performance(self) -> float:
        """Mean performance of the last trials; NaN before the first."""
        return float(np.mean(self._recent)) if self._recent else float("nan")

    # ---- playing ----

    def reset(self) -> np.ndarray:
        """Begin new sessions in all envs, and return their observations, (num_envs, obs)."""
        if any(options != self._options[0] for options in self._options):
            raise InvalidValueError(
                "SB3VecEnv was given different options for its envs, which are one vector env."
                " Give one dict for all."
            )
        # Not a list of seeds: with one env, the stream is then that of a single env.
        observations, _ = self.env.reset(seed=self._seeds[0], options=self._options[0] or None)
        self._reset_seeds()
        self._reset_options()
        self._return[:], self._length[:] = 0, 0
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Return observations, rewards, whether sessions ended, and one info per env."""
        observations, rewards, terminated, truncated, info = self.env.step(self._actions)
        over = terminated | truncated
        self._return += rewards
        self._length += 1
        infos: list[dict[str, Any]] = [
            {"TimeLimit.truncated": bool(cut)} for cut in truncated & ~terminated
        ]
        if "trial" in info:
            self._add_trials(infos, info["trial"].finished)
        for env in np.flatnonzero(over).tolist():
            infos[env]["terminal_observation"] = info["final_obs"][env]
            infos[env]["episode"] = {  # as `Monitor` rounds them
                "r": round(float(self._return[env]), 6),
                "l": int(self._length[env]),
                "t": round(time.time() - self._made, 6),
            }
        self._return[over], self._length[over] = 0, 0
        return observations, rewards.astype(np.float32), over, infos

    def _add_trials(self, infos: list[dict[str, Any]], finished: Any) -> None:
        for number, env in enumerate(finished.envs.tolist()):
            row = finished.row(number)
            infos[env].update(trial=row, performance=row["performance"])
            self._recent.append(row["performance"])

    def close(self) -> None:
        """Close the vector env."""
        self.env.close()

    # ---- methods for single envs ----

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of the vector env, which the envs share, once per requested env."""
        return [getattr(self.env, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Raise an error: tasks are immutable.

        Raises:
            NotSupportedError: always.
        """
        raise NotSupportedError(
            f"set_attr({attr_name!r}) was called; tasks are immutable. Make another SB3VecEnv."
        )

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        """Raise an error: the envs have no separate methods.

        Raises:
            NotSupportedError: always.
        """
        raise NotSupportedError(
            f"env_method({method_name!r}) was called; the envs are one vector env without"
            " separate methods. Call it on SB3VecEnv.env."
        )

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper], indices: Any = None
    ) -> list[bool]:
        """Return whether a wrapper, or its form for vector envs, is applied, once per env.

        `Monitor` counts as applied, because its statistics are in the infos.
        """
        wanted = (wrapper_class, getattr(wrapper_class, "vector", wrapper_class))
        env, found = self.env, wrapper_class is Monitor
        while not found and isinstance(env, gymnasium.vector.VectorWrapper):
            found = isinstance(env, wanted)
            env = env.env
        return [found] * len(list(self._get_indices(indices)))

    def get_images(self) -> Sequence[np.ndarray | None]:
        """Return the figure of the trial so far of every env; None without a render mode."""
        return self.env.render() or [None] * self.num_envs
