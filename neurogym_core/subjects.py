"""Reference subjects, which play any task: random, guessing, resting, oracle, premature responses,
ideal observer.

A subject is called with a vector env and the current observations, and returns one action per env::

    actions = subject(env, observations)

`begin(env)` is called before the first step; everything else is read from the env.
Packages bring further subjects through the entry-point group ``neurogym.subjects``."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from neurogym_core.ecosystem.discovery import find_subject, load
from neurogym_core.ecosystem.records import advice
from neurogym_core.errors import NotSupportedError
from neurogym_core.play.vector_env import TaskVectorEnv
from neurogym_core.trials.arrays import per_row


class Subject(ABC):
    """Base of the reference subjects.

    Args:
        seed: of the subject's own random numbers.
    """

    def __init__(self, seed: int | None = 0) -> None:
        self.rng = np.random.default_rng(seed)

    def begin(self, env: TaskVectorEnv) -> None:  # noqa: B027
        """Called once before the first step; refuses tasks that the subject cannot play."""

    @abstractmethod
    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        """Return actions (num_envs,) or (num_envs, k) for the current observations, (num_envs, obs)."""


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
    """Acts at random on every step, all actions equally likely."""

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        return _anything(env, self.rng)


class Guesser(Subject):
    """Rests while it should, and answers at random as soon as something is asked: what chance
    performance is.
    """

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
    """Never acts."""

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        return _resting(env)


class Oracle(Subject):
    """Does what is right on every step: plays the target."""

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        return env.target


class LateOracle(Subject):
    """Plays the target like the oracle, but answers half a second after a window opens, or on the
    last step of a shorter one.

    The figures of trials use it: the oracle answers on the first step of a window, before the
    figure can show what the answer depends on.

    Args:
        seed: unused.
        wait: ms from the opening of a window to the answer.
    """

    def __init__(self, seed: int | None = 0, wait: float = 500) -> None:
        super().__init__(seed)
        self.wait = wait

    def begin(self, env: TaskVectorEnv) -> None:
        self._waited = np.zeros(env.num_envs, np.int64)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        target = env.target
        if env.task.actions.rest is None:
            return target
        self._waited = np.where(
            env.is_asked, self._waited + 1, 0
        )  # an action of this step happens at its end
        waits = env.can_wait & (self._waited * env.task.dt < self.wait)
        return np.where(per_row(waits, target), _resting(env), target)


class Premature(Subject):
    """Answers on every step, whether anything is asked or not: a random choice, never resting."""

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        actions = env.task.actions
        if actions.continuous:
            action = _anything(env, self.rng)
            if actions.trigger is not None:
                action[:, actions.trigger[0]] = 1.0
            return action
        first = 0 if actions.rest is None or actions.size == 1 else 1
        return self.rng.integers(first, actions.size, env.num_envs)


class Integrator(Subject):
    """Ideal observer of noisy evidence: sums a channel over the trial, rests until asked, and
    reports the largest sum.

    Optimal where the evidence units carry independent Gaussian noise of equal SD and differ in
    their mean only (Bogacz et al. 2006, doi:10.1037/0033-295X.113.4.700).

    Args:
        channel: the evidence channel.
        group: the actions that report its units, in the same order; default the first that is not
            resting.
        seed: of its random numbers (ties).
    """

    def __init__(
        self, channel: str = "stimulus", group: str | None = None, seed: int | None = 0
    ) -> None:
        super().__init__(seed)
        self.channel, self.group = channel, group

    def begin(self, env: TaskVectorEnv) -> None:
        task = env.task
        part = task.channels[self.channel]
        group = self.group or next(name for name in task.actions if name != task.actions.rest_name)
        choices = task.actions[group]
        if choices.stop - choices.start != part.stop - part.start:
            raise NotSupportedError(
                f"The integrator needs as many units in the channel {self.channel!r} as choices in"
                f" {group!r}; {task.name} has {part.stop - part.start} and"
                f" {choices.stop - choices.start}. Name another channel= or group=."
            )
        self._units, self._first = part, choices.start
        self._sum = np.zeros((env.num_envs, part.stop - part.start))
        self._trial = env.trial_number.copy()

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        fresh = env.trial_number != self._trial
        self._sum[fresh] = 0
        self._trial = env.trial_number.copy()
        self._sum += observations[:, self._units]
        ties = 1e-9 * self.rng.random(self._sum.shape)
        choice = self._first + np.argmax(self._sum + ties, axis=1)
        return np.where(env.is_asked, choice, env.task.actions.rest or 0)


SUBJECTS: dict[str, type[Subject]] = {
    "random": Random,
    "guess": Guesser,
    "rest": Rest,
    "oracle": Oracle,
    "late_oracle": LateOracle,
    "premature": Premature,
    "integrator": Integrator,
}
"""Reference subjects of the core by name."""


def subject_named(name: str, seed: int | None = 0) -> Subject:
    """A subject of the core, or of an installed package, which is imported now.

    Raises:
        UnknownNameError: there is none of this name.
        IncompatibleTaskError, BrokenTaskError: its package cannot be loaded.
        NotSupportedError: what its package offers is no `Subject`.
    """
    if name in SUBJECTS:
        return SUBJECTS[name](seed=seed)
    offer = find_subject(name)
    found = load(offer)
    if not (isinstance(found, type) and issubclass(found, Subject)):
        raise NotSupportedError(
            f"{offer.value} of {offer.distribution} was offered as the subject {name!r}. Expected a"
            f" class made from {Subject.__module__}.Subject. {advice(offer.distribution)}"
        )
    return found(seed=seed)
