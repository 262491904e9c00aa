"""`TrialBatch`: trials as a table over (trial, segment), and how it is made from what `new_trial` said.

A segment is a piece of a period in which nothing changes. Rendering repeats what a segment shows for as many steps as it
lasts and adds noise; nothing else happens per step. What actions pay and do is in `Payoffs` (see `payoffs.py`), built
only when somebody plays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from neurogym_core.errors import TrialLayoutError, listed
from neurogym_core.trials.noise import add_noise, key_of
from neurogym_core.trials.trial import Span, Trial, to_steps

if TYPE_CHECKING:
    from neurogym_core.tasks.task import Task
    from neurogym_core.trials.payoffs import Payoffs

Coverage = Any
"""True, or bool (n,): in which trials a segment is covered."""


@dataclass(eq=False, repr=False)
class Frame:
    """Values (n or 1, T, k) for columns of the observation (or of the target), in a stretch of the trial.

    Attributes:
        zero: (n,) the step of the trial to which the first of the values belongs; it may lie before `start`.
        start, stop: (n,) the first step of the stretch, and the step after its last.
    """

    columns: slice
    values: np.ndarray
    zero: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    target: bool = False

    def take(self, rows: np.ndarray) -> Frame:
        values = self.values if len(self.values) == 1 else self.values[rows]
        return Frame(self.columns, values, self.zero[rows], self.start[rows], self.stop[rows], self.target)


class Geometry:
    """Where the segments of `n` trials lie: the cuts that spans with start, stop make in periods."""

    def __init__(self, trial: Trial) -> None:
        self.n = trial.n
        self.dt = trial.dt
        self.names = trial.timeline.names
        self.untimed = trial.timeline.untimed
        self.period_steps = [trial.timeline.steps[name] for name in self.names]
        self._owner = trial._task.name
        self._windows: dict[int, tuple] = {}
        cuts = self._cuts(trial)
        self.edges = [self._edges(steps, cuts[p]) for p, steps in enumerate(self.period_steps)]
        counts = [len(edges) - 1 for edges in self.edges]
        self.first = np.concatenate([[0], np.cumsum(counts)]).astype(int)
        self.period = np.repeat(np.arange(len(counts)), counts)
        self.duration = np.concatenate([np.diff(edges, axis=0) for edges in self.edges]).T.astype(np.int64)

    def _cuts(self, trial: Trial) -> list[list[np.ndarray]]:
        cuts: list[list[np.ndarray]] = [[] for _ in self.names]
        for edit in (*trial.shows, *trial.holds, *trial.charges, *trial.weights, *trial.slots):
            for p, start, stop in self.pieces(edit.span):  # type: ignore[attr-defined]
                cuts[p] += [edge for edge in (start, stop) if edge is not None]
        for slot in trial.slots:
            if slot.due is not None:
                self._cut_due(slot, cuts)
        return cuts

    def _cut_due(self, slot: Any, cuts: list[list[np.ndarray]]) -> None:
        for p, due in self.due_pieces(slot):
            cuts[p] += [due, due + 1]

    def due_pieces(self, slot: Any) -> list[tuple[int, np.ndarray]]:
        """For every period of a timed slot's window, the step of that period on which the answer is due."""
        begin = 0 if slot.span.start is None else np.maximum(to_steps(slot.span.start, self.dt), 0)
        due = begin + np.maximum(to_steps(slot.due, self.dt) - 1, 0)
        return [(p, due - offset) for p, offset in self._offsets(slot.span)]

    def _offsets(self, span: Span) -> list[tuple[int, np.ndarray]]:
        """Index of each period of a span, with the steps from the onset of the first to its own."""
        result, elapsed = [], np.zeros(self.n, np.int64)
        for name in span.periods:
            p = self.names.index(name)
            result.append((p, elapsed))
            elapsed = elapsed + self.period_steps[p]
        return result

    def pieces(self, span: Span) -> list[tuple[int, np.ndarray | None, np.ndarray | None]]:
        """(period, first step, last step + 1) of a span; None is the period's own edge."""
        if id(span) in self._windows:
            return self._windows[id(span)][1]
        if span.start is None and span.stop is None:
            pieces: list = [(self.names.index(name), None, None) for name in span.periods]
        else:
            start = None if span.start is None else to_steps(span.start, self.dt)
            stop = None if span.stop is None else to_steps(span.stop, self.dt)
            pieces = [
                (p, None if start is None else start - offset, None if stop is None else stop - offset)
                for p, offset in self._offsets(span)
            ]
        self._windows[id(span)] = (span, pieces)
        return pieces

    def _edges(self, steps: np.ndarray, cuts: list[np.ndarray]) -> np.ndarray:
        """Sorted edges of a period's segments, (segments + 1, n), without edges that coincide in all trials."""
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
                    both = everywhere if covered is True else covered if everywhere is True else covered & everywhere
                    yield self.first[p] + j, both

    @staticmethod
    def _covered(low: np.ndarray, high: np.ndarray, start: Any, stop: Any) -> Coverage:
        if start is None and stop is None:
            return True
        covered = np.ones(len(low), bool)
        if start is not None:
            covered &= np.maximum(start, 0) <= low
        if stop is not None:
            covered &= high <= stop
        return covered

    @cached_property
    def onset(self) -> np.ndarray:
        """Step of the trial on which each period starts when all are played in order, (n, P)."""
        steps = np.stack(self.period_steps, axis=1)
        return np.cumsum(steps, axis=1) - steps


@dataclass(eq=False, repr=False)
class TrialBatch:
    """`n` trials as a table; S segments, `obs` observation units.

    Attributes:
        task: the task whose trials these are.
        period_names: names of the periods, in order.
        period: (S,) int, the period each segment belongs to.
        duration: (n, S) int, steps; 0 = skipped.
        shown: (n, S, obs) float32.
        noise: (n or 1, S, obs) float32: SD of the Gaussian noise added at every step.
        target: (n, S) int, the correct action; (n, S, k) float32 in task units for continuous actions.
        weight: (n, S) float32, of a step in a supervised loss.
        path: (n, S) int, steps that the oracle plays: `duration`, but 0 where its answers jump over a period.
        conditions: name -> (n, …), drawn or imposed.
        notes: name -> (n, …), covariates.
        untimed: names of the periods that have no timer.
        sources, origin: where the payoffs come from: functions that build them, and (2, n) which of these, and which row.
        jumps: whether a trial may leave the order of its periods.
        unvisited: names of the last periods, where the oracle never gets to: only errors lead there.
        random: whether more than conditions and durations was drawn, so that trials which agree in these may yet differ.
    """

    task: Task
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
    sources: tuple[Callable[[], Payoffs], ...] = ()
    origin: np.ndarray | None = None
    jumps: bool = False
    unvisited: frozenset[str] = frozenset()
    random: bool = True

    def __len__(self) -> int:
        return len(self.duration)

    def __repr__(self) -> str:
        return f"<TrialBatch of {self.task.name}: {len(self)} trials, periods {', '.join(self.period_names)}>"

    @cached_property
    def payoffs(self) -> Payoffs:
        """What every action pays, means and does, built when first asked for."""
        from neurogym_core.trials.payoffs import Payoffs

        which, row = self.origin
        if (which == which[0]).all():
            return self.sources[which[0]]().take(row).over(self.period)
        used = np.unique(which)
        parts = [self.sources[source]().take(row[which == source]) for source in used]
        back = np.argsort(np.concatenate([np.flatnonzero(which == source) for source in used]), kind="stable")
        return Payoffs.concatenate(parts, self.period).take(back)

    @cached_property
    def path(self) -> np.ndarray:
        if self.jumps:
            return self.payoffs.oracle_path(self)
        if not self.unvisited:
            return self.duration
        visited = np.array([name not in self.unvisited for name in self.period_names])
        return np.where(visited[self.period], self.duration, 0)

    @cached_property
    def steps(self) -> np.ndarray:
        """(n,) steps of each trial along the oracle's path."""
        return self.path.sum(axis=1)

    @cached_property
    def period_steps(self) -> dict[str, np.ndarray]:
        """name -> (n,) steps laid out for each period."""
        return {
            name: self.duration[:, self.period == p].sum(axis=1) for p, name in enumerate(self.period_names)
        }

    def take(self, rows: Any, conditions: dict[str, np.ndarray] | None = None) -> TrialBatch:
        """The batch of some of the trials; `conditions`, where somebody has these already."""
        rows = np.asarray(rows)
        if rows.dtype == bool:
            rows = np.flatnonzero(rows)
        part = TrialBatch(
            task=self.task, period_names=self.period_names, period=self.period, duration=self.duration.take(rows, axis=0),
            shown=self.shown.take(rows, axis=0), noise=self.noise if len(self.noise) == 1 else self.noise.take(rows, axis=0),
            target=self.target.take(rows, axis=0), weight=self.weight.take(rows, axis=0),
            conditions=conditions or {name: values[rows] for name, values in self.conditions.items()},
            notes={name: values[rows] for name, values in self.notes.items()},
            frames=tuple(frame.take(rows) for frame in self.frames), untimed=self.untimed,
            sources=self.sources, origin=self.origin.take(rows, axis=1), jumps=self.jumps, unvisited=self.unvisited,
            random=self.random,
        )  # fmt: skip
        return part

    # ------------------------------------------------------------------ rendering

    def render(
        self, seed: int | np.random.Generator | None, duration: np.ndarray | None = None, skip: np.ndarray | None = None
    ) -> np.ndarray:
        """Observations of all trials, one after another, (total steps, obs) float32.

        Args:
            seed: of the noise, or a generator that draws one; None renders without noise.
            duration: (n, S) steps to render; default the oracle's path.
            skip: (n,) steps of each trial that were rendered before, and that `duration` therefore lacks.
        """
        duration = self.path if duration is None else duration
        n_units = self.shown.shape[2]
        flat = duration.ravel()
        observations = np.repeat(self.shown.reshape(-1, n_units), flat, axis=0)
        for frame in self.frames:
            if not frame.target:
                self._add_frame(frame, observations, duration, skip)
        if seed is not None:
            self._add_noise(seed, observations, duration, skip)
        return observations

    def _add_noise(
        self, seed: int | np.random.Generator, observations: np.ndarray, duration: np.ndarray, skip: np.ndarray | None
    ) -> None:
        drawn = int(seed.integers(1 << 63)) if isinstance(seed, np.random.Generator) else seed
        key = key_of(np.random.SeedSequence(drawn))
        sd = np.broadcast_to(self.noise, self.shown.shape).reshape(-1, observations.shape[1])
        place = np.repeat(np.arange(duration.size), duration.ravel())
        lengths = duration.sum(axis=1)
        trial = np.repeat(np.arange(len(self)), lengths)
        clock = np.arange(len(observations)) - (np.cumsum(lengths) - lengths)[trial] + (0 if skip is None else skip[trial])
        add_noise(observations, sd, place, key, trial, clock)

    def render_targets(self, duration: np.ndarray | None = None, skip: np.ndarray | None = None) -> np.ndarray:
        """Correct actions of all steps, (total,) int64 or (total, k) float32 in task units."""
        duration = self.path if duration is None else duration
        target = self.target.reshape(-1, *self.target.shape[2:])
        targets = np.repeat(target, duration.ravel(), axis=0)
        for frame in self.frames:
            if frame.target:
                self._add_frame(frame, targets, duration, skip)
        return targets

    def _add_frame(self, frame: Frame, out: np.ndarray, duration: np.ndarray, skip: np.ndarray | None) -> None:
        lengths = duration.sum(axis=1)
        row = np.repeat(np.arange(len(self)), lengths)
        begin = np.cumsum(lengths) - lengths
        step = np.arange(len(out)) - begin[row] + (0 if skip is None else skip[row])
        if self.jumps:  # a frame's moments are those of all periods in order; passing over some must not shift them
            path = duration if skip is None else self.path
            passed_over = (np.cumsum(self.duration, axis=1) - self.duration) - (np.cumsum(path, axis=1) - path)
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
        """(period, first step, last step + 1) of one trial along the oracle's path, skipped periods left out."""
        result, step = [], 0
        for p, name in enumerate(self.period_names):
            steps = int(self.path[row, self.period == p].sum())
            if steps:
                result.append((name, step, step + steps))
            step += steps
        return result

    # ------------------------------------------------------------------ joining

    @staticmethod
    def concatenate(batches: Sequence[TrialBatch]) -> TrialBatch:
        """One batch of the trials of several of the same task; periods that were cut differently are aligned."""
        first = batches[0]
        if len(batches) == 1:
            return first
        period = _common_segments(batches)
        parts = [batch if np.array_equal(batch.period, period) else batch._spread(period) for batch in batches]
        noises = [part.noise for part in parts]
        same_noise = all(len(noise) == 1 and np.array_equal(noise, noises[0]) for noise in noises)
        noise = noises[0] if same_noise else np.concatenate([np.broadcast_to(part.noise, part.shown.shape) for part in parts])
        joined = TrialBatch(
            task=first.task, period_names=first.period_names, period=period,
            duration=np.concatenate([part.duration for part in parts]),
            shown=np.concatenate([part.shown for part in parts]), noise=noise,
            target=np.concatenate([part.target for part in parts]), weight=np.concatenate([part.weight for part in parts]),
            conditions=_join_columns([part.conditions for part in parts]), notes=_join_columns([part.notes for part in parts]),
            frames=_join_frames(parts), untimed=first.untimed,
            jumps=any(part.jumps or part.unvisited != first.unvisited for part in parts), unvisited=first.unvisited,
            random=any(part.random for part in parts), **_join_sources(parts),
        )  # fmt: skip
        return joined

    def _spread(self, period: np.ndarray) -> TrialBatch:
        """The same trials over more segments, the new ones of duration 0."""
        at = spread_index(self.period, period)
        batch = self.take(np.arange(len(self)))
        batch.period = period
        for name in ("duration", "weight", "shown", "target", "noise"):
            setattr(batch, name, spread(getattr(self, name), at, len(period)))
        return batch


def spread_index(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """For each old segment, the place of the segment of the same period and rank among the new ones."""
    rank = np.arange(len(old)) - np.searchsorted(old, old)
    return np.searchsorted(new, old) + rank


def spread(values: np.ndarray, at: np.ndarray, size: int) -> np.ndarray:
    """`values` over (trial, segment, …) put at segments `at` of `size`; zeros elsewhere."""
    wide = np.zeros((values.shape[0], size, *values.shape[2:]), values.dtype)
    wide[:, at] = values
    return wide


def _common_segments(batches: Sequence[TrialBatch]) -> np.ndarray:
    n_periods = len(batches[0].period_names)
    for batch in batches[1:]:
        if batch.period_names != batches[0].period_names:
            raise TrialLayoutError(
                f"{batch.task.name}.new_trial named the periods {batch.period_names} in one trial and "
                f"{batches[0].period_names} in another; name all of them always, and give skipped ones the duration 0."
            )
    counts = np.max([np.bincount(batch.period, minlength=n_periods) for batch in batches], axis=0)
    return np.repeat(np.arange(n_periods), counts)


def _join_columns(parts: Sequence[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _join_frames(parts: Sequence[TrialBatch]) -> tuple[Frame, ...]:
    """Frames of all parts; each covers only its own part's trials."""
    total, offset, joined = sum(len(part) for part in parts), 0, []
    for part in parts:
        for frame in part.frames:
            values = np.zeros((total, *frame.values.shape[1:]), np.float32)
            zero, start, stop = np.zeros((3, total), np.int64)
            rows = slice(offset, offset + len(part))
            values[rows], zero[rows], start[rows], stop[rows] = frame.values, frame.zero, frame.start, frame.stop
            joined.append(Frame(frame.columns, values, zero, start, stop, frame.target))
        offset += len(part)
    return tuple(joined)


def _join_sources(parts: Sequence[TrialBatch]) -> dict[str, Any]:
    """The sources that some trial still comes from, and the origins numbered accordingly."""
    sources: list[Callable[[], Payoffs]] = []
    origins = []
    for part in parts:
        number = np.zeros(len(part.sources), np.int64)
        for k in np.unique(part.origin[0]):
            number[k] = len(sources)
            sources.append(part.sources[k])
        origins.append(np.stack([number[part.origin[0]], part.origin[1]]))
    return {"sources": tuple(sources), "origin": np.concatenate(origins, axis=1)}


# ---------------------------------------------------------------------- from verbs to tables


def compile_trial(trial: Trial) -> TrialBatch:
    """The table of what `new_trial` said."""
    trial.check()
    geometry = Geometry(trial)
    task = trial._task
    _check_lasts(geometry, task)
    n, n_segments = geometry.duration.shape
    shown = np.zeros((n, n_segments, task.channels.size), np.float32)
    noise = np.zeros((1, n_segments, task.channels.size), np.float32)
    for show in trial.shows:
        noise = _add_show(show, geometry, task, shown, noise)
    target, weight = _targets(trial, geometry)
    notes = dict(trial.notes)
    source = _LazyPayoffs(trial, geometry)
    return TrialBatch(
        task=task, period_names=geometry.names, period=geometry.period, duration=_with_untimed(trial, geometry),
        shown=shown, noise=np.sqrt(noise, out=noise), target=target, weight=weight, conditions=trial.conditions,
        notes=notes, frames=tuple(frame for frames in trial.frame_list for frame in _frames(frames, geometry, task)),
        untimed=frozenset(geometry.untimed), sources=(source,),
        origin=np.stack([np.zeros(n, np.int64), np.arange(n)]), jumps=_has_jumps(trial), unvisited=_unvisited(trial),
        random=trial.random,
    )  # fmt: skip


def _check_lasts(geometry: Geometry, task: Task) -> None:
    if not geometry.untimed and not np.logical_or.reduce(geometry.duration, axis=1).all():
        raise TrialLayoutError(
            f"A trial of {task.name} lasts 0 steps: all of {listed(geometry.names)} are skipped. Let at least one period last "
            f"dt={geometry.dt:g} ms in every trial, e.g. with timing={{{geometry.names[-1]!r}: {geometry.dt:g}}}."
        )


class _LazyPayoffs:
    """Builds the payoffs of a laid-out batch when first called."""

    def __init__(self, trial: Trial, geometry: Geometry) -> None:
        self._trial, self._geometry = trial, geometry
        self._built: Payoffs | None = None

    def __call__(self) -> Payoffs:
        if self._built is None:
            from neurogym_core.trials.payoffs import build_payoffs

            self._built = build_payoffs(self._trial, self._geometry)
        return self._built


def _has_jumps(trial: Trial) -> bool:
    """Whether the oracle's path may differ from all periods in order, but for last ones that it never gets to."""
    then = {target for slot in trial.slots for outcome, target in slot.then.items() if outcome != "error"} - {"end", "wait"}
    timeline, unvisited = trial.timeline, _unvisited(trial)
    # A period that gets no step in any trial is none that an answer could pass over.
    names = [
        name for name in timeline.names
        if name not in unvisited and (name in timeline.untimed or np.any(timeline.steps[name]))
    ]  # fmt: skip
    early = names and any("end" in slot.then.values() and _may_close_early(slot.span, names) for slot in trial.slots)
    by_choice = any(slot.leads is not None for slot in trial.slots)
    errors_lead = any(slot.then["error"] not in ("end", "wait", *unvisited) for slot in trial.slots)
    leads = len(timeline.then) > bool(unvisited)
    return bool(then or by_choice or errors_lead or leads or early or timeline.untimed)


def _unvisited(trial: Trial) -> frozenset[str]:
    """The periods behind one after which the trial is over, where no right answer leads to them."""
    names, then = trial.timeline.names, trial.timeline.then
    ends = [place for place, name in enumerate(names) if then.get(name) == "end"]
    if len(then) != 1 or not ends or any(slot.leads is not None for slot in trial.slots):
        return frozenset()
    behind = frozenset(names[ends[0] + 1 :])
    led = {target for slot in trial.slots for outcome, target in slot.then.items() if outcome != "error"}
    return frozenset() if behind & led or trial.timeline.untimed else behind


def _may_close_early(span: Span, names: Sequence[str]) -> bool:
    """Whether a window may be over before the last period begins."""
    return span.periods[-1] != names[-1] or (span.stop is not None and len(span.periods) > 1)


def _with_untimed(trial: Trial, geometry: Geometry) -> np.ndarray:
    """Durations, where periods without a timer last as long as the trial may."""
    duration = geometry.duration
    for name in geometry.untimed:
        last = geometry.first[geometry.names.index(name) + 1] - 1
        limit = trial._task.max_steps_of(duration.sum(axis=1))
        duration[:, last] += np.maximum(limit - duration.sum(axis=1), 1)
    return duration


def _add_show(show: Any, geometry: Geometry, task: Task, shown: np.ndarray, noise: np.ndarray) -> np.ndarray:
    units = task.channels[show.channel]
    value = np.broadcast_to(show.value, (geometry.n, units.stop - units.start))
    sigma = np.asarray(show.noise, dtype=np.float64)
    variance = sigma**2 / geometry.dt
    for segment, covered in geometry.segments(show.span):
        if covered is True:
            shown[:, segment, units] += value
        else:
            shown[covered, segment, units] += value[covered]
        if not np.any(variance):
            continue
        if len(noise) == 1 and not (covered is True and variance.ndim == 0):
            noise = np.repeat(noise, geometry.n, axis=0)
        part = variance if variance.ndim == 0 else variance[:, None]
        noise[:, segment, units] += part if covered is True else np.where(covered[:, None], part, 0)
    return noise


def _targets(trial: Trial, geometry: Geometry) -> tuple[np.ndarray, np.ndarray]:
    actions = trial._task.actions
    n, n_segments = geometry.duration.shape
    weight = np.ones((n, n_segments), np.float32)
    if actions.continuous:
        target = np.broadcast_to(actions.rest_value.astype(np.float32), (n, n_segments, actions.size)).copy()
    else:
        target = np.full((n, n_segments), actions.rest or 0, np.int64)
        if actions.rest is None:
            weight[:] = 0
    for slot in trial.slots:
        _set_target(slot, geometry, actions, target, weight, _aimed(slot, trial.slots, n))
    for weigh in trial.weights:
        for segment, covered in geometry.segments(weigh.span):
            value = np.broadcast_to(np.asarray(weigh.weight, np.float32), (n,))
            weight[:, segment] = value if covered is True else np.where(covered, value, weight[:, segment])
    return target, weight


def _aimed(slot: Any, slots: Sequence[Any], n: int) -> Coverage:
    """The trials in which a slot sets the target: priced choices that join an answer (a sure bet) leave it the target."""
    if slot.amounts is None:
        return True
    aimed = np.ones(n, bool)
    for other in slots:
        if other.name == slot.name and other.amounts is None:
            aimed &= False if other.span.where is None else ~other.span.where
    return True if aimed.all() else aimed


def _set_target(
    slot: Any, geometry: Geometry, actions: Any, target: np.ndarray, weight: np.ndarray, aimed: Coverage
) -> None:
    units = actions[slot.group]
    if actions.continuous:
        _set_continuous_target(slot, geometry, actions, units, target)
        return
    ids = np.where(slot.aim >= 0, units.start + slot.aim, actions.rest or 0)
    due = dict(geometry.due_pieces(slot)) if slot.due is not None else None
    for segment, covered in geometry.segments(slot.span):
        if due is not None:
            covered = _is_due(due, geometry, segment, covered)
        if aimed is not True:
            covered = aimed if covered is True else covered & aimed
        target[:, segment] = ids if covered is True else np.where(covered, ids, target[:, segment])
        if actions.rest is None:
            weight[:, segment] = 1 if covered is True else np.where(covered, 1, weight[:, segment])


def _set_continuous_target(slot: Any, geometry: Geometry, actions: Any, units: slice, target: np.ndarray) -> None:
    value = slot.aim.astype(np.float32)
    due = dict(geometry.due_pieces(slot)) if slot.due is not None else None
    for segment, covered in geometry.segments(slot.span):
        if due is None:
            rows = slice(None) if covered is True else covered
            target[rows, segment, units] = value[rows]
        else:
            rows = _is_due(due, geometry, segment, covered)
        if actions.trigger is not None:
            index, _ = actions.trigger
            target[rows, segment, index] = actions.high[index]


def _is_due(due: dict[int, np.ndarray], geometry: Geometry, segment: int, covered: Coverage) -> np.ndarray:
    """The trials in which a timed answer is due in this segment, bool (n,)."""
    p = geometry.period[segment]
    begin = geometry.edges[p][segment - geometry.first[p]]
    now = begin == due[p]
    return now if covered is True else covered & now


def _frames(frames: Any, geometry: Geometry, task: Task) -> Iterator[Frame]:
    """One for every run of its periods that follow on each other; time runs on from one run to the next."""
    is_channel = frames.name in task.channels
    columns = task.channels[frames.name] if is_channel else task.actions[frames.name]
    offset = 0 if frames.span.start is None else to_steps(frames.span.start, geometry.dt)
    for first, last in _runs([geometry.names.index(name) for name in frames.span.periods]):
        start = geometry.onset[:, first]
        stop = geometry.onset[:, last] + geometry.period_steps[last]
        zero = start + offset
        offset = offset - (stop - start)
        if frames.span.where is not None:
            stop = np.where(frames.span.where, stop, start)
        yield Frame(columns, frames.values, zero, start, stop, target=not is_channel)


def _runs(periods: Sequence[int]) -> list[tuple[int, int]]:
    """The first and the last of every run of whole numbers that follow on each other."""
    first = [p for p in periods if p - 1 not in periods]
    last = [p for p in periods if p + 1 not in periods]
    return list(zip(first, last, strict=True))
