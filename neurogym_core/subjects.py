"""Reference subjects: random, guessing, resting, oracle, premature responses, ideal observer.

A subject is called with a vector env and the current observations, and returns one action per env::

    actions = subject(env, observations)

`begin(env)` is called before the first step; subjects read everything else from the env.
Packages add subjects through the entry-point group ``neurogym.subjects``."""

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
        seed: seed of the random numbers of the subject.
    """

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

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        return _anything(env, self.rng)


class Guesser(Subject):
    """Rests until a slot is asked, then answers at random; its performance is the chance level."""

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

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        return _resting(env)


class Oracle(Subject):
    """Plays the target: the correct action on every step."""

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        return env.target


class LateOracle(Subject):
    """Plays the target like the oracle, but answers 500 ms after the opening of a window, or on the
    last step of a shorter one.

    Figures of trials use it, since the oracle answers on the first step of a window, before the
    observations that follow.

    Args:
        seed: unused.
        wait: time from the opening of a window to the answer, ms.
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
        # The current step counts, because an action takes effect at the end of its step.
        self._waited = np.where(env.is_asked, self._waited + 1, 0)
        waits = env.can_wait & (self._waited * env.task.dt < self.wait)
        return np.where(per_row(waits, target), _resting(env), target)


class Premature(Subject):
    """Answers on every step with a random choice, also outside of response windows."""

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
    """Ideal observer of noisy evidence: sums a channel over the trial and reports the largest sum.

    It rests until a slot is asked. It is optimal if the evidence units have independent Gaussian
    noise of equal SD and differ only in their mean (Bogacz et al. 2006,
    doi:10.1037/0033-295X.113.4.700).

    Args:
        channel: the evidence channel.
        group: the actions that report the units of the channel, in the same order; by default the
            first group other than resting.
        seed: seed of the random numbers that break ties.
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
                f"{task.name} has {part.stop - part.start} units in the channel {self.channel!r}"
                f" and {choices.stop - choices.start} choices in {group!r}. Expected as many"
                " choices as units. Give the integrator another channel= or group=."
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
"""The reference subjects of the core, by name."""


def subject_named(name: str, seed: int | None = 0) -> Subject:
    """Return a subject of the core, or of an installed package, which is imported.

    Raises:
        UnknownNameError: there is no subject of this name.
        IncompatibleTaskError, BrokenTaskError: the package of the subject cannot be loaded.
        NotSupportedError: the object that the package offers is not a `Subject`.
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
