"""`Geometry`: the segments of a layout's trials."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from neurogym_core.errors import TrialLayoutError
from neurogym_core.trials.arrays import Array
from neurogym_core.trials.layout import Layout, Slot, Span, to_steps

Coverage = Any
"""The trials in which a span covers a segment: True for all, or bool (n,)."""

Piece = tuple[int, Array | None, Array | None]
"""Index of a period, first step and last step + 1 (of each trial); None: the period's edge."""


class Geometry:
    """The segments of `n` trials.

    A period is cut where a verb begins or ends to apply, so that nothing changes within a segment.
    All trials have the same segments. A cut may lie on a different step in each of them; where two
    cuts meet, the segment between them has 0 steps in that trial. The last segment of a period
    without a timer, its tail, begins after all cuts and always has steps: nothing changes in it,
    however long it lasts.

    Attributes:
        period_steps: for each of P periods, (n,) steps; nominal ones without a timer.
        edges: for each period, (its segments + 1, n): steps from its onset to the edges.
        first: (P + 1,) index of the first segment of each period; the last entry is S.
        period: (S,) index of the period of each segment.
        duration: (n, S) steps; of a tail, those that other periods leave it, or 1.
        tail: (S,) bool, the last segment of each period without a timer.
    """

    def __init__(self, layout: Layout) -> None:
        self.n = layout.n
        self.dt = layout.dt
        self.names = layout.timeline.names
        self.untimed = layout.timeline.untimed
        self.period_steps = _period_steps(layout)
        # By id, since spans hold arrays; each span is kept with its pieces, because the id of a
        # deleted one could be that of another.
        self._pieces: dict[int, tuple[Span, list[Piece]]] = {}
        cuts = self._cuts(layout)
        self.edges = [self._edges(p, cuts[p]) for p in range(len(self.names))]
        self.period_steps = [edges[-1] for edges in self.edges]
        counts = [len(edges) - 1 for edges in self.edges]
        self.first = np.concatenate([[0], np.cumsum(counts)]).astype(int)
        self.period = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        self.duration = np.concatenate([np.diff(edges, axis=0) for edges in self.edges]).T.astype(
            np.int64
        )
        self.tail = np.zeros(len(self.period), bool)
        self.tail[[self.first[self.names.index(name) + 1] - 1 for name in self.untimed]] = True

    def _cuts(self, layout: Layout) -> list[list[Array]]:
        """For every period, the steps (n,) on which it is cut; they may lie outside of it."""
        cuts: list[list[Array]] = [[] for _ in self.names]
        for span in layout.spans():
            for p, start, stop in self.pieces(span):
                cuts[p] += [edge for edge in (start, stop) if edge is not None]
        for slot in layout.slots:
            if slot.due is not None:
                # The target is the answer on the due step only, so it needs a segment.
                for p, due in self.due_pieces(slot):
                    cuts[p] += [due, due + 1]
        for frames in layout.frames:
            # The last value of a timecourse stays in a period without a timer: its tail.
            begin, _ = self.steps(frames.span)
            p, offset = self.offsets(frames.span)[-1]
            if self.names[p] in self.untimed:
                cuts[p].append(
                    (0 if begin is None else begin) + frames.values.shape[1] - 1 - offset
                )
        return cuts

    def due_pieces(self, slot: Slot) -> list[tuple[int, Array]]:
        """Return the due step of a timed answer from the onset of each period of its span."""
        start, _ = self.steps(slot.span)
        begin = 0 if start is None else np.maximum(start, 0)
        # An action that is chosen on step k takes effect at its end, (k + 1) dt after the onset.
        due = begin + np.maximum(to_steps(slot.due, self.dt) - 1, 0)
        return [(p, due - offset) for p, offset in self.offsets(slot.span)]

    def offsets(self, span: Span) -> list[tuple[int, Array]]:
        """Return the index of each period of a span, and the steps of the span before it."""
        result, elapsed = [], np.zeros(self.n, np.int64)
        for name in span.periods:
            p = self.names.index(name)
            result.append((p, elapsed))
            elapsed = elapsed + self.period_steps[p]
        return result

    def steps(self, span: Span) -> tuple[Array | None, Array | None]:
        """The first step and the last step + 1 of a span, see `Span.steps`."""
        timed = self.untimed.isdisjoint(span.periods)
        total = sum(self.period_steps[self.names.index(name)] for name in span.periods)
        return span.steps(np.asarray(total) if timed else None, self.dt)

    def pieces(self, span: Span) -> list[Piece]:
        """(period, first step, last step + 1) of a span; None: the period's edge."""
        if id(span) in self._pieces:
            return self._pieces[id(span)][1]
        if span.start is None and span.stop is None:
            pieces: list[Piece] = [(self.names.index(name), None, None) for name in span.periods]
        else:
            start, stop = self.steps(span)
            pieces = [
                (
                    p,
                    None if start is None else start - offset,
                    None if stop is None else stop - offset,
                )
                for p, offset in self.offsets(span)
            ]
        self._pieces[id(span)] = (span, pieces)
        return pieces

    def _edges(self, p: int, cuts: list[Array]) -> Array:
        """Edges of a period's segments, (segments + 1, n), in order."""
        zero, steps = np.zeros(self.n, np.int64), self.period_steps[p]
        timed = self.names[p] not in self.untimed
        if not cuts:
            return np.stack([zero, steps])
        # Sorted for each trial: an edge may come from one cut in one trial, from another in the
        # next. Edges that coincide in all trials are dropped, or segments would have no steps.
        edges = np.sort(np.clip(np.stack(cuts), 0, steps if timed else None), axis=0)
        kept = [zero]
        for edge in edges:
            if not np.array_equal(edge, kept[-1]) and not (timed and np.array_equal(edge, steps)):
                kept.append(edge)
        return np.stack([*kept, steps if timed else np.maximum(kept[-1] + 1, steps)])

    def segments(self, span: Span) -> Iterable[tuple[int, Coverage]]:
        """Yield the segments that a span covers, with the trials in which it covers them."""
        for p, start, stop in self.pieces(span):
            edges = self.edges[p]
            for j in range(len(edges) - 1):
                # No segment is covered in part: start and stop are among the edges.
                covered: Coverage = True
                if start is not None:
                    covered = np.maximum(start, 0) <= edges[j]
                if stop is not None:
                    covered = covered & (edges[j + 1] <= stop)
                if covered is True or np.any(covered):
                    yield self.first[p] + j, covered if span.where is None else covered & span.where


def _period_steps(layout: Layout) -> list[Array]:
    """Return (n,) steps of every period; without a timer, those left until the trial's limit."""
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
    limit = np.maximum(layout.interface.max_steps_of(timed), 1)
    return [
        np.maximum(limit - timed, 1) if name in timeline.untimed else timeline.steps[name]
        for name in timeline.names
    ]
