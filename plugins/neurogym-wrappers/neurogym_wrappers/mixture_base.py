"""`MixtureBase`: base class of `Mixture`, `Transfer` and `Curriculum`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import eq
from typing import Any

import numpy as np

from neurogym_core import (
    Hold,
    InvalidValueError,
    Layout,
    NeurogymError,
    OneHot,
    Session,
    Span,
    Task,
    TrialBuilder,
    Weigh,
)
from neurogym_core.players import TaskView, layout_of
from neurogym_wrappers.block_sequence import BlockSequence
from neurogym_wrappers.condition_wrapper import ConditionWrapper
from neurogym_wrappers.joining import (
    Names,
    Placement,
    Renamed,
    TaskFacts,
    add_absent,
    add_layout,
    begin_nested_session,
    column_type,
    merged,
    merged_order,
    missing_value,
    task_from_entry,
    task_labels,
    with_rows,
)

RECORDED = "record."
"""Prefix of the columns of `session.record` among drawn conditions."""
RULE = "rule"
"""Name of the channel that shows the task of a trial."""
_COLUMN = "column_"
"""Prefix of the columns of results, among the attributes of the `Session` that keeps them."""


class MixtureBase(ConditionWrapper):
    """Base class of mixtures.

    A subclass calls `_mix` in `define`, with the tasks and the settings of its block sequence.
    """

    task_condition = "task"
    """Name of the condition that holds the task of a trial."""

    def _read_tasks(self, entries: Sequence[Any]) -> list[Task]:
        tasks = []
        for entry in entries:
            try:
                tasks.append(task_from_entry(entry))
            except NeurogymError as error:
                raise type(error)(
                    f"{type(self).__name__} was given the task {entry!r}: {error}"
                ) from error
        return tasks

    def _mix(
        self,
        tasks: Sequence[Task],
        settings: Mapping[str, Any],
        *,
        rule: bool,
        labels: Sequence[str] = (),
    ) -> None:
        self.tasks = tuple(tasks)
        self.labels = tuple(labels) or task_labels(tasks)
        self._check_tasks()
        names = (
            "order",
            "block_length",
            "block_lengths",
            "hazard_rate",
            "weights",
            "allow_repeats",
            "stop_at_last",
            "window",
            "advance_at",
            "retreat_below",
        )
        self.sequence = BlockSequence.checked(
            type(self).__name__,
            len(tasks),
            key=f"mixture_{self.depth}",
            **{name: settings[name] for name in names if name in settings},
        )
        self._key = f"mixture_{self.depth}_task"
        self._join_interface(rule)
        self._join_layout()
        self._join_conditions()

    # ------------------------------------------------------------------ checks

    def _check_tasks(self) -> None:
        first = self.task
        for task in self.tasks:
            if task.dt != first.dt:
                raise self.refusal(
                    f"its dt is {first.dt:g} ms, and that of {task.name} is {task.dt:g} ms; give"
                    " all tasks the same dt"
                )
            if TaskView(task).hooks:
                raise self.refusal(
                    f"{task.name} is computed on every step (step_action, …); leave it out of the"
                    " mixture"
                )
            if task.actions.continuous != first.actions.continuous:
                raise self.refusal(
                    f"one of {task.name} and {first.name} has continuous actions, the other has"
                    " not; mix tasks of one type"
                )
            if task.actions.continuous and task.actions != first.actions:
                raise self.refusal(
                    f"the continuous actions of {task.name} differ from those of {first.name}; mix"
                    " tasks with equal continuous actions"
                )
            if self.task_condition in task.conditions:
                raise self.refusal(
                    f"{task.name} is a mixture itself; give all tasks to one mixture"
                    if hasattr(type(task), "task_condition")
                    else (
                        f"{task.name} has a condition {self.task_condition!r}, which is the column"
                        f" of the record for a trial's {self.task_condition}; rename the condition"
                    )
                )

    # ------------------------------------------------------------------ joining

    def _join_interface(self, rule: bool) -> None:
        channels, self._channel_names = merged(
            [task.channels.parts for task in self.tasks], self.labels, eq
        )
        self._rule = None
        if rule and not self._tasks_show_rule():
            self._rule = self.free_name(RULE)
            channels[self._rule] = OneHot(len(self.tasks))
        self.observe(**channels)
        self._action_names = self._join_actions()

    def _tasks_show_rule(self) -> bool:
        """Return whether the tasks share a channel "rule", with different values."""
        encoders = [task.channels.parts.get(RULE) for task in self.tasks]
        if encoders[0] is None or any(encoder != encoders[0] for encoder in encoders):
            return False
        values = [
            {
                tuple(row)
                for show in TaskView(task).example_layout.shows
                if show.channel == RULE and np.any(show.value)
                for row in np.atleast_2d(show.value).tolist()
            }
            for task in self.tasks
        ]
        return all(len(own) == 1 for own in values) and len(set.union(*values)) == len(values)

    def _join_actions(self) -> list[Names]:
        """Declare all groups of actions; all tasks that can rest share one rest action."""
        resting = next((task for task in self.tasks if task.actions.rest_name is not None), None)
        if resting is None:
            whole, names = merged([task.actions.parts for task in self.tasks], self.labels, eq)
            self.act(**whole)
            return names
        rest = resting.actions.rest_name
        parts = [
            {
                name: part
                for name, part in task.actions.parts.items()
                if name != task.actions.rest_name
            }
            for task in self.tasks
        ]
        whole, names = merged([{rest: resting.actions.parts[rest]}, *parts], ("", *self.labels), eq)
        self.act(**whole)
        own = [task.actions.rest_name for task in self.tasks]
        return [
            {**({mine: rest} if mine else {}), **one}
            for mine, one in zip(own, names[1:], strict=True)
        ]

    def _join_layout(self) -> None:
        self._facts = facts = [
            TaskFacts.of(task, names)
            for task, names in zip(self.tasks, self._action_names, strict=True)
        ]
        for task, one in zip(self.tasks, facts, strict=True):
            if one.untimed:
                raise self.refusal(
                    f"the period {min(one.untimed)!r} of {task.name} has no duration; give it one"
                    " with timing="
                )

        def fits(k: int, own: str, joined: str) -> bool:
            return all(
                facts[k].then.get(own) == other.then.get(joined)
                for other, task in zip(facts[:k], self.tasks, strict=False)
                if joined in TaskView(task).period_names
            )

        self._periods, periods = merged_order(
            [TaskView(task).period_names for task in self.tasks], self.labels, fits
        )
        _, slots = merged([one.slots for one in facts], self.labels, eq)
        _, notes = merged([dict.fromkeys(one.notes, True) for one in facts], self.labels, eq)
        self._then = {
            names[period]: names.get(target, target)
            for one, names in zip(facts, periods, strict=True)
            for period, target in one.then.items()
        }
        self._check_passed(periods)
        self._layout = (periods, slots, notes)
        self.timing = {  # type: ignore[assignment]
            names.get(period, period): spec
            for task, names in reversed(list(zip(self.tasks, periods, strict=True)))
            for period, spec in task.timing.items()
            if period in names
        }

    def _join_conditions(self) -> None:
        rng = np.random.default_rng(0)
        both = [TaskView(task).draw(rng, 7) for task in self.tasks]
        drawn, recorded = ([one[part] for one in both] for part in (0, 1))
        _, conditions = merged(
            [{name: column_type(np.asarray(v)) for name, v in one.items()} for one in drawn],
            self.labels,
            eq,
        )
        self._samples = {
            joined: np.asarray(one[name][:0])
            for one, names in reversed(list(zip(drawn, conditions, strict=True)))
            for name, joined in names.items()
        }
        _, self._columns = merged(
            [{name: column_type(v) for name, v in one.items()} for one in recorded], self.labels, eq
        )
        self._samples |= {
            RECORDED + joined: one[name][:0]
            for one, names in zip(recorded, self._columns, strict=True)
            for name, joined in names.items()
        }
        tasks = dict(zip(self.labels, self.tasks, strict=True))
        self.alternate(self.task_condition, tasks, conditions)
        periods, slots, notes = self._layout
        notes = [
            {
                name: f"{joined}.note" if joined in self.conditions else joined
                for name, joined in one.items()
            }
            for one in notes
        ]
        self.renamed = tuple(
            Renamed(*parts)
            for parts in zip(
                self._channel_names,
                self._action_names,
                periods,
                slots,
                conditions,
                notes,
                strict=True,
            )
        )

    # ------------------------------------------------------------------ facts about the task

    @property
    def supervised(self) -> bool:
        return all(task.supervised for task in self.tasks)

    @property
    def reads_outcomes(self) -> bool:
        return self.sequence.reads_outcomes or any(task.reads_outcomes for task in self.tasks)

    def draw_conditions(
        self,
        rng: np.random.Generator,
        n: int,
        imposed: Mapping[str, Any] | None = None,
        correct_choice: np.ndarray | None = None,
    ) -> dict[str, np.ndarray]:
        session = TaskView(self).fresh_session(rng, n)
        given = {
            name: self._in_each_trial(name, value, n)[None]
            for name, value in (imposed or {}).items()
        }
        drawn = self.draw_constrained(session, rng, 1, given, correct_choice)
        return {name: values[0] for name, values in drawn.items()}

    def _in_each_trial(self, name: str, value: Any, n: int) -> np.ndarray:
        """Return values of a condition, one or one per trial, as (n, …)."""
        values, one = np.asarray(value), TaskView(self).example[name].shape
        return np.broadcast_to(values, (n, *one))

    # ------------------------------------------------------------------ drawing

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        self.sequence.begin(session, rng)
        self._keep_outcomes(session.subject, session.subject.previous)
        for k, task in enumerate(self.tasks):
            if TaskView(task).stateful:
                kept = getattr(session.subject, f"{self._key}_{k}_ended", None)
                begin_nested_session(
                    session,
                    f"{self._key}_{k}",
                    task,
                    rng,
                    *((_columns(kept), kept.unread) if kept is not None else ()),
                )
                if kept is not None:
                    kept.unread = np.zeros(len(session), bool)

    def draw_constrained(
        self,
        session: Session,
        rng: np.random.Generator,
        trials: int,
        imposed: dict[str, np.ndarray],
        answer: np.ndarray | None,
    ) -> dict[str, np.ndarray]:
        if answer is not None:
            raise InvalidValueError(
                f"the tasks of {self.name} set the correct answer. Apply the wrapper that sets it"
                " to each task before mixing them."
            )
        self._keep_outcomes(session.subject, session.previous)
        given = dict(imposed)
        index = (
            self._indices(given.pop(self.task_condition))
            if self.task_condition in given
            else self.sequence.advance(session, rng, trials)
        )
        shape = index.shape
        drawn = {
            name: np.full((*shape, *sample.shape[1:]), missing_value(sample), sample.dtype)
            for name, sample in self._samples.items()
        }
        for k in np.unique(index).tolist():
            self._draw_task(k, index, session, rng, given, drawn)
        return {self.task_condition: np.asarray(self.labels)[index], **drawn}

    def _draw_task(
        self,
        k: int,
        index: np.ndarray,
        session: Session,
        rng: np.random.Generator,
        given: Mapping[str, np.ndarray],
        drawn: dict[str, np.ndarray],
    ) -> None:
        """Draw the conditions of the trials of task `k`."""
        if not TaskView(self.tasks[k]).stateful:
            self._fill(k, np.nonzero(index == k), None, rng, given, drawn)
            return
        sessions = getattr(session, f"{self._key}_{k}")
        for t in np.flatnonzero((index == k).any(axis=1)).tolist():
            rows = np.flatnonzero(index[t] == k)
            part = sessions.take(rows)
            self._pass_outcomes(k, session.subject, part, rows)
            self._fill(k, (np.full(len(rows), t), rows), part, rng, given, drawn)
            part.trial += 1
            sessions.put(rows, part)

    def _keep_outcomes(self, subject: Session, previous: Mapping[str, np.ndarray]) -> None:
        """Keep the results of trials that have ended, for the tasks that read them.

        Other tasks may have the next trials, and a session may end before a task has its next one.
        """
        if self.task_condition not in previous:
            return
        for k, task in enumerate(self.tasks):
            rows = np.flatnonzero(previous[self.task_condition] == self.labels[k])
            if not task.reads_outcomes or not len(rows):
                continue
            name = f"{self._key}_{k}_ended"
            if not hasattr(subject, name):
                setattr(subject, name, Session(len(subject)))
                getattr(subject, name).unread = np.zeros(len(subject), bool)
            known = {
                **{column: column for column in ("choice", "outcome", "reward", "performance")},
                **self.renamed[k].conditions,
            }
            part = Session(len(rows))
            part.unread = np.ones(len(rows), bool)
            for own, joined in known.items():
                setattr(part, f"{_COLUMN}{own}", previous[joined][rows])
            getattr(subject, name).put(rows, part)

    def _pass_outcomes(self, k: int, subject: Session, part: Session, rows: np.ndarray) -> None:
        """Pass the result of its last trial in this session to task `k`, if it reads outcomes."""
        kept = getattr(subject, f"{self._key}_{k}_ended", None)
        if kept is None:
            return
        unread = kept.unread.copy()
        unread[rows] = False
        kept.unread = unread
        begun = np.flatnonzero(part.trial > 0)
        ended = _columns(kept)
        part.remember(begun, {name: values[rows[begun]] for name, values in ended.items()})

    def _fill(
        self,
        k: int,
        where: tuple[np.ndarray, np.ndarray],
        part: Session | None,
        rng: np.random.Generator,
        given: Mapping[str, np.ndarray],
        drawn: dict[str, np.ndarray],
    ) -> None:
        task, names, m = self.tasks[k], self.renamed[k].conditions, len(where[0])
        wanted = {
            name: given[joined][where][None] for name, joined in names.items() if joined in given
        }
        values = TaskView(task).draw_constrained(part or Session(m), rng, 1, wanted)
        flat = TaskView(task).impose({name: value[0] for name, value in values.items()}, rng, m, {})
        for name, value in flat.items():
            joined = names[name] if name in names else self._column(k, name)
            if drawn[joined].dtype != value.dtype:
                drawn[joined] = drawn[joined].astype(np.result_type(drawn[joined], value))
            drawn[joined][where] = value

    def _column(self, k: int, name: str) -> str:
        """Return the joined name of a column that `session.record` of task `k` adds."""
        return RECORDED + self._columns[k][name.removeprefix(RECORDED)]

    def _indices(self, names: np.ndarray) -> np.ndarray:
        """Return the indices of the tasks with these names."""
        names = np.asarray(names)
        strange = np.setdiff1d(names, self.labels)
        if len(strange):
            raise InvalidValueError(
                f"{self.task_condition}={strange[0].item()!r} was imposed; {self.name} has"
                f" {', '.join(map(repr, self.labels))}. Give one of them."
            )
        order = np.argsort(self.labels)
        return order[np.searchsorted(np.asarray(self.labels)[order], names)]

    def impose_on(
        self,
        drawn: Mapping[str, np.ndarray],
        rng: np.random.Generator,
        n: int,
        imposed: Mapping[str, Any],
    ) -> dict[str, np.ndarray]:
        result = dict(drawn)
        if self.task_condition in imposed:
            result = self._redraw_tasks(result, rng, imposed[self.task_condition])
        index = self._indices(result[self.task_condition])
        for name in (name for name in imposed if name != self.task_condition):
            having = np.isin(
                index, [k for k, one in enumerate(self.renamed) if name in one.conditions.values()]
            )
            shape = (n, *[1] * (imposed[name].ndim - 1))
            result[name] = np.where(having.reshape(shape), imposed[name], result[name])
        return result

    def _redraw_tasks(
        self, drawn: dict[str, np.ndarray], rng: np.random.Generator, wanted: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Redraw the trials whose task is not the imposed one."""
        rows = np.flatnonzero(drawn[self.task_condition] != wanted)
        self._indices(wanted)
        if not len(rows):
            return drawn
        fresh = self.draw_constrained(
            TaskView(self).fresh_session(rng, len(rows)),
            rng,
            1,
            {self.task_condition: wanted[None, rows]},
            None,
        )
        result = {}
        for name, values in drawn.items():
            if name not in fresh:  # a condition of a wrapper around this one
                result[name] = values
                continue
            result[name] = values.astype(np.result_type(values, fresh[name]))
            result[name][rows] = fresh[name][0]
        return result

    def _check_passed(self, periods: Sequence[Names]) -> None:
        """Raise if trials of one task would take a transition of another task.

        Periods of other tasks last 0 ms in a trial. A trial passes over them, and would follow
        their `then=`.
        """
        place = self._periods.index
        for passed, target in self._then.items():
            for task, names in zip(self.tasks, periods, strict=True):
                own = names.values()
                if passed not in own and (
                    target != "end" or any(place(name) > place(passed) for name in own)
                ):
                    raise self.refusal(
                        f"{target!r} follows the period {passed!r}, which trials of {task.name}"
                        " pass over; name the tasks with then= in periods() first, or give them"
                        " periods of other names"
                    )

    # ------------------------------------------------------------------ building

    def new_trial(self, trial: TrialBuilder) -> None:
        layout = trial.layout
        layout.read.update(layout.conditions)
        index = self._indices(trial.conditions[self.task_condition])
        timeline = layout.timeline
        timeline.names, timeline.then = self._periods, dict(self._then)
        timeline.steps = {name: np.zeros(trial.n, np.int64) for name in self._periods}
        for k in range(len(self.tasks)):
            rows = np.flatnonzero(index == k)
            if len(rows):
                self._build_task(trial, k, rows)
            else:
                add_absent(layout, self._facts[k], self.renamed[k], self._periods)
        if self._rule is not None:
            trial.show(self._rule, np.eye(len(self.tasks))[index], during=self._periods)

    def _build_task(self, trial: TrialBuilder, k: int, rows: np.ndarray) -> None:
        task, names = self.tasks[k], self.renamed[k]
        part, layout = self._task_layout(trial, k, rows), trial.layout
        placement = Placement(rows, trial.n, names)
        for name, steps in part.timeline.steps.items():
            layout.timeline.steps[names.periods[name]][rows] = steps
        everywhere = Span(tuple(names.periods.values()), where=placement.mask)
        layout.holds.append(self._usual_hold(task, everywhere))
        if task.actions.rest is None and self.actions.rest is not None:
            layout.weights.append(Weigh(0.0, everywhere))
            layout.weights += [Weigh(1.0, placement.span(slot.span)) for slot in part.slots]
        add_layout(layout, part, placement, self._periods)
        if part.best_pay is not None:
            best = np.full(trial.n, np.nan) if layout.best_pay is None else layout.best_pay
            layout.best_pay = with_rows(best, placement.array(part.best_pay), rows)

    @staticmethod
    def _usual_hold(task: Task, everywhere: Span) -> Hold:
        """Return the hold outside all response windows in a trial of this task."""
        if task.actions.rest is None:
            return Hold(everywhere, 0.0)
        return Hold(everywhere, task.rewards["abort"], "end" if task.abort_ends_trial else "stay")

    def _task_layout(self, trial: TrialBuilder, k: int, rows: np.ndarray) -> Layout:
        """Build the trials `rows` of task `k`."""
        task, names = self.tasks[k], self.renamed[k]
        conditions = {
            name: trial.conditions[joined][rows] for name, joined in names.conditions.items()
        }
        durations = TaskView(task).draw_durations(trial.rng, len(rows))
        back = {joined: name for name, joined in names.periods.items()}
        durations |= {
            back[joined]: np.asarray(ms) if np.ndim(ms) == 0 else np.asarray(ms)[rows]
            for joined, ms in trial.layout.durations.items()
            if joined in back
        }
        return layout_of(task, conditions, trial.rng, len(rows), durations)


def _columns(kept: Session) -> dict[str, np.ndarray]:
    """Return the results that `_keep_outcomes` has kept, name -> (n, …)."""
    return {
        name.removeprefix(_COLUMN): values
        for name, values in vars(kept).items()
        if name.startswith(_COLUMN)
    }
