"""Reference subjects: random, guessing, resting, oracle, premature responses.

A subject is called with a vector env and the current observations, and returns one action per env::

    actions = subject(env, observations)

`begin(env)` is called before the first step; subjects read everything else from the env.
A subject is given by name, perhaps with settings: ``"late_oracle:wait=200"``. Packages add
subjects through the entry-point group ``neurogym.subjects``; observers and learners are in
neurogym-likeness."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from neurogym_core.ecosystem.discovery import find_subject, load
from neurogym_core.ecosystem.records import remedy
from neurogym_core.ecosystem.settings_text import named_subject
from neurogym_core.errors import (
    InvalidValueError,
    NotSupportedError,
    unknown,
)
from neurogym_core.play.vector_env import TaskVectorEnv
from neurogym_core.trials.arrays import per_row

AUTO = "auto"
"""The split of a call that leaves the choice to the subject: its `default_split`."""


class Subject(ABC):
    """Base of the reference subjects.

    Args:
        seed: seed of the random numbers of the subject.

    Example:
        >>> import numpy as np
        >>> from neurogym_core import Subject, run
        >>> class Right(Subject):
        ...     def __call__(self, env, observations):
        ...         return np.ones(env.num_envs, int)
        >>> run("perceptual/PerceptualDecisionMaking-v0", Right(), 5, seed=0)["choice"].tolist()
        ['right', 'right', 'right', 'right', 'right']
    """

    carries_state: ClassVar[bool] = True
    """False if the subject keeps nothing from one trial to the next, as all subjects of the core.
    `neurogym_core.run` plays its trials in several envs at once, which is faster."""
    env_wrappers: Sequence[Any] = ()
    """Wrappers of envs of its training; applied where a subject plays and none are given."""
    default_split: str | None = None
    """Split that it plays unless another one is given: "test" for trained subjects, whose training
    has shown them trials of "train"; None for subjects that learn from nothing, or as they play."""

    def __init__(self, seed: int | None = 0) -> None:
        self.rng = np.random.default_rng(seed)

    def begin(self, env: TaskVectorEnv) -> None:  # noqa: B027
        """Prepare to play an env; called once before the first step.

        Raises:
            NotSupportedError: the subject cannot play this task.
        """

    @abstractmethod
    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        """Return actions (num_envs,) or (num_envs, k).

        Args:
            env: the vector env that is played.
            observations: (num_envs, obs), the current observations.
        """


def _resting(env: TaskVectorEnv) -> np.ndarray:
    actions = env.task.actions
    if actions.continuous:
        return np.broadcast_to(
            actions.from_task_units(actions.rest_value), (env.num_envs, actions.size)
        )
    return np.full(env.num_envs, actions.rest or 0)


def _anything(env: TaskVectorEnv, rng: np.random.Generator) -> np.ndarray:
    actions = env.task.actions
    if actions.continuous:
        return rng.uniform(-1, 1, (env.num_envs, actions.size)).astype(np.float32)
    return rng.integers(0, actions.size, env.num_envs)


class Random(Subject):
    """Chooses on every step at random among all actions, with equal probability."""

    carries_state = False

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        return _anything(env, self.rng)


class Guesser(Subject):
    """Rests until a slot is asked, then answers at random."""

    carries_state = False

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        actions = env.task.actions
        if actions.rest is None:
            return _anything(env, self.rng)
        acting = (
            self.rng.integers(1, max(actions.size, 2), env.num_envs)
            if not actions.continuous
            else _anything(env, self.rng)
        )
        asked = env.is_asked
        return np.where(per_row(asked, acting), acting, _resting(env))


class Rest(Subject):
    """Rests on every step."""

    carries_state = False

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        return _resting(env)


class Oracle(Subject):
    """Plays the target: the correct action on every step."""

    carries_state = False

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        return env.target


class LateOracle(Subject):
    """Plays the target like the oracle, but answers 500 ms after the opening of a window, or on the
    last step of a shorter one. Where no answer ends the waiting (continuous actions without a
    trigger), it is the oracle.

    Figures of trials use it, since the oracle answers on the first step of a window, before the
    observations that follow.

    Args:
        seed: unused.
        wait: time from the opening of a window to the answer, ms.
    """

    carries_state = False

    def __init__(self, seed: int | None = 0, wait: float = 500) -> None:
        super().__init__(seed)
        self.wait = wait

    def begin(self, env: TaskVectorEnv) -> None:
        self._waited = np.zeros((env.num_envs, 1), np.int64)  # a column per slot, after a step

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        target = env.target
        actions = env.task.actions
        if actions.rest is None or (actions.continuous and actions.trigger is None):
            return target
        # The current step counts, because an action takes effect at the end of its step. Each slot
        # has its own clock: the window of the next one may open as that of the last one closes.
        asked = env.stepper.open_slots()
        self._waited = np.where(asked, self._waited + 1, 0)
        never = np.iinfo(np.int64).max
        latest = np.where(asked, self._waited, never).min(axis=1, initial=never)
        waits = env.can_wait & (latest * env.task.dt < self.wait)
        return np.where(per_row(waits, target), _resting(env), target)


class Premature(Subject):
    """Answers on every step with a random choice, also outside of response windows."""

    carries_state = False

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        actions = env.task.actions
        if actions.continuous:
            action = _anything(env, self.rng)
            if actions.trigger is not None:
                action[:, actions.trigger[0]] = 1.0
            return action
        first = 0 if actions.rest is None or actions.size == 1 else 1
        return self.rng.integers(first, actions.size, env.num_envs)


SUBJECTS: dict[str, type[Subject]] = {
    "random": Random,
    "guess": Guesser,
    "rest": Rest,
    "oracle": Oracle,
    "late_oracle": LateOracle,
    "premature": Premature,
}
"""The reference subjects of the core, by name."""


def subject_named(
    name: str, seed: int | None = 0, settings: Mapping[str, Any] | None = None
) -> Subject:
    """Return a subject by name, perhaps with settings, of which `settings` override those."""
    name, written = named_subject(name)
    given = {**written, **(settings or {})}
    cls = SUBJECTS.get(name) or _offered(name)
    defaults = settings_of(cls)
    for key, value in given.items():
        if key not in (*defaults, "seed"):
            raise unknown("setting", key, (*defaults, "seed"), of=f"the subject {name!r}")
        if _is_number(defaults.get(key, 0)) and not _is_number(value):
            raise InvalidValueError(
                f"The subject {name!r} was given {key}={value!r}. Expected a number. Give one, as"
                f" in {name}:{key}={defaults.get(key, 0)}."
            )
    return cls(**{"seed": seed, **given})


def _offered(name: str) -> type[Subject]:
    offer = find_subject(name)
    found = load(offer)
    if not (isinstance(found, type) and issubclass(found, Subject)):
        raise NotSupportedError(
            f"{offer.value} of {offer.distribution} was offered as the subject {name!r}. Expected a"
            f" class made from {Subject.__module__}.Subject. {remedy(offer.distribution)}"
        )
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def settings_of(cls: type[Subject]) -> dict[str, Any]:
    """Return the settings of a class of subjects with their defaults, without its seed."""
    return {
        name: parameter.default
        for name, parameter in inspect.signature(cls).parameters.items()
        if name != "seed" and parameter.kind is not parameter.VAR_KEYWORD
    }


def player_of(subject: Any, seed: int | None = 0) -> Any:
    """Return the player for a name, (name, {settings}), or a callable.

    Args:
        subject: see `neurogym_core.run`.
        seed: seed of a subject that is given by name, unless its settings have one.

    Raises:
        InvalidValueError: it is none of these, or a setting has an impossible value.
        UnknownNameError: there is no subject of this name, or it has no such setting.
        IncompatibleTaskError, BrokenTaskError: the package of the subject cannot be loaded.
        NotSupportedError: the object that the package offers is not a `Subject`.
    """
    pair = isinstance(subject, tuple) and len(subject) == 2
    name, settings = subject if pair else (subject, {})
    if isinstance(name, str) and isinstance(settings, Mapping):
        return subject_named(name, seed=seed, settings=settings)
    if not callable(subject) or isinstance(subject, type):
        raise InvalidValueError(
            f"{subject!r} was given as a subject. Expected a name, (name, {{settings}}), or a"
            ' callable (env, observations) -> actions. Give one, such as "oracle".'
        )
    return subject
