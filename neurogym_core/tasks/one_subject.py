"""Tasks that are written for one subject at a time: `new_session_one` and `draw_one`.

The core keeps one `SubjectSession` per subject. They are rows of object arrays on the `Session` of
all subjects, so that `take`, `put`, copies and pickles of a session include them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from neurogym_core.errors import TaskDefinitionError, unknown
from neurogym_core.tasks.constrained import view_of_subject
from neurogym_core.tasks.drawing import dimensions_of
from neurogym_core.tasks.session import LastTrials, Session, check_column_name
from neurogym_core.tasks.state import Conditions, TaskLike, state_of
from neurogym_core.trials.arrays import Array
from neurogym_core.trials.distributions import Distribution
from neurogym_core.trials.record import Outcome, as_texts

# Names of the object arrays, (n,) each. Names that begin with "_" are no attributes of authors.
SESSIONS = "_sessions_of_subjects"
MEMORIES = "_memories_of_subjects"
GENERATORS = "_generators_of_subjects"


class SubjectMemory:
    """State of one subject that outlives its sessions; attributes may be any Python objects.

    Attributes:
        previous: the last trial of the subject's last session; empty if there was none.
    """

    def __init__(self) -> None:
        self.previous: dict[str, Any] = LastTrials()


class SubjectSession:
    """State of the session of one subject; attributes may be any Python objects.

    Authors add attributes in `new_session_one` (``session.hits = []``) and use them in `draw_one`.

    Attributes:
        trial: number of trials drawn in this session.
        previous: the last finished trial, name -> value: `choice` (-1: none), `outcome`, `reward`,
            `performance`, and the conditions.
        subject: the state that outlives sessions, until a reset with a seed.

    Args:
        subject: the state that outlives this session.
    """

    def __init__(self, subject: SubjectMemory) -> None:
        self.trial = 0
        self.previous: dict[str, Any] = LastTrials()
        self.subject = subject
        self._columns: dict[str, Array] = {}

    def record(self, **columns: Any) -> None:
        """Add columns to the record of the trial that `draw_one` is drawing.

        Call it in `draw_one`, with the same names for every trial; the values are part of the
        record alone. Conditions are recorded without it.

        Args:
            columns: name -> a bool, number or text, or k of them.

        Raises:
            TaskDefinitionError: a value of another type or shape, or a name of a column that every
                record has.
        """
        for name, value in columns.items():
            check_column_name(name)
            row = as_texts(np.asarray(value))
            if row.dtype.kind not in "biufU" or row.ndim > 1 or not row.size:
                raise TaskDefinitionError(
                    f"session.record({name}={value!r}) was called. Expected a bool, number or text,"
                    " or a list of k of them, which a row of a table can hold. Give len(…), the"
                    " last entry, or another summary."
                )
            self._columns[name] = row


def begin_sessions(task: TaskLike, session: Session, rng: np.random.Generator) -> None:
    """Start the session of every subject, and call `new_session_one` for each."""
    if MEMORIES not in vars(session.subject):
        n = len(session)
        vars(session.subject)[MEMORIES] = _objects(SubjectMemory() for _ in range(n))
        vars(session.subject)[GENERATORS] = _objects(_generators(rng, n))
    memories = vars(session.subject)[MEMORIES]
    vars(session)[SESSIONS] = _objects(SubjectSession(memory) for memory in memories)
    for i, (one, own) in enumerate(_subjects(session)):
        one.subject.previous = _row(session.subject.previous, i)
        if task.new_session_one is not None:
            task.new_session_one(one, own or rng)


def draw_subjects(task: TaskLike, session: Session, rng: np.random.Generator) -> Conditions:
    """Call `draw_one` for every subject; draw the conditions that it leaves out as declared."""
    rows = []
    for i, (one, own) in enumerate(_subjects(session)):
        decided = _decided(task, task.draw_one(one, own or rng))  # type: ignore[misc]
        rows.append(view_of_subject(task, i).draw_conditions(own or rng, 1, decided))
    _record_together(task, session, [one for one, _ in _subjects(session)])
    return {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}


def _record_together(task: TaskLike, session: Session, ones: list[SubjectSession]) -> None:
    """Record the columns of all subjects in their common session."""
    rows = [dict(one._columns) for one in ones]
    for one in ones:
        one._columns.clear()
    if any(row.keys() != rows[0].keys() for row in rows):
        names = sorted({", ".join(row) or "none" for row in rows})
        raise TaskDefinitionError(
            f"{task.name}.draw_one() recorded different columns for different trials:"
            f" {'; '.join(names)}. Expected the same in all. Call session.record(…) in every trial."
        )
    for name in rows[0]:
        shapes = {row[name].shape for row in rows}
        if len(shapes) > 1:
            raise TaskDefinitionError(
                f"{task.name}.draw_one() recorded {name} with the shapes {sorted(shapes)}. Expected"
                " as many values in every trial. Record a fixed number of values."
            )
        session.record(**{name: np.stack([row[name] for row in rows])})


def _subjects(session: Session) -> list[tuple[SubjectSession, np.random.Generator | None]]:
    """The sessions of the subjects, up to date, and their generators."""
    sessions = vars(session)[SESSIONS]
    for i, one in enumerate(sessions):
        one.trial, one.previous = int(session.trial[i]), _row(session.previous, i)
    return list(zip(sessions, vars(session.subject)[GENERATORS], strict=True))


def _generators(rng: np.random.Generator, n: int) -> list[np.random.Generator | None]:
    # With one generator for all, a subject's trials would depend on when those of others end. A
    # single subject uses the generator itself, so that both forms give the same trials.
    if n == 1:
        return [None]
    seeds = rng.integers(0, 1 << 63, n).tolist()
    if not isinstance(rng, np.random.Generator):  # a stand-in, from which digests are made
        return [type(rng)(seed) for seed in seeds]
    return [np.random.Generator(np.random.SFC64(seed)) for seed in seeds]


def _objects(values: Iterable[Any]) -> Array:
    """An array of Python objects, (n,)."""
    found = list(values)
    array = np.empty(len(found), object)
    array[:] = found
    return array


def _row(columns: Mapping[str, Array], i: int) -> LastTrials:
    """Row i of columns, as Python scalars; a copy of an array for conditions of several values."""
    row = LastTrials(
        (name, values[i].item() if values.ndim == 1 else values[i].copy())
        for name, values in columns.items()
    )
    if "outcome" in row:
        row["outcome"] = Outcome(row["outcome"])
    return row


def _decided(task: TaskLike, drawn: Any) -> dict[str, Array]:
    """The conditions that `draw_one` returned, as arrays of one row."""
    declared = state_of(task).declared
    if not isinstance(drawn, Mapping):
        raise TaskDefinitionError(
            f"{task.name}.draw_one() returned {drawn!r}. Expected the conditions that it decides,"
            " a dict of name and value. Return {} to draw all of them as vary() declares."
        )
    rows = {}
    for name, value in drawn.items():
        if name not in declared:
            raise unknown("condition", name, declared, of=f"{task.name}, returned by draw_one()")
        row = as_texts(np.asarray(value))
        known = name in state_of(task).dimensions or isinstance(declared[name], Distribution)
        if row.dtype.kind not in "biufU" or (known and row.ndim != dimensions_of(task, name)):
            raise TaskDefinitionError(
                f"{task.name}.draw_one() returned {name}={value!r}. Expected the value of one"
                " trial: a bool, number or text, or an array of them for a condition of several"
                f" values. Return {{{name!r}: value}}."
            )
        rows[name] = row[None]
    return rows
