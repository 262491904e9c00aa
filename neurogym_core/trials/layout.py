"""`Layout`: the calls that `new_trial` made for `n` trials. `lay_out` turns it into a table.

Task wrappers read and change it before that: `trial.layout.shows`, `trial.layout.slots` and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neurogym_core.trials.arrays import Array, Bools, Floats, Ints
from neurogym_core.trials.interface import Interface

STAY = -1
"""`goto`: an action does not change the course of the trial."""
END = -2
"""`goto`: an action ends the trial."""

Destination = str | Mapping[str, str] | Sequence[str] | Array
"""Values of `then=`: one place, places by outcome, or places by choice."""


def to_steps(ms: Any, dt: float) -> Ints:
    """Round milliseconds to the nearest whole number of steps, halves up; int64, shape of `ms`."""
    # 1e-9: 0.15 / 0.1 is 1.4999999999999998, and must round up like 1.5.
    return np.asarray(np.floor(np.asarray(ms, dtype=np.float64) / dt + 0.5 + 1e-9)).astype(np.int64)


TOLERANCE = 1e-9
"""Rounding error of times, in steps."""


@dataclass(eq=False, repr=False)
class Span:
    """The periods, the times within them, and the trials that a verb applies to.

    Attributes:
        periods: names of periods, in the order of the trial.
        start: ms from the onset of the first of them, number or (n,), counted in these periods
            only; None: from its onset.
        stop: ms likewise; None: to the end of the last of them.
        where: bool (n,); None: in all trials.

    Example:
        >>> from neurogym_core import Span
        >>> Span(("delay", "decision"), start=100).steps(None, dt=20)
        (array(5), None)
    """

    periods: tuple[str, ...]
    start: Any = None
    stop: Any = None
    where: Bools | None = None

    def steps(self, total: Ints | None, dt: float) -> tuple[Ints | None, Ints | None]:
        """Return the first step and the last step + 1, (n,) each; None: the edge of the periods.

        Both are rounded. A time that is longer than 0 ms lasts at least one step: where both round
        to the same edge of a step, it is the step in which the middle of that time lies.

        Args:
            total: (n,) steps of all periods of the span; None where one of them has no timer.
            dt: ms per step.
        """
        start = None if self.start is None else to_steps(self.start, dt)
        stop = None if self.stop is None else to_steps(self.stop, dt)
        if (start is None and stop is None) or (stop is None and total is None):
            return start, stop
        first, last = self._inside(start, stop, total)
        low, high = self._inside(
            None if self.start is None else np.asarray(self.start) / dt,
            None if self.stop is None else np.asarray(self.stop) / dt,
            total,
        )
        lost = (last <= first) & (high > low + TOLERANCE)
        if not np.any(lost):
            return start, stop
        step = np.floor((low + high) / 2).astype(np.int64)
        return (
            None if start is None else np.where(lost, step, start),
            None if stop is None else np.where(lost, step + 1, stop),
        )

    @staticmethod
    def _inside(start: Any, stop: Any, total: Ints | None) -> tuple[Any, Any]:
        """The part from `start` to `stop` that lies in the periods, in steps."""
        first = 0 if start is None else np.maximum(start, 0)
        if stop is None:
            return first, total
        return first, stop if total is None else np.minimum(stop, total)


@dataclass(eq=False, repr=False)
class Show:
    """A value on a channel, of one call of ``trial.show``.

    Attributes:
        channel: name of the channel.
        value: (k,) or (n, k) for the units of the channel; or a number, or (n,), for all of them.
        span: its times.
        noise: sigma of Gaussian noise, number or (n,), in units of the channel times sqrt(ms).

    Example:
        >>> from neurogym_core import TaskWrapper
        >>> class Quiet(TaskWrapper):
        ...     def new_trial(self, trial):
        ...         super().new_trial(trial)
        ...         for show in trial.layout.shows:
        ...             show.noise = 0.0
    """

    channel: str
    value: Any
    span: Span
    noise: Any = 0.0


@dataclass(eq=False, repr=False)
class Hold:
    """Steps in which the subject has to rest, of one call of ``trial.hold``.

    Attributes:
        span: its times.
        cost: reward of acting, per 100 ms, number or (n,); None: the task's reward "abort".
        then: "end", or name of the period that acting leads to; None: the trial goes on.

    Example:
        >>> from neurogym_core import Hold, Span
        >>> Hold(Span(("fixation",)), cost=-0.1, then="end").then
        'end'
    """

    span: Span
    cost: Any = None
    then: str | None = None


@dataclass(eq=False, repr=False)
class Charge:
    """A reward of every step, whatever the action: the cost of time.

    Attributes:
        amount: reward per 100 ms.
        span: its times.

    Example:
        >>> from neurogym_core import Charge, Span
        >>> Charge(-0.01, Span(("decision",))).amount
        -0.01
    """

    amount: float
    span: Span


@dataclass(eq=False, repr=False)
class Weigh:
    """The weight of steps in a supervised loss.

    Attributes:
        weight: number or (n,).
        span: its times.

    Example:
        >>> from neurogym_core import Span, Weigh
        >>> Weigh(5.0, Span(("decision",))).weight
        5.0
    """

    weight: Any
    span: Span


@dataclass(eq=False, repr=False)
class Frames:
    """Values that change from step to step, of a ``timecourse=``.

    Attributes:
        name: the channel to which they are added, or the action whose target they are.
        values: (n, T, k), or (1, T, k) for all trials, one row per step.
        span: its times.

    Example:
        >>> import numpy as np
        >>> from neurogym_core import Frames, Span
        >>> Frames("stimulus", np.zeros((1, 10, 2)), Span(("stimulus",))).values.shape
        (1, 10, 2)
    """

    name: str
    values: Array
    span: Span


Pays = Callable[[Array, Array], Array]
"""Reward of a graded answer: (error, tolerance) -> reward."""


@dataclass(eq=False, repr=False)
class Slot:
    """One call that opens an answer slot; several calls may open the same slot.

    Attributes:
        name: prefix of its columns in the record, where a task has several slots.
        group: name of the action (group) that answers it.
        span: its response window.
        right: bool (n, k): the right choices within the group; all False: resting until the window
            closes is right. None where choices have prices, and for continuous actions.
        aim: int (n,): the choice that is the target, -1: rest; float (n, k) for continuous actions.
        correct, error, miss: reward of each outcome, number or (n,).
        amounts: (n, k) reward of each choice; only where choices have prices.
        worth: (n, k) mean reward of each choice; only where choices have prices.
        then: outcome ("correct", "error", "other") -> "end", "wait" or the name of a period.
        leads: (n, k) int, the place that each choice leads to, whatever its outcome: STAY, END or
            the index of a period. None: `then` applies.
        needs: name of a slot that must be correct, or else this one is an error.
        due: ms from the window's onset at which the answer is due, (n,); only for `answer_at`.
        tolerance: ms (n,) around `due`, or the largest error of a continuous answer.
        pays: (error, tolerance) -> reward of a correct answer, for timed and continuous answers.
        again: whether it can be answered again when its window opens again.
        scored: whether it counts in the trial's outcome and performance.
        reported: whether only `step_action` answers it, with `now.answer`.

    Example:
        >>> from neurogym_core import TaskWrapper
        >>> class Generous(TaskWrapper):
        ...     def new_trial(self, trial):
        ...         super().new_trial(trial)
        ...         for slot in trial.layout.slots:
        ...             slot.correct = 2 * slot.correct
    """

    name: str
    group: str
    span: Span
    right: Bools | None
    aim: Any
    correct: Any
    error: Any
    miss: Any
    then: dict[str, str]
    leads: Array | None = None
    amounts: Floats | None = None
    worth: Any = None
    needs: str | None = None
    due: Floats | None = None
    tolerance: Any = None
    pays: Pays | None = None
    again: bool = False
    scored: bool = True
    reported: bool = False


@dataclass(eq=False, repr=False)
class Timeline:
    """The periods of `n` trials.

    Attributes:
        names: the periods, in order.
        given: period -> its duration as it was given or drawn, ms, number or (n,).
        steps: period -> (n,) steps.
        untimed: the periods without a timer.
        then: period -> the one that follows it, or "end", where it is not the next one.
        repeat: the periods that a trial may visit more than once.

    Example:
        >>> from neurogym_core import TaskWrapper
        >>> class Named(TaskWrapper):
        ...     def new_trial(self, trial):
        ...         super().new_trial(trial)
        ...         assert "decision" in trial.layout.timeline.names
    """

    names: tuple[str, ...] = ()
    given: dict[str, Any] = field(default_factory=dict)
    steps: dict[str, Array] = field(default_factory=dict)
    untimed: set[str] = field(default_factory=set)
    then: dict[str, str] = field(default_factory=dict)
    repeat: set[str] = field(default_factory=set)


@dataclass(eq=False, repr=False)
class Layout:
    """The calls of `new_trial` for `n` trials, in order.

    Attributes:
        interface: channels, actions and rewards of the task.
        n: number of trials.
        conditions: name -> (n, …).
        durations: imposed durations, period -> ms, number or (n,).
        read: names of the conditions that `new_trial` read.
        timeline: the periods.
        shows, frames: the observations.
        holds, charges, slots: the payoffs.
        weights: weights of steps in a supervised loss.
        notes: covariates, name -> (n, …).
        states: names of the arrays of `trial_state` whose last values are recorded.
        best_pay: (n,) the largest reward of each trial, where `max_reward` set it.
        random: whether `new_trial` drew from `rng`; trials with equal conditions may then differ.

    Example:
        >>> from neurogym_core import TaskWrapper, make_task
        >>> class Unseen(TaskWrapper):
        ...     def new_trial(self, trial):
        ...         super().new_trial(trial)
        ...         trial.layout.shows.clear()
        >>> make_task("perceptual/PerceptualDecisionMaking-v0", wrap=Unseen).name
        'Unseen(PerceptualDecisionMaking)'
    """

    interface: Interface
    n: int
    conditions: dict[str, Array]
    durations: Mapping[str, Any] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)
    timeline: Timeline = field(default_factory=Timeline)
    shows: list[Show] = field(default_factory=list)
    frames: list[Frames] = field(default_factory=list)
    holds: list[Hold] = field(default_factory=list)
    charges: list[Charge] = field(default_factory=list)
    slots: list[Slot] = field(default_factory=list)
    weights: list[Weigh] = field(default_factory=list)
    notes: dict[str, Array] = field(default_factory=dict)
    states: set[str] = field(default_factory=set)
    best_pay: Array | None = None
    random: bool = False

    @property
    def name(self) -> str:
        """Name of the task."""
        return self.interface.name

    @property
    def dt(self) -> float:
        """ms per step."""
        return self.interface.dt

    def spans(self) -> list[Span]:
        """Return the spans of all calls but timecourses."""
        calls: tuple[Any, ...] = (
            *self.shows, *self.holds, *self.charges, *self.weights, *self.slots,
        )  # fmt: skip
        return [call.span for call in calls]
