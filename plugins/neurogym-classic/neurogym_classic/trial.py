"""`ClassicTrial`: the methods with which classic tasks build a trial."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import gymnasium
import numpy as np

from neurogym_classic.durations import draw, is_until
from neurogym_core import NotSupportedError, TrialLayoutError
from neurogym_core.tools import unknown

TRIAL_MS = 10_000
"""Maximum length of a trial without periods, ms."""

Period = str | Sequence[str] | None


class ClassicGenerator(np.random.Generator):
    """A NumPy generator with the older names of `RandomState` that classic tasks use."""

    def rand(self, *shape: int) -> Any:
        """Draw uniform numbers on [0, 1)."""
        return self.random(shape or None)

    def randn(self, *shape: int) -> Any:
        """Draw standard normal numbers."""
        return self.standard_normal(shape or None)

    def randint(self, low: int, high: int | None = None, size: Any = None) -> Any:
        """Draw whole numbers from `low` to below `high`."""
        return self.integers(low, high, size)

    random_sample = np.random.Generator.random

    def __reduce__(self) -> tuple[Any, ...]:
        return ClassicGenerator, (self.bit_generator,)


class Play:
    """The current trial, and counters over trials."""

    def __init__(self) -> None:
        self.rng: ClassicGenerator | None = None
        self.started = False
        self.num_tr = 0  # trials begun
        self.finished = 0
        self.session = 0
        self.in_session = 0  # trials finished in this session
        self.imposed: dict[str, Any] = {}
        self.warned: set[str] = set()
        self.length = 0.0  # ms, assigned to `tmax`; length of trials without periods
        self.begin()

    def begin(self) -> None:
        self.t_ind = 0
        self.tmax = 0.0
        self.start_t: dict[str, float] = {}
        self.end_t: dict[str, float] = {}
        self.last: str | None = None
        self.ob: np.ndarray | None = None
        self.gt: np.ndarray | None = None
        self.shows = self.asks = False
        self.values = False  # whether targets are values that are not actions
        self.performance: Any = 0
        self.seeded = False  # whether `rng` was seeded after this trial was drawn
        self.trial: dict[str, Any] = {}
        self.reward = 0.0


def _of_play(name: str, doc: str) -> property:
    def read(self: ClassicTrial) -> Any:
        return getattr(self._play, name)

    def write(self: ClassicTrial, value: Any) -> None:
        setattr(self._play, name, value)

    return property(read, write, doc=doc)


class ClassicTrial:
    """The current trial of a classic env: its clock, periods, observations and targets."""

    dt: float
    timing: dict[str, Any]
    observation_space: gymnasium.Space[Any]
    action_space: gymnasium.Space[Any]
    _play: Play

    t_ind = _of_play("t_ind", "Steps since the trial began.")
    start_t = _of_play("start_t", "Onset of each period, ms.")
    end_t = _of_play("end_t", "End of each period, ms.")
    performance = _of_play("performance", "Performance of the current trial, 0 to 1.")
    trial = _of_play("trial", "Conditions of the current trial, name -> value.")
    num_tr = _of_play("num_tr", "Number of trials begun.")

    @property
    def t(self) -> float:
        """ms since the trial began."""
        return self._play.t_ind * self.dt

    @t.setter
    def t(self, ms: float) -> None:
        self._play.t_ind = self._index(ms)

    @property
    def tmax(self) -> float:
        """Length of the trial, ms; if assigned, also of later trials without periods."""
        play = self._play
        return play.tmax if play.tmax or play.start_t else play.length or TRIAL_MS

    @tmax.setter
    def tmax(self, ms: float) -> None:
        self._play.tmax = self._play.length = ms

    @property
    def start_ind(self) -> dict[str, int]:
        """First step of each period."""
        return {name: self._index(ms) for name, ms in self._play.start_t.items()}

    @property
    def end_ind(self) -> dict[str, int]:
        """Last step + 1 of each period."""
        return {name: self._index(ms) for name, ms in self._play.end_t.items()}

    @property
    def rng(self) -> ClassicGenerator:
        """The random generator."""
        if self._play.rng is None:
            self._seed_generator(None)
        return self._play.rng  # type: ignore[return-value]

    def _seed_generator(self, seed: int | None) -> None:
        self._play.rng = ClassicGenerator(np.random.PCG64(np.random.SeedSequence(seed)))

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Seed `rng` and the action space, as in NeuroGym; the next `reset` draws a trial.

        ``reset(seed=…)`` also restores the attributes that the task has changed, and leaves the
        action space as it is.
        """
        self._seed_generator(seed)
        self._play.seeded = True
        space = getattr(self, "action_space", None)  # an author may seed before there is one
        if space is not None:
            space.seed(seed)
        return [seed]

    @property
    def ob(self) -> np.ndarray:
        """Observations of the trial, (T, …); can be assigned, one row per step."""
        play, space = self._play, self.observation_space
        play.ob = _sized(self, play.ob, space.shape, space.dtype, 0)
        return play.ob

    @ob.setter
    def ob(self, rows: Any) -> None:
        self._play.shows = True
        self._play.ob = _assigned(self, "ob", rows, self.observation_space)

    @property
    def gt(self) -> np.ndarray:
        """Targets of the trial, (T,) int64 or (T, k); can be assigned."""
        play, space = self._play, self.action_space
        discrete = isinstance(space, gymnasium.spaces.Discrete)
        dtype = np.int64 if discrete else space.dtype
        play.gt = _sized(self, play.gt, space.shape, dtype, int(space.start) if discrete else 0)  # type: ignore[attr-defined]
        return play.gt

    @gt.setter
    def gt(self, rows: Any) -> None:
        self._play.asks = True
        self._play.gt = _assigned(self, "gt", rows, self.action_space)

    def _index(self, ms: float) -> int:
        return int(ms / self.dt + 1e-9)

    @property
    def ob_now(self) -> np.ndarray:
        """The current observation."""
        return np.asarray(self.ob[self._play.t_ind])

    @property
    def gt_now(self) -> Any:
        """Target of the current step."""
        return self.gt[self._play.t_ind]

    @property
    def target(self) -> Any:
        """Target of the current step, as a Python number or a copy."""
        now = self.gt_now
        return now.item() if np.ndim(now) == 0 else now.copy()

    @property
    def period(self) -> str:
        """Name of the current period, the shortest of several; "trial" if there is none."""
        inside = [name for name in self._play.start_t if self.in_period(name)]
        return min(
            inside,
            key=lambda name: self._play.end_t[name] - self._play.start_t[name],
            default="trial",
        )

    # ---- periods ----

    def add_period(
        self,
        period: str | Sequence[str],
        duration: Any = None,
        before: Any = None,
        after: Any = None,
        last_period: bool = False,
    ) -> None:
        """Add a period, or several in sequence.

        Args:
            period: its name, or names.
            duration: ms (or one value for each of several); None: drawn from `timing`, and rounded
                down to whole steps.
            before: its end: the onset of another period, or ms.
            after: its onset: the end of another period, or ms; default: the end of the period added
                last.
            last_period: ignored; the trial always ends with the period that ends last.

        Raises:
            TrialLayoutError: it would begin before the trial, or end before it begins.
        """
        if not isinstance(period, str):
            _add_several(self, period, duration, after)
            return
        if before is not None:
            end = _moment(self, before, self._play.start_t)
            ms = _duration_of(self, period, None) if duration is None else duration
            start = end - ms
        else:
            start = _moment(self, self._play.last if after is None else after, self._play.end_t)
            ms = _duration_of(self, period, start) if duration is None else duration
        _place(self, period, float(start), float(ms))

    def sample_time(self, period: str) -> float:
        """Draw a duration of a period from `timing`, in ms, rounded down to whole steps."""
        return _duration_of(self, period, _moment(self, self._play.last, self._play.end_t))

    def in_period(self, period: str, t: float | None = None) -> bool:
        """Return whether the current step (or the time `t`, ms) is in a period."""
        _checked_period(self, period)
        step = self._play.t_ind if t is None else self._index(t)
        return (
            self._index(self._play.start_t[period]) <= step < self._index(self._play.end_t[period])
        )

    # ---- observations and targets ----

    def view_ob(self, period: Period = None) -> np.ndarray:
        """Return a view of the observations of a period, (steps, …), or of the whole trial."""
        self._play.shows = True
        return _views(self, self.ob, period)[0]

    def view_groundtruth(self, period: Period = None) -> np.ndarray:
        """Return a view of the targets of a period, or of the whole trial."""
        self._play.asks = True
        return _views(self, self.gt, period)[0]

    def add_ob(self, value: Any, period: Period = None, where: Any = None) -> None:
        """Add values to observations.

        Args:
            value: number, (k,), (steps, k), or a function of the selected observations that returns
                one of these.
            period: a period, several, or None for the whole trial.
            where: a name in the observation space, or indices; None: all entries.
        """
        _write_ob(self, value, period, where, add=True)

    def set_ob(self, value: Any, period: Period = None, where: Any = None) -> None:
        """Set observations; arguments as in `add_ob`."""
        _write_ob(self, value, period, where, add=False)

    def add_randn(
        self, mu: Any = 0, sigma: Any = 1, period: Period = None, where: Any = None
    ) -> None:
        """Add Gaussian noise, independent over steps and entries.

        Args:
            mu, sigma: mean and SD per step; sigma / sqrt(dt) makes the noise independent of dt.
        """
        columns = _columns(self, self.observation_space, where)

        def noise(shown: np.ndarray) -> np.ndarray:
            drawn: np.ndarray = mu + np.asarray(sigma) * self.rng.standard_normal(
                shown[..., columns].shape
            )
            return drawn

        _write_ob(self, noise, period, where, add=True)

    def set_groundtruth(self, value: Any, period: Period = None, where: Any = None) -> None:
        """Set the targets.

        Args:
            value: an action (or its name); with `where`, the index within the actions of that name;
                or an array, one per step. For continuous actions values, (k,). Floats that are not
                whole numbers, such as angles, are truncated with a warning: they are not actions,
                but `_step` can score by them.
            period: a period, several, or None for the whole trial.
            where: a name in the action space.

        Raises:
            TrialLayoutError: not an action of the env.
        """
        discrete = isinstance(self.action_space, gymnasium.spaces.Discrete)
        value = _action_of(self, value, where) if discrete else value
        columns = (
            ... if discrete or where is None else (..., _columns(self, self.action_space, where))
        )
        self._play.asks = True
        for view in _views(self, self.gt, period):
            try:
                view[columns] = value
            except (ValueError, TypeError):
                raise TrialLayoutError(
                    f"set_groundtruth() of {type(self).__name__} was given {value!r} for targets of"
                    f" shape {view.shape} (period {period!r}, where {where!r}); give one action, or"
                    " one per step."
                ) from None


def _assigned(env: ClassicTrial, name: str, rows: Any, space: gymnasium.Space[Any]) -> np.ndarray:
    """Return an array that was assigned as the trial's `ob` or `gt`, after checking its shape."""
    array = np.array(rows, dtype=space.dtype)
    if array.ndim == 0 or array.shape[1:] != space.shape:
        raise TrialLayoutError(
            f"{type(env).__name__} was assigned {name} of shape {array.shape}; it needs one row of"
            f" shape {space.shape} per step."
        )
    return array


def _sized(
    env: ClassicTrial,
    array: np.ndarray | None,
    shape: tuple[int, ...] | None,
    dtype: Any,
    fill: int,
) -> np.ndarray:
    """Return the array with one row per step; periods that were added later add rows."""
    if shape is None:
        raise NotSupportedError(
            f"{type(env).__name__} has spaces without a shape; a classic env needs a Box of"
            " observations, and Discrete or Box actions."
        )
    have, steps = 0 if array is None else len(array), max(env._index(env.tmax), 1)
    if array is not None and have >= steps:
        return array
    grown = np.full((steps, *shape), fill, dtype)
    if array is not None:
        grown[:have] = array
    return grown


def _add_several(env: ClassicTrial, periods: Sequence[str], duration: Any, after: Any) -> None:
    durations = (
        list(duration) if isinstance(duration, Sequence | np.ndarray) else [duration] * len(periods)
    )
    if len(durations) != len(periods):
        raise TrialLayoutError(
            f"add_period() of {type(env).__name__} was given {len(durations)} durations for"
            f" {len(periods)} periods; give one for each."
        )
    for k, (name, ms) in enumerate(zip(periods, durations, strict=True)):
        env.add_period(name, ms, after=after if k == 0 else None)


def _moment(env: ClassicTrial, moment: Any, known: Mapping[str, float]) -> float:
    if moment is None or (moment == "start" and "start" not in known):
        return 0.0
    if isinstance(moment, str):
        return known[_checked_period(env, moment)]
    return float(moment)


def _place(env: ClassicTrial, period: str, start: float, ms: float) -> None:
    if not (ms >= 0 and start >= -1e-9 and math.isfinite(ms)):
        raise TrialLayoutError(
            f"Period {period!r} of {type(env).__name__} would begin at {start:g} ms and last {ms:g}"
            " ms; both must be finite, and 0 or more."
        )
    play = env._play
    play.start_t[period], play.end_t[period] = start, start + ms
    play.last = period
    play.tmax = max(play.tmax, start + ms)
    if ms > 0 and env._index(start) == env._index(start + ms):
        _warn_lost(env, period, ms)


def _warn_lost(env: ClassicTrial, period: str, ms: float) -> None:
    if period not in env._play.warned:
        env._play.warned.add(period)
        warnings.warn(
            f"Period {period!r} of {type(env).__name__} lasts {ms:g} ms, too short for a step of"
            f" dt={env.dt:g} ms: it is left out. Use a smaller dt, or a longer period.",
            stacklevel=4,
        )


def _duration_of(env: ClassicTrial, period: str, start: float | None) -> float:
    if period not in env.timing:
        raise unknown("period", period, env.timing, of=f"{type(env).__name__}.timing")
    spec = env.timing[period]
    if is_until(spec):
        if start is None:
            raise TrialLayoutError(
                f"Period {period!r} of {type(env).__name__} lasts until {spec[1]:g} ms; leave out"
                " before=."
            )
        ms = float(spec[1]) - start
    else:
        ms = draw(spec, env.rng)
    floored = env._index(ms) * env.dt if ms >= 0 else ms
    if floored == 0 < ms:
        _warn_lost(env, period, ms)
    return floored


def _checked_period(env: ClassicTrial, period: str) -> str:
    if period not in env._play.start_t:
        raise unknown(
            "period", period, env._play.start_t, of=f"the current trial of {type(env).__name__}"
        )
    return period


def _views(env: ClassicTrial, array: np.ndarray, period: Period) -> list[np.ndarray]:
    if period is None:
        return [array]
    names = [period] if isinstance(period, str) else list(period)
    return [
        array[env.start_ind[name] : env.end_ind[name]]
        for name in map(partial(_checked_period, env), names)
    ]


def _write_ob(env: ClassicTrial, value: Any, period: Period, where: Any, add: bool) -> None:
    columns = _columns(env, env.observation_space, where)
    env._play.shows = True
    for view in _views(env, env.ob, period):
        amount = value(view) if callable(value) else value
        try:
            view[..., columns] = view[..., columns] + amount if add else amount
        except ValueError:
            raise TrialLayoutError(
                f"{'add_ob' if add else 'set_ob'}() of {type(env).__name__} was given values of"
                f" shape {np.shape(amount)} for observations of shape {view[..., columns].shape}"
                f" (period {period!r}, where {where!r}); give a number, one per entry, or one row"
                " per step."
            ) from None


def _action_of(env: ClassicTrial, value: Any, where: Any) -> Any:
    if where is not None:
        actions = _columns(env, env.action_space, where)
        value = actions if isinstance(actions, int) else np.asarray(actions)[value]
    elif isinstance(value, str):
        value = _columns(env, env.action_space, value)
    ids = np.asarray(value)
    if ids.dtype.kind == "f" and np.isfinite(ids).all():
        whole = ids.astype(np.int64)
        if (whole != ids).any():
            return _without_fraction(env, value, whole)
        ids = whole
    low, high = int(env.action_space.start), int(env.action_space.start + env.action_space.n) - 1  # type: ignore[attr-defined]
    if ids.dtype.kind not in "iub" or ids.ndim > 1 or (ids < low).any() or (ids > high).any():
        raise TrialLayoutError(
            f"set_groundtruth() of {type(env).__name__} was given {value!r}; give actions from"
            f" {low} to {high}."
        )
    return ids


def _without_fraction(env: ClassicTrial, value: Any, whole: np.ndarray) -> np.ndarray:
    """Return the whole part of targets that are not actions, as NeuroGym does.

    `_step` may score by them.
    """
    env._play.values = True
    if "set_groundtruth" not in env._play.warned:
        env._play.warned.add("set_groundtruth")
        warnings.warn(
            f"set_groundtruth() of {type(env).__name__} was given {value!r}, which is not in"
            f" {env.action_space}: the whole part is kept. Give an action, or make the action space"
            " a Box.",
            stacklevel=4,
        )
    return whole


def _columns(env: ClassicTrial, space: Any, where: Any) -> Any:
    """Return the indices of a name in a space."""
    if where is None:
        return slice(None)
    if not isinstance(where, str):
        return list(where) if isinstance(where, range) else where
    names = getattr(space, "name", None) or {}
    if where not in names:
        raise unknown("name", where, names, of=f"{type(env).__name__}'s spaces (name={{…}})")
    found = names[where]
    return int(found) if np.ndim(found) == 0 else list(found)
