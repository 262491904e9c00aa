"""`TrialBatch`: trials as a table over (trial, segment).

A segment is a piece of a period in which nothing changes. Rendering repeats the values of each
segment for as many steps as it lasts, and adds noise; nothing else happens per step. Rewards and
effects of actions are in `Payoffs` (see `payoffs.py`), which are built only for playing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from neurogym_core.errors import TrialLayoutError
from neurogym_core.trials.geometry import Geometry, spread, spread_index, until
from neurogym_core.trials.interface import Interface
from neurogym_core.trials.layout import Layout
from neurogym_core.trials.noise import add_noise, key_of
from neurogym_core.trials.payoffs import Payoffs, build_payoffs


@dataclass(eq=False, repr=False)
class Frame:
    """Values (n or 1, T, k) for columns of the observation or of the target, step by step.

    Attributes:
        zero: (n,) the step of the trial that the first value belongs to; it may lie before `start`.
        start, stop: (n,) the first step that gets a value, and the step after the last.
    """

    columns: slice
    values: np.ndarray
    zero: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    target: bool = False

    def take(self, rows: np.ndarray) -> Frame:
        values = self.values if len(self.values) == 1 else self.values[rows]
        return Frame(
            self.columns, values, self.zero[rows], self.start[rows], self.stop[rows], self.target
        )


@dataclass(eq=False, repr=False)
class Source:
    """A layout and its segments, for building payoffs on first access."""

    layout: Layout
    geometry: Geometry

    @cached_property
    def payoffs(self) -> Payoffs:
        return build_payoffs(self.layout, self.geometry)


class BuiltSource:
    """The payoffs of the trials of a pickled batch."""

    def __init__(self, payoffs: Payoffs) -> None:
        self.payoffs = payoffs


@dataclass(eq=False, repr=False)
class TrialBatch:
    """A table of `n` trials; S segments, `obs` observation units.

    Args:
        frames: values of `TrialBuilder.timecourse`.

    Attributes:
        interface: channels, actions and rewards of the task.
        period_names: names of the periods, in order.
        period: (S,) int, the period each segment belongs to.
        duration: (n, S) int, steps; 0: skipped.
        shown: (n, S, obs) float32, values without noise.
        noise: (n or 1, S, obs) float32, SD of the Gaussian noise that is added on every step.
        target: (n, S) int, the correct action; (n, S, k) float32 in task units for continuous
            actions.
        weight: (n, S) float32, weight of a step in a supervised loss.
        limit: (n,) int, steps after which a trial is over in any case.
        path: (n, V) int, steps that the oracle plays in each segment, round after round of all S
            segments; see `Payoffs.oracle_path`. V is S, or a multiple of S where the oracle returns
            to earlier periods.
        conditions: name -> (n, …), drawn or imposed.
        notes: name -> (n, …), covariates.
        untimed: names of the periods without a timer.
        sources, origin: sources of the payoffs; (2, n) index of each trial's source, and its row
            there.
        jumps: whether a trial may leave the order of its periods.
        unvisited: names of the last periods, if only errors lead there.
        random: whether `new_trial` drew from `rng`; trials with equal conditions may then differ.

    Example:
        >>> from neurogym_core import make_task
        >>> batch = make_task("perceptual/PerceptualDecisionMaking-v0").sample(3, seed=0)
        >>> batch.duration.shape, batch.shown.shape, batch.period_names
        ((3, 4), (3, 4, 3), ('fixation', 'stimulus', 'delay', 'decision'))
    """

    interface: Interface
    period_names: tuple[str, ...]
    period: np.ndarray
    duration: np.ndarray
    shown: np.ndarray
    noise: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    conditions: dict[str, np.ndarray]
    notes: dict[str, np.ndarray] = field(default_factory=dict)
    frames: tuple[Frame, ...] = ()
    untimed: frozenset[str] = frozenset()
    sources: tuple[Source | BuiltSource, ...] = ()
    origin: np.ndarray = field(default_factory=lambda: np.zeros((2, 0), np.int64))
    jumps: bool = False
    unvisited: frozenset[str] = frozenset()
    random: bool = True

    def __len__(self) -> int:
        return len(self.duration)

    def __getstate__(self) -> dict[str, Any]:
        # A source has the layout of all trials that were built together, mostly thousands. A pickle
        # has the payoffs of these trials instead, once for those of one type.
        state = {name: getattr(self, name) for name in self.__dataclass_fields__}
        if self.sources:
            which, row = self.origin
            _, first, kind = np.unique(
                which * (row.max(initial=0) + 1) + row, return_index=True, return_inverse=True
            )
            state["sources"] = (BuiltSource(self._payoffs_of(which[first], row[first])),)
            state["origin"] = np.stack([np.zeros_like(kind), kind])
        return state

    def __repr__(self) -> str:
        return (
            f"<TrialBatch of {self.interface.name}: {len(self)} trials, periods"
            f" {', '.join(self.period_names)}>"
        )

    @property
    def layouts(self) -> list[Layout]:
        """The layouts of the trials; a pickled batch has none."""
        return [source.layout for source in self.sources if isinstance(source, Source)]

    @cached_property
    def payoffs(self) -> Payoffs:
        """Reward, outcome and effect of every action; built on first access."""
        return self._payoffs_of(*self.origin)

    def _payoffs_of(self, which: np.ndarray, row: np.ndarray) -> Payoffs:
        """Return the payoffs of rows of the sources."""
        if (which == which[0]).all():  # the usual case: no batches were joined
            return self.sources[int(which[0])].payoffs.take(row).over(self.period)
        # Trials of several sources: join them source by source, then restore the order.
        used = np.unique(which)
        parts = [self.sources[source].payoffs.take(row[which == source]) for source in used]
        back = np.argsort(
            np.concatenate([np.flatnonzero(which == source) for source in used]), kind="stable"
        )
        return Payoffs.concatenate(parts, self.period).take(back)

    @cached_property
    def limit(self) -> np.ndarray:
        """Steps after which a trial is over, (n,); periods without a timer do not extend it."""
        timed = self.duration[:, ~np.isin(self.period, self.untimed_places)].sum(axis=1)
        return np.maximum(self.interface.max_steps_of(timed), 1)

    @cached_property
    def path(self) -> np.ndarray:
        """Steps that the oracle plays in each segment, (n, V)."""
        if self.jumps:
            return self.payoffs.oracle_path(
                self.duration,
                self.untimed_places,
                self.limit,
                self.answering,
                # Where hooks decide, too, no table says how often a trial returns.
                returns=not self.interface.hooks,
            )
        path = self.duration
        if self.unvisited:
            visited = np.array([name not in self.unvisited for name in self.period_names])
            path = np.where(visited[self.period], path, 0)
        return until(path, self.limit)

    @property
    def first_round(self) -> np.ndarray:
        """Steps that the oracle plays until it first returns to an earlier period, (n, S)."""
        return self.path[:, : len(self.period)]

    @property
    def answering(self) -> np.ndarray:
        """The column of the payoffs that the target is on each segment, (n, S)."""
        actions = self.interface.actions
        if not actions.continuous:
            return self.target
        if actions.trigger is None:
            return np.zeros(self.target.shape[:2], np.int64)
        index, _ = actions.trigger
        acts: np.ndarray = self.target[:, :, index] == np.float32(actions.high[index])
        return acts.astype(np.int64)

    @property
    def untimed_places(self) -> list[int]:
        """Indices of the periods without a timer."""
        return [self.period_names.index(name) for name in self.untimed]

    @cached_property
    def steps(self) -> np.ndarray:
        """Steps of each trial when the oracle plays, (n,)."""
        return np.asarray(self.path.sum(axis=1))

    @cached_property
    def period_steps(self) -> dict[str, np.ndarray]:
        """Drawn steps of each period, name -> (n,); without a timer, those that others leave."""
        steps = {
            name: self.duration[:, self.period == p].sum(axis=1)
            for p, name in enumerate(self.period_names)
        }
        timed = sum((steps[name] for name in steps if name not in self.untimed), 0)
        return steps | {name: np.maximum(self.limit - timed, 1) for name in self.untimed}

    def take(self, rows: Any, conditions: dict[str, np.ndarray] | None = None) -> TrialBatch:
        """Return a batch of some of the trials.

        Args:
            rows: (m,) indices of trials, or a mask (n,).
            conditions: the conditions of these trials, if the caller has them already.

        Example:
            >>> from neurogym_core import make_task
            >>> batch = make_task("perceptual/PerceptualDecisionMaking-v0").sample(3, seed=0)
            >>> len(batch.take([0, 2]))
            2
        """
        rows = np.asarray(rows)
        if rows.dtype == bool:
            rows = np.flatnonzero(rows)
        return TrialBatch(
            interface=self.interface,
            period_names=self.period_names,
            period=self.period,
            duration=self.duration.take(rows, axis=0),
            shown=self.shown.take(rows, axis=0),
            noise=self.noise if len(self.noise) == 1 else self.noise.take(rows, axis=0),
            target=self.target.take(rows, axis=0),
            weight=self.weight.take(rows, axis=0),
            conditions=conditions
            or {name: values[rows] for name, values in self.conditions.items()},
            notes={name: values[rows] for name, values in self.notes.items()},
            frames=tuple(frame.take(rows) for frame in self.frames),
            untimed=self.untimed,
            sources=self.sources,
            origin=self.origin.take(rows, axis=1),
            jumps=self.jumps,
            unvisited=self.unvisited,
            random=self.random,
        )

    # ------------------------------------------------------------------ rendering

    def render(
        self, seed: int | np.random.Generator | None, duration: np.ndarray | None = None
    ) -> np.ndarray:
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
        duration = self.path if duration is None else duration
        # One row per step: trials follow each other, and within a trial its segments.
        observations: np.ndarray = self.shown.reshape(-1, self.shown.shape[2])[
            self._places(duration)
        ]
        for frame in self.frames:
            if not frame.target:
                self._add_frame(frame, observations, duration)
        if seed is not None:
            self._add_noise(seed, observations, duration)
        return observations

    def _add_noise(
        self, seed: int | np.random.Generator, observations: np.ndarray, duration: np.ndarray
    ) -> None:
        # A generator serves only to draw a seed: the numbers come from a counter-based generator.
        drawn = int(seed.integers(1 << 63)) if isinstance(seed, np.random.Generator) else seed
        key = key_of(np.random.SeedSequence(drawn))
        sd = np.broadcast_to(self.noise, self.shown.shape).reshape(-1, observations.shape[1])
        place = self._places(duration)
        lengths = duration.sum(axis=1)
        trial = np.repeat(np.arange(len(self)), lengths)
        # The step within the trial, on which the numbers depend.
        clock = np.arange(len(observations)) - (np.cumsum(lengths) - lengths)[trial]
        add_noise(observations, sd, place, key, trial, clock)

    def render_targets(self, duration: np.ndarray | None = None) -> np.ndarray:
        """Return the correct actions of all steps, (total,) int64, or (total, k) in task units.

        Args:
            duration: (n, S) or (n, V) steps to render; default: the oracle's path.
        """
        duration = self.path if duration is None else duration
        targets: np.ndarray = self.target.reshape(-1, *self.target.shape[2:])[
            self._places(duration)
        ]
        for frame in self.frames:
            if frame.target:
                self._add_frame(frame, targets, duration)
        return targets

    def _places(self, duration: np.ndarray) -> np.ndarray:
        """The row (trial, segment) in flat tables of every step."""
        n_segments = len(self.period)
        segment = np.arange(duration.shape[1]) % n_segments
        rows = np.arange(len(self))[:, None] * n_segments + segment
        return np.repeat(rows.ravel(), duration.ravel())

    def _add_frame(self, frame: Frame, out: np.ndarray, duration: np.ndarray) -> None:
        lengths = duration.sum(axis=1)
        row = np.repeat(np.arange(len(self)), lengths)
        begin = np.cumsum(lengths) - lengths
        step = np.arange(len(out)) - begin[row]
        if self.jumps:
            # Steps of a frame count from the onset of the trial with all periods in order. Add the
            # steps that this path skips, or values would be late.
            in_order = np.cumsum(self.duration, axis=1) - self.duration
            rounds = duration.shape[1] // len(self.period)
            passed_over = np.tile(in_order, rounds) - (np.cumsum(duration, axis=1) - duration)
            step += np.repeat(passed_over.ravel(), duration.ravel())
        k = step - frame.zero[row]
        inside = (step >= frame.start[row]) & (step < frame.stop[row])
        on = np.flatnonzero(inside & (k >= 0) & (k < frame.values.shape[1]))
        values = frame.values[0 if len(frame.values) == 1 else row[on], k[on]]
        if frame.target:
            out[on, frame.columns] = values
        else:
            out[on, frame.columns] += values

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

    # ------------------------------------------------------------------ joining

    @staticmethod
    def concatenate(batches: Sequence[TrialBatch]) -> TrialBatch:
        """Join batches of one task; where they cut periods differently, align their segments.

        Args:
            batches: batches of one task.

        Raises:
            TrialLayoutError: the batches differ in the names of their periods.
        """
        first = batches[0]
        if len(batches) == 1:
            return first
        period = _common_segments(batches)
        parts = [
            batch if np.array_equal(batch.period, period) else batch._spread(period)
            for batch in batches
        ]
        # Noise that is the same in all trials of all parts stays one row.
        noises = [part.noise for part in parts]
        same_noise = all(len(noise) == 1 and np.array_equal(noise, noises[0]) for noise in noises)
        noise = (
            noises[0]
            if same_noise
            else np.concatenate([np.broadcast_to(part.noise, part.shown.shape) for part in parts])
        )
        return TrialBatch(
            interface=first.interface,
            period_names=first.period_names,
            period=period,
            duration=np.concatenate([part.duration for part in parts]),
            shown=np.concatenate([part.shown for part in parts]),
            noise=noise,
            target=np.concatenate([part.target for part in parts]),
            weight=np.concatenate([part.weight for part in parts]),
            conditions=_join_columns([part.conditions for part in parts]),
            notes=_join_columns([part.notes for part in parts]),
            frames=_join_frames(parts),
            untimed=first.untimed,
            # `unvisited` is one set for the whole batch; trials that differ in it count as jumping.
            jumps=any(part.jumps or part.unvisited != first.unvisited for part in parts),
            unvisited=first.unvisited,
            random=any(part.random for part in parts),
            **_join_sources(parts),
        )

    def _spread(self, period: np.ndarray) -> TrialBatch:
        """The trials over more segments; the new ones have 0 steps."""
        at = spread_index(self.period, period)
        batch = self.take(np.arange(len(self)))
        batch.period = period
        for name in ("duration", "weight", "shown", "target", "noise"):
            setattr(batch, name, spread(getattr(self, name), at, len(period)))
        return batch


def _common_segments(batches: Sequence[TrialBatch]) -> np.ndarray:
    """Period of each segment, where every period has the most segments of any batch."""
    n_periods = len(batches[0].period_names)
    for batch in batches[1:]:
        if batch.period_names != batches[0].period_names:
            raise TrialLayoutError(
                f"{batch.interface.name}.new_trial named the periods {batch.period_names} in one"
                f" trial and {batches[0].period_names} in another; name all of them in every trial,"
                " and give skipped ones the duration 0."
            )
    counts = np.max([np.bincount(batch.period, minlength=n_periods) for batch in batches], axis=0)
    return np.repeat(np.arange(n_periods), counts)


def _join_columns(parts: Sequence[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _join_frames(parts: Sequence[TrialBatch]) -> tuple[Frame, ...]:
    """Frames of all parts; each has steps only in the trials of its part."""
    total, offset, joined = sum(len(part) for part in parts), 0, []
    for part in parts:
        for frame in part.frames:
            values = np.zeros((total, *frame.values.shape[1:]), np.float32)
            zero, start, stop = np.zeros((3, total), np.int64)
            rows = slice(offset, offset + len(part))
            values[rows], zero[rows], start[rows], stop[rows] = (
                frame.values,
                frame.zero,
                frame.start,
                frame.stop,
            )
            joined.append(Frame(frame.columns, values, zero, start, stop, frame.target))
        offset += len(part)
    return tuple(joined)


def _join_sources(parts: Sequence[TrialBatch]) -> dict[str, Any]:
    """The sources that trials still refer to, and the origins, renumbered accordingly."""
    sources: list[Source | BuiltSource] = []
    origins = []
    for part in parts:
        number = np.zeros(len(part.sources), np.int64)
        for k in np.unique(part.origin[0]):
            number[k] = len(sources)
            sources.append(part.sources[k])
        origins.append(np.stack([number[part.origin[0]], part.origin[1]]))
    return {"sources": tuple(sources), "origin": np.concatenate(origins, axis=1)}
