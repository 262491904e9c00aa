"""`Trial`: the object whose verbs an author calls in `new_trial`.

It writes down what was said, in order, for all `n` trials at once; `neurogym_core.trials.batch` turns that into a table.
Task wrappers read and change what is written down here (`trial.shows`, `trial.holds`, `trial.slots`, …) before that.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from neurogym_core.errors import TrialLayoutError, listed, unknown
from neurogym_core.trials.record import RECORD_NAMES, as_texts

if TYPE_CHECKING:
    from neurogym_core.tasks.task import Task

STAY = -1
"""`goto`: the trial goes on as it would."""
END = -2
"""`goto`: the trial is over."""

Destination = str | Mapping[str, str] | Sequence[str] | np.ndarray
"""What `then=` takes: one place, places by outcome, or places by choice."""

VERBS = ("periods", "show", "hold", "answer", "answer_at", "pay", "weigh", "frames", "note", "best")


def to_steps(ms: Any, dt: float) -> np.ndarray:
    """Milliseconds to the nearest whole number of steps, halves up; int64, shape of `ms`."""
    return np.floor(np.asarray(ms, dtype=np.float64) / dt + 0.5 + 1e-9).astype(np.int64)


@dataclass(eq=False, repr=False)
class Span:
    """Where something holds: in these periods, between two moments, in some of the trials.

    Attributes:
        periods: names of periods, in the order of the trial.
        start: ms from the onset of the first of them, number or (n,); None: from its onset. Only time in them counts.
        stop: ms likewise; None: to the end of the last of them.
        where: bool (n,); None: in all trials.
    """

    periods: tuple[str, ...]
    start: Any = None
    stop: Any = None
    where: np.ndarray | None = None


@dataclass(eq=False, repr=False)
class Show:
    """A value on a channel; `noise` is the SD of added noise, in units of the channel times sqrt(ms)."""

    channel: str
    value: Any
    span: Span
    noise: Any = 0.0


@dataclass(eq=False, repr=False)
class Hold:
    """Steps where acting costs `cost` (per 100 ms; None: the task's abort reward) and does `then`."""

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
    """Values that change from step to step: (n, T, k) from the span's onset, added to a channel or set as target."""

    name: str
    values: np.ndarray
    span: Span


@dataclass(eq=False, repr=False)
class Slot:
    """One thing that is asked, with its response window.

    Attributes:
        name: how its columns in the record are called when there are several.
        group: name of the action (group) that answers it.
        span: its response window.
        right: bool (n, k): the right choices within the group; all False = resting until the window closes is right.
            None where choices only have prices.
        aim: int (n,): the choice that the target shows, -1 = rest; float (n, k) for continuous actions.
        correct, error, miss: what each outcome pays, number or (n,).
        amounts: (n, k) what each choice pays; only where choices have prices.
        worth: (n, k) what each choice is worth on average; only where choices have prices.
        then: where each outcome ("correct", "error", "other") leads: "end", "wait" or the name of a period.
        leads: (n, k) int, where each choice leads, whatever its outcome: STAY, END or the index of a period; None: `then` says it.
        needs: name of a slot that has to be correct for this one to be.
        due: ms from the window's onset at which the answer is to be given, (n,); only for `answer_at`.
        tolerance: ms (n,) around `due`, or the largest error of a continuous answer.
        pays: error and tolerance -> reward of a correct answer, for timed and continuous answers.
        distance: continuous answers: "norm" or "circular".
    """

    name: str
    group: str
    span: Span
    right: np.ndarray | None
    aim: Any
    correct: Any
    error: Any
    miss: Any
    then: dict[str, str]
    leads: np.ndarray | None = None
    amounts: np.ndarray | None = None
    worth: np.ndarray | None = None
    needs: str | None = None
    due: np.ndarray | None = None
    tolerance: Any = None
    pays: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None


@dataclass(eq=False, repr=False)
class Timeline:
    """The periods of `n` trials."""

    names: tuple[str, ...] = ()
    steps: dict[str, np.ndarray] = field(default_factory=dict)
    untimed: set[str] = field(default_factory=set)
    then: dict[str, str] = field(default_factory=dict)


class Trial:
    """`n` trials being laid out; conditions are attributes of shape (n,).

    Attributes:
        n: number of trials.
        dt: ms per step.
        random: whether `rng` was used: then conditions and durations do not say all of a trial.
    """

    def __init__(
        self,
        task: Task,
        conditions: Mapping[str, np.ndarray],
        rng: np.random.Generator,
        n: int,
        imposed: Mapping[str, Any] | None = None,
        scalar: bool = False,
    ) -> None:
        self._task = task
        self._conditions = dict(conditions)
        self._read: set[str] = set()
        self._imposed = dict(imposed or {})
        self._scalar = scalar
        self.n = n
        self.dt = task.dt
        self._rng = rng
        self.random = False
        self.timeline = Timeline()
        self.shows: list[Show] = []
        self.holds: list[Hold] = []
        self.charges: list[Charge] = []
        self.weights: list[Weigh] = []
        self.frame_list: list[Frames] = []
        self.slots: list[Slot] = []
        self.notes: dict[str, np.ndarray] = {}
        self.best_pay: np.ndarray | None = None

    # ------------------------------------------------------------------ conditions

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._conditions:
            raise unknown("condition", name, self._conditions, of=self._task.name)
        self._read.add(name)
        values = self._conditions[name]
        return _scalar(values[0]) if self._scalar else values

    @property
    def rng(self) -> np.random.Generator:
        """Generator for what is neither a condition nor a duration (a random permutation, say)."""
        self.random = True
        return self._rng

    @property
    def conditions(self) -> dict[str, np.ndarray]:
        """All conditions, name -> (n, …); reading one here does not count as using it."""
        return self._conditions

    @property
    def right_answer(self) -> Any:
        """Which answer is right, (n,), as the task declares it with ``vary(answer=…)``; reads the conditions it needs."""
        answer = self._task.answer_of(_Reading(self._conditions, self._read))
        return _scalar(answer[0]) if self._scalar else answer

    @property
    def unread(self) -> list[str]:
        """Conditions that nobody has looked at."""
        return [name for name in self._conditions if name not in self._read]

    # ------------------------------------------------------------------ periods

    def periods(self, *names: str, then: Mapping[str, str] | None = None, **computed: Any) -> None:
        """Name the periods of the trial in order.

        Args:
            names: the periods; each takes its duration from `timing`, or from `computed`.
            then: what follows a period when its time runs out, if not the next one: the name of a period, or "end".
            computed: durations in ms: number, (n,), or a function without arguments that may ask for the `duration` of the
                periods before it. They come before `timing`, an imposed duration before both.
        """
        for name in computed:
            if name not in names:
                raise unknown("period", name, names, of=self._task.name)
        if self.timeline.names:
            raise TrialLayoutError(f"{self._task.name}.new_trial called periods() twice; name all periods in one call.")
        if len(set(names)) != len(names) or not names:
            raise TrialLayoutError(f"{self._task.name}.new_trial called periods({', '.join(map(repr, names))}); give at least one name, each once.")
        self.timeline.names = names
        for name in names:
            self._set_duration(name, computed)
        self.timeline.then = {}
        for name, target in (then or {}).items():
            self._check_period(name)
            self._check_goto(target, ("end",))
            self.timeline.then[name] = target

    def _set_duration(self, name: str, computed: Mapping[str, Any]) -> None:
        if name in self._imposed:
            ms = self._imposed[name]
        elif name in self._task.overridden_timing or name not in computed:
            ms = self._task.draw_duration(name, self._rng, self.n, computed)
        else:
            ms = computed[name]
            ms = ms() if callable(ms) else ms
            ms = float(ms) if isinstance(ms, int | float) else ms
        if isinstance(ms, float) and 0 <= ms < math.inf:
            self.timeline.steps[name] = np.full(self.n, self._constant_steps(name, ms))
            return
        try:
            ms = np.asarray(ms, dtype=np.float64)
        except (TypeError, ValueError):
            raise TrialLayoutError(f"Period {name!r} of {self._task.name} was given the duration {ms!r}; durations are numbers of ms.") from None
        self._check_ms(name, ms)
        if np.isposinf(ms).all():
            self.timeline.untimed.add(name)
            ms = np.zeros(ms.shape)
        steps = to_steps(ms, self.dt)
        steps = np.where((steps == 0) & (ms > 0), 1, steps)
        self.timeline.steps[name] = np.broadcast_to(steps, (self.n,))

    def _constant_steps(self, name: str, ms: float) -> int:
        steps = max(int(ms / self.dt + 0.5 + 1e-9), int(ms > 0))
        self._warn_unrepresentable(name, ms, steps)
        return steps

    def _check_ms(self, name: str, ms: np.ndarray) -> None:
        if ms.ndim > 1 or (ms.ndim == 1 and ms.shape != (self.n,)):
            raise TrialLayoutError(f"Period {name!r} of {self._task.name} was given durations of shape {ms.shape}; give one number, or shape ({self.n},).")
        if np.isnan(ms).any() or (ms < 0).any():
            raise TrialLayoutError(f"Period {name!r} of {self._task.name} was given the duration {_first_bad(ms)} ms; durations are 0 or more.")
        if np.isposinf(ms).any() and not np.isposinf(ms).all():
            raise TrialLayoutError(f"Period {name!r} of {self._task.name} is without a timer in some trials only; give inf for all of them, or a number for all.")

    def _warn_unrepresentable(self, name: str, ms: float, steps: int) -> None:
        if ms > 0 and abs(steps * self.dt - ms) > 0.1 * ms and self._task.warn_once(name):
            warnings.warn(
                f"Period {name!r} of {self._task.name} lasts {ms:g} ms, which dt={self.dt:g} ms makes {steps * self.dt:g} ms. "
                f"Use a smaller dt, or timing={{{name!r}: {steps * self.dt:g}}} to say that this is meant.",
                stacklevel=2,
            )

    def duration(self, name: str) -> Any:
        """Played duration of a period in ms, (n,): a whole number of steps."""
        if name not in self.timeline.steps:
            raise unknown("period", name, self.timeline.names, of=self._task.name)
        ms = self.timeline.steps[name] * self.dt
        return _scalar(ms[0]) if self._scalar else ms

    # ------------------------------------------------------------------ what is seen

    def show(
        self,
        channel: str,
        value: Any,
        during: str | Iterable[str],
        *,
        start: Any = None,
        stop: Any = None,
        where: Any = None,
        noise: Any = 0.0,
    ) -> None:
        """Add a value to a channel.

        Args:
            channel: name of a channel.
            value: number, (n,) for channels of one unit, (k,), or (n, k).
            during: a period or several.
            start, stop: ms from the onset of the (first) period, number or (n,); only time in these periods counts.
            where: bool (n,): only in these trials.
            noise: sigma, number or (n,); the SD of every step is sigma / sqrt(dt in ms), independent over steps and units.
        """
        part = self._task.channels[channel]
        span = self._span(during, start, stop, where)
        noise = self._per_trial("noise", noise) if np.ndim(noise) else noise
        self.shows.append(Show(channel, self._per_unit(f"channel {channel!r}", value, part.stop - part.start), span, noise))

    def frames(self, name: str, values: Any, during: str | Iterable[str], *, start: Any = None, where: Any = None) -> None:
        """Values that change from step to step, from the span's onset on; they wait between periods that are apart.

        Args:
            name: a channel (the values are added), or a continuous action (they are its target, in task units).
            values: (T,), (T, k) or (n, T, k).
            start: ms from the onset of the (first) period, 0 or more, number or (n,).
        """
        part = self._task.channels.get(name) or (self._task.actions.get(name) if self._task.actions.continuous else None)
        if part is None:
            raise unknown("channel", name, self._task.channels, of=self._task.name)
        values = np.asarray(values, dtype=np.float32)
        width = part.stop - part.start
        if values.ndim == 1:
            values = values[:, None]
        if values.ndim == 2:
            values = values[None]
        if values.ndim != 3 or values.shape[0] not in (1, self.n) or values.shape[2] not in (1, width):
            raise TrialLayoutError(f"frames({name!r}) of {self._task.name} was given shape {values.shape}; give (T, {width}) or ({self.n}, T, {width}).")
        span = self._span(during, start, None, where)
        if span.start is not None and (span.start < 0).any():
            raise TrialLayoutError(f"frames({name!r}) of {self._task.name} was given start={span.start.min():g} ms; give 0 or more: nothing is shown before its periods.")
        self.frame_list.append(Frames(name, values, span))

    def weigh(self, weight: Any, during: str | Iterable[str], *, start: Any = None, stop: Any = None, where: Any = None) -> None:
        """Set the weight of steps in a supervised loss; 0 masks them. Later calls win."""
        weight = self._per_trial("weight", weight) if np.ndim(weight) else weight
        self.weights.append(Weigh(weight, self._span(during, start, stop, where)))

    # ------------------------------------------------------------------ what is asked

    def hold(
        self,
        during: str | Iterable[str],
        *,
        start: Any = None,
        stop: Any = None,
        where: Any = None,
        cost: Any = None,
        then: str | None = None,
    ) -> None:
        """Say what acting costs and does on steps where the subject must rest.

        Steps outside every response window are hold by default; this changes the terms.

        Args:
            cost: reward per 100 ms of acting, number or (n,); None: the task's "abort"; where it is 0, without `then`, acting
                is free, and counts as no abort (a hook pays for it, say).
            then: "stay", "end", "restart" (the period begins again), or a period; None: as the task's `abort_ends_trial`.
        """
        if then is not None:
            self._check_goto(then, ("stay", "end", "restart"))
        cost = self._per_trial("cost", cost) if np.ndim(cost) else cost
        self.holds.append(Hold(self._span(during, start, stop, where), cost, then))

    def answer(
        self,
        group: str,
        which: Any,
        during: str | Iterable[str],
        *,
        start: Any = None,
        stop: Any = None,
        where: Any = None,
        tolerance: Any = None,
        slot: str | None = None,
        then: Destination = "end",
        needs: str | None = None,
        correct: Any = None,
        error: Any = None,
        miss: Any = None,
        pays: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
    ) -> None:
        """Ask for an answer: open a response window in which an action of `group` is right or wrong.

        Args:
            group: name of an action or group of actions.
            which: index within the group, (n,) int; or an angle in radians, (n,) float, with `tolerance`; or a mask (n, k) of
                right choices; or -1: resting until the window closes is right. For continuous actions the wanted value(s).
            tolerance: radians around an angle; for continuous actions the largest distance that is still correct.
            slot: name for the record; default the group's.
            then: what an answer does: "end" the trial, "wait" (the clock runs on, further answers are ignored), or a period
                to go to; or a dict of these by outcome ("correct", "error"; "end" where it says nothing); or one of these per
                choice, (k,) or (n, k), where the choice itself leads somewhere, right or wrong.
            needs: name of an earlier slot; without that one correct, this one cannot be.
            correct, error, miss: rewards, number or (n,); default the task's. Resting rightly pays `correct`.
            pays: continuous actions: (distance, tolerance) -> reward of an answer within the tolerance.
        """
        right, aim = self._right(group, which, tolerance)
        self._add_slot(
            slot, group, self._span(during, start, stop, where), then, correct=correct, error=error, miss=miss,
            right=right, aim=aim, needs=needs, tolerance=tolerance, pays=pays,
        )  # fmt: skip

    def answer_at(
        self,
        action: str,
        ms: Any,
        during: str | Iterable[str],
        tolerance: Any,
        *,
        start: Any = None,
        stop: Any = None,
        where: Any = None,
        index: Any = 0,
        pays: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
        slot: str | None = None,
        then: str | Mapping[str, str] = "end",
        needs: str | None = None,
        correct: Any = None,
        error: Any = None,
        miss: Any = None,
    ) -> None:
        """Ask for an action at a moment: `ms` after the window's onset, give or take `tolerance` ms.

        An action chosen on step k of the window (from 0) happens (k + 1) dt after its onset. Of continuous actions, exceeding
        the trigger is acting; what else the action says does not matter.

        Args:
            ms, tolerance: number or (n,).
            index: which action of the group, number or (n,).
            pays: (error in ms, tolerance in ms), arrays -> reward of a correct answer; default the flat `correct`.
        """
        part = self._task.actions[action]
        k = part.stop - part.start
        which = np.asarray(index)
        if which.dtype.kind not in "iu" or which.shape not in ((), (self.n,)) or ((which < 0) | (which >= k)).any():
            raise TrialLayoutError(
                f"answer_at({action!r}) of {self._task.name} was given index={_brief(which) if which.ndim else index!r}; give one "
                f"from 0 to {k - 1}, or one per trial."
            )
        if self._task.actions.continuous and self._task.actions.trigger is None:
            raise TrialLayoutError(
                f"answer_at({action!r}) of {self._task.name} has no moment, because none of its axes triggers; give one of them "
                "a threshold: Axis(…, trigger=…)."
            )
        if self._task.actions.continuous:
            right, aim = None, np.zeros((self.n, k))
        else:
            aim = np.broadcast_to(which.astype(np.int64), (self.n,))
            right = aim[:, None] == np.arange(k)
        span = self._span(during, start, stop, where)
        self._add_slot(
            slot, action, span, then, correct=correct, error=error, miss=miss, right=right, aim=aim,
            needs=needs, due=self._moment(ms, "ms"), tolerance=self._per_trial("tolerance", tolerance), pays=pays,
        )  # fmt: skip

    def pay(
        self,
        group: str,
        amount: Any,
        during: str | Iterable[str],
        *,
        worth: Any = None,
        start: Any = None,
        stop: Any = None,
        where: Any = None,
        slot: str | None = None,
        then: Destination = "end",
        needs: str | None = None,
        miss: Any = None,
    ) -> None:
        """Offer choices that have prices instead of one right answer.

        Args:
            amount: what each choice pays: number, (k,) or (n, k).
            worth: what each choice is worth on average, for `performance` and the best-paid action; default `amount`.
            then: as in `answer`; (k,) or (n, k) names of periods let each choice lead to a period of its own.
            slot: a slot that an `answer` already opened makes the choices join it (a sure bet beside the answers).
        """
        part = self._task.actions[group]
        k = part.stop - part.start
        amounts = np.broadcast_to(self._per_unit(f"pay({group!r})", amount, k), (self.n, k)).astype(np.float64)
        worths = amounts if worth is None else np.broadcast_to(self._per_unit("worth", worth, k), (self.n, k)).astype(np.float64)
        self._add_slot(
            slot, group, self._span(during, start, stop, where), then, correct=0.0, error=0.0, miss=miss, right=None,
            aim=np.argmax(worths, axis=1), amounts=amounts, worth=worths, needs=needs,
        )  # fmt: skip

    def best(self, amount: Any) -> None:
        """The most that each trial can pay, number or (n,); needed for `performance` where rewards come from a hook."""
        self.best_pay = np.broadcast_to(np.asarray(amount, np.float64), (self.n,))

    def note(self, *only_recorded: str, **covariates: Any) -> None:
        """Put covariates into the record, one value, or (n,) or (n, k): bools, numbers or texts.

        Args:
            only_recorded: names of conditions that are in the record and nowhere else: what a block or a stage was, say.
        """
        for name in only_recorded:
            getattr(self, name)
        for name, values in covariates.items():
            if name in self._conditions:
                raise TrialLayoutError(f"note({name}=…) of {self._task.name} has the name of a condition, which is recorded anyway; rename it.")
            if name in RECORD_NAMES:
                raise TrialLayoutError(f"note({name}=…) of {self._task.name} has the name of a column that every record has; rename it.")
            values = as_texts(np.asarray(values))
            if values.ndim > 2 or (values.ndim and len(values) != self.n) or not values.size or values.dtype.kind not in "biufU":
                raise TrialLayoutError(
                    f"note({name}=…) of {self._task.name} was given {values.dtype} of shape {values.shape}; give bools, numbers or "
                    f"texts: one, or shape ({self.n},) or ({self.n}, k)."
                )
            self.notes[name] = np.broadcast_to(values, (self.n, *values.shape[1:]) if values.ndim else (self.n,))

    # ------------------------------------------------------------------ helpers

    def _add_slot(self, name: str | None, group: str, span: Span, then: Destination, **terms: Any) -> None:
        name = name or group
        if terms["needs"] is not None and terms["needs"] not in {slot.name for slot in self.slots}:
            raise unknown("slot", terms["needs"], [slot.name for slot in self.slots], of=self._task.name)
        if group == self._task.actions.rest_name:
            raise TrialLayoutError(f"{self._task.name}.new_trial asks for {group!r}, the action of resting; use which=-1 with another group.")
        self._check_answerable(group, span, terms["right"])
        self._check_joins(name, terms)
        rewards = self._task.rewards
        for term in ("correct", "error", "miss"):
            value = rewards[term] if terms[term] is None else terms[term]
            terms[term] = self._per_trial(term, value)
        if not isinstance(then, str | Mapping):
            terms["leads"] = self._leads(group, then, terms)
            then = "wait"
        outcomes = dict.fromkeys(("correct", "error", "other"), "end" if isinstance(then, Mapping) else then)
        outcomes |= then if isinstance(then, Mapping) else {}
        for outcome, target in outcomes.items():
            if outcome not in ("correct", "error", "other"):
                raise unknown("outcome", outcome, ("correct", "error", "other"), of="then")
            self._check_goto(target, ("end", "wait"))
        self.slots.append(Slot(name=name, group=group, span=span, then=outcomes, **terms))

    def _check_joins(self, name: str, terms: Mapping[str, Any]) -> None:
        """Several calls may answer one question, but it is judged in one way."""
        for slot in self.slots:
            if slot.name != name or slot.amounts is not None or terms.get("amounts") is not None:
                continue
            if (slot.due is None) != (terms.get("due") is None) or slot.needs != terms["needs"] or slot.pays != terms.get("pays"):
                raise TrialLayoutError(
                    f"The question {name!r} of {self._task.name} is asked twice with different due times, needs= or pays=; ask the "
                    "second under a name of its own (slot=…)."
                )

    def _check_answerable(self, group: str, span: Span, right: np.ndarray | None) -> None:
        """Only who can rest can be right to."""
        if self._task.actions.rest is not None or right is None:
            return
        asked = True if span.where is None else span.where
        if (asked & ~right.any(axis=1)).any():
            raise TrialLayoutError(
                f"answer({group!r}) of {self._task.name} has no right choice in some trials (-1), but there is no action of "
                "resting; make the first action of act() a single one to rest with, or say with where= which trials ask."
            )

    def _leads(self, group: str, then: Any, terms: Mapping[str, Any]) -> np.ndarray:
        """Where each choice leads, (n, k) of STAY, END or the index of a period, from names of that shape."""
        part = self._task.actions[group]
        k = part.stop - part.start
        if self._task.actions.continuous or terms["needs"] is not None or terms.get("due") is not None:
            raise TrialLayoutError(
                f"then= of {self._task.name} leads by choice, which continuous, timed and dependent (needs=) answers cannot; "
                "give one place, or a dict by outcome."
            )
        names = np.asarray(then)
        if names.dtype.kind != "U" or names.ndim not in (1, 2) or names.shape[-1] != k or (names.ndim == 2 and len(names) != self.n):
            raise TrialLayoutError(
                f"then= of {self._task.name} was given {_brief(names)}; give one name, a dict by outcome, or the names of "
                f"periods per choice, of shape ({k},) or ({self.n}, {k})."
            )
        known, which = np.unique(names, return_inverse=True)
        for name in known.tolist():
            self._check_goto(name, ("end", "wait"))
        index = {"wait": STAY, "end": END, **{name: p for p, name in enumerate(self.timeline.names)}}
        places = np.array([index[name] for name in known.tolist()], np.int16)
        return np.broadcast_to(places[which.reshape(names.shape)], (self.n, k))

    def _right(self, group: str, which: Any, tolerance: Any) -> tuple[np.ndarray | None, Any]:
        """The mask of right choices (n, k) and the one the target shows (n,)."""
        part = self._task.actions[group]
        k = part.stop - part.start
        which = np.asarray(which)
        if self._task.actions.continuous:
            return None, np.broadcast_to(self._per_unit(f"answer({group!r})", which, k), (self.n, k)).astype(np.float64)
        if which.dtype == bool and which.shape in ((k,), (1, k), (self.n, k)):
            mask = np.broadcast_to(which, (self.n, k))
            return mask, np.where(mask.any(axis=1), np.argmax(mask, axis=1), -1)
        if which.dtype.kind == "f":
            return self._right_angle(group, which, tolerance)
        if which.dtype.kind not in "iub" or which.shape not in ((), (self.n,)) or (which < -1).any() or (which >= k).any():
            raise TrialLayoutError(
                f"answer({group!r}) of {self._task.name} was given {_brief(which)}; give an index from 0 to {k - 1} (or -1 for "
                f"resting), one number or shape ({self.n},), an angle with tolerance=, or a mask of shape ({self.n}, {k})."
            )
        which = np.broadcast_to(which.astype(np.int64), (self.n,))
        return which[:, None] == np.arange(k), which

    def _right_angle(self, group: str, which: np.ndarray, tolerance: Any) -> tuple[np.ndarray, np.ndarray]:
        encoder = self._task.actions.parts[group]
        if not hasattr(encoder, "nearest") or which.shape not in ((), (self.n,)) or not np.isfinite(which).all():
            raise TrialLayoutError(
                f"answer({group!r}) of {self._task.name} was given {_brief(which)}; angles in radians can be asked of a Ring only: "
                "use whole numbers for the index of a choice."
            )
        nearest = np.broadcast_to(encoder.nearest(which), (self.n,))
        mask = nearest[:, None] == np.arange(encoder.size)
        if tolerance is not None:
            mask = mask | np.broadcast_to(encoder.within(which, float(tolerance)), mask.shape)
        return mask, nearest

    def _span(self, during: str | Iterable[str], start: Any, stop: Any, where: Any) -> Span:
        names = (during,) if isinstance(during, str) else tuple(during)
        if not names:
            raise TrialLayoutError(f"during= of {self._task.name} was given no period; give one or several of {listed(self.timeline.names)}.")
        for name in names:
            self._check_period(name)
        order = self.timeline.names.index
        if where is not None:
            where = np.asarray(where)
            if where.dtype != bool or where.shape not in ((), (self.n,)):
                raise TrialLayoutError(
                    f"where= of {self._task.name} was given {where.dtype} values of shape {where.shape}; give True or False "
                    f"per trial, shape ({self.n},)."
                )
            where = np.broadcast_to(where, (self.n,))
        return Span(tuple(sorted(names, key=order)), self._moment(start, "start"), self._moment(stop, "stop"), where)

    def _moment(self, ms: Any, name: str) -> Any:
        if ms is None:
            return None
        ms = self._per_trial(name, ms)
        if np.isinf(ms).any():
            raise TrialLayoutError(f"{name}= of {self._task.name} was given {_brief(ms)}; give a finite number of ms, or leave it out.")
        return ms

    def _per_trial(self, name: str, value: Any) -> np.ndarray:
        value = np.asarray(value, dtype=np.float64)
        if value.ndim > 1 or (value.ndim == 1 and value.shape != (self.n,)) or np.isnan(value).any():
            raise TrialLayoutError(f"{name}= of {self._task.name} was given {_brief(value)}; give a number, or shape ({self.n},), without NaN.")
        return np.broadcast_to(value, (self.n,))

    def _per_unit(self, name: str, value: Any, k: int) -> np.ndarray:
        """A value that broadcasts against (n, k). One dimension means trials where there is one unit, else units."""
        value = np.asarray(value)
        if value.ndim == 1 and k == 1:
            value = value[:, None]
        if value.ndim > 2 or (value.ndim == 2 and value.shape[0] not in (1, self.n)) or (value.ndim and value.shape[-1] not in (1, k)):
            raise TrialLayoutError(f"{name} of {self._task.name} was given shape {value.shape}; give a number, ({self.n},), ({k},) or ({self.n}, {k}).")
        return value

    def _check_period(self, name: str) -> None:
        if name not in self.timeline.names:
            hint = "" if self.timeline.names else " Call trial.periods(…) first."
            error = unknown("period", name, self.timeline.names, of=self._task.name)
            raise type(error)(f"{error}{hint}")

    def _check_goto(self, target: str, words: tuple[str, ...]) -> None:
        if target not in words and target not in self.timeline.names:
            raise unknown("target of then=", target, (*words, *self.timeline.names), of=self._task.name)

    def check_values(self) -> None:
        """Raise where values that were shown, paid or weighed are no numbers. Asked once per task, not per batch."""
        for show in self.shows:
            self._check_numbers(f"channel {show.channel!r}", show.value)
            self._check_numbers(f"noise of channel {show.channel!r}", show.noise, least=0)
        for frames in self.frame_list:
            self._check_numbers(f"frames({frames.name!r})", frames.values)
        for weigh in self.weights:
            self._check_numbers("weigh()", weigh.weight, least=0)
        for hold in self.holds:
            self._check_numbers("hold(cost=…)", 0 if hold.cost is None else hold.cost)
        for slot in self.slots:
            self._check_numbers(f"pay({slot.group!r})", 0 if slot.amounts is None else slot.amounts)
            self._check_numbers(f"worth of {slot.group!r}", 0 if slot.worth is None else slot.worth)

    def _check_numbers(self, what: str, value: Any, least: float = -math.inf) -> None:
        value = np.asarray(value, dtype=np.float64)
        if not (np.isfinite(value) & (value >= least)).all():
            wanted = "finite numbers" if least == -math.inf else f"finite numbers, {least:g} or more"
            raise TrialLayoutError(f"{what} of {self._task.name} was given {_brief(value)}; give {wanted}.")

    def check(self) -> None:
        """Raise when nothing was laid out, or a declared condition was never read."""
        if not self.timeline.names:
            raise TrialLayoutError(f"{self._task.name}.new_trial never called trial.periods(…); name the periods of the trial first.")
        if self.unread:
            raise TrialLayoutError(
                f"{self._task.name}.new_trial never reads the condition(s) {listed(self.unread)} declared with vary(); "
                "use them, or do not declare them."
            )


class _Reading(dict):
    """Conditions that note which of them are looked at."""

    def __init__(self, conditions: Mapping[str, np.ndarray], read: set[str]) -> None:
        super().__init__(conditions)
        self._read = read

    def __getitem__(self, name: str) -> np.ndarray:
        self._read.add(name)
        return super().__getitem__(name)


def _scalar(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _brief(value: np.ndarray) -> str:
    text = np.array2string(np.asarray(value), threshold=6)
    return f"{text} (shape {np.shape(value)})"


def _first_bad(ms: np.ndarray) -> float:
    flat = np.atleast_1d(ms)
    return float(flat[np.isnan(flat) | (flat < 0)][0]) if flat.size else math.nan
