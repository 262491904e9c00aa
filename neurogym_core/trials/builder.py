"""`TrialBuilder`: the object whose verbs an author calls in `new_trial`.

It writes down what was said, in order, for all `n` trials at once, in a `Layout`;
`neurogym_core.trials.compiling` turns that into a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from neurogym_core.errors import NotSupportedError, TrialLayoutError, unknown
from neurogym_core.trials import arguments
from neurogym_core.trials.arrays import Array
from neurogym_core.trials.interface import Interface
from neurogym_core.trials.layout import Destination, Frames, Hold, Layout, Pays, Show, Weigh
from neurogym_core.trials.record import RECORD_NAMES, as_texts
from neurogym_core.trials.timing import Timing

VERBS = (
    "periods",
    "show",
    "hold",
    "answer",
    "answer_at",
    "offer",
    "loss_weight",
    "timecourse",
    "record",
    "max_reward",
)


class TrialBuilder:
    """`n` trials being laid out; conditions are read-only attributes of shape (n,).

    Args:
        during: a period, or several, in which a verb applies.
        start, stop: ms from the onset of the first of these periods, number or (n,); the verb
            applies between them.
        where: bool (n,), the trials that a verb applies to.
        slot: name of a response window in the record.
        then: the period that follows an answer; "end", "wait", "stay" or "restart".
        needs: name of an earlier slot that has to be answered correctly first.
        correct, error, miss: rewards, number or (n,); by default those of the task.

    Attributes:
        layout: what was said so far, which task wrappers read and change.
        conditions: all conditions, name -> (n, …); reading one here does not count as using it.

    Example:
        >>> import numpy as np
        >>> from neurogym_core import Choice, Task
        >>> class Side(Task):
        ...     timing = {"fixation": 300, "light": 500}
        ...
        ...     def define(self):
        ...         self.observe(light=2)
        ...         self.act(rest=1, choose=2)
        ...         self.vary(side=Choice(2), answer="side")
        ...
        ...     def new_trial(self, trial):
        ...         trial.periods("fixation", "light")
        ...         trial.show("light", np.eye(2)[trial.side], during="light")
        ...         trial.answer("choose", trial.side, during="light", start=100)
        >>> Side().sample(4, seed=0).spans(0)
        [('fixation', 0, 3), ('light', 3, 8)]
    """

    # Slots, so that every public name is one of the class: `Task.vary` refuses these as conditions.
    # Names that begin with "_" are refused there, too.
    __slots__ = ("_answer", "_rng", "_scalar", "_timing", "conditions", "layout")

    def __init__(
        self,
        interface: Interface,
        conditions: Mapping[str, Array],
        rng: np.random.Generator,
        n: int,
        *,
        timing: Timing,
        durations: Mapping[str, Any] | None = None,
        answer: Callable[[Mapping[str, Array]], Array] | None = None,
        scalar: bool = False,
    ) -> None:
        self.layout = Layout(interface, n, dict(conditions), durations=dict(durations or {}))
        self.conditions: Mapping[str, Array] = {
            name: _read_only(values) for name, values in conditions.items()
        }
        self._rng, self._timing, self._answer, self._scalar = rng, timing, answer, scalar

    # ------------------------------------------------------------------ what is known

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self.conditions:
            raise unknown("condition", name, self.conditions, of=self.layout.name)
        self.layout.read.add(name)
        values = self.conditions[name]
        return _scalar(values[0]) if self._scalar else values

    @property
    def n(self) -> int:
        """Number of trials."""
        return self.layout.n

    @property
    def dt(self) -> float:
        """ms per step."""
        return self.layout.dt

    @property
    def rng(self) -> np.random.Generator:
        """Generator for what is neither a condition nor a duration (a random permutation, say)."""
        self.layout.random = True
        return self._rng

    @property
    def right_answer(self) -> Any:
        """Which answer is right, (n,), as the task declares it with ``vary(answer=…)``; reads the
        conditions it needs.
        """
        if self._answer is None:
            raise NotSupportedError(
                f"{self.layout.name} declares no answer; add answer=… to self.vary() in its"
                " define()."
            )
        answer = arguments.reading(self.conditions, self.layout.read, self._answer)
        return _scalar(answer[0]) if self._scalar else answer

    def duration(self, name: str) -> Any:
        """Played duration of a period in ms, (n,): a whole number of steps.

        Args:
            name: the period.
        """
        timeline = self.layout.timeline
        if name not in timeline.steps:
            raise unknown("period", name, timeline.names, of=self.layout.name)
        ms = timeline.steps[name] * self.dt
        return _scalar(ms[0]) if self._scalar else ms

    # ------------------------------------------------------------------ periods

    def periods(self, *names: str, then: Mapping[str, str] | None = None, **computed: Any) -> None:
        """Name the periods of the trial in order.

        Args:
            names: the periods; each takes its duration from `timing`, or from `computed`.
            then: what follows a period when its time runs out, if not the next one: the name of a
                period, or "end".
            computed: durations in ms: number, (n,), or a function without arguments that may ask
                for the `duration` of the periods before it. They come before `timing`, an imposed
                duration before both.
        """
        layout = self.layout
        for name in computed:
            if name not in names:
                raise unknown("period", name, names, of=layout.name)
        if layout.timeline.names:
            raise TrialLayoutError(
                f"{layout.name}.new_trial called periods() twice; name all periods in one call."
            )
        if len(set(names)) != len(names) or not names:
            given = ", ".join(map(repr, names))
            raise TrialLayoutError(
                f"{layout.name}.new_trial called periods({given}); give at least one name, each"
                " once."
            )
        layout.timeline.names = names
        for name in names:
            self._timing.build_trials(layout, name, self._rng, computed)
        for name, target in (then or {}).items():
            arguments.check_period(layout, name)
            arguments.check_goto(layout, target, ("end",))
            layout.timeline.then[name] = target

    def add_period(self, name: str) -> None:
        """Add a period behind the last one, which lasts as `timing` says; for task wrappers.

        Args:
            name: the period.
        """
        timeline = self.layout.timeline
        timeline.names = (*timeline.names, name)
        self._timing.build_trials(self.layout, name, self._rng, {})

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
            start, stop: ms from the onset of the (first) period, number or (n,); only time in these
                periods counts.
            where: bool (n,): only in these trials.
            noise: sigma, number or (n,); the SD of every step is sigma / sqrt(dt in ms),
                independent over steps and units.
        """
        layout = self.layout
        part = layout.interface.channels[channel]
        span = arguments.span(layout, during, start, stop, where)
        noise = arguments.per_trial(layout, "noise", noise) if np.ndim(noise) else noise
        value = arguments.per_unit(layout, f"channel {channel!r}", value, part.stop - part.start)
        layout.shows.append(Show(channel, value, span, noise))

    def timecourse(
        self,
        name: str,
        values: Any,
        during: str | Iterable[str],
        *,
        start: Any = None,
        where: Any = None,
    ) -> None:
        """Values that change from step to step, from the span's onset on; they wait between periods
        that are apart.

        Args:
            name: a channel (the values are added), or a continuous action (they are its target, in
                task units).
            values: (T,), (T, k) or (n, T, k).
            start: ms from the onset of the (first) period, 0 or more, number or (n,).
        """
        layout = self.layout
        values = arguments.frames(layout, name, values)
        span = arguments.span(layout, during, start, None, where)
        if span.start is not None and (span.start < 0).any():
            raise TrialLayoutError(
                f"timecourse({name!r}) of {layout.name} was given start={span.start.min():g} ms; give 0"
                " or more: nothing is shown before its periods."
            )
        layout.frames.append(Frames(name, values, span))

    def loss_weight(
        self,
        weight: Any,
        during: str | Iterable[str],
        *,
        start: Any = None,
        stop: Any = None,
        where: Any = None,
    ) -> None:
        """Set the weight of steps in a supervised loss; 0 masks them. Later calls win."""
        weight = arguments.per_trial(self.layout, "weight", weight) if np.ndim(weight) else weight
        self.layout.weights.append(
            Weigh(weight, arguments.span(self.layout, during, start, stop, where))
        )

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
            cost: reward per 100 ms of acting, number or (n,); None: the task's "abort"; where it is
                0, without `then`, acting is free, and counts as no abort (a hook pays for it, say).
            then: "stay", "end", "restart" (the period begins again), or a period; None: as the
                task's `abort_ends_trial`.
        """
        if then is not None:
            arguments.check_goto(self.layout, then, ("stay", "end", "restart"))
        cost = arguments.per_trial(self.layout, "cost", cost) if np.ndim(cost) else cost
        self.layout.holds.append(
            Hold(arguments.span(self.layout, during, start, stop, where), cost, then)
        )

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
        pays: Pays | None = None,
    ) -> None:
        """Ask for an answer: open a response window in which an action of `group` is right or
            wrong.

        Args:
            group: name of an action or group of actions.
            which: index within the group, (n,) int; or an angle in radians, (n,) float, with
                `tolerance`; or a mask (n, k) of right choices; or -1: resting until the window
                closes is right. For continuous actions the wanted value(s).
            tolerance: radians around an angle; for continuous actions the largest distance that is
                still correct.
            slot: name for the record; default the group's. Answers to one slot may not be asked on
                the same step.
            then: what an answer does: "end" the trial, "wait" (the clock runs on, further answers
                are ignored), or a period to go to; or a dict of these by outcome ("correct",
                "error"; "end" where it says nothing); or one of these per choice, (k,) or (n, k),
                where the choice itself leads somewhere, right or wrong.
            needs: name of an earlier slot; without that one correct, this one cannot be.
            correct, error, miss: rewards, number or (n,); default the task's. Resting rightly pays
                `correct`.
            pays: continuous actions: (distance, tolerance) -> reward of an answer within the
                tolerance.
        """
        right, aim = arguments.right(self.layout, group, which, tolerance)
        self._ask(
            slot, group, arguments.span(self.layout, during, start, stop, where), then, correct=correct, error=error,
            miss=miss, right=right, aim=aim, needs=needs, tolerance=tolerance, pays=pays,
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
        pays: Pays | None = None,
        slot: str | None = None,
        then: str | Mapping[str, str] = "end",
        needs: str | None = None,
        correct: Any = None,
        error: Any = None,
        miss: Any = None,
    ) -> None:
        """Ask for an action at a moment: `ms` after the window's onset, give or take `tolerance`
            ms.

        An action chosen on step k of the window (from 0) happens (k + 1) dt after its onset. Of
        continuous actions, exceeding the trigger is acting; what else the action says does not
        matter.

        Args:
            ms, tolerance: number or (n,).
            index: which action of the group, number or (n,).
            pays: (error in ms, tolerance in ms), arrays -> reward of a correct answer; default the
                flat `correct`.
        """
        layout = self.layout
        right, aim = arguments.timed(layout, action, index)
        self._ask(
            slot, action, arguments.span(layout, during, start, stop, where), then, correct=correct, error=error,
            miss=miss, right=right, aim=aim, needs=needs, due=arguments.moment(layout, ms, "ms"),
            tolerance=arguments.per_trial(layout, "tolerance", tolerance), pays=pays,
        )  # fmt: skip

    def offer(
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
            worth: what each choice is worth on average, for `performance` and the best-paid action;
                default `amount`.
            then: as in `answer`; (k,) or (n, k) names of periods let each choice lead to a period
                of its own.
            slot: a slot that an `answer` already opened makes the choices join it (a sure bet
                beside the answers).
            group: name of an action.
        """
        layout = self.layout
        part = layout.interface.actions[group]
        k = part.stop - part.start
        amounts = arguments.each_unit(layout, f"offer({group!r})", amount, k)
        worths = amounts if worth is None else arguments.each_unit(layout, "worth", worth, k)
        self._ask(
            slot, group, arguments.span(layout, during, start, stop, where), then, correct=0.0, error=0.0, miss=miss,
            right=None, aim=np.argmax(worths, axis=1), amounts=amounts, worth=worths, needs=needs,
        )  # fmt: skip

    def _ask(
        self, slot: str | None, group: str, span: Any, then: Destination, **terms: Any
    ) -> None:
        self.layout.slots.append(
            arguments.slot(self.layout, slot or group, group, span, then, terms)
        )

    # ------------------------------------------------------------------ what is recorded

    def max_reward(self, amount: Any) -> None:
        """The most that each trial can pay, number or (n,); needed for `performance` where rewards
        come from a hook.

        Args:
            amount: reward, number or (n,).
        """
        self.layout.best_pay = np.broadcast_to(np.asarray(amount, np.float64), (self.n,))

    def record(self, *only_recorded: str, **covariates: Any) -> None:
        """Put covariates into the record, one value, or (n,) or (n, k): bools, numbers or texts.

        Args:
            only_recorded: names of conditions that are in the record and nowhere else: what a block
                or a stage was, say.
        """
        layout = self.layout
        for name in only_recorded:
            self.__getattr__(name)
        for name, values in covariates.items():
            if name in self.conditions:
                raise TrialLayoutError(
                    f"record({name}=…) of {layout.name} has the name of a condition, which is"
                    " recorded anyway; rename it."
                )
            if name in RECORD_NAMES:
                raise TrialLayoutError(
                    f"record({name}=…) of {layout.name} has the name of a column that every record"
                    " has; rename it."
                )
            values = as_texts(np.asarray(values))
            rows = values.ndim == 0 or len(values) == self.n
            if values.ndim > 2 or not rows or not values.size or values.dtype.kind not in "biufU":
                raise TrialLayoutError(
                    f"record({name}=…) of {layout.name} was given {values.dtype} of shape"
                    f" {values.shape}; give bools, numbers or texts: one, or shape ({self.n},) or"
                    f" ({self.n}, k)."
                )
            shape = (self.n, *values.shape[1:]) if values.ndim else (self.n,)
            layout.notes[name] = np.broadcast_to(values, shape)


def _read_only(values: Array) -> Array:
    """A view that cannot be written to: writing would change what was drawn, and is in the
    record.
    """
    view = np.asarray(values).view()
    view.flags.writeable = False
    return view


def _scalar(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
