"""`Layout`: a record of what `new_trial` said of `n` trials, which `compile_layout` turns into a
table.

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
"""`goto`: the trial goes on as it would."""
END = -2
"""`goto`: the trial is over."""

Destination = str | Mapping[str, str] | Sequence[str] | Array
"""What `then=` takes: one place, places by outcome, or places by choice."""


def to_steps(ms: Any, dt: float) -> Ints:
    """Milliseconds to the nearest whole number of steps, halves up; int64, shape of `ms`."""
    return np.asarray(np.floor(np.asarray(ms, dtype=np.float64) / dt + 0.5 + 1e-9)).astype(np.int64)


@dataclass(eq=False, repr=False)
class Span:
    """Where something holds: in these periods, between two moments, in some of the trials.

    Attributes:
        periods: names of periods, in the order of the trial.
        start: ms from the onset of the first of them, number or (n,); None: from its onset. Only
            time in them counts.
        stop: ms likewise; None: to the end of the last of them.
        where: bool (n,); None: in all trials.
    """

    periods: tuple[str, ...]
    start: Any = None
    stop: Any = None
    where: Bools | None = None


@dataclass(eq=False, repr=False)
class Show:
    """A value on a channel; `noise` is the SD of added noise, in units of the channel times
    sqrt(ms).
    """

    channel: str
    value: Any
    span: Span
    noise: Any = 0.0


@dataclass(eq=False, repr=False)
class Hold:
    """Steps where acting costs `cost` (per 100 ms; None: the task's abort reward) and does
    `then`.
    """

    span: Span
    cost: Any = None
    then: str | None = None


@dataclass(eq=False, repr=False)
class Charge:
    """A reward of every step, whatever is done, per 100 ms: what time costs."""

    amount: float
    span: Span


@dataclass(eq=False, repr=False)
class Weigh:
    """The weight of steps in a supervised loss."""

    weight: Any
    span: Span


@dataclass(eq=False, repr=False)
class Frames:
    """Values that change from step to step: (n, T, k) from the span's onset, added to a channel or
    set as target.
    """

    name: str
    values: Array
    span: Span


Pays = Callable[[Array, Array], Array]
"""What a graded answer pays: error and tolerance -> reward."""


@dataclass(eq=False, repr=False)
class Slot:
    """One thing that is asked, with its response window.

    Attributes:
        name: how its columns in the record are called when there are several.
        group: name of the action (group) that answers it.
        span: its response window.
        right: bool (n, k): the right choices within the group; all False = resting until the window
            closes is right. None where choices only have prices.
        aim: int (n,): the choice that the target shows, -1 = rest; float (n, k) for continuous
            actions.
        correct, error, miss: what each outcome pays, number or (n,).
        amounts: (n, k) what each choice pays; only where choices have prices.
        worth: (n, k) what each choice is worth on average; only where choices have prices.
        then: where each outcome ("correct", "error", "other") leads: "end", "wait" or the name of a
            period.
        leads: (n, k) int, where each choice leads, whatever its outcome: STAY, END or the index of
            a period; None: `then` says it.
        needs: name of a slot that has to be correct for this one to be.
        due: ms from the window's onset at which the answer is to be given, (n,); only for
            `answer_at`.
        tolerance: ms (n,) around `due`, or the largest error of a continuous answer.
        pays: error and tolerance -> reward of a correct answer, for timed and continuous answers.
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


@dataclass(eq=False, repr=False)
class Timeline:
    """The periods of `n` trials: names in order, steps (n,) of each, those without a timer, and
    what follows each.
    """

    names: tuple[str, ...] = ()
    steps: dict[str, Array] = field(default_factory=dict)
    untimed: set[str] = field(default_factory=set)
    then: dict[str, str] = field(default_factory=dict)


@dataclass(eq=False, repr=False)
class Layout:
    """What was said of `n` trials, in order.

    Attributes:
        interface: what is known of the task.
        n: number of trials.
        conditions: name -> (n, …).
        durations: ms by period that are imposed, number or (n,).
        read: names of the conditions that `new_trial` read.
        timeline: the periods.
        shows, frames: what is seen.
        holds, charges, slots: what is paid and asked.
        weights: of steps in a supervised loss.
        notes: name -> (n, …), covariates.
        best_pay: (n,) the most that each trial can pay, where `max_reward` said it.
        random: whether `new_trial` drew from `rng`; trials with equal conditions may then differ.
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
