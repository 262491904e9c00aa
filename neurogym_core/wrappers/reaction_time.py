"""Let the subject answer as soon as it sees the evidence."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from neurogym_core.errors import InvalidValueError, NotSupportedError, listed
from neurogym_core.tasks.building import sample_layouts
from neurogym_core.tasks.state import period_names_of, state_of
from neurogym_core.tasks.wrapper import TaskWrapper
from neurogym_core.trials.builder import TrialBuilder
from neurogym_core.trials.layout import STAY, Charge, Layout, Slot, Span


class ReactionTime(TaskWrapper):
    """The reaction-time version of a task: the response window opens with the evidence, not after
    it.

    As in Roitman & Shadlen (2002), J. Neurosci. 22:9475, doi:10.1523/JNEUROSCI.22-21-09475.2002.

    The window opens with the first period whose evidence suffices to answer: the first of the
    task's `evidence`, or else its last period called "stimulus…" (or "stim…"). The task's `go_cue`
    moves there: it goes off (or on) at the same moment. Reaction times count from there. A sure
    bet, or another priced choice that joins the question later, stays where it is.

    Args:
        end_on_stimulus: the window closes, and the trial ends, with the evidence; later periods get
            no time, but for those that an answer leads to. False: the window closes when it did.
        urgency: reward per 100 ms from the opening of the window until the answer, the step of the
            answer included (urgency * reaction time / 100 in all); negative to make waiting costly.

    Raises:
        NotSupportedError: the task has no such period or asks nothing after it, its window opens
            there already, the answer is due at a moment of its own or judged on every step, or
            something else is asked in the time that would be dropped.
        InvalidValueError: `urgency` is not finite.
    """

    end_on_stimulus: bool = True
    urgency: float = 0.0

    def define(self) -> None:
        if not math.isfinite(self.urgency):
            raise InvalidValueError(
                f"ReactionTime was given urgency={self.urgency!r}; it needs a finite reward per"
                " 100 ms."
            )
        if state_of(self.task).joint:
            raise self._refusal(
                "it is several tasks, each with evidence of its own; apply ReactionTime to each of"
                " them before joining them"
            )
        self._evidence = self._evidence_periods()
        layouts = sample_layouts(self.task)
        slots = [slot for layout in layouts for slot in layout.slots]
        self._slot = self._first_asked(slots)
        entries = [slot for slot in slots if slot.name == self._slot]
        self._priced = all(slot.amounts is not None for slot in entries)
        moved = [slot for slot in entries if self._moves(slot)]
        self._check_moved(moved)
        self._asked_from = min(self._place(slot.span.periods[0]) for slot in moved)
        self._window = self._window_periods(moved)
        self._dropped = self._dropped_periods(layouts) if self.end_on_stimulus else ()
        self._check_dropped([slot for slot in slots if not self._moves(slot)])

    # ------------------------------------------------------------------ what there is to move

    def _evidence_periods(self) -> tuple[str, ...]:
        """The periods whose evidence suffices, in the order of the trial."""
        names = period_names_of(self.task)
        if self.evidence_periods is not None:
            missing = [name for name in self.evidence_periods if name not in names]
            if missing or not self.evidence_periods:
                raise self._refusal(
                    f"its evidence= names {listed(missing)}, but its periods are {listed(names)}"
                )
            return tuple(name for name in names if name in self.evidence_periods)
        last = [name for name in names if name.startswith("stim")][-1:]
        if not last:
            raise self._refusal(
                f"it has no period called 'stimulus…' among {listed(names)}; name those whose"
                " evidence suffices in the task's class: evidence = ('…',)"
            )
        return tuple(last)

    def _first_asked(self, slots: list[Slot]) -> str:
        """Name of the question that is asked first once the evidence is there."""
        onset = self._place(self._evidence[0])
        later = [slot for slot in slots if self._place(slot.span.periods[-1]) >= onset]
        if not later:
            raise self._refusal(
                "it asks for no answer (trial.answer, trial.offer) during or after"
                f" {self._evidence[0]!r}"
            )
        return min(later, key=lambda slot: self._place(slot.span.periods[0])).name

    def _moves(self, slot: Slot) -> bool:
        return slot.name == self._slot and (self._priced or slot.amounts is None)

    def _check_moved(self, slots: list[Slot]) -> None:
        onset = self._evidence[0]
        if self.step_action is not None:
            raise self._refusal(
                "it computes what actions do on every step (step_action), not only in a window that"
                " could be moved"
            )
        if any(slot.due is not None for slot in slots):
            raise self._refusal(
                f"the answer {self._slot!r} is due at a certain moment (answer_at), and cannot be"
                " given earlier"
            )
        if self.actions.continuous and self.actions.trigger is None:
            raise self._refusal(
                "none of its continuous actions has a trigger=, so there is no moment at which it"
                " is answered"
            )
        if any(self._is_open(slot) for slot in slots):
            raise self._refusal(
                f"the window of {self._slot!r} is open in {onset!r} already, so it would have no"
                " effect; leave it away"
            )
        if self.urgency and any(_goes_on(slot) for slot in slots):
            raise self._refusal(
                f"urgency= is paid until the answer, but answers to {self._slot!r} do not end the"
                " wait (then='wait')"
            )
        if self.urgency and any(slot.pays is not None or slot.needs is not None for slot in slots):
            raise self._refusal(
                f"urgency= cannot be added to what {self._slot!r} pays (pays=, needs=); use"
                " urgency=0"
            )

    def _is_open(self, slot: Slot) -> bool:
        """Whether the window is open when the evidence sets in."""
        first, onset = self._place(slot.span.periods[0]), self._place(self._evidence[0])
        return first < onset or (
            first == onset and (slot.span.start is None or bool((slot.span.start <= 0).all()))
        )

    def _window_periods(self, slots: list[Slot]) -> tuple[str, ...]:
        end = (
            self._evidence[-1]
            if self.end_on_stimulus
            else max((slot.span.periods[-1] for slot in slots), key=self._place)
        )
        return period_names_of(self.task)[self._place(self._evidence[0]) : self._place(end) + 1]

    def _dropped_periods(self, layouts: list[Layout]) -> tuple[str, ...]:
        """The periods after the evidence, but for those that something leads to."""
        reached = set().union(*(_destinations(layout) for layout in layouts))
        later = period_names_of(self.task)[self._place(self._evidence[-1]) + 1 :]
        return tuple(name for name in later if name not in reached)

    def _check_dropped(self, others: list[Slot]) -> None:
        for slot in others:
            if any(name in self._dropped for name in slot.span.periods):
                raise self._refusal(
                    f"{slot.group!r} is asked in {listed(slot.span.periods)}, which"
                    " end_on_stimulus=True would drop; use end_on_stimulus=False"
                )

    def _place(self, period: str) -> int:
        return period_names_of(self.task).index(period)

    def _refusal(self, why: str) -> NotSupportedError:
        return NotSupportedError(f"ReactionTime cannot be applied to {self.task.name}: {why}.")

    # ------------------------------------------------------------------ moving it

    def new_trial(self, trial: TrialBuilder) -> None:
        super().new_trial(trial)
        layout = trial.layout
        self._move_cue(layout)
        layout.slots[:] = [self._moved(layout, slot) for slot in layout.slots]
        for name in self._dropped:
            layout.timeline.steps[name] = np.zeros(trial.n, np.int64)
            layout.timeline.untimed.discard(name)

    def _moved(self, layout: Layout, slot: Slot) -> Slot:
        if not self._moves(slot):
            return slot
        span = Span(self._window, stop=self._stop(layout, slot.span), where=slot.span.where)
        if self.urgency:
            layout.charges.append(Charge(self.urgency, span))
        return replace(slot, span=span)

    def _stop(self, layout: Layout, span: Span) -> np.ndarray | None:
        """The closing of a window that had one of its own, now in ms from the onset of the
        evidence.
        """
        if self.end_on_stimulus or span.stop is None:
            return None
        earlier = period_names_of(self.task)[
            self._place(self._window[0]) : self._place(span.periods[0])
        ]
        return span.stop + sum(layout.timeline.steps[name] for name in earlier) * layout.dt

    def _move_cue(self, layout: Layout) -> None:
        """End a cue that was on until the window opened where it opens now; let one that came with
        it come along.
        """
        for edits, name in ((layout.shows, "channel"), (layout.frames, "name")):
            for edit in [edit for edit in edits if getattr(edit, name) == self.go_cue]:
                edit.span = replace(edit.span, periods=self._cue_periods(edit.span.periods))
                if not edit.span.periods:
                    edits.remove(edit)

    def _cue_periods(self, shown: tuple[str, ...]) -> tuple[str, ...]:
        before = tuple(
            period for period in shown if self._place(period) < self._place(self._window[0])
        )
        return before + (
            self._window if any(self._place(period) >= self._asked_from for period in shown) else ()
        )


def _goes_on(slot: Slot) -> bool:
    """Whether an answer may leave the window open."""
    return (
        bool((slot.leads == STAY).any()) if slot.leads is not None else "wait" in slot.then.values()
    )


def _destinations(layout: Layout) -> set[str]:
    """Periods that answers, breaks of a hold, or the end of a period lead to."""
    names = layout.timeline.names
    by_choice = {
        names[place]
        for slot in layout.slots
        if slot.leads is not None
        for place in np.unique(slot.leads)
        if place >= 0
    }
    by_outcome = {
        place for slot in layout.slots if slot.leads is None for place in slot.then.values()
    }
    return {
        *by_choice,
        *by_outcome,
        *layout.timeline.then.values(),
        *(hold.then for hold in layout.holds),
    } & set(names)
