"""`Behaviour`: a trial record, with the roles of its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from neurogym_core import Angle, Ring, Task, TrialRecord
from neurogym_core.players import RECORD_NAMES, TaskView
from neurogym_core.tools import listed, unknown

STRENGTHS = ("coherence", "contrast", "strength", "intensity")
SIDES = ("answer", "side", "direction")
BLOCKS = ("p_left", "p_right", "block")
RIGHT = ("right", "r", "rechts", "droite", "derecha", "destra", "direita")
"""Names of the right side in files of labs, in any case."""
DECLARED = "evidence"
"""Column of the evidence that the task declares, signed."""
ANGULAR_ERROR = "angular_error"
"""Column of the errors of reports on a circle, degrees, -180 to 180; NaN without a report."""
KERNEL_BINS = 6
"""Number of parts of the evidence that have a weight each."""
SHOWN = "shown_evidence"
"""Column of the evidence as it was shown over time, (n, times), NaN where none was shown."""
SIGNAL = "signal"
"""Column of go/no-go tasks: whether an answer was right, and not rest."""
WANTED, REPORTED = "wanted", "reported"
"""Columns of a number, or time in ms, and of the subject's report of it; NaN without a report."""
TRAINS = ("length", "duration.stimulus")
"""Columns of the duration of trains of clicks, ms."""
MOST = 8
"""Maximum number of values of a condition that has a curve for each."""
OFFERS = ("wager", "offered")
ROLES = (*STRENGTHS, *SIDES, *BLOCKS, *OFFERS)
"""Columns that keep their role when an expression of a recipe reads them."""
DESIGN, DRAWN, BALANCED = "design", "drawn", "balanced"
"""Key of `meta` and its values: trials as the task drew them, or all combinations, shuffled."""


class CannotTellError(Exception):
    """An analysis cannot be done with this record; the message gives the reason."""


@dataclass(frozen=True)
class Roles:
    """Names of the columns that play a role in analyses.

    If a role is None, its column is found by name, or from the task.

    Args:
        strength: strength of the evidence, a number; unsigned, or negative for one of the sides.
        side: the correct side; two values.
        block: the condition that differs between blocks.
        offered: whether a sure bet was offered.
        slot: the answer slot, if a trial has several.
        by: a condition; analyses by condition have a curve for each of its values.
        choices: number of choices.
        right: the value of the side that is called right, as text; None: known by its name.
        pool: whether the trials of several subjects are analysed as those of one.
    """

    strength: str | None = None
    side: str | None = None
    block: str | None = None
    offered: str | None = None
    slot: str | None = None
    by: str | None = None
    choices: int = 2
    right: str | None = None
    pool: bool = False

    @classmethod
    def of_task(cls, task: Task, **given: Any) -> Roles:
        """Return the roles that the task implies; `given` roles override them."""
        roles: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        answer = TaskView(task).answer_condition
        if "side" not in roles and answer is not None and TaskView(task).answers.size == 2:
            roles["side"] = answer
        actions = task.actions
        resting = 0 if actions.continuous or actions.rest is None else 1
        return cls(**roles, choices=max(actions.size - resting, 2))


class Behaviour:
    """A trial record with the roles of its columns.

    Properties raise `CannotTellError` if the record lacks something that they need. Rows are in the
    order in which each env played them. Of a lab's trials, those without a strength or a side
    (practice, instructions) are left out; `left_out` has their number by the name of the column.

    Args:
        record: the trials; needs the column ``outcome`` (correct, error, …), and ``choice`` for
            most analyses.
        roles: the roles of the columns.

    Raises:
        UnknownNameError: a role names a column that the record lacks.
    """

    def __init__(self, record: TrialRecord, roles: Roles = Roles()) -> None:
        for role in ("strength", "side", "block", "offered", "by"):
            name = getattr(roles, role)
            if name is not None and name not in record:
                raise unknown("column", name, record.columns, of="the trial record")
        record, self.left_out = _complete(record.coded(), roles)
        self.record, self.roles = _in_order(record), roles
        self.slot = self._slot()

    def __len__(self) -> int:
        return len(self.record)

    # ---- columns ----

    def _slot(self) -> str | None:
        slots = slots_of(self.record)
        wanted = self.roles.slot
        if wanted is not None and wanted not in slots:
            raise unknown("answer", wanted, slots, of="the trial record")
        return wanted or (slots[-1] if slots else None)

    def column(self, name: str) -> np.ndarray:
        """Return a column of the answer slot: ``choice``, ``outcome``, ``reaction_time``.

        Raises:
            CannotTellError: the record has no such column.
        """
        full = name if self.slot is None else f"{self.slot}.{name}"
        if full not in self.record:
            raise CannotTellError(f"the record has no column {full!r}")
        return self.record[full]

    @property
    def conditions(self) -> list[str]:
        """Names of the condition columns that vary, with one value in each trial."""
        names = [
            name
            for name in self.record.columns
            if name not in RECORD_NAMES and "." not in name and self.record[name].ndim == 1
        ]
        return [
            name
            for name in names
            if len(np.unique(self.record[name])) > 1
            and name != "correct"  # of a lab's file: the outcome, no condition
            and (name not in self.record.meta.get("sources", ()) or name in ROLES)
            and not (self.record[name].dtype.kind == "f" and np.isnan(self.record[name]).any())
        ]

    @cached_property
    def strength(self) -> str:
        """Name of the column with the strength of the evidence.

        Raises:
            CannotTellError: no column is known to be the strength, or several could be.
        """
        if self.roles.strength is not None:
            return self.roles.strength
        numeric = [name for name in self.conditions if self.record[name].dtype.kind in "iuf"]
        exact = [name for name in numeric if name in STRENGTHS]
        found = exact or [name for name in numeric if name.rpartition("_")[2] in STRENGTHS]
        if len(found) != 1 and DECLARED in self.record:
            return DECLARED
        if len(found) > 1:
            raise CannotTellError(
                f"{listed(found)} could all be the strength of the evidence; name one with"
                " --strength"
            )
        if not found:
            named = [name for name in self.record.columns if name in STRENGTHS]
            if named and self.record[named[0]].dtype.kind == "U":
                raise CannotTellError(
                    f"{named[0]!r} has texts, such as {str(self.record[named[0]][0])!r}; a strength"
                    " needs numbers"
                )
            raise CannotTellError(
                f"{named[0]!r} is the same in all trials"
                if named
                else "no condition is known to be the strength of the evidence; name one with"
                " --strength"
            )
        return found[0]

    @cached_property
    def side(self) -> str:
        """Name of the column with the correct side.

        Raises:
            CannotTellError: no column is known to be the side, or it does not have two values.
        """
        if self.roles.side is not None:
            names: Sequence[str] = [self.roles.side]
        else:
            names = [name for name in SIDES if name in self.conditions]
        for name in names:
            if len(np.unique(self.record[name])) == 2:
                return name
        if names:
            count = len(np.unique(self.record[names[0]]))
            raise CannotTellError(f"{names[0]!r} has {count} values; a side needs two")
        raise CannotTellError("no condition is known to be the correct side; name one with --side")

    @cached_property
    def block(self) -> str:
        """Name of the column that differs between blocks.

        Raises:
            CannotTellError: the record has no such column.
        """
        return self._known("block", self.roles.block, BLOCKS, "block")

    @cached_property
    def offered(self) -> str:
        """Name of the column that says whether a sure bet was offered.

        Raises:
            CannotTellError: the record has no such column.
        """
        return self._known("offered", self.roles.offered, OFFERS, "offer of a sure bet")

    @cached_property
    def by(self) -> str:
        """Name of the condition of the analyses by condition; by default the block.

        Raises:
            CannotTellError: none was named, and there are no blocks; or it has too many values.
        """
        try:
            name = self._known("by", self.roles.by, BLOCKS, "condition of separate curves")
        except CannotTellError as error:
            raise CannotTellError("name a condition with --by for a curve per value") from error
        count = len(np.unique(self.record[name]))
        if not 2 <= count <= MOST:
            raise CannotTellError(f"{name!r} has {count} values; curves need 2 to {MOST}")
        return name

    def parts(self) -> dict[str, Behaviour]:
        """Return the trials of each value of the condition `by`; history is cut at its changes."""
        values = self.record[self.by]
        return {
            f"{self.by} {value:g}" if isinstance(value, float) else f"{self.by} {value}": Behaviour(
                self.record[values == value], self.roles
            )
            for value in np.unique(values).tolist()
        }

    def _known(self, role: str, given: str | None, names: Sequence[str], what: str) -> str:
        found = (
            [given] if given is not None else [name for name in names if name in self.conditions]
        )
        if not found:
            raise CannotTellError(f"no condition is known to be the {what}; name one with --{role}")
        return found[0]

    # ---- values, (n,) each ----

    @cached_property
    def answered(self) -> np.ndarray:
        """Whether the trial was answered correctly or incorrectly; right rests are no answers."""
        self.column("outcome")  # raises the error if the record has none
        return self.record.answered(self.slot)

    @cached_property
    def given(self) -> np.ndarray:
        """Whether the trial was answered at all; the choice between offers is neither correct nor
        incorrect ("other").
        """
        return self.answered | (self.column("outcome") == "other")

    @cached_property
    def choices(self) -> int:
        """Number of choices: that of the task, or of the different answers if there are more."""
        if "choice" not in self.record:
            return self.roles.choices
        return max(self.roles.choices, len(np.unique(self.column("choice")[self.answered])))

    @cached_property
    def correct(self) -> np.ndarray:
        """Whether the trial was answered correctly."""
        return self.column("outcome") == "correct"

    @cached_property
    def right(self) -> np.ndarray:
        """Whether the side called right was the correct one.

        Of trials that were played, right is the side with the larger index. In files of labs, it is
        the value that is named so (`RIGHT`), 1 of 0 and 1, or the positive one.

        Raises:
            CannotTellError: the values of a lab's file do not say which is right.
        """
        values = self.record[self.side]
        return values == self._right_of(np.unique(values))

    def _right_of(self, sides: np.ndarray) -> Any:
        """Return the value of the side that is called right."""
        known: list[Any] = sides.tolist()
        if self.roles.right is not None:
            said = [
                one
                for one in known
                if self.roles.right in (str(one), f"{one:g}" if isinstance(one, float) else "")
            ]
            if not said:
                raise unknown("side", self.roles.right, [str(one) for one in known])
            return said[0]
        named = [one for one in known if isinstance(one, str) and one.lower() in RIGHT]
        if len(named) == 1:
            return named[0]
        signed = all(not isinstance(one, str) for one in known) and (
            known == [0, 1] or known[0] < 0 < known[-1]
        )
        if signed or len(known) != 2 or "steps" in self.record:
            return known[-1]
        raise CannotTellError(
            f"{self.side!r} has the values {listed(known)}; say which of them is right with --right"
        )

    @property
    def notes(self) -> list[str]:
        """Sentences on rows that were left out, and on the side of a lab's file."""
        said = [
            f"Left out, of all analyses: {count:,} trial{'s' * (count > 1)} without a {name!r}."
            for name, count in self.left_out.items()
        ]
        if "steps" in self.record:
            return said
        try:
            side = self.side
            right = self._right_of(np.unique(self.record[side]))
        except CannotTellError as error:
            return [*said, f"No signed choices: {error}."] if "--right" in str(error) else said
        if right != "right":
            said.append(f"Right is {side} = {right}; --right names another value.")
        return said

    @cached_property
    def chose_right(self) -> np.ndarray:
        """Whether the subject chose the side called right; valid only where `answered`."""
        # A correct choice counts as an error if it needs an earlier answer that was wrong, so the
        # choice itself is compared, where its numbers are those of the sides.
        if self.slot is not None and self.side == "answer":
            choice, sides = self.column("choice"), np.unique(self.record["answer"])
            if choice.dtype.kind in "iu" and np.isin(choice[self.answered], sides).all():
                return choice == sides[-1]
        return self.right == self.correct

    @cached_property
    def signed(self) -> np.ndarray:
        """Strength of the evidence, negative where it favours the other side.

        Raises:
            CannotTellError: the strength or the side is unknown.
        """
        ready = f"signed_{self.strength}"
        if self.roles.strength is None and ready in self.record:
            return self.record[ready].astype(float)
        values = self.record[self.strength].astype(float)
        if (values < 0).any():
            return values
        return np.where(self.right, values, -values) + 0.0

    @cached_property
    def level(self) -> np.ndarray:
        """Unsigned strength of the evidence.

        Raises:
            CannotTellError: the strength is unknown.
        """
        return np.abs(self.record[self.strength].astype(float))

    @cached_property
    def after(self) -> np.ndarray:
        """Whether the previous row is the trial before, of the same subject and session, bool (n,).

        Rows may have been left out of the record; the trials after a gap do not count. Without the
        column ``trial``, no gap can be seen.

        Raises:
            CannotTellError: as `check_sequence`.
        """
        self.check_sequence()
        same = np.ones(len(self), bool)
        same[:1] = False
        for name in ("subject", "session") if "subject" in self.record else ("env", "session"):
            if name in self.record:
                values = self.record[name]
                same[1:] &= values[1:] == values[:-1]
        if "trial" in self.record:
            same[1:] &= np.diff(self.record["trial"]) == 1
        return same

    def check_sequence(self) -> None:
        """Raise `CannotTellError` if the order of the trials is not that of the task."""
        if self.record.meta.get(DESIGN) == BALANCED:
            raise CannotTellError(
                "the trials are a balanced design in shuffled order, and not the sequence of the"
                " task; play them with --design drawn"
            )

    def per_subject(self) -> dict[str, Behaviour]:
        """Return the behaviour of each subject by its name; one entry without the column."""
        if "subject" not in self.record:
            return {"record": self}
        names = self.record["subject"]
        return {
            str(name): Behaviour(self.record[names == name], self.roles)
            for name in np.unique(names).tolist()
        }

    def before(self, values: Any) -> np.ndarray:
        """Return the values of the previous row; the first row keeps its value."""
        values = np.asarray(values)
        return np.concatenate([values[:1], values[:-1]])


def clicks_over_time(behaviour: Behaviour) -> tuple[np.ndarray, np.ndarray]:
    """Return right minus left clicks on each step, (n, steps), and the trials to use, bool (n,).

    Where trains differ in length (``length`` or ``duration.stimulus`` varies), the steps end at the
    median of the last clicks, and shorter trains are left out. Otherwise the late steps, in which
    most trials are silent, would have small weights for any subject.

    Raises:
        CannotTellError: the record has no clicks, or pulses, on each step.
    """
    record, used = behaviour.record, behaviour.answered
    if not all(name in record and record[name].ndim == 2 for name in ("left", "right")):
        raise CannotTellError("the record has no evidence over time (columns 'left' and 'right')")
    left, right = record["left"].astype(float), record["right"].astype(float)
    if not any(name in record and len(np.unique(record[name])) > 1 for name in TRAINS):
        return right - left, used
    heard = (left != 0) | (right != 0)
    last = np.where(heard.any(axis=1), heard.shape[1] - heard[:, ::-1].argmax(axis=1), 1)
    steps = max(int(np.median(last)), 5)
    return (right - left)[:, :steps], used & (last >= steps)


def with_declared(record: TrialRecord, task: Task) -> TrialRecord:
    """Return the record with further columns that the task implies.

    ``answer`` is the right answer, if it is one of two and no condition; ``evidence`` is signed.
    Answers on a circle have an ``angular_error`` (degrees); answers that are numbers or times have
    the columns ``wanted`` and ``reported``. Values that the conditions in the record do not
    determine are left out.
    """
    conditions = dict(record.coded())
    added: dict[str, np.ndarray] = {}
    computed = {
        "answer": lambda: _two_answers(task, conditions),
        DECLARED: lambda: TaskView(task).evidence(conditions),
        ANGULAR_ERROR: lambda: _angular_error(task, conditions),
        WANTED: lambda: _wanted(task, conditions),
        REPORTED: lambda: _reported(task, conditions),
    }
    for name, compute in computed.items():
        if name in record:
            continue
        try:
            values = compute()
        except (KeyError, IndexError, TypeError, ValueError):
            continue  # e.g. a wrapper left a condition out of the record
        if values is not None and np.shape(values) == (len(record),):
            added[name] = conditions[name] = np.asarray(values)
    return (
        TrialRecord({**record, **added}, meta=record.meta, events=record.event_log)
        if added
        else record
    )


def _two_answers(task: Task, conditions: Mapping[str, np.ndarray]) -> np.ndarray | None:
    if (
        not TaskView(task).has_answer
        or TaskView(task).answer_condition is not None
        or TaskView(task).answers.size != 2
    ):
        return None
    return TaskView(task).answer(conditions)


def _angular_error(task: Task, conditions: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """Return the errors of reports on a circle, degrees, (n,); None for other answers."""
    parts, choice = list(task.actions.parts.values()), conditions["choice"]
    circle = next((part for part in parts if isinstance(part, Ring) and part.size > 2), None)
    if circle is not None:
        right = conditions[WANTED] if WANTED in conditions else TaskView(task).answer(conditions)
        error = 2 * np.pi * (choice - right) / circle.size
        reported = (choice >= 0) & (right >= 0)
    elif any(isinstance(part, Angle) for part in parts):
        error = choice - conditions[WANTED]
        reported = ~np.isnan(conditions["reaction_time"])
    else:
        return None
    return np.where(reported, np.rad2deg(np.angle(np.exp(1j * error))), np.nan)


def _numbers(task: Task) -> bool:
    """Return whether the answers are numbers of a declared condition."""
    return bool(task.actions.continuous) and TaskView(task).answer_condition is not None


def _wanted(task: Task, conditions: Mapping[str, np.ndarray]) -> np.ndarray | None:
    return TaskView(task).answer(conditions) if _numbers(task) else None


def _reported(task: Task, conditions: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """Return the numbers that were reported, or the times that were produced, (n,)."""
    if WANTED not in conditions or ANGULAR_ERROR in conditions:
        return None
    times = conditions["reaction_time"]
    return np.where(np.isnan(times), np.nan, conditions["choice"]) if _numbers(task) else times


def with_preferences(record: TrialRecord) -> TrialRecord:
    """Return the record with the outcomes "correct" and "error", if it has none but evidence.

    Choices between offers are neither: here, "correct" means the choice of the offer that the
    evidence favours (of the smaller choice if it favours none), so that curves of choices can be
    drawn. Among more than two offers, it means the choice of the best one, whose performance is 1.
    Other records come back unchanged.
    """
    record = record.coded()
    if DECLARED not in record or "choice" not in record:
        return record
    outcome, choice = record["outcome"], record["choice"]
    judged = np.isin(outcome, ("correct", "error")).any()
    if judged or choice.ndim != 1 or choice.dtype.kind not in "iu":
        return record
    columns = {name: record[name] for name in record.columns}
    if choice.max(initial=0) <= 1:
        columns["answer"] = (record[DECLARED] > 0).astype(np.int64)
        best = choice == columns["answer"]
    elif "performance" in record:
        best = record["performance"] >= 1 - 1e-9
    else:
        return record
    named = np.where(best, "correct", "error")
    columns["outcome"] = np.where(choice < 0, outcome, named)
    return TrialRecord(columns, meta=record.meta, events=record.event_log)


def with_rest_as_choice(record: TrialRecord, slot: str | None) -> TrialRecord:
    """Return the record of a go/no-go task as one of choices between answer and rest.

    Misses become errors, right rests stay correct, and the column `SIGNAL` has the right choice:
    True for an answer. Records in which resting is never right, or always, and those with several
    answers to choose from, come back unchanged.
    """
    name, choices = record.of_slot("rest_correct", slot), record.of_slot("choice", slot)
    if name not in record or record[name].all() or not record[name].any():
        return record
    named = record.meta.get("names", {}).get(choices, ())
    if max(len(named), int(record[choices].max(initial=0)) + 1) > 1:
        return record
    outcome = record[record.of_slot("outcome", slot)]
    columns = {one: values for one, values in record.items() if one != name}
    columns[record.of_slot("outcome", slot)] = np.where(outcome == "miss", "error", outcome)
    columns[SIGNAL] = ~record[name].astype(bool)
    return TrialRecord(columns, meta=record.meta, events=record.event_log)


def slots_of(record: TrialRecord) -> list[str]:
    """Return the names of the answer slots of a record, in their order; [] if trials have one."""
    return [slot for slot in record.slots if slot is not None]


def _complete(record: TrialRecord, roles: Roles) -> tuple[TrialRecord, dict[str, int]]:
    """Return the trials of a lab that have a strength and a side, and the numbers of the others.

    Trials that were played here have all their conditions.
    """
    if "steps" in record:
        return record, {}
    known, left_out = _with_answers(record)
    names = {*STRENGTHS, *SIDES, roles.strength, roles.side} & set(record.columns)
    for name in sorted(name for name in names if name is not None):
        values = record[name]
        missing = np.isnan(values) if values.dtype.kind == "f" else values == ""
        if values.ndim == 1 and missing.any() and not missing.all():
            if (known & missing).any():
                left_out[name] = int((known & missing).sum())
            known &= ~missing
    if known.all():
        return record, {}
    # Without numbers, the trials beside those that are left out would count as consecutive.
    numbered = record if "trial" in record else TrialRecord(
        {**record, "trial": np.arange(len(record))}, meta=record.meta
    )  # fmt: skip
    whole: TrialRecord = numbered[known]
    return whole, left_out


def _with_answers(record: TrialRecord) -> tuple[np.ndarray, dict[str, int]]:
    """Return the trials of the subjects that answered any, bool (n,), and the numbers of others.

    A mean over animals has no value of one without results.
    """
    known: np.ndarray = np.ones(len(record), bool)
    names = [name for name in record.columns if name.rpartition(".")[2] == "outcome"]
    if "subject" not in record or not names:
        return known, {}
    given = np.any([np.isin(record[name], ("correct", "error", "other")) for name in names], axis=0)
    who, place = np.unique(record["subject"], return_inverse=True)
    silent = np.bincount(place, weights=given) == 0
    if not silent.any() or silent.all():
        return known, {}
    counts = np.bincount(place)
    left_out = {f"answer by {who[k]}": int(counts[k]) for k in np.flatnonzero(silent)}
    return ~silent[place], left_out


def _in_order(record: TrialRecord) -> TrialRecord:
    """Return the rows by subject, or else by env, in the order in which each played them."""
    whole = ("trial", "session", "subject") if "subject" in record else ("trial", "session", "env")
    keys = [record[name] for name in whole if name in record]
    return record[np.lexsort(keys)] if keys and "trial" in record else record
