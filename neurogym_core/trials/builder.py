"""`TrialBuilder`: the object whose verbs an author calls in `new_trial`.

Each verb appends an entry to a `Layout`, for all `n` trials at once. `lay_out` turns the
layout into a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

import numpy as np

from neurogym_core.errors import NotSupportedError, TrialLayoutError, nearest, unknown
from neurogym_core.trials import arguments
from neurogym_core.trials.arrays import Array, as_texts
from neurogym_core.trials.interface import Interface
from neurogym_core.trials.layout import Destination, Frames, Hold, Layout, Pays, Show, Weigh
from neurogym_core.trials.sequence import Items, encoded, onsets
from neurogym_core.trials.timing import Timing

VERBS = (
    "periods", "show", "sequence", "hold", "answer", "answer_at", "offer", "loss_weight",
    "timecourse", "record", "max_reward",
)  # fmt: skip


class TrialBuilder:
    """Builder of `n` trials; ``trial["side"]`` is the condition `side`, (n,), read-only.

    The examples of the verbs use the task below.

    Args:
        during: a period, or several, in which a verb applies.
        start, stop: ms from the onset of the first of these periods, number or (n,); the verb
            applies from `start` to `stop`, which is not before `start`. Stimuli and windows
            start before the end of these periods; `where` leaves out other trials.
        where: bool (n,), the trials that a verb applies to.
        slot: name of a response window in the record.
        then: the period that follows an answer; "end", "wait", "stay" or "restart".
        needs: name of an earlier slot that must be answered correctly first.
        again: whether the slot can be answered again each time that its window opens again, in
            periods that repeat. Each answer is rewarded; the record keeps the last visit, the
            first answer, and the number of answers. By default a slot is answered once in a trial.
        scored: whether the slot counts in the outcome and the performance of the trial; False for
            a poke that only starts it, for example.
        correct, error, miss: rewards, number or (n,); default: those of the task.

    Attributes:
        layout: the calls so far, which task wrappers read and change.
        conditions: all conditions, name -> (n, …). Reading one here does not count as using it.

    Example:
        >>> import numpy as np
        >>> from neurogym_core import Choice, Task
        >>> class Side(Task):
        ...     timing = {"fixation": 300, "light": 500}
        ...
        ...     def define(self):
        ...         self.observe(light=2)
        ...         self.act(rest=1, choose=2)
        ...         self.vary(side=Choice(2))
        ...         self.correct_choice("side")
        ...
        ...     def new_trial(self, trial):
        ...         trial.periods("fixation", "light")
        ...         trial.show("light", np.eye(2)[trial["side"]], during="light")
        ...         trial.answer("choose", trial["side"], during="light", start=100)
        >>> Side().sample(4, seed=0).spans(0)
        [('fixation', 0, 3), ('light', 3, 8)]
    """

    __slots__ = ("_answer", "_rng", "_timing", "conditions", "layout")

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
    ) -> None:
        self.layout = Layout(interface, n, dict(conditions), durations=dict(durations or {}))
        self.conditions: Mapping[str, Array] = {
            name: _read_only(values) for name, values in conditions.items()
        }
        self._rng, self._timing, self._answer = rng, timing, answer

    # ------------------------------------------------------------------ conditions and durations

    def __getitem__(self, name: str) -> Any:
        """Return a condition, (n, …), read-only: ``trial["side"]``.

        Args:
            name: the condition.

        Raises:
            UnknownNameError: the task has no such condition.
        """
        if name not in self.conditions:
            raise unknown("condition", name, self.conditions, of=self.layout.name)
        self.layout.read.add(name)
        return self.conditions[name]

    def __getattr__(self, name: str) -> NoReturn:
        if name in self.__slots__:  # of a copy that is being made
            raise AttributeError(name)
        near = name if name in self.conditions else nearest(name, (*self.conditions, *VERBS))
        hint = ""
        if near in self.conditions:
            hint = f" Conditions are items: trial[{near!r}]."
        elif near is not None:
            hint = f" Did you mean trial.{near}?"
        raise AttributeError(f"The trial of {self.layout.name} has no attribute {name!r}.{hint}")

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
        """Generator of random numbers beyond conditions and durations (a permutation, say)."""
        # Trials with equal conditions may now differ, so that they cannot share one type.
        self.layout.random = True
        return self._rng

    @property
    def correct_choice(self) -> Any:
        """The correct choice, (n,), as the task declares it with ``self.correct_choice(…)``."""
        if self._answer is None:
            raise NotSupportedError(
                f"{self.layout.name} declares no correct choice; call self.correct_choice(…) in its"
                " define()."
            )
        return arguments.reading(self.conditions, self.layout.read, self._answer)

    def duration(self, name: str) -> Any:
        """Return the duration of a period in ms, (n,), rounded to whole steps.

        Args:
            name: the period.

        Example:
            >>> trial.periods("fixation", "light", light=[500, 500, 640, 640])
            >>> trial.duration("light").tolist()
            [500, 500, 600, 600]
        """
        timeline = self.layout.timeline
        if name not in timeline.steps:
            raise unknown("period", name, timeline.names, of=self.layout.name)
        return timeline.steps[name] * self.dt

    # ------------------------------------------------------------------ periods

    def periods(
        self,
        *names: str,
        then: Mapping[str, str] | None = None,
        repeat: str | Iterable[str] = (),
        **computed: Any,
    ) -> None:
        """Name the periods of the trial in order.

        Args:
            names: the periods; each takes its duration from `timing`, or from `computed`.
            then: for periods that the next one does not follow: period -> the period that follows
                when its time runs out, or "end".
            repeat: a period, or several, that a trial may visit more than once: where `then` or
                an answer leads back to an earlier period.
            computed: durations in ms: number, (n,), or a function without arguments that may call
                `duration` for earlier periods. They override the class's `timing`; the user's
                `timing` and imposed durations override them.

        Raises:
            TrialLayoutError: no name, a name given twice, a second call, or a period without a
                valid duration.
            UnknownNameError: a name in `then`, `repeat` or `computed` that is not a period.

        Example:
            >>> trial.periods("fixation", "light", light=lambda: 2 * trial.duration("fixation"))
            >>> trial.duration("light").tolist()
            [600, 600, 600, 600]
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
        # In order, since a computed duration may read those of the periods before it.
        for name in names:
            self._timing.set_steps(layout, name, self._rng, computed)
        for name, target in (then or {}).items():
            arguments.check_period(layout, name)
            arguments.check_goto(layout, target, ("end",))
            layout.timeline.then[name] = target
        repeated = {repeat} if isinstance(repeat, str) else set(repeat)
        for name in sorted(repeated):
            arguments.check_period(layout, name)
        layout.timeline.repeat |= repeated

    def add_period(self, name: str) -> None:
        """Add a period after the last one, with its duration in `timing`; for task wrappers.

        Args:
            name: the period.

        Example:
            >>> trial.periods("fixation")
            >>> trial.add_period("light")
        """
        timeline = self.layout.timeline
        timeline.names = (*timeline.names, name)
        self._timing.set_steps(self.layout, name, self._rng, {})

    # ------------------------------------------------------------------ observations

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
            noise: sigma of added Gaussian noise, number or (n,). Its SD on every step is
                sigma / sqrt(dt in ms), independent over steps and units.

        Example:
            >>> trial.periods("fixation", "light")
            >>> trial.show("light", np.eye(2)[trial["side"]], during="light", noise=0.5)
        """
        layout = self.layout
        k = layout.interface.channels.width(channel)
        span = arguments.span(layout, during, start, stop, where)
        noise = arguments.number(layout, "noise", noise)
        value = arguments.per_unit(layout, f"channel {channel!r}", value, k)
        layout.shows.append(Show(channel, value, span, noise))

    def sequence(
        self,
        channel: str,
        items: Any,
        during: str | Iterable[str],
        *,
        onset: Any = 0.0,
        duration: Any = None,
        soa: Any = None,
        where: Any = None,
        noise: Any = 0.0,
    ) -> Items:
        """Show items one after the other on a channel: a stream of letters, tones or places.

        Each item is a separate span, rounded as that of `show`: it lasts at least one step.

        Args:
            items: (K,) or (n, K) indices or names of the channel's units, -1 for none; of a channel
                of one unit its strengths; or values, (n, K, k).
            onset: ms from the onset of the (first) period to the first item, number or (n,); or to
                each item, (n, K), without `soa`.
            duration: ms of each item, number or (n,); default: `soa`, or until the next item.
            soa: ms from the onset of an item to that of the next one, number or (n,).
            noise: sigma of noise while an item is shown, as in `show`.

        Returns:
            The moments of the items. ``**items.after(k, ms)`` are `during`, `start` and `stop` of a
            window that follows item k.

        Raises:
            TrialLayoutError: items that begin on the same step, or after the end of the periods; or
                items that the channel does not have.

        Example:
            >>> trial.periods("fixation", "light")
            >>> items = trial.sequence("light", [0, 1, 0], during="light", soa=100)
            >>> trial.answer("choose", trial["side"], **items.after(1, 300))
        """
        layout = self.layout
        values, shown = encoded(layout, channel, items)
        count = values.shape[1]
        at = onsets(layout, count, onset, soa)
        for k in range(count):
            last = duration if duration is not None else soa
            stop = at[:, k] + last if last is not None else None
            if last is None and k + 1 < count:
                stop = at[:, k + 1]
            there = None if shown[:, k].all() else np.broadcast_to(shown[:, k], (self.n,))
            if where is not None:
                there = where if there is None else there & where
            self.show(
                channel, values[:, k], during, start=at[:, k], stop=stop, where=there, noise=noise
            )
        return Items(during, at)

    def timecourse(
        self,
        name: str,
        values: Any,
        during: str | Iterable[str],
        *,
        start: Any = None,
        where: Any = None,
        cut: bool = False,
    ) -> None:
        """Add values that change from step to step.

        They begin with the first step of `during`, and pause between periods that are not adjacent.
        There is one value for each step of the longest trial; shorter trials take the first ones.
        In a period of `inf`, the last value stays.

        Args:
            name: a channel (the values are added), or a continuous action (they become its target,
                in task units).
            values: (T,), (T, k) or (n, T, k).
            start: ms from the onset of the (first) period, 0 or more, number or (n,).
            cut: whether there may be more values than steps. The last ones are not used.

        Raises:
            TrialLayoutError: fewer or, without `cut`, more values than steps.

        Example:
            >>> trial.periods("fixation", "light")
            >>> trial.timecourse("light", np.linspace(0, 1, 5), during="light")
        """
        layout = self.layout
        values = arguments.frames(layout, name, values)
        span = arguments.span(layout, during, start, None, where)
        # `show` clips a negative start; here it would drop the first values.
        if span.start is not None and (span.start < 0).any():
            raise TrialLayoutError(
                f"timecourse({name!r}) of {layout.name} was given start={span.start.min():g} ms;"
                " give 0 or more: nothing is shown before its periods."
            )
        arguments.check_length(layout, name, values.shape[1], span, cut)
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
        """Set the weight of steps in a supervised loss; 0 masks them. Later calls override.

        Args:
            weight: number or (n,), 0 or more.

        Example:
            >>> trial.periods("fixation", "light")
            >>> trial.loss_weight(0, during="light", stop=200)
        """
        weight = arguments.number(self.layout, "weight", weight)
        self.layout.weights.append(
            Weigh(weight, arguments.span(self.layout, during, start, stop, where, may_be_late=True))
        )

    # ------------------------------------------------------------------ answers

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
        """Set the cost and the consequence of acting on steps where the subject must rest.

        The subject must rest on all steps outside every response window, by default at the task's
        terms.

        Args:
            cost: reward per 100 ms of acting, number or (n,); None: the task's "abort". Where it is
                0, without `then`, acting is free and does not count as an abort.
            then: "stay", "end", "restart" (of the period), or a period; None: as the task's
                `abort_ends_trial`.

        Example:
            >>> trial.periods("fixation", "light")
            >>> trial.hold("fixation", cost=-1, then="restart")
        """
        if then is not None:
            arguments.check_goto(self.layout, then, ("stay", "end", "restart"))
        cost = arguments.number(self.layout, "cost", cost)
        span = arguments.span(self.layout, during, start, stop, where, may_be_late=True)
        self.layout.holds.append(Hold(span, cost, then))

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
        again: bool = False,
        scored: bool = True,
        reported: bool = False,
    ) -> None:
        """Open a response window in which an action of `group` is right or wrong.

        Args:
            group: name of an action or group of actions.
            which: index within the group, (n,) int, or its name, (n,) str; or an angle in radians,
                (n,) float, with `tolerance`; or a mask (n, k) of right choices; or -1: resting
                until the window closes is right. For continuous actions the target value(s); for an
                `Angle`, (n,) radians; None: resting is right, where an axis has a trigger.
            tolerance: radians around an angle; for continuous actions the largest distance that is
                still correct, in task units.
            slot: name for the record; default: the group's. Two calls may open the same slot, but
                not on the same step of a trial.
            then: the effect of an answer: "end" the trial, "wait" (time goes on, further answers
                are ignored), or a period to go to; or a dict of these by outcome ("correct",
                "error"; default "end"); or one of these per choice, (k,) or (n, k), whatever the
                outcome.
            needs: name of an earlier slot; unless that one is correct, this answer is an error.
            correct, error, miss: rewards, number or (n,); default: the task's. Where resting is
                right, it pays `correct`.
            pays: continuous actions: (distance, tolerance) -> reward of an answer within the
                tolerance, instead of `correct`. Its share of the reward at distance 0 is the score.
            reported: whether only `step_action` answers, with `now.answer`; then actions of `group`
                within the window are free, and are no answers.

        Example:
            >>> trial.periods("fixation", "light")
            >>> trial.answer("choose", trial["side"], during="light", start=100)
        """
        right, aim = arguments.right(self.layout, group, which, tolerance)
        span = arguments.span(self.layout, during, start, stop, where)
        self._ask(
            slot, group, span, then, correct=correct, error=error, miss=miss, right=right, aim=aim,
            needs=needs, tolerance=tolerance, pays=pays, again=again, scored=scored,
            reported=reported,
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
        again: bool = False,
        scored: bool = True,
    ) -> None:
        """Ask for an action `ms` after the onset of the window, within `tolerance` ms.

        An action chosen on step k of the window (from 0) happens (k + 1) dt after its onset. A
        continuous action answers when it exceeds its trigger; its other dimensions do not count.

        Args:
            ms, tolerance: number or (n,).
            index: index or name of the action in its group, one or (n,).
            pays: (error in ms, tolerance in ms), arrays -> reward of a correct answer; default:
                `correct`, whatever the error.

        Example:
            >>> trial.periods("fixation", "light")
            >>> trial.answer_at("choose", 300, during="light", tolerance=100, index=trial["side"])
        """
        layout = self.layout
        right, aim = arguments.timed(layout, action, index)
        span = arguments.span(layout, during, start, stop, where)
        self._ask(
            slot, action, span, then, correct=correct, error=error, miss=miss, right=right, aim=aim,
            needs=needs, due=arguments.moment(layout, ms, "ms"), pays=pays,
            tolerance=arguments.per_trial(layout, "tolerance", tolerance), again=again,
            scored=scored,
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
        again: bool = False,
        scored: bool = True,
    ) -> None:
        """Offer choices that have prices instead of one right answer.

        Args:
            amount: reward of each choice: number, (k,) or (n, k).
            worth: mean reward of each choice, for `performance` and the best-paid action; default:
                `amount`.
            then: as in `answer`; with names of periods, (k,) or (n, k), each choice leads to its
                period.
            slot: name for the record; the name of a slot that an `answer` opened adds the choices
                to that slot (a sure bet beside the answers).
            group: name of an action or group of actions.

        Example:
            >>> trial.periods("fixation", "light")
            >>> trial.offer("choose", [1, 3], during="light", worth=[1, 1.5])
        """
        layout = self.layout
        k = layout.interface.actions.width(group)
        amounts = arguments.each_unit(layout, f"offer({group!r})", amount, k)
        worths = amounts if worth is None else arguments.each_unit(layout, "worth", worth, k)
        span = arguments.span(layout, during, start, stop, where)
        self._ask(
            slot, group, span, then, correct=0.0, error=0.0, miss=miss, right=None,
            aim=np.argmax(worths, axis=1), amounts=amounts, worth=worths, needs=needs, again=again,
            scored=scored,
        )  # fmt: skip

    def _ask(
        self, slot: str | None, group: str, span: Any, then: Destination, **terms: Any
    ) -> None:
        self.layout.slots.append(
            arguments.slot(self.layout, slot or group, group, span, then, terms)
        )

    # ------------------------------------------------------------------ the record

    def max_reward(self, amount: Any) -> None:
        """Set the largest reward of each trial, for `performance` where a hook pays.

        Args:
            amount: reward, number or (n,).

        Example:
            >>> trial.periods("fixation", "light")
            >>> trial.max_reward(np.where(trial["side"] == 0, 1, 2))
        """
        self.layout.best_pay = np.broadcast_to(np.asarray(amount, np.float64), (self.n,))

    def record(self, *only_recorded: str, **covariates: Any) -> None:
        """Add covariates to the record: one value, (n,) or (n, k); bools, numbers or texts.

        Args:
            only_recorded: names of conditions that `new_trial` does not use otherwise (the block's
                number, say), or of arrays of `trial_state`, whose values at the end of the trial
                are recorded.

        Raises:
            TrialLayoutError: a covariate with the name of a condition or column, or of another
                type or shape.

        Example:
            >>> trial.periods("fixation", "light")
            >>> trial.record(light_ms=trial.duration("light"))
        """
        layout = self.layout
        for name in only_recorded:
            if name in layout.interface.trial_state and name not in self.conditions:
                arguments.check_state_column(layout, name)
                layout.states.add(name)
            else:
                self[name]  # counts as reading it
        for name, values in covariates.items():
            arguments.check_column_name(layout, name)
            values = as_texts(np.asarray(values))
            rows = values.ndim == 0 or len(values) == self.n
            if values.ndim > 2 or not rows or not values.size or values.dtype.kind not in "biufU":
                raise TrialLayoutError(
                    f"record({name}=…) of {layout.name} was given {values.dtype} of shape"
                    f" {values.shape}; give bools, numbers or texts: one, or shape ({self.n},) or"
                    f" ({self.n}, k)."
                )
            layout.notes[name] = np.broadcast_to(values, (self.n, *values.shape[1:]))


def _read_only(values: Array) -> Array:
    """A read-only view: these arrays are also the conditions of the record."""
    view = np.asarray(values).view()
    view.flags.writeable = False
    return view
