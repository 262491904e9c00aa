"""`TrialStream`: the one source of trials and noise that all players draw from.

A seed gives four independent generators: of conditions and durations, of noise, of session state, and of what happens
only when somebody acts (fresh noise after a restart, hooks). How much is drawn ahead depends on the task and the number
of streams alone, never on the player, so that equal seeds give equal trials.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from neurogym_core.errors import InvalidValueError, unknown
from neurogym_core.play.library import Library
from neurogym_core.tasks.session import Session
from neurogym_core.tasks.task import DURATION, Task
from neurogym_core.trials.batch import TrialBatch
from neurogym_core.trials.noise import Noise

BLOCK_STEPS = 1 << 15
"""Steps drawn ahead, about: as many trials as typically last so long."""
BLOCK_UNITS = 1 << 21
"""Rendered numbers that a block may hold, about."""
BLOCK_DRAWS = 1 << 10
"""Trials of each stream drawn ahead, at most, where each is a call of `draw`: nobody waits for 16,384 of them."""

FRESH = 1 << 12
"""Numbers of noise drawn ahead where steps are not rendered ahead."""


class TrialStream:
    """Trials for `n` sessions played side by side.

    Attributes:
        noise: the noise of trials drawn ahead.
        play: generator of what happens only when somebody acts.
    """

    def __init__(self, task: Task, seed: int | np.random.SeedSequence | None = None, n: int = 1) -> None:
        self.task = task
        self.n = n
        self.imposed: dict[str, np.ndarray] = {}
        self._block_rows: int | None = None
        self.seed(seed)

    def seed(self, seed: int | np.random.SeedSequence | None) -> None:
        """Begin again: everything that follows is fixed by the seed; None: by the operating system's entropy."""
        sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
        # Fresh children of the same sequence whenever it is used: spawn() would count on from the last time.
        children = [np.random.SeedSequence(sequence.entropy, spawn_key=(*sequence.spawn_key, k)) for k in range(4)]
        self.conditions, noise, self.session_rng, self.play = (
            np.random.Generator(np.random.SFC64(child)) for child in children
        )
        self.noise = Noise(noise)
        self._imposed_at = 0
        self._durations: dict[str, np.ndarray] = {}
        self._library: Library | None = None
        self._hopeless = False  # no use to look for trials that are alike
        self._fresh: np.ndarray | None = None
        self._fresh_at = 0
        self.subject: Session | None = None
        self.session: Session | None = None

    def impose(self, conditions: Mapping[str, Any]) -> None:
        """Impose conditions (and durations, as ``duration.<period>``) on all coming trials.

        A value holds for every trial; an array (m,) gives the values of the coming trials in turn, over and over.
        """
        imposed = {}
        for name, value in conditions.items():
            period = name.removeprefix(DURATION)
            if name not in self.task.conditions and not (name.startswith(DURATION) and period in self.task.period_names):
                known = [*self.task.conditions, *(DURATION + known for known in self.task.period_names)]
                raise unknown("condition", name, known, of=self.task.name)
            imposed[name] = np.asarray(value)
            if not imposed[name].size:
                raise InvalidValueError(f"The condition {name!r} of {self.task.name} was imposed with no values; give at least one.")
            if imposed[name].dtype.kind == "f" and np.isnan(imposed[name]).any():
                raise InvalidValueError(f"The condition {name!r} of {self.task.name} was imposed as NaN; give a number.")
        self.imposed = imposed
        self._imposed_at = 0
        self._durations = {}
        self._hopeless = False

    # ------------------------------------------------------------------ sessions

    def new_sessions(self) -> None:
        """Start a new session on every stream."""
        if self.task.stateful:
            self.session = self.task.fresh_session(self.session_rng, self.n, self.subject)
            self.subject = self.session.subject

    def renew_sessions(self, rows: np.ndarray) -> None:
        """Start a new session on some of the streams."""
        if self.session is None or not len(rows):
            return
        subject = None if self.subject is None else self.subject.take(rows)
        if subject is not None:  # no `draw` will see the trial that ended the session; let `new_session` see it
            subject.previous = {name: values[rows] for name, values in self.session.previous.items()}
        fresh = self.task.fresh_session(self.session_rng, len(rows), subject)
        self.session.put(rows, fresh)
        self.session.remember(rows, fresh.previous)

    # ------------------------------------------------------------------ drawing ahead

    @property
    def block_rows(self) -> int:
        """Trials that are laid out together."""
        if self._block_rows is None:
            steps = self.task.typical_steps
            units = steps * (self.task.channels.size + 4)
            wanted = max(BLOCK_STEPS // steps, 32 * self.n if self.n > 1 else 1)
            if self.task.stateful and type(self.task).draw_ahead is Task.draw_ahead:
                wanted = min(wanted, BLOCK_DRAWS * self.n)
            self._block_rows = max(min(wanted, BLOCK_UNITS // units, 1 << 15), self.n, 16)
        return self._block_rows

    @block_rows.setter
    def block_rows(self, rows: int) -> None:
        """Before anything is drawn: the trials that a seed gives depend on it."""
        self._block_rows = max(int(rows), self.n)

    def block(self) -> TrialBatch:
        """Trials drawn ahead: any for stateless tasks; else trial by trial, each for all streams: row = trial * n + stream."""
        if not self.task.stateful:
            return self._lay_out(self.task.draw_conditions(self.conditions, self.block_rows, self._next_imposed(self.block_rows)), self.block_rows)
        trials = max(self.block_rows // self.n, 1)
        drawn = self._draw_sessions(trials)
        rows = trials * self.n
        conditions = {name: values.reshape(rows, *values.shape[2:]) for name, values in drawn.items()}
        return self._lay_out(self._with_imposed(conditions, rows), rows)

    def _draw_sessions(self, trials: int) -> dict[str, np.ndarray]:
        """Conditions of `trials` trials of every stream, starting new sessions where one ends."""
        limit, parts, left = self.task.trials_per_session, [], trials
        while left:
            if self.session is None or (limit is not None and self.session.trial[0] >= limit):
                self.new_sessions()
            now = left if limit is None else min(left, limit - int(self.session.trial[0]))  # type: ignore[union-attr]
            parts.append(self._draw_ahead(now))
            left -= now
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _draw_ahead(self, trials: int) -> dict[str, np.ndarray]:
        before = self.session.trial.copy()  # type: ignore[union-attr]
        drawn = self.task.draw_ahead(self.session, self.session_rng, trials)
        self.session.trial = before + trials  # type: ignore[union-attr]
        return drawn

    def draw_for(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Conditions of the coming trial of some streams, for tasks that read outcomes."""
        session: Session = self.session  # type: ignore[assignment]
        if len(rows) == self.n:
            drawn = self.task.draw(session, self.session_rng)
            session.trial += 1
        else:
            part = session.take(rows)
            drawn = self.task.draw(part, self.session_rng)
            part.trial += 1
            session.put(rows, part)
        return self._with_imposed(drawn, len(rows))

    def lay_out(self, conditions: Mapping[str, np.ndarray], n: int) -> tuple[TrialBatch, bool]:
        """Trials with these conditions, and whether they say all of them: nothing else was drawn."""
        before = str(self.conditions.bit_generator.state)
        batch = self.task.lay_out(conditions, self.conditions, n, self._durations)
        return batch, not (batch.random or self._durations or str(self.conditions.bit_generator.state) != before)

    def fresh_noise(self, units: int) -> np.ndarray:
        """(n, units) float32: standard normal noise of one step, for tasks whose steps are not rendered ahead."""
        if self._fresh is None or self._fresh_at == len(self._fresh):
            self._fresh = self.noise.fill(np.empty((max(FRESH // (self.n * units), 1), self.n, units), np.float32))
            self._fresh_at = 0
        self._fresh_at += 1
        return self._fresh[self._fresh_at - 1]

    # ------------------------------------------------------------------ imposing

    def _next_imposed(self, n: int) -> dict[str, np.ndarray]:
        values = {name: self._slice(name, value, n) for name, value in self.imposed.items() if not name.startswith(DURATION)}
        self._durations = {
            name.removeprefix(DURATION): self._slice(name, value, n) for name, value in self.imposed.items() if name.startswith(DURATION)
        }
        self._imposed_at += n
        return values

    def _slice(self, name: str, value: np.ndarray, n: int) -> np.ndarray:
        """The imposed values of the coming `n` trials."""
        several = 0 if name.startswith(DURATION) else self.task.dimensions_of(name)
        if value.ndim <= several:
            return value
        return value[(self._imposed_at + np.arange(n)) % len(value)]

    def _with_imposed(self, drawn: Mapping[str, np.ndarray], n: int) -> dict[str, np.ndarray]:
        return self.task.impose_on(drawn, self.conditions, n, self._next_imposed(n) if self.imposed else {})

    def _lay_out(self, conditions: Mapping[str, np.ndarray], n: int) -> TrialBatch:
        """Trials with these conditions; those met before are looked up, which draws as little as laying them out again would."""
        known = self._library.find(conditions) if self._library is not None and not self._durations else None
        if known is not None:
            return known
        if self._hopeless:
            return self.task.lay_out(conditions, self.conditions, n, self._durations)
        batch, determined = self.lay_out(conditions, n)
        self._library = Library.of(batch) if determined else None
        self._hopeless = self._library is None
        return batch
