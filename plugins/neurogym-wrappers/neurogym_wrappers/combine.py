"""Combine two tasks in one trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from operator import eq
from typing import Any

import numpy as np

from neurogym_core import (
    Choice,
    Distribution,
    Frames,
    InvalidValueError,
    Layout,
    OneHot,
    Session,
    Slot,
    Span,
    TrialBuilder,
    parse,
)
from neurogym_core.players import TaskView, layout_of
from neurogym_wrappers.condition_wrapper import ConditionWrapper
from neurogym_wrappers.joining import (
    TaskFacts,
    begin_nested_session,
    merged,
    task_from_entry,
    task_labels,
)
from neurogym_wrappers.slots import asked

TRIAL_TYPES = ("main", "distractor", "both")


class Combine(ConditionWrapper):
    """Play a second task inside the trials of the first, such as a distractor in its delay.

    As in the dual task of Zhang, Yan, Wang, et al. (2019), eLife 8:e43191, doi:10.7554/eLife.43191:
    a go/no-go task in the delay of a paired-association task.

    The distractor has separate channels, and begins `onset` ms after the trial. Its answers do not
    end the trial. An action is judged by the task whose response window is open; holds, loss
    weights and the costs of premature actions are those of the main task. A condition, slot or
    channel of the distractor whose name the main task has already gets the distractor's name as a
    suffix. The record has the answers to both tasks.

    Args:
        distractor: the second task: an id, a task, or a mapping ``{"task": …, parameters}``.
        onset: beginning of the distractor in ms after the beginning of the trial, a number or a
            distribution.
        weights: relative frequencies of trials with the main task only, the distractor only, and
            both; (): both in every trial. With weights, the column `combined` of the record has the
            type of every trial: "main", "distractor" or "both".
        cue: whether a channel "combined" with two units shows which of the tasks the trial has.
        share_actions: whether an action with the same name and encoder in both tasks is one action.

    Raises:
        NotSupportedError: tasks with another dt, without a rest action, with continuous actions or
            computed on every step; a main task whose periods do not follow in order; a distractor
            that does not end in time; or two open response windows with the same action.
        InvalidValueError: no distractor, a negative onset, or impossible weights.
    """

    distractor: Any = None
    onset: float | Distribution = 0
    weights: tuple[float, ...] = ()
    cue: bool = False
    share_actions: bool = True

    def define(self) -> None:
        if self.distractor is None:
            raise InvalidValueError(
                "Combine was given no distractor; give distractor=…: an id, a task, or {task: …}."
            )
        self.other = task_from_entry(self.distractor)
        self._other_label = task_labels((self.task, self.other))[1]
        self._check_tasks()
        self._read_settings()
        self._join()
        self._check_fit()

    # ------------------------------------------------------------------ checks

    def _check_tasks(self) -> None:
        for task in (self.task, self.other):
            if task.dt != self.task.dt:
                raise self.refusal(
                    f"its dt is {self.task.dt:g} ms, and that of {task.name} is {task.dt:g} ms;"
                    " give both tasks the same dt"
                )
            if TaskView(task).hooks:
                raise self.refusal(f"{task.name} is computed on every step (step_action, …)")
            if task.actions.continuous or task.actions.rest_name is None:
                raise self.refusal(
                    f"{task.name} has no rest action, so that the subject cannot wait in it while"
                    " it answers the other task"
                )
        if self.other.reads_outcomes:
            raise self.refusal(
                f"{self.other.name} reads the outcome of its last trial, but has no separate trials"
                " here"
            )
        if _leaves_order(TaskView(self.task).example_layout):
            raise self.refusal(
                f"the periods of {self.task.name} do not always follow in order (then=), which"
                " would move the distractor"
            )
        layout = TaskView(self.other).example_layout
        if layout.timeline.untimed or any(slot.leads is not None for slot in layout.slots):
            raise self.refusal(
                f"{self.other.name} has a period without a duration, or choices that lead to"
                " separate periods"
            )
        if not layout.slots:
            raise self.refusal(f"{self.other.name} has no answer slot")
        self._check_contiguous(layout)

    def _check_contiguous(self, layout: Layout) -> None:
        order = layout.timeline.names
        for slot in layout.slots:
            places = [order.index(name) for name in slot.span.periods]
            if places != list(range(places[0], places[-1] + 1)):
                raise self.refusal(
                    f"the response window of {slot.name!r} of {self.other.name} is in periods that"
                    " do not follow each other"
                )

    def _read_settings(self) -> None:
        try:
            self._onset: Distribution = parse(self.onset)
            least = self._onset.bounds[0]
        except (InvalidValueError, TypeError, ValueError):
            least = -1.0
        if not 0 <= least < np.inf:
            raise InvalidValueError(
                f"Combine was given onset={self.onset!r}; give a number of 0 ms or more, or a"
                " distribution of such numbers."
            )
        weights = np.asarray(self.weights or (0, 0, 1), float)
        if (
            weights.shape != (3,)
            or not (weights >= 0).all()
            or not np.isfinite(weights).all()
            or not weights[1:].any()
        ):
            raise InvalidValueError(
                f"Combine was given weights={self.weights!r}; give three numbers of 0 or more"
                " (main only, distractor only, both), of which the second or third is above 0."
            )

    # ------------------------------------------------------------------ joining

    def _join(self) -> None:
        label = (self._other_label,)
        both = [self.task.channels.parts, self.other.channels.parts]
        channels, (_, self._channels) = merged(both, ("", *label), _never)
        if self.cue:
            self._cue = self.free_name("combined")
            channels[self._cue] = OneHot(2)
        self.observe(**channels)
        self._join_actions(label[0])
        facts = [
            TaskFacts.of(task, {name: name for name in task.actions})
            for task in (self.task, self.other)
        ]
        _, (_, self._slots) = merged([one.slots for one in facts], ("", *label), _never)
        _, (_, self._notes) = merged(
            [dict.fromkeys(one.notes) for one in facts], ("", *label), _never
        )
        _, (_, self._conditions) = merged(
            [self.task.conditions, self.other.conditions], ("", *label), _never
        )
        self.add_conditions(self.other, self._conditions)
        self._onset_name = self.free_name("onset")
        self.vary(**{self._onset_name: self._onset})
        self._type_name = None
        if self.weights:
            self._type_name = self.free_name("combined") if not self.cue else self._cue
            shares = np.asarray(self.weights) / sum(self.weights)
            self.vary(**{self._type_name: Choice(TRIAL_TYPES, p=shares)})

    def _join_actions(self, label: str) -> None:
        rest, own = self.task.actions.rest_name, self.other.actions.rest_name
        parts = [
            self.task.actions.parts,
            {name: part for name, part in self.other.actions.parts.items() if name != own},
        ]
        whole, (_, self._actions) = merged(parts, ("", label), eq if self.share_actions else _never)
        self._actions = {own: rest, **self._actions}
        self.act(**whole)

    # ------------------------------------------------------------------ response windows

    def _check_fit(self) -> None:
        rng = np.random.default_rng(0)
        main = TaskView(self.task).example_layout
        onset = np.asarray(self._onset.sample(rng, main.n), float)
        conditions, _ = TaskView(self.other).draw(rng, main.n)
        part = self._distractor_layout(conditions, rng, main.n)
        self._check_in_time(main, part, onset)

    def _distractor_layout(
        self, conditions: Mapping[str, np.ndarray], rng: np.random.Generator, n: int
    ) -> Layout:
        return layout_of(
            self.other, conditions, rng, n, TaskView(self.other).draw_durations(rng, n)
        )

    def _check_in_time(self, main: Layout, part: Layout, onset: np.ndarray) -> None:
        lasts = sum(main.timeline.steps.values()) * main.dt
        shift = _TimeShift(part, onset, main.timeline.names)
        for slot in part.slots:
            moved = shift.window(slot.span)
            late = asked(slot) & (moved.stop > lasts + 1e-6)
            if late.any():
                raise self.refusal(
                    f"the response window of {slot.name!r} of {self.other.name} ends"
                    f" {moved.stop[late].max():g} ms after the beginning of the trial, but a trial"
                    f" of {self.task.name} may last only {lasts[late].min():g} ms; give a smaller"
                    " onset=, or another timing="
                )
            for other in main.slots:
                if self._actions[slot.group] == other.group:
                    self._check_apart(slot, moved, other, main)

    def _check_apart(self, slot: Slot, moved: Span, other: Slot, main: Layout) -> None:
        window = _TimeShift(main, np.zeros(main.n), main.timeline.names).window(other.span)
        overlap = (
            asked(slot)
            & asked(other)
            & (moved.start < window.stop - 1e-6)
            & (window.start < moved.stop - 1e-6)
        )
        if overlap.any():
            raise self.refusal(
                f"{slot.name!r} of {self.other.name} and {other.name!r} are open at the same time,"
                " and the same action answers both; give another onset=, or share_actions=False"
                " for separate actions"
            )

    # ------------------------------------------------------------------ drawing

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        super().new_session(session, rng)
        if TaskView(self.other).stateful:
            begin_nested_session(session, f"combine_{self.depth}", self.other, rng)

    def draw_constrained(
        self,
        session: Session,
        rng: np.random.Generator,
        trials: int,
        imposed: dict[str, np.ndarray],
        answer: np.ndarray | None,
    ) -> dict[str, np.ndarray]:
        own = {
            name: imposed[joined] for name, joined in self._conditions.items() if joined in imposed
        }
        part = (
            getattr(session, f"combine_{self.depth}")
            if TaskView(self.other).stateful
            else Session(len(session))
        )
        part.trial = session.trial.copy()
        drawn = TaskView(self.other).draw_constrained(part, rng, trials, own)
        flat = {name: values.reshape(-1, *values.shape[2:]) for name, values in drawn.items()}
        flat = TaskView(self.other).impose(flat, rng, trials * len(session), {})
        shape = (trials, len(session))
        joined = {
            self._conditions.get(name, name): values.reshape(*shape, *values.shape[1:])
            for name, values in flat.items()  # also those of `session.record`
        }
        return self.draw_wrapped(session, rng, trials, {**imposed, **joined}, answer)

    # ------------------------------------------------------------------ building

    def new_trial(self, trial: TrialBuilder) -> None:
        super().new_trial(trial)
        # (n,) type of each trial; None: both tasks in all trials.
        there = None if self._type_name is None else trial[self._type_name]
        if there is not None:
            self._hide_main(trial.layout, there != "distractor")
        conditions = {}
        for name, joined in self._conditions.items():
            trial.layout.read.add(joined)
            conditions[name] = trial.conditions[joined]
        onset = np.broadcast_to(np.asarray(trial[self._onset_name], float), (trial.n,))
        part = self._distractor_layout(conditions, trial.rng, trial.n)
        shown = None if there is None else there != "main"
        names = trial.layout.timeline.names
        self._add(trial.layout, part, _TimeShift(part, onset, names, shown))
        if self.cue:
            present = np.stack(
                (
                    [np.ones(trial.n, bool)] * 2
                    if there is None
                    else [there != "distractor", there != "main"]
                ),
                axis=1,
            )
            trial.show(self._cue, present.astype(np.float32), during=names)

    @staticmethod
    def _hide_main(layout: Layout, there: np.ndarray) -> None:
        for edits in (layout.shows, layout.frames, layout.slots, layout.charges, layout.weights):
            for edit in edits:
                where = there if edit.span.where is None else there & edit.span.where
                edit.span = replace(edit.span, where=where)

    def _add(self, layout: Layout, part: Layout, shift: _TimeShift) -> None:
        for show in part.shows:
            layout.shows += [
                replace(show, channel=self._channels[show.channel], span=span)
                for span in shift.pieces(show.span)
            ]
        layout.frames += [shift.frames(frames, self._channels) for frames in part.frames]
        for charge in part.charges:
            layout.charges += [replace(charge, span=span) for span in shift.pieces(charge.span)]
        for slot in part.slots:
            layout.slots.append(
                replace(
                    slot,
                    name=self._slots[slot.name],
                    group=self._actions[slot.group],
                    span=shift.window(slot.span),
                    then=dict.fromkeys(slot.then, "wait"),
                    needs=None if slot.needs is None else self._slots[slot.needs],
                )
            )
        for name, values in part.notes.items():
            layout.notes[self._notes[name]] = values


class _TimeShift:
    """Converts spans of the distractor, which begins `onset` ms (n,) after the trial.

    The converted spans count time from the beginning of the trial.
    """

    def __init__(
        self,
        part: Layout,
        onset: np.ndarray,
        periods: tuple[str, ...],
        shown: np.ndarray | None = None,
    ) -> None:
        self.part, self.periods, self.shown = part, periods, shown
        self.dt = part.dt
        # Rounding the onset to steps once keeps all spans of the distractor aligned.
        self.onset: dict[str, np.ndarray] = {}
        elapsed = Span(periods, start=onset).steps(None, part.dt)[0]
        for name in part.timeline.names:
            self.onset[name] = elapsed
            elapsed = elapsed + part.timeline.steps[name]

    def _where(self, where: np.ndarray | None) -> np.ndarray | None:
        if self.shown is None or where is None:
            return self.shown if where is None else where
        return self.shown & where

    def window(self, span: Span) -> Span:
        """Return a span over successive periods as one span."""
        begin = self.onset[span.periods[0]]
        start, stop = self._steps(span)
        return Span(
            self.periods,
            (begin + start) * self.dt,
            (begin + stop) * self.dt,
            self._where(span.where),
        )

    def _steps(self, span: Span) -> tuple[np.ndarray, np.ndarray]:
        """Return the first step and the last step + 1 of a span, (n,), counted in its periods."""
        total = np.sum([self.part.timeline.steps[name] for name in span.periods], axis=0)
        start, stop = span.steps(total, self.dt)
        first = np.zeros_like(total) if start is None else np.clip(start, 0, total)
        last = total if stop is None else np.clip(stop, first, np.maximum(total, first))
        return first, last

    def pieces(self, span: Span) -> list[Span]:
        """Return a span as one span per period."""
        pieces, (first, last) = [], self._steps(span)
        for name in span.periods:
            begin, lasts = self.onset[name], self.part.timeline.steps[name]
            pieces.append(
                Span(
                    self.periods,
                    (begin + np.clip(first, 0, lasts)) * self.dt,
                    (begin + np.clip(last, 0, lasts)) * self.dt,
                    self._where(span.where),
                )
            )
            first, last = first - lasts, last - lasts
        return pieces

    def frames(self, frames: Frames, names: Mapping[str, str]) -> Frames:
        """Return a time course that is shown within its own periods only."""
        span = frames.span
        begin, last = self.onset[span.periods[0]], span.periods[-1]
        lasts = int((self.onset[last] + self.part.timeline.steps[last] - begin).max())
        k = self._rows_of(span, begin, lasts)
        shown = (k >= 0) & (k < frames.values.shape[1])
        source = np.broadcast_to(frames.values, (self.part.n, *frames.values.shape[1:]))
        values = source[np.arange(self.part.n)[:, None], np.where(shown, k, 0)] * shown[:, :, None]
        return Frames(
            names[frames.name],
            values.astype(np.float32),
            Span(self.periods, begin * self.dt, None, self._where(span.where)),
        )

    def _rows_of(self, span: Span, begin: np.ndarray, lasts: int) -> np.ndarray:
        """Return the index (n, lasts) of the value shown on each step from `begin`; -1: none."""
        step, k = np.arange(lasts), np.full((self.part.n, lasts), -1)
        offset = -self._steps(span)[0]
        for name in span.periods:
            since, steps = (
                step - (self.onset[name] - begin)[:, None],
                self.part.timeline.steps[name],
            )
            k = np.where((since >= 0) & (since < steps[:, None]), since + offset[:, None], k)
            offset = offset + steps
        return k


def _leaves_order(layout: Layout) -> bool:
    """Return whether periods may not follow in order: a target is a period, or time is halted."""
    names = set(layout.timeline.names)
    leads = any(slot.leads is not None and (slot.leads >= 0).any() for slot in layout.slots)
    then = {target for slot in layout.slots for target in slot.then.values()} | {
        hold.then for hold in layout.holds
    }
    return bool(
        leads or layout.timeline.untimed or layout.timeline.then or then & (names | {"restart"})
    )


def _never(one: Any, other: Any) -> bool:
    return False
