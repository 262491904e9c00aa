"""`PeriodEnv`: the classic form of a task, one env played step by step in Python."""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium
import numpy as np

from neurogym_classic.durations import drawing_from
from neurogym_classic.form import ClassicForm
from neurogym_classic.state_snapshot import StateSnapshot
from neurogym_classic.trial import ClassicTrial, Play
from neurogym_core import (
    InvalidValueError,
    NotSupportedError,
    TaskDefinitionError,
    TrialLayoutError,
)
from neurogym_core.tools import unknown


def _begins_trial(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap an author's `new_trial`, so that it begins a trial.

    Within it, `super().new_trial()` is the bare method.
    """

    @functools.wraps(method)
    def new_trial(self: Any, **kwargs: Any) -> Any:
        if self._running:
            return method(self, **kwargs)
        return self._begin_trial(functools.partial(method, self), kwargs)

    return new_trial


class PeriodEnv(ClassicTrial, StateSnapshot, gymnasium.Env):
    """One env that builds trials in `new_trial` and scores actions in `_step`, as in NeuroGym.

    An author sets `observation_space` and `action_space`, `timing` (ms) and `rewards` in
    ``__init__``, and writes

    - ``new_trial(**kwargs)``: builds a trial with `add_period`, `add_ob`, `add_randn`, `set_ob`,
      `set_groundtruth`, and returns its conditions as a dict. The keywords override drawn
      conditions. The older name ``_new_trial`` is accepted.
    - ``_step(action)``: scores an action with `in_period`, `gt_now`, and returns ``(obs, reward,
      terminated, truncated, {"new_trial": …, "gt": …})``. If `obs` is the env's observation
      (`ob_now`), the next one is shown instead.
    - ``post_step(obs, reward, terminated, truncated, info)``, if observations depend on actions.

    An action is scored on the step on whose observation it is based. A trial ends when `_step`
    returns ``new_trial``, or with its last period, which pays `r_tmax`. `performance` is 0 when a
    trial begins; set it on success.

    Differences from NeuroGym: `reset` plays no hidden step; ``reset(seed=…)`` fixes everything that
    follows, the task's attributes included; sessions end after `trials_per_session` trials;
    ``info["trial"]`` is the record of the trial that *ended*; envs can be copied and pickled.
    `make` and `Dataset` accept it. Task wrappers, the oracle and native vector envs need a `Task`.

    Attributes:
        dt: ms per step.
        rng: the random generator.
        trial: conditions of the current trial, name -> value.
        ob: (T, …) observations of the trial; `gt`: (T,) int64 or (T, k) float32, its targets.
        t, t_ind: ms and steps since the trial began; `tmax`: its length in ms.
        start_t, end_t, start_ind, end_ind: of the periods, name -> ms or steps.
        num_tr: number of trials begun.

    Args:
        dt: ms per step.
        num_trials_before_reset: trials per session; None: the class attribute `trials_per_session`
            (100).
        r_tmax: reward when a trial's time runs out.

    Raises:
        InvalidValueError: `dt` is not a positive number.
    """

    ngym_form = ClassicForm()
    metadata: dict[str, Any] = {"render_modes": []}
    trials_per_session: int | None = 100
    dt: float = 100
    r_tmax: float = 0.0
    abort = False

    def __new__(cls, *args: Any, **kwargs: Any) -> PeriodEnv:
        env = super().__new__(cls)
        env.__dict__["_play"] = Play()  # not in __init__, which some tasks do not call
        env.__dict__["_top"] = env
        return env

    def __init__(
        self, dt: float = 100, num_trials_before_reset: int | None = None, r_tmax: float = 0.0
    ) -> None:
        super().__init__()
        if (
            isinstance(dt, bool)
            or not isinstance(dt, int | float | np.number)
            or not 0 < dt < math.inf
        ):
            raise InvalidValueError(
                f"{type(self).__name__} was given dt={dt!r}; it needs a positive number of ms."
            )
        self.dt, self.r_tmax = dt, r_tmax
        self.timing: dict[str, Any] = {}
        self.rewards: dict[str, Any] = {}
        self.metadata = {"render_modes": [], **type(self).metadata}
        if num_trials_before_reset is not None:
            self.trials_per_session = num_trials_before_reset

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "new_trial" in vars(cls):
            cls.new_trial = _begins_trial(vars(cls)["new_trial"])  # type: ignore[method-assign]

    # ---- methods that an author overrides ----

    def new_trial(self, **kwargs: Any) -> Mapping[str, Any] | None:
        """Build the next trial; the keywords override drawn conditions."""
        hook = getattr(self, "_new_trial", None)
        if hook is None:
            raise TaskDefinitionError(
                f"{type(self).__name__} has no new_trial(self, **kwargs); write one that calls"
                " self.add_period(…)."
            )
        return hook(**kwargs) if self._running else self._begin_trial(hook, kwargs)

    def _step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Score an action."""
        raise TaskDefinitionError(
            f"{type(self).__name__} has no _step(self, action); write one that returns"
            " (self.ob_now, reward, False, False, {'new_trial': …, 'gt': self.gt_now})."
        )

    def post_step(
        self, ob: np.ndarray, reward: float, terminated: bool, truncated: bool, info: dict[str, Any]
    ) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Change the result of a step; `ob` is a copy of the next observation."""
        return ob, reward, terminated, truncated, info

    @property
    def changes_observations(self) -> bool:
        """Whether the author overrides `post_step`."""
        return type(self).post_step is not PeriodEnv.post_step

    # ---- playing ----

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin a session; without seed or options, it continues with the next trial.

        Args:
            seed: fixes everything that follows, and restores the task's attributes.
            options: ``{"conditions": {…}}``: keywords for `new_trial`, until the next seed or
                options.
        """
        super().reset(seed=seed)
        imposed = self._read_options(options)
        if seed is not None:
            self._restart(seed)
        play = self._play
        play.session += bool(play.t_ind or play.in_session)
        if imposed is not None:
            play.imposed = imposed
        play.in_session = 0
        if not play.started or play.t_ind or play.seeded or imposed is not None:
            play.finished += bool(play.t_ind)
            play.started = True
            self._top.new_trial(**play.imposed)  # type: ignore[attr-defined]
        return self._row(), {"period": self.period}

    def _restart(self, seed: int) -> None:
        self._restore()
        before = self._play
        self.__dict__["_play"] = Play()
        self._play.warned, self._play.length = before.warned, before.length
        self._seed_generator(seed)

    @staticmethod
    def _read_options(options: Mapping[str, Any] | None) -> dict[str, Any] | None:
        # NeuroGym's option "no_step" has no effect: there is no hidden step.
        options = {name: value for name, value in (options or {}).items() if name != "no_step"}
        for name in options:
            if name != "conditions":
                raise unknown("option", name, ["conditions"], of="reset()")
        if not options:
            return None
        if not isinstance(options["conditions"], Mapping):
            raise InvalidValueError(
                f"reset() was given conditions={options['conditions']!r}; give them by name, as"
                " keywords of new_trial."
            )
        return dict(options["conditions"])

    def _begin_trial(self, hook: Callable[..., Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Build a trial with the author's hook."""
        self._remember()
        play = self._play
        play.begin()
        play.started = True
        play.num_tr += 1
        with drawing_from(self.rng):
            returned = self._run(hook, **kwargs)
        if returned is not None and not isinstance(returned, Mapping):
            raise TrialLayoutError(
                f"{type(self).__name__}.new_trial returned {type(returned).__name__}; return the"
                " conditions of the trial as a dict, or nothing."
            )
        play.trial = dict(returned if returned is not None else play.trial or kwargs)
        return play.trial

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Play one step.

        Raises:
            InvalidValueError: an action outside of the action space.
            TaskDefinitionError: `_step` returned an invalid result.
        """
        if not self._play.started:
            self.reset()
        play = self._play
        action = self._checked_action(action)
        scored, target, period = self.ob_now.copy(), self.target, self.period
        with drawing_from(self.rng):
            ob, reward, *ends, info = self._read_step(self._run(self._step, action))
        own = self._authors(ob, scored)
        play.t_ind += 1
        over = bool(info.get("new_trial", False))
        if not over and play.t_ind >= self._index(self.tmax):
            over, reward = True, reward + self.r_tmax
        play.reward += reward
        info = {**info, "gt": _plain(info.get("gt", target)), "period": period, "new_trial": over}
        if over:
            ends = self._end_trial(ends, info)
            # The next trial's first observation counts, unless `new_trial` sets none.
            own = None if play.shows else own
        ob = self._row() if own is None else own
        return self._checked_result(*self._run(self.post_step, ob, reward, *ends, info))

    def _end_trial(self, ends: list[bool], info: dict[str, Any]) -> list[bool]:
        """Add the record of the trial that ended to `info`, and begin the next trial.

        Returns whether the session is terminated, and whether it is truncated.
        """
        info["trial"] = self._record()
        info["performance"] = info["trial"]["performance"]
        last = self._count_trial()
        once = self.trials_per_session == 1
        self._top.new_trial(**self._play.imposed)  # type: ignore[attr-defined]
        return [ends[0] or (last and once), ends[1] or (last and not once)]

    def _row(self) -> np.ndarray:
        return self.ob_now.copy()

    def _checked_action(self, action: Any) -> Any:
        array, space = np.asarray(action), self.action_space
        if isinstance(space, gymnasium.spaces.Discrete):
            if (
                array.size == 1
                and array.dtype.kind in "iu"
                and space.contains(int(array.reshape(())))
            ):
                return int(array.reshape(()))
        elif not isinstance(space, gymnasium.spaces.Box) or (
            array.dtype.kind in "fiu" and space.contains(array.astype(space.dtype))
        ):
            return action
        raise InvalidValueError(
            f"{type(self).__name__} was given the action {action!r}, which is not in {space}."
        )

    def _read_step(self, result: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if not isinstance(result, tuple) or len(result) != 5 or not isinstance(result[4], Mapping):
            what = f"{len(result)} values" if isinstance(result, tuple) else type(result).__name__
            raise TaskDefinitionError(
                f"{type(self).__name__}._step returned {what}; return five: (obs, reward,"
                " terminated, truncated, info), where older tasks return (obs, reward, done, info)."
            )
        ob, reward, terminated, truncated, info = result
        return ob, float(reward), bool(terminated), bool(truncated), dict(info)

    def _authors(self, ob: Any, scored: np.ndarray) -> np.ndarray | None:
        """Return the observation of `_step`, or None if it is just the one that was scored."""
        if ob is None or (isinstance(ob, np.ndarray) and np.may_share_memory(ob, self.ob)):
            return None
        ob = np.asarray(ob)
        return None if np.array_equal(ob, scored) else ob

    def _record(self) -> dict[str, Any]:
        """Return the record of the trial that just ended."""
        play = self._play
        durations = {
            f"duration.{name}": play.end_t[name] - start for name, start in play.start_t.items()
        }
        varied = {str(name): _plain(value) for name, value in play.trial.items()}
        return {
            **varied,
            "trial": play.finished,
            "env": 0,
            "session": play.session,
            "performance": float(play.performance),
            "reward": play.reward,
            "steps": play.t_ind,
            **durations,
        }

    def _count_trial(self) -> bool:
        """Count the trial that just ended, and return whether the session ends with it."""
        play = self._play
        play.finished += 1
        play.in_session += 1
        if self.trials_per_session is None or play.in_session < self.trials_per_session:
            return False
        play.in_session = 0
        play.session += 1
        return True

    def _checked_result(self, *result: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        ob, reward, terminated, truncated, info = self._read_step(result)
        ob = np.array(ob, dtype=self.observation_space.dtype)
        if ob.ndim == 0 and self.observation_space.shape == (1,):
            ob = ob.reshape(1)
        if ob.shape != self.observation_space.shape:
            raise TaskDefinitionError(
                f"{type(self).__name__} returned an observation of shape {ob.shape}; its"
                f" observation space has the shape {self.observation_space.shape}."
            )
        return ob, reward, terminated, truncated, info

    def trial_length_stats(self, num_trials: int = 10_000) -> dict[str, float]:
        """Return statistics of the lengths of trials, in steps, as in NeuroGym.

        The trials are built by a copy of the env, with its wrappers of trials; the later trials of
        the env stay the same. A length is that of the trial's periods: a subject can end a trial
        earlier. A trial without periods and observations counts as 0.

        Args:
            num_trials: how many trials to build.

        Returns:
            "mean", "std", "percentile_95" and "max".

        Raises:
            InvalidValueError: `num_trials` is not a whole number from 1.
        """
        if (
            isinstance(num_trials, bool)
            or not isinstance(num_trials, int | np.integer)
            or num_trials < 1
        ):
            raise InvalidValueError(
                f"trial_length_stats() was given num_trials={num_trials!r}. Expected a whole"
                " number, at least 1. Leave it out for 10,000."
            )
        twin = copy.deepcopy(self)
        lengths = np.empty(num_trials)
        for k in range(num_trials):
            twin._top.new_trial()  # type: ignore[attr-defined]
            lengths[k] = twin._n_rows()
        return {
            "mean": float(lengths.mean()),
            "std": float(lengths.std()),
            "percentile_95": float(np.percentile(lengths, 95)),
            "max": float(lengths.max()),
        }

    def _n_rows(self) -> int:
        play = self._play
        return self._index(play.tmax) if play.ob is None else len(play.ob)

    # ---- wrappers ----

    def set_top(self, wrapper: Any) -> None:
        """Set the outermost wrapper, whose `new_trial` is called when a trial begins."""
        self.__dict__["_top"] = wrapper

    def __str__(self) -> str:
        return f"<{type(self).__name__} dt={self.dt:g}>"


def _plain(value: Any) -> Any:
    """Return a NumPy number as Python's."""
    return value.item() if isinstance(value, np.generic) else value


class _Passing(gymnasium.Wrapper):
    """Passes on `new_trial` around wrappers that do not define it."""

    def new_trial(self, **kwargs: Any) -> Any:
        return self.env.get_wrapper_attr("new_trial")(**kwargs)


TrialEnv = PeriodEnv
"""The name that most NeuroGym files use."""


class TrialWrapper(StateSnapshot, gymnasium.Wrapper):
    """Base of wrappers that change the trials of classic envs.

    Override `new_trial`, and call ``self.env.new_trial(**kwargs)``. Attributes of the env are also
    those of the wrapper (``self.rng``, ``self.timing``).

    Args:
        env: a `PeriodEnv`, wrapped or not.

    Raises:
        NotSupportedError: `env` is not a classic env.
    """

    def __init__(self, env: gymnasium.Env) -> None:
        if not isinstance(getattr(env, "unwrapped", None), PeriodEnv):
            raise NotSupportedError(
                f"{type(self).__name__} was given {env!r}. Expected a classic env (PeriodEnv). Use"
                " a TaskWrapper for a Task."
            )
        super().__init__(env if hasattr(env, "new_trial") else _Passing(env))
        self.unwrapped.set_top(self)  # type: ignore[attr-defined]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "new_trial" in vars(cls):
            cls.new_trial = _inside(vars(cls)["new_trial"])  # type: ignore[method-assign]

    @property
    def task(self) -> PeriodEnv:
        """The classic env."""
        return self.unwrapped  # type: ignore[return-value]

    def new_trial(self, **kwargs: Any) -> Mapping[str, Any] | None:
        """Begin a trial; change `kwargs` to impose conditions."""
        env: Any = self.env
        varied: Mapping[str, Any] | None = env.new_trial(**kwargs)
        return varied

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset the env; a seed also restores the wrapper's attributes."""
        if seed is not None:
            self._restore()
        return self.env.reset(seed=seed, options=None if options is None else dict(options))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or "env" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self.env.get_wrapper_attr(name)


def _inside(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a wrapper's `new_trial`, so that a seed restores the attributes that it assigns."""

    @functools.wraps(method)
    def new_trial(self: TrialWrapper, **kwargs: Any) -> Any:
        self._remember()
        with drawing_from(self.task.rng):
            return self._run(functools.partial(method, self), **kwargs)

    return new_trial
