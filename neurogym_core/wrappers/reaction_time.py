"""Let the subject answer from the onset of the evidence."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from neurogym_core.errors import InvalidValueError, NotSupportedError, listed
from neurogym_core.tasks.building import example_layout
from neurogym_core.tasks.state import state_of
from neurogym_core.tasks.wrapper import TaskWrapper
from neurogym_core.trials.builder import TrialBuilder
from neurogym_core.trials.layout import STAY, Charge, Layout, Slot, Span


class ReactionTime(TaskWrapper):
    """Make the reaction-time version of a task: the response window opens with the evidence.

    As in Roitman & Shadlen (2002), J. Neurosci. 22:9475, doi:10.1523/JNEUROSCI.22-21-09475.2002.

    The window opens with the first period whose evidence suffices to answer: the first of the
    task's `evidence_periods`, or else its last period called "stimulus…" (or "stim…"). Reaction
    times count from there. The task's `go_cue` moves with the window: it goes off (or on) at the
    opening. A sure bet, or another priced choice that joins the slot later, does not move.

    Args:
        end_on_stimulus: whether the window closes, and the trial ends, with the evidence. Later
            periods then last 0 ms, except those that an answer leads to. False: the window closes
            at its original end.
        urgency: reward per 100 ms from the opening of the window to the answer, including the step
            of the answer (urgency * reaction time / 100 in total); negative to make waiting costly.

    Raises:
        NotSupportedError: the task has no such period, or no answer slot during or after it; the
            window is already open at its onset; the answer is due at a moment, or is scored on
            every step; or another slot is asked in a period that would be dropped.
        InvalidValueError: `urgency` is not finite.
    """

    end_on_stimulus: bool = True
    urgency: float = 0.0

    def define(self) -> None:
        if not math.isfinite(self.urgency):
            raise InvalidValueError(
                f"ReactionTime was given urgency={self.urgency!r}. Expected a finite reward per"
                " 100 ms. Give a number."
            )
        if state_of(self.task).joint:
            raise self._refusal(
                "it is made of several tasks with separate evidence. Expected a single task. Apply"
                " ReactionTime to each of them before joining them"
            )
        self._evidence = self._evidence_periods()
        layout = example_layout(self.task)
        slots = layout.slots
        self._slot = self._first_asked(slots)
        entries = [slot for slot in slots if slot.name == self._slot]
        self._priced = all(slot.amounts is not None for slot in entries)
        moved = [slot for slot in entries if self._moves(slot)]
        self._check_moved(moved)
        self._asked_from = min(self._place(slot.span.periods[0]) for slot in moved)
        names, last = state_of(self.task).period_names, self._place(self._evidence[-1])
        end = last
        if not self.end_on_stimulus:
            end = max(self._place(slot.span.periods[-1]) for slot in moved)
        self._window = names[self._place(self._evidence[0]) : end + 1]
        reached = _destinations(layout)
        later = names[last + 1 :] if self.end_on_stimulus else ()
        self._dropped = tuple(name for name in later if name not in reached)
        for slot in slots:
            if not self._moves(slot) and not set(self._dropped).isdisjoint(slot.span.periods):
                raise self._refusal(
                    f"{slot.group!r} is asked in {listed(slot.span.periods)}, which"
                    " end_on_stimulus=True would drop. Expected no slot there. Use"
                    " end_on_stimulus=False"
                )

    def _evidence_periods(self) -> tuple[str, ...]:
        """Return the periods whose evidence suffices, in the order of the trial."""
        names = state_of(self.task).period_names
        if self.evidence_periods is not None:
            missing = [name for name in self.evidence_periods if name not in names]
            if missing or not self.evidence_periods:
                raise self._refusal(
                    f"its evidence_periods= names {listed(missing)}. Expected some of its periods,"
                    f" {listed(names)}. Correct the task's class"
                )
            return tuple(name for name in names if name in self.evidence_periods)
        last = [name for name in names if name.startswith("stim")][-1:]
        if not last:
            raise self._refusal(
                f"it has no period called 'stimulus…'. Expected one among {listed(names)}. Name"
                " those whose evidence suffices in the task's class: evidence_periods = ('…',)"
            )
        return tuple(last)

    def _first_asked(self, slots: list[Slot]) -> str:
        """Return the name of the first slot that is asked during or after the evidence."""
        onset = self._place(self._evidence[0])
        later = [slot for slot in slots if self._place(slot.span.periods[-1]) >= onset]
        if not later:
            raise self._refusal(
                "it has no answer slot during or after"
                f" {self._evidence[0]!r}. Expected trial.answer or trial.offer there."
                " Leave ReactionTime out"
            )
        return min(later, key=lambda slot: self._place(slot.span.periods[0])).name

    def _moves(self, slot: Slot) -> bool:
        """Return whether the wrapper moves a slot; priced choices move only with their like."""
        return slot.name == self._slot and (self._priced or slot.amounts is None)

    def _check_moved(self, slots: list[Slot]) -> None:
        onset = self._evidence[0]
        if self.step_action is not None:
            raise self._refusal(
                "it scores actions on every step (step_action). Expected answers in a response"
                " window. Leave ReactionTime out"
            )
        if any(slot.due is not None for slot in slots):
            raise self._refusal(
                f"the answer {self._slot!r} is due at a certain moment (answer_at). Expected"
                " trial.answer, which has a window. Leave ReactionTime out"
            )
        if self.actions.continuous and self.actions.trigger is None:
            raise self._refusal(
                "its continuous actions have no trigger=, so an answer has no moment. Expected an"
                " axis that triggers. Declare trigger= in the task's actions"
            )
        if any(self._is_open(slot) for slot in slots):
            raise self._refusal(
                f"the window of {self._slot!r} is already open in {onset!r}, so it would have no"
                " effect. Expected a window that opens later. Leave ReactionTime out"
            )
        goes_on = (  # whether an answer can leave the window open
            "wait" in slot.then.values() if slot.leads is None else bool((slot.leads == STAY).any())
            for slot in slots
        )
        if self.urgency and any(goes_on):
            raise self._refusal(
                f"answers to {self._slot!r} do not end the wait (then='wait'), until which urgency="
                " is paid. Expected answers that do. Use urgency=0"
            )
        if self.urgency and any(slot.pays is not None or slot.needs is not None for slot in slots):
            raise self._refusal(
                f"the reward of {self._slot!r} is computed (pays=, needs=), so urgency= cannot be"
                " added to it. Expected fixed rewards. Use urgency=0"
            )

    def _is_open(self, slot: Slot) -> bool:
        """Return whether the window is open at the onset of the evidence."""
        first, onset = self._place(slot.span.periods[0]), self._place(self._evidence[0])
        return first < onset or (
            first == onset and (slot.span.start is None or bool((slot.span.start <= 0).all()))
        )

    def _place(self, period: str) -> int:
        return state_of(self.task).period_names.index(period)

    def _refusal(self, why: str) -> NotSupportedError:
        return NotSupportedError(f"ReactionTime cannot be applied to {self.task.name}: {why}.")

    def _move_cue(self, edits: list[Any], attribute: str) -> None:
        """End the go cue at the opening of the window, or show it in the window, as before."""
        for edit in [edit for edit in edits if getattr(edit, attribute) == self.go_cue]:
            shown = [(self._place(period), period) for period in edit.span.periods]
            periods = tuple(name for at, name in shown if at < self._place(self._window[0]))
            if any(at >= self._asked_from for at, _ in shown):
                periods += self._window
            edit.span = replace(edit.span, periods=periods)
            if not periods:
                edits.remove(edit)

    def new_trial(self, trial: TrialBuilder) -> None:
        super().new_trial(trial)
        layout = trial.layout
        self._move_cue(layout.shows, "channel")
        self._move_cue(layout.frames, "name")
        for index, slot in enumerate(layout.slots):
            if self._moves(slot):
                # When a window with a given `stop` closes, from the onset of the evidence.
                stop = None
                if not self.end_on_stimulus and slot.span.stop is not None:
                    first = self._place(slot.span.periods[0])
                    earlier = state_of(self.task).period_names[self._place(self._window[0]) : first]
                    steps = sum(layout.timeline.steps[name] for name in earlier)
                    stop = slot.span.stop + steps * layout.dt
                span = Span(self._window, stop=stop, where=slot.span.where)
                layout.slots[index] = replace(slot, span=span)
                if self.urgency:
                    layout.charges.append(Charge(self.urgency, span))
        for name in self._dropped:
            layout.timeline.steps[name] = np.zeros(trial.n, np.int64)
            layout.timeline.untimed.discard(name)


def _destinations(layout: Layout) -> set[str]:
    """Return the periods to which answers, broken holds, or ends of periods lead."""
    names = layout.timeline.names
    found = {*layout.timeline.then.values(), *(hold.then for hold in layout.holds)}
    for slot in layout.slots:
        if slot.leads is None:
            found |= {*slot.then.values()}
        else:
            found |= {names[place] for place in np.unique(slot.leads) if place >= 0}
    return found & {*names}  # type: ignore[return-value]
