"""`TrialBatch`: n trials, as rows of `Tables`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from neurogym_core.trials.arrays import Array, Columns, Ints
from neurogym_core.trials.noise import noise_key
from neurogym_core.trials.rendering import Steps, render, render_targets
from neurogym_core.trials.tables import Tables


def _fact(name: str) -> Any:
    """Make a property that is a fact of all trials."""
    return property(lambda batch: getattr(batch.tables, name))


def _entries(name: str) -> Any:
    """Make a property that has the entries of an array of the tables, (n, …)."""
    return property(lambda batch: batch.table(name))


class TrialBatch:
    """Rows (type, conditions, columns) of the tables of k types.

    The attributes from `duration` to `weight` are (n, …) entries of the tables; `table` returns
    those of the others.

    Args:
        tables: the tables of the types.
        kind: (n,) the type of each trial; default: a separate type for each.
        conditions: name -> (n, …), drawn or imposed.
        columns: name -> (n, …), columns that `session.record` adds to the notes of the types.

    Attributes:
        interface: channels, actions and rewards of the task.
        period_names: names of the periods, in order.
        untimed: names of the periods without a timer.
        period: (S,) int, the period each segment belongs to.
        duration: (n, S) int, steps; 0: skipped. Without a timer: those that others leave.
        shown: (n, S, obs) float32, values without noise.
        noise: (n, S, obs) float32, SD of the Gaussian noise that is added on every step.
        target: (n, S) int, the correct action; (n, S, k) float32 in task units for continuous
            actions.
        weight: (n, S) float32, weight of a step in a supervised loss.
        limit: (n,) int, steps after which a trial is over in any case.
        path: (n, V) int, steps that the oracle plays in each segment, round after round of all S
            segments. V is S, or a multiple of S where the oracle returns to earlier periods.
        steps: (n,) steps of each trial when the oracle plays.
        notes: name -> (n, …), covariates.

    Example:
        >>> from neurogym_core import make_task
        >>> batch = make_task("perceptual/PerceptualDecisionMaking-v0").sample(3, seed=0)
        >>> batch.duration.shape, batch.shown.shape, batch.period_names
        ((3, 4), (3, 4, 3), ('fixation', 'stimulus', 'delay', 'decision'))
    """

    interface = _fact("interface")
    period_names = _fact("period_names")
    untimed = _fact("untimed")
    period = _fact("period")
    duration = _entries("duration")
    shown = _entries("shown")
    noise = _entries("sd")
    target = _entries("target")
    weight = _entries("weight")
    limit = _entries("limit")
    steps = _entries("steps")

    def __init__(
        self,
        tables: Tables,
        kind: Array | None = None,
        conditions: Columns | None = None,
        columns: Columns | None = None,
    ) -> None:
        self.tables = tables
        self.kind: Ints = np.arange(len(tables)) if kind is None else np.asarray(kind)
        self.conditions = dict(conditions or {})
        self.columns = dict(columns or {})

    def __len__(self) -> int:
        return len(self.kind)

    def __getstate__(self) -> dict[str, Any]:
        # The tables may have many more types.
        used, kind = np.unique(self.kind, return_inverse=True)
        return {
            "tables": self.tables.take(used), "kind": kind,
            "conditions": self.conditions, "columns": self.columns,
        }  # fmt: skip

    def __repr__(self) -> str:
        return (
            f"<TrialBatch of {self.interface.name}: {len(self)} trials, periods"
            f" {', '.join(self.period_names)}>"
        )

    def table(self, name: str) -> Array:
        """Return (n, …) the entries of an array of the tables, such as ``reward``."""
        return self._rows(getattr(self.tables, name))

    def _rows(self, values: Array) -> Array:
        one_each = len(self) == len(values) and (self.kind == np.arange(len(self))).all()
        return values if one_each else values[self.kind]

    @cached_property
    def path(self) -> Array:
        """See the class."""
        return self._rows(self.tables.path)

    @property
    def first_round(self) -> Array:
        """Steps that the oracle plays until it first returns to an earlier period, (n, S)."""
        return self.path[:, : len(self.period)]

    @property
    def period_steps(self) -> dict[str, Array]:
        """Drawn steps of each period, name -> (n,); without a timer, those that others leave."""
        return {name: self._rows(steps) for name, steps in self.tables.period_steps.items()}

    @property
    def notes(self) -> dict[str, Array]:
        """See the class."""
        notes = {name: self._rows(values) for name, values in self.tables.notes.items()}
        return {**notes, **self.columns}

    def take(self, rows: Any) -> TrialBatch:
        """Return a batch of some of the trials.

        Args:
            rows: (m,) indices of trials, or a mask (n,).

        Example:
            >>> from neurogym_core import make_task
            >>> batch = make_task("perceptual/PerceptualDecisionMaking-v0").sample(3, seed=0)
            >>> len(batch.take([0, 2]))
            2
        """
        rows = np.asarray(rows)
        return TrialBatch(
            self.tables,
            self.kind[rows],
            {name: values[rows] for name, values in self.conditions.items()},
            {name: values[rows] for name, values in self.columns.items()},
        )

    def render(
        self, seed: int | np.random.Generator | None, duration: Array | None = None
    ) -> Array:
        """Return the observations of all trials in turn, (total steps, obs) float32.

        Args:
            seed: seed of the noise, or a generator that draws one; None: no noise.
            duration: (n, S) or (n, V) steps to render; default: the oracle's path.

        Example:
            >>> from neurogym_core import make_task
            >>> batch = make_task("perceptual/PerceptualDecisionMaking-v0").sample(3, seed=0)
            >>> observations = batch.render(seed=0)
            >>> observations.shape == (batch.steps.sum(), 3)
            True
        """
        # A generator serves only to draw a seed: the numbers come from a counter-based generator.
        drawn = int(seed.integers(1 << 63)) if isinstance(seed, np.random.Generator) else seed
        key = None if drawn is None else noise_key(np.random.SeedSequence(drawn))
        return render(self.tables, self._played(duration), key)

    def render_targets(self, duration: Array | None = None) -> Array:
        """Return the correct actions of all steps, (total,) int64, or (total, k) in task units.

        Args:
            duration: (n, S) or (n, V) steps to render; default: the oracle's path.
        """
        return render_targets(self.tables, self._played(duration))

    def _played(self, duration: Array | None) -> Steps:
        path = self.path if duration is None else np.asarray(duration)
        return Steps(self.kind, np.arange(len(self)), path)

    def spans(self, row: int) -> list[tuple[str, int, int]]:
        """Return (period, first step, last step + 1) of the periods that the oracle plays.

        Args:
            row: index of the trial.

        Example:
            >>> from neurogym_core import make_task
            >>> batch = make_task("perceptual/PerceptualDecisionMaking-v0").sample(3, seed=0)
            >>> batch.spans(0)[0]
            ('fixation', 0, 3)
        """
        result, step = [], 0
        for played in self.path[row].reshape(-1, len(self.period)):
            for p, name in enumerate(self.period_names):
                steps = int(played[self.period == p].sum())
                if steps:
                    result.append((name, step, step + steps))
                step += steps
        return result

    @staticmethod
    def concatenate(batches: Sequence[TrialBatch]) -> TrialBatch:
        """Join batches of one task; where they cut periods differently, align their segments.

        Raises:
            TrialLayoutError: the batches differ in the names of their periods.
        """
        parts = {id(batch.tables): batch.tables for batch in batches}
        starts, offset = {}, 0
        for number, tables in parts.items():
            starts[number] = offset
            offset += len(tables)

        def joined(columns: Sequence[Columns]) -> dict[str, Array]:
            return {name: np.concatenate([one[name] for one in columns]) for name in columns[0]}

        return TrialBatch(
            Tables.concatenate(list(parts.values())),
            np.concatenate([batch.kind + starts[id(batch.tables)] for batch in batches]),
            joined([batch.conditions for batch in batches]),
            joined([batch.columns for batch in batches]),
        )
