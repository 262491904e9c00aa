"""Ideal observers of the tasks, for the ideals of the manifest. They see observations only."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from neurogym_core import Angle, Subject, TaskVectorEnv


class _Observer(Subject):
    """Base of observers that report a number, or several, in the units of the task."""

    carries_state = False

    def begin(self, env: TaskVectorEnv) -> None:
        self.output = np.zeros((env.num_envs, env.task.actions.size))

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        seen = {name: observations[:, units] for name, units in env.task.channels.items()}
        self.follow(env.task, seen)
        return env.task.actions.from_task_units(self.output)

    @abstractmethod
    def follow(self, task, seen) -> None:
        """Set the output, (n, outputs), from the observations of a step, channel -> (n, units)."""


class Latch(_Observer):
    """Keeps the sign of the last input beyond 0.5."""

    def follow(self, task, seen) -> None:
        pulse = seen["pulse"]
        self.output = np.where(np.abs(pulse) > 0.5, np.sign(pulse), self.output)


class Reflex(Latch):
    """Reports the sign of an input beyond 0.5, and 1 otherwise: no memory."""

    def follow(self, task, seen) -> None:
        self.output = np.ones(self.output.shape)
        super().follow(task, seen)


class Oscillator(_Observer):
    """Counts time from the mark.

    Args:
        index: the frequency that it produces; None: the one that is asked for.
    """

    def __init__(self, index: int | None = None) -> None:
        self.index = index

    def begin(self, env: TaskVectorEnv) -> None:
        super().begin(env)
        self._marked, self._step = np.zeros(env.num_envs, bool), np.zeros(env.num_envs)

    def follow(self, task, seen) -> None:
        marked = seen["start"][:, 0] > 0.5
        self._step = np.where(marked & ~self._marked, 0, self._step + 1)
        self._marked = marked
        index = (seen["frequency"][:, 0] - 0.25) * task.frequencies
        index = index if self.index is None else self.index
        omega = task.slowest + index * (task.fastest - task.slowest) / (task.frequencies - 1)
        self.output = np.sin(omega * self._step * task.dt / 1000)[:, None]


class Compass(_Observer):
    """Adds up the angular velocity from the direction of the beginning.

    Args:
        moves: whether it does; otherwise it reports the direction of the beginning.
    """

    def __init__(self, moves: bool = True) -> None:
        self.moves = moves

    def begin(self, env: TaskVectorEnv) -> None:
        super().begin(env)
        self._angle = np.zeros(env.num_envs)

    def follow(self, task, seen) -> None:
        start = seen["start"]
        shown = np.hypot(*start.T) > 0.5
        turned = self._angle + self.moves * seen["velocity"][:, 0] * task.dt / 1000
        self._angle = np.where(shown, np.arctan2(start[:, 1], start[:, 0]), turned)
        self.output = Angle.points(self._angle)


class Navigator(_Observer):
    """Adds up the velocity from the position of the beginning.

    Args:
        moves: whether it does; otherwise it reports the position of the beginning.
    """

    def __init__(self, moves: bool = True) -> None:
        self.moves = moves

    def begin(self, env: TaskVectorEnv) -> None:
        super().begin(env)
        self._place = np.zeros((env.num_envs, 2))

    def follow(self, task, seen) -> None:
        start = seen["start"]
        moved = self._place + self.moves * seen["velocity"] * task.dt / 1000
        self._place = np.where(start[:, 2:] > 0.5, start[:, :2], moved)
        self.output = self._place


class PlaceNavigator(Navigator):
    """Of PathIntegrationPlaceCells: a navigator that has the activity of its place."""

    def follow(self, task, seen) -> None:
        super().follow(task, seen)
        self.output = task.activity(self._place)


class _Weigher(_Observer):
    """Base of observers that weigh the inputs of a trial, from its beginning to the go cue."""

    def begin(self, env: TaskVectorEnv) -> None:
        super().begin(env)
        self._step, self._cue = np.zeros(env.num_envs, int), np.zeros(env.num_envs, bool)

    def follow(self, task, seen) -> None:
        cue = seen["fixation"][:, 0] > 0.5
        first = cue & ~self._cue
        self._step, self._cue = np.where(first, 0, self._step + 1), cue
        self.output[first] = 0
        self.output[:, 0] += np.where(cue, self.weighed(task, seen), 0)

    @abstractmethod
    def weighed(self, task, seen) -> np.ndarray:
        """Return the amount that a step adds to the output, (n,)."""

    def within(self, task, *periods: str) -> np.ndarray:
        """Whether the step lies in the last of these periods, which begin a trial, (n,)."""
        ends = np.cumsum([float(task.timing[name].to_plain()) / task.dt for name in periods])
        return (self._step >= ends[-2]) & (self._step < ends[-1])


class ContextWeigher(_Weigher):
    """Sums the input that counts while the stimulus is on.

    Args:
        attends: which input counts: "colour", "motion", "both"; None: as the cue says.
        look: how much of the stimulus it sees, ms; None: all.
    """

    def __init__(self, attends: str | None = None, look: float | None = None) -> None:
        self.attends, self.look = attends, look

    def weighed(self, task, seen) -> np.ndarray:
        colour, motion = seen["colour"][:, 0], seen["motion"][:, 0]
        cued = np.where(seen["context"][:, 0] > seen["context"][:, 1], colour, motion)
        input_ = {"colour": colour, "motion": motion, "both": colour + motion, None: cued}
        on = self.within(task, "fixation", "context", "stimulus")
        if self.look is not None:
            on &= self._step < (450 + self.look) / task.dt
        return np.where(on, input_[self.attends], 0)


class StrengthWeigher(_Weigher):
    """Sums the input while the stimulus is on.

    Args:
        look: how much of the stimulus it sees, ms; None: all.
    """

    def __init__(self, look: float | None = None) -> None:
        self.look = look

    def weighed(self, task, seen) -> np.ndarray:
        on = self.within(task, "fixation", "stimulus")
        if self.look is not None:
            on &= self._step < (100 + self.look) / task.dt
        return np.where(on, seen["stimulus"][:, 0], 0)


class _Comparer(_Observer):
    """Base of observers of a first stimulus after fixation, and a second one before the go cue."""

    first, second = ("first", "second")

    def begin(self, env: TaskVectorEnv) -> None:
        super().begin(env)
        self._cue = np.zeros(env.num_envs, bool)
        self._past: list[list[np.ndarray]] = [[] for _ in range(env.num_envs)]

    def follow(self, task, seen) -> None:
        cue = seen["fixation"][:, 0] > 0.5
        inputs = np.concatenate([seen[name] for name in seen if name != "fixation"], axis=1)
        for env in np.flatnonzero(cue):
            if not self._cue[env]:
                self._past[env] = []
            self._past[env].append(inputs[env])
        for env in np.flatnonzero(self._cue & ~cue):
            past = np.array(self._past[env])
            begins, lasts, ends = (
                round(float(task.timing[name].to_plain()) / task.dt)
                for name in ("fixation", self.first, self.second)
            )
            first, second = past[begins : begins + lasts], past[-ends:]
            self.output[env, 0] = self.compared(first.mean(axis=0), second.mean(axis=0))
        self._cue = cue

    @abstractmethod
    def compared(self, first: np.ndarray, second: np.ndarray) -> float:
        """The output, from the means of both stimuli, (units,) each."""


class Difference(_Comparer):
    """Reports the first minus the second.

    Args:
        uses: "both"; or "first" or "second" alone, beside the mean.
    """

    def __init__(self, uses: str = "both") -> None:
        self.uses = uses

    def compared(self, first, second) -> float:
        return float((self.uses != "second") * first[0] - (self.uses != "first") * second[0])


class Total(_Comparer):
    """Reports the sum of two pulses.

    Args:
        uses: "both"; or "first" or "second" alone.
    """

    def __init__(self, uses: str = "both") -> None:
        self.uses = uses

    def compared(self, first, second) -> float:
        return float((self.uses != "second") * first[0] + (self.uses != "first") * second[0])


class Matcher(_Comparer):
    """Reports whether two stimuli are the same."""

    first, second = ("sample", "test")

    def compared(self, first, second) -> float:
        return float(np.where(first.argmax() == second.argmax(), 1, -1))


class Adder(_Weigher):
    """Adds up the marked numbers.

    Args:
        both: whether it takes both; otherwise the first one, and 0.5 for the other.
    """

    def __init__(self, both: bool = True) -> None:
        self.both = both

    def weighed(self, task, seen) -> np.ndarray:
        value = seen["value"][:, 0]
        if not self.both:
            value = np.where(self._step < task.steps // 2, value, 0.5)
        return value * (seen["mark"][:, 0] > 0.5)


__all__ = [
    "Adder", "Compass", "ContextWeigher", "Difference", "Latch", "Matcher", "Navigator",
    "Oscillator", "PlaceNavigator", "Reflex", "StrengthWeigher", "Total",
]  # fmt: skip
