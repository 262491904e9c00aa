"""`Geometry`: where the segments of laid-out trials lie, and how arrays over segments are spread
over more of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

from neurogym_core.errors import TrialLayoutError
from neurogym_core.trials.arrays import Array
from neurogym_core.trials.layout import Layout, Slot, Span, to_steps

Coverage = Any
"""True, or bool (n,): in which trials a segment is covered."""

Piece = tuple[int, Array | None, Array | None]
"""Index of a period, first step, last step + 1; None: the period's own edge."""


class Geometry:
    """Where the segments of `n` trials lie: the cuts that spans with start, stop make in
    periods.
    """

    def __init__(self, layout: Layout) -> None:
        self.n = layout.n
        self.dt = layout.dt
        self.names = layout.timeline.names
        self.untimed = layout.timeline.untimed
        self.period_steps = _period_steps(layout)
        self._windows: dict[int, tuple[Span, list[Piece]]] = {}
        cuts = self._cuts(layout)
        self.edges = [self._edges(steps, cuts[p]) for p, steps in enumerate(self.period_steps)]
        counts = [len(edges) - 1 for edges in self.edges]
        self.first = np.concatenate([[0], np.cumsum(counts)]).astype(int)
        self.period = np.repeat(np.arange(len(counts)), counts)
        self.duration = np.concatenate([np.diff(edges, axis=0) for edges in self.edges]).T.astype(
            np.int64
        )

    def _cuts(self, layout: Layout) -> list[list[Array]]:
        cuts: list[list[Array]] = [[] for _ in self.names]
        edits: list[Any] = [
            *layout.shows,
            *layout.holds,
            *layout.charges,
            *layout.weights,
            *layout.slots,
        ]
        for edit in edits:
            for p, start, stop in self.pieces(edit.span):
                cuts[p] += [edge for edge in (start, stop) if edge is not None]
        for slot in layout.slots:
            if slot.due is not None:
                for p, due in self.due_pieces(slot):
                    cuts[p] += [due, due + 1]
        return cuts

    def due_pieces(self, slot: Slot) -> list[tuple[int, Array]]:
        """For every period of a timed slot's window, the step of that period on which the answer is
        due.
        """
        begin = 0 if slot.span.start is None else np.maximum(to_steps(slot.span.start, self.dt), 0)
        due = begin + np.maximum(to_steps(slot.due, self.dt) - 1, 0)
        return [(p, due - offset) for p, offset in self._offsets(slot.span)]

    def _offsets(self, span: Span) -> list[tuple[int, Array]]:
        """Index of each period of a span, with the steps from the onset of the first to its own."""
        result, elapsed = [], np.zeros(self.n, np.int64)
        for name in span.periods:
            p = self.names.index(name)
            result.append((p, elapsed))
            elapsed = elapsed + self.period_steps[p]
        return result

    def pieces(self, span: Span) -> list[Piece]:
        """(period, first step, last step + 1) of a span; None is the period's own edge."""
        if id(span) in self._windows:
            return self._windows[id(span)][1]
        if span.start is None and span.stop is None:
            pieces: list[Piece] = [(self.names.index(name), None, None) for name in span.periods]
        else:
            start = None if span.start is None else to_steps(span.start, self.dt)
            stop = None if span.stop is None else to_steps(span.stop, self.dt)
            pieces = [
                (
                    p,
                    None if start is None else start - offset,
                    None if stop is None else stop - offset,
                )
                for p, offset in self._offsets(span)
            ]
        self._windows[id(span)] = (span, pieces)
        return pieces

    def _edges(self, steps: Array, cuts: list[Array]) -> Array:
        """Sorted edges of a period's segments, (segments + 1, n), without edges that coincide in
        all trials.
        """
        zero = np.zeros(self.n, np.int64)
        if not cuts:
            return np.stack([zero, steps])
        edges = np.sort(np.clip(np.stack(cuts), 0, steps), axis=0)
        kept = [zero]
        for edge in edges:
            if not np.array_equal(edge, kept[-1]) and not np.array_equal(edge, steps):
                kept.append(edge)
        return np.stack([*kept, steps])

    def segments(self, span: Span) -> Iterable[tuple[int, Coverage]]:
        """The segments that a span covers, each with the trials in which it does."""
        everywhere = True if span.where is None else span.where
        for p, start, stop in self.pieces(span):
            edges = self.edges[p]
            for j in range(len(edges) - 1):
                covered = self._covered(edges[j], edges[j + 1], start, stop)
                if covered is True or np.any(covered):
                    both = (
                        everywhere
                        if covered is True
                        else covered
                        if everywhere is True
                        else covered & everywhere
                    )
                    yield self.first[p] + j, both

    @staticmethod
    def _covered(low: Array, high: Array, start: Any, stop: Any) -> Coverage:
        if start is None and stop is None:
            return True
        covered = np.ones(len(low), bool)
        if start is not None:
            covered &= np.maximum(start, 0) <= low
        if stop is not None:
            covered &= high <= stop
        return covered

    @cached_property
    def onset(self) -> Array:
        """Step of the trial on which each period starts when all are played in order, (n, P)."""
        steps = np.stack(self.period_steps, axis=1)
        return np.asarray(np.cumsum(steps, axis=1) - steps)


def _period_steps(layout: Layout) -> list[Array]:
    """Steps of every period, (n,) each; those without a timer are laid out for as long as the trial
    may last.
    """
    timeline = layout.timeline
    timed = sum(
        (timeline.steps[name] for name in timeline.names if name not in timeline.untimed),
        np.zeros(layout.n, int),
    )
    if timeline.untimed == set(timeline.names) and None in layout.interface.limits:
        raise TrialLayoutError(
            f"No period of a trial of {layout.name} has a timer, so nothing ends it; expected a"
            " limit. Make the task with max_duration=ms, or give a period a duration."
        )
    rest = np.maximum(layout.interface.max_steps_of(timed) - timed, 1)
    return [rest if name in timeline.untimed else timeline.steps[name] for name in timeline.names]


def spread_index(old: Array, new: Array) -> Array:
    """For each old segment, the place of the segment of the same period and rank among the new
    ones.
    """
    rank = np.arange(len(old)) - np.searchsorted(old, old)
    return np.searchsorted(new, old) + rank


def spread(values: Array, at: Array, size: int) -> Array:
    """`values` over (trial, segment, …) put at segments `at` of `size`; zeros elsewhere."""
    wide = np.zeros((values.shape[0], size, *values.shape[2:]), values.dtype)
    wide[:, at] = values
    return wide
