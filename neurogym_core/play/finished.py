"""`FinishedTrials`: what became of trials that ended on one step; columns are worked out when somebody looks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from neurogym_core.play.table import BY_ACTION, PlayTable
from neurogym_core.tasks.task import DURATION
from neurogym_core.trials.questions import QUESTIONS
from neurogym_core.trials.record import OUTCOME_NAMES, RESTING, Outcome, TrialRecord


class SlotState:
    """Answers given so far: (n, K) arrays of outcome, choice, reaction time (ms; NaN: none) and score.

    `values` (n, K, D) holds the answers of continuous actions, in task units.
    """

    ARRAYS = ("outcome", "choice", "reaction_time", "score", "values")

    def __init__(self, n: int, slots: int, dimensions: int) -> None:
        self.outcome = np.zeros((n, slots), np.int8)
        self.choice = np.full((n, slots), RESTING, np.int64)
        self.reaction_time = np.full((n, slots), np.nan)
        self.score = np.zeros((n, slots))
        self.values = np.zeros((n, slots, dimensions))

    def take(self, rows: np.ndarray) -> SlotState:
        part = SlotState.__new__(SlotState)
        for name in self.ARRAYS:
            setattr(part, name, getattr(self, name)[rows])
        return part

    def over(self, names: Sequence[str], wanted: Sequence[str]) -> SlotState:
        """The same answers for the slots `wanted`; those that are not among `names` are unanswered."""
        state = SlotState(len(self.outcome), len(wanted), self.values.shape[2])
        for k, name in enumerate(wanted):
            if name in names:
                for array in self.ARRAYS:
                    getattr(state, array)[:, k] = getattr(self, array)[:, names.index(name)]
        return state

    def clear(self, rows: np.ndarray) -> None:
        self.outcome[rows] = 0
        self.choice[rows] = RESTING
        self.reaction_time[rows] = np.nan
        self.score[rows] = 0
        self.values[rows] = 0


class FinishedTrials(Mapping):
    """Trials that ended together: column name -> (m,) array, as in the trial record.

    Args:
        table: where they were played.
        envs: (m,) which envs they were played in.
        counts: (2, m) int: which trials of the table they are, and the place of the tape after their last step.
        sums: (4, m) of the rows of `Rules.results`: reward, how often the subject acted while holding, one that means nothing
            here, and trials left of their session.
        numbers: two arrays over all envs: what `left` counts down from, which tells the number of the trial in its env, and
            the number of the session. Nobody may change them.
        keys: (m,) cell * A + action of the last step.
        steps: (m,) steps played; None for simple tables, where the place says it.
        aborted: (m,) bool: acting while holding ended the trial; None for simple tables, where the last key says it.
        slots: what was answered; None for simple tables, likewise.
    """

    def __init__(
        self, table: PlayTable, envs: np.ndarray, counts: np.ndarray, sums: np.ndarray, numbers: tuple[np.ndarray, np.ndarray],
        keys: np.ndarray | None = None, steps: np.ndarray | None = None, aborted: np.ndarray | None = None, slots: SlotState | None = None,
    ) -> None:  # fmt: skip
        self.table, self.envs = table, envs
        self._counts, self._sums, self._numbers = counts, sums, numbers
        self._steps, self._aborted, self._slots, self._keys = steps, aborted, slots, keys

    rows = property(lambda self: self._counts[0])
    place = property(lambda self: self._counts[1])
    left = property(lambda self: self._sums[3])

    @cached_property
    def kinds(self) -> np.ndarray:
        """The kind of each trial, (m,): its row in the payoffs."""
        return self.table.kind[self.rows]

    @property
    def number(self) -> np.ndarray:
        """Number of each trial in its env, from 0, (m,)."""
        return (self._numbers[0][self.envs] - self.left).astype(np.int64) - 1

    @property
    def session(self) -> np.ndarray:
        """Number of its session, from 0, (m,)."""
        return self._numbers[1][self.envs]

    @property
    def reward(self) -> np.ndarray:
        """What each trial paid, (m,)."""
        return self._sums[0]

    @property
    def aborts(self) -> np.ndarray:
        """How often the subject acted while holding, (m,)."""
        return self._sums[1].astype(np.int64)

    @property
    def steps(self) -> np.ndarray:
        """Steps played, (m,)."""
        return self.place - self.table.start[self.rows] if self._steps is None else self._steps

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    @cached_property
    def slots(self) -> SlotState:
        """What was answered, per slot."""
        return self._slots if self._slots is not None else self._simple_slots()

    def _simple_slots(self) -> SlotState:
        pay, table, keys = self.table.rules.payoffs, self.table, self._keys
        state = SlotState(len(self.rows), len(pay.slot_names), 0)
        if not pay.slot_names:
            return state
        answered = table.rules.by_action("slot", keys) >= 0
        choice = keys % table.rules.n_actions - pay.units[0].start
        segment = keys // table.rules.n_actions >> 1
        settled = table.rules.settled[keys] & pay.asked[self.kinds, 0]
        missed = np.where(settled, pay.miss_outcome[self.kinds, 0], 0)
        state.outcome[:, 0] = np.where(answered, table.rules.by_action("outcome", keys), missed)
        state.choice[:, 0] = np.where(answered, choice, RESTING)
        steps = self.place - table.row_start[self.rows] - table.rules.since[segment, 0]
        state.reaction_time[:, 0] = np.where(answered, steps * table.rules.dt, np.nan)
        state.score[:, 0] = np.where(answered, table.rules.by_action("score", keys), state.outcome[:, 0] == Outcome.CORRECT)
        return state

    @cached_property
    def _by_hand(self) -> np.ndarray:
        """Whether an action ended the trial (simple tables)."""
        return self.table.rules.code[self._keys] == BY_ACTION

    @cached_property
    def aborted(self) -> np.ndarray:
        """Whether acting while holding ended the trial, (m,)."""
        if self._aborted is not None:
            return self._aborted
        return self._by_hand & (self.table.rules.by_action("slot", self._keys) < 0)

    @cached_property
    def outcome(self) -> np.ndarray:
        """The trial's outcome, (m,) codes: abort, else the worst of its slots."""
        asked = self.table.rules.payoffs.asked[self.kinds]
        slots = np.where(asked, self.slots.outcome, 0)
        result = np.zeros(len(self.rows), np.int8)
        for code in (Outcome.CORRECT, Outcome.OTHER, Outcome.MISS, Outcome.ERROR):
            result[(slots == code).any(axis=1)] = code
        result[(result == 0) & asked.any(axis=1)] = Outcome.MISS
        result[self.aborted] = Outcome.ABORT
        return result

    @cached_property
    def performance(self) -> np.ndarray:
        """1 if every slot is correct, else the fraction; where nothing is right, pay / best pay. (m,), in [0, 1]."""
        if self.table.rules.scored and self._slots is None:
            return self.table.rules.performance[self._keys]
        asked = self.table.rules.payoffs.asked[self.kinds]
        count = asked.sum(axis=1)
        best = self.table.rules.payoffs.best[self.kinds]
        fraction = np.divide((self.slots.score * asked).sum(axis=1), count, out=np.zeros(len(self.rows)), where=count > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            paid = np.where(best > 0, self.reward / best, 0.0)
        return np.clip(np.where(np.isnan(best), fraction, paid), 0.0, 1.0)

    @cached_property
    def columns(self) -> dict[str, np.ndarray]:
        """All columns of the trial record."""
        batch, rows = self.table.batch, self.rows
        columns = {"trial": self.number, "env": self.envs, "session": self.session}
        columns.update({name: values[rows] for name, values in batch.conditions.items()})
        columns.update({name: values[rows] for name, values in batch.notes.items()})
        columns.update(self._slot_columns())
        columns.update(outcome=OUTCOME_NAMES[self.outcome], performance=self.performance, reward=self.reward)
        columns.update(aborts=self.aborts, steps=self.steps)
        dt = float(batch.task.dt)
        columns.update({DURATION + name: steps[rows] * dt for name, steps in batch.period_steps.items()})
        return columns

    def _slot_columns(self) -> dict[str, np.ndarray]:
        pay, state = self.table.rules.payoffs, self.slots
        several = len(pay.slot_names) > 1
        columns = {}
        for k, name in enumerate(pay.slot_names):
            prefix = f"{name}." if several else ""
            columns[f"{prefix}choice"] = self._choices(k)
            columns[f"{prefix}outcome"] = OUTCOME_NAMES[state.outcome[:, k]]
            columns[f"{prefix}reaction_time"] = state.reaction_time[:, k]
        return columns

    def _choices(self, k: int) -> np.ndarray:
        if not self.table.batch.task.actions.continuous:
            return self.slots.choice[:, k]
        values = self.slots.values[:, k, self.table.rules.payoffs.units[k]]
        values = np.where(self.slots.choice[:, k, None] >= 0, values, 0.0)
        return values[:, 0] if values.shape[1] == 1 else values

    def record(self) -> TrialRecord:
        """These trials as a record."""
        return TrialRecord(self.columns, meta={QUESTIONS: self.table.rules.payoffs.slot_names})

    def row(self, i: int) -> dict[str, Any]:
        """One of the trials, as Python values; an absent reaction time is an absent key."""
        row = {name: _python(values[i]) for name, values in self.columns.items()}
        return {name: value for name, value in row.items() if not (name.endswith("reaction_time") and value != value)}

    def as_previous(self) -> dict[str, np.ndarray]:
        """What `session.previous` keeps."""
        previous = {name: values[self.rows] for name, values in self.table.batch.conditions.items()}
        rules = self.table.rules
        if rules.simple and self._slots is None:
            outcome, choice = rules.last_outcome[self._keys], rules.last_choice[self._keys]
        else:
            first = self.slots.choice
            outcome, choice = self.outcome, first[:, 0] if first.shape[1] else np.full(len(self.rows), RESTING)
        return {**previous, "choice": choice, "outcome": outcome, "reward": self.reward, "performance": self.performance}


def _python(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
