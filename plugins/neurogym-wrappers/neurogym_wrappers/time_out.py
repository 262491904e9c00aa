"""Add a time-out after errors."""

from __future__ import annotations

import numpy as np

from neurogym_core import (
    END,
    Distribution,
    Hold,
    InvalidValueError,
    Layout,
    NotSupportedError,
    Slot,
    Span,
    TaskWrapper,
    TrialBuilder,
    parse,
)
from neurogym_core.players import TaskView
from neurogym_core.tools import listed
from neurogym_wrappers.slots import asked

AFTER = ("error", "miss")


class TimeOut(TaskWrapper):
    """Add a time-out after errors, in which nothing is shown and no answer counts.

    As after errors in the task of the International Brain Laboratory (2021), eLife 10:e63711,
    doi:10.7554/eLife.63711.

    The time-out is an additional last period of the trial, "timeout". Only an error (or a miss)
    leads to it. Actions in it have no reward and are not recorded.

    Args:
        duration: duration of the time-out in ms, a number or a distribution.
        after: outcomes that lead to a time-out: "error", "miss" or both.

    Raises:
        NotSupportedError: no error (or miss) ends a trial of the task, or it has a period "timeout"
            already.
        InvalidValueError: a duration that is not above 0, or an outcome that cannot lead there.
    """

    duration: float | Distribution = 1000
    after: tuple[str, ...] = ("error",)

    def define(self) -> None:
        self._check_settings()
        if "timeout" in TaskView(self.task).period_names:
            raise self._refusal("it has a period 'timeout' already")
        if self.task.step_action is not None:
            raise self._refusal("it computes the effects of actions on every step (step_action)")
        layout = TaskView(self.task).example_layout
        if "error" in self.after and not any(_errs(slot) for slot in layout.slots):
            raise self._refusal("no error ends its trials (trial.answer with then='end')")
        if "miss" in self.after:
            self._check_misses(layout)
        self.timing = {**self.task.timing, "timeout": self._duration}  # type: ignore[assignment]

    def _check_settings(self) -> None:
        strange = [name for name in self.after if name not in AFTER]
        if strange or not self.after:
            raise InvalidValueError(
                f"TimeOut was given after={self.after!r}; give one or both of {listed(AFTER)}."
            )
        try:
            self._duration: Distribution = parse(self.duration)
            low = self._duration.bounds[0]
        except (InvalidValueError, TypeError, ValueError):
            low = 0.0
        if not 0 < low < np.inf:
            raise InvalidValueError(
                f"TimeOut was given duration={self.duration!r}; give a number of ms above 0, or a"
                " distribution of such numbers."
            )

    def _check_misses(self, layout: Layout) -> None:
        """Raise unless every trial that reaches the end of its last period is a miss."""
        last = TaskView(self.task).period_names[-1]
        slots = layout.slots
        closing = [slot for slot in slots if last in slot.span.periods and slot.span.stop is None]
        rests = any(
            slot.right is not None and (asked(slot) & ~slot.right.any(axis=1)).any()
            for slot in slots
        )
        waits = any("wait" in slot.then.values() and slot.leads is None for slot in slots)
        if not closing or rests or waits or last in layout.timeline.then:
            raise self._refusal(
                "its trials can reach their end without a miss (resting is correct, or an answer"
                " does not end the trial); use after=('error',)"
            )

    def _refusal(self, why: str) -> NotSupportedError:
        return NotSupportedError(f"TimeOut cannot be applied to {self.task.name}: {why}.")

    def new_trial(self, trial: TrialBuilder) -> None:
        super().new_trial(trial)
        layout = trial.layout
        timeline = layout.timeline
        last = timeline.names[-1]
        trial.add_period("timeout")
        if "miss" not in self.after:
            timeline.then.setdefault(last, "end")
        layout.holds.append(Hold(Span(("timeout",)), 0.0))
        if "error" in self.after:
            for slot in layout.slots:
                self._lead(slot, timeline.names.index("timeout"))

    def _lead(self, slot: Slot, place: int) -> None:
        if not _errs(slot):
            return
        if slot.leads is None:
            slot.then = {**slot.then, "error": "timeout"}
        else:
            slot.leads = np.where((slot.leads == END) & ~slot.right, place, slot.leads).astype(
                slot.leads.dtype
            )


def _errs(slot: Slot) -> bool:
    """Return whether a wrong answer in the slot ends the trial."""
    if slot.amounts is not None:
        return False
    if slot.leads is not None:
        return slot.right is not None and bool(((slot.leads == END) & ~slot.right).any())
    graded = slot.right is None or slot.due is not None or slot.needs is not None
    return slot.then["error"] == "end" and (graded or bool((~slot.right[asked(slot)]).any()))  # type: ignore[operator]
