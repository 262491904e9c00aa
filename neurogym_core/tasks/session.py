"""`Session`: the state that outlives a trial, for any number of subjects at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from neurogym_core.errors import TaskDefinitionError, unknown
from neurogym_core.trials.arrays import as_texts
from neurogym_core.trials.record import RECORD_NAMES

RECORDED = "record."
"""Prefix of the columns of `Session.record` among drawn conditions, whose names have no dot."""


class LastTrials(dict[str, Any]):
    """Columns of the last trials by name; an unknown name is refused with the known ones.

    Empty for tasks that do not read outcomes, and for subjects before their second session."""

    def __missing__(self, name: str) -> Any:
        if self:
            raise unknown("column", name, self, of="the last trial (session.previous)")
        raise TaskDefinitionError(
            f"session.previous[{name!r}] was read, but the results of the last trial are not kept."
            " Expected a task that reads outcomes and, for session.subject.previous, a subject"
            " that had a session before. Write reads_outcomes = True in the class of the task, and"
            " `if session.subject.previous:` in new_session."
        )


class Session:
    """State of `n` parallel sessions; the first axis of every array attribute is over them.

    Authors add attributes in `new_session` (``session.p = rng.random((len(session), 2))``) and
    update them in `draw`. An attribute is an array of bools, numbers or texts with one row per
    subject; all else is refused, because it could not be divided between subjects whose trials end
    at different times.

    Attributes:
        trial: (n,) number of trials drawn in this session.
        previous: the last finished trial of each session, name -> (n, …): `choice` (-1: none),
            `outcome`, `reward`, `performance`, and the conditions.
        subject: a `Session` that outlives sessions, until a reset with a seed. Within
            `new_session`, its `previous` is the last trial of the subject's last session (empty if
            there was none). `draw` does not see that trial.

    Args:
        n: number of sessions.
        subject: the state that outlives these sessions; None: a new one.

    Example:
        >>> from neurogym_core import Session
        >>> session = Session(3)
        >>> session.trial.tolist(), len(session)
        ([0, 0, 0], 3)
    """

    _n: int
    _columns: dict[str, np.ndarray]

    if TYPE_CHECKING:  # attributes of authors

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, n: int, subject: Session | None = None) -> None:
        vars(self)["_n"] = n
        vars(self)["_columns"] = {}
        self.trial = np.zeros(n, np.int64)
        self.previous: dict[str, Any] = LastTrials()
        if subject is not None:
            self.subject = subject

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "previous":
            value = value if isinstance(value, LastTrials) else LastTrials(value)
        elif not self._has_row_per_subject(value):
            owner = "session" if "subject" in vars(self) else "session.subject"
            raise TaskDefinitionError(
                f"{owner}.{name} was set to {_described(value)}. Expected an array of bools,"
                f" numbers or texts with one row for each of the {self._n} subjects that are played"
                " side by side. Begin with np.zeros(len(session)), say; the last k values of each"
                " subject fit in np.zeros((len(session), k))."
            )
        super().__setattr__(name, value)

    def _has_row_per_subject(self, value: Any) -> bool:
        if isinstance(value, Session):
            return len(value) == self._n
        is_array = isinstance(value, np.ndarray) and value.dtype.kind != "O"
        return is_array and value.ndim > 0 and len(value) == self._n

    def __len__(self) -> int:
        return self._n

    def __repr__(self) -> str:
        names = sorted(name for name in self._arrays() if not name.startswith("_"))
        return f"<Session of {self._n}: {', '.join(names)}>"

    def record(self, **columns: Any) -> None:
        """Add columns to the record of the trial that `draw` is drawing.

        Call it in `draw`, with the same names for every trial; the values are part of the record
        alone. Conditions are recorded without it.

        Args:
            columns: name -> one value per subject, (n,), or k values, (n, k); bools, numbers or
                texts.

        Raises:
            TaskDefinitionError: a column of another type or shape, or with the name of a column
                that every record has; or a call for `session.subject`.

        Example:
            >>> import numpy as np
            >>> from neurogym_core import Session
            >>> session = Session(3, subject=Session(3))
            >>> session.reversals = np.zeros(3, int)
            >>> session.record(reversals=session.reversals)
        """
        if "subject" not in vars(self):
            raise TaskDefinitionError(
                f"session.subject.record({', '.join(columns)}) was called. Expected a call for the"
                " trial that is drawn. Write session.record(…)."
            )
        for name, values in columns.items():
            check_column_name(name)
            values = as_texts(np.asarray(values))
            shaped = values.ndim in (1, 2) and len(values) == self._n and values.size > 0
            if values.dtype.kind not in "biufU" or not shaped:
                raise TaskDefinitionError(
                    f"session.record({name}=…) was given {_described(values)}. Expected bools,"
                    f" numbers or texts with one row for each of the {self._n} subjects that are"
                    f" played side by side: shape ({self._n},) or ({self._n}, k). Give the state of"
                    " all subjects."
                )
            self._columns[name] = values.copy()

    def take_columns(self) -> dict[str, np.ndarray]:
        """Remove the columns that were recorded since the last call, and return them.

        The core calls it after each call of `draw`. The names have the prefix `RECORDED`.
        """
        taken = {RECORDED + name: values for name, values in self._columns.items()}
        self._columns.clear()
        return taken

    def _arrays(self) -> dict[str, np.ndarray]:
        return {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray)}

    def take(self, rows: np.ndarray) -> Session:
        """Return a copy of some of the sessions; `put` writes it back.

        Args:
            rows: (m,) indices of sessions.
        """
        part = Session.__new__(Session)
        part.__dict__.update(vars(self))
        part.__dict__.update({name: value[rows] for name, value in self._arrays().items()})
        part.__dict__["_n"] = len(rows)
        part.__dict__["_columns"] = {}
        part.previous = {name: value[rows] for name, value in self.previous.items()}
        part.__dict__.update(
            {
                name: value.take(rows)
                for name, value in vars(self).items()
                if isinstance(value, Session)
            }
        )
        return part

    def put(self, rows: np.ndarray, part: Session) -> None:
        """Write the state of some sessions back, after changes to a copy of `take`.

        Args:
            rows: (m,) indices of sessions.
            part: their state, from `take`.
        """
        # Also attributes that the copy got since, with zeros for the sessions that are not in it.
        for name, value in vars(part).items():
            if isinstance(value, np.ndarray):
                self._put_array(name, rows, value)
            elif isinstance(value, Session):
                if name not in vars(self):
                    setattr(self, name, Session(self._n))
                getattr(self, name).put(rows, value)

    def _put_array(self, name: str, rows: np.ndarray, value: np.ndarray) -> None:
        mine = vars(self).get(name)
        # Types widen, so that a longer string or a float among integers is kept as it is.
        if mine is None or mine.shape[1:] != value.shape[1:]:
            mine = np.zeros((self._n, *value.shape[1:]), value.dtype)
        elif mine.dtype != value.dtype:
            mine = mine.astype(np.result_type(mine, value))
        else:
            mine = mine.copy()
        mine[rows] = value
        vars(self)[name] = mine

    def remember(self, rows: np.ndarray, finished: dict[str, Any]) -> None:
        """Store the finished trials of some sessions in `previous`.

        Args:
            rows: (m,) indices of sessions.
            finished: columns of the trials, name -> (m, …).
        """
        if len(rows) == self._n:
            self.previous.update({name: np.asarray(value) for name, value in finished.items()})
            return
        for name, value in finished.items():
            value = np.asarray(value)
            if name not in self.previous or self.previous[name].dtype != value.dtype:
                fill = -1 if name == "choice" else value.dtype.type()  # of a text: ""
                old = self.previous.get(name)
                self.previous[name] = (
                    np.full((self._n, *value.shape[1:]), fill, value.dtype)
                    if old is None
                    else old.astype(np.result_type(old, value))
                )
            self.previous[name] = self.previous[name].copy()
            self.previous[name][rows] = value


def check_column_name(name: str) -> None:
    """Refuse a column of `record` that has the name of one that every record has."""
    if name in RECORD_NAMES:
        raise TaskDefinitionError(
            f"session.record({name}=…) has the name of a column that every record has. Expected"
            " another name. Rename it."
        )


def _described(value: Any) -> str:
    """Say what an author assigned: an array by its shape, else the value and its type."""
    if isinstance(value, Session):
        return f"a Session of {len(value)}"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    text = repr(value)
    return f"{text if len(text) <= 40 else text[:37] + '...'} ({type(value).__name__})"
