"""`lay_out`: a `Layout` becomes `Tables`, in one pass over its calls.

An array has one row until a call writes values that differ between trials.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from neurogym_core.errors import TrialLayoutError
from neurogym_core.trials.arrays import Array, one_row
from neurogym_core.trials.checks import check_clocks, check_lasts, check_overlaps, check_periods
from neurogym_core.trials.geometry import Coverage, Geometry
from neurogym_core.trials.layout import END, STAY, Hold, Layout, Slot, Span
from neurogym_core.trials.record import Outcome
from neurogym_core.trials.tables import ARRAYS, Slots, Tables

ALL = slice(None)


def lay_out(layout: Layout) -> Tables:
    """Return the tables of the trials of a layout, which is checked."""
    check_periods(layout)
    check_clocks(layout)
    geometry, interface, time = Geometry(layout), layout.interface, layout.timeline
    check_lasts(layout, geometry)
    check_overlaps(layout, geometry)
    arrays = _observed(layout, geometry) | _wanted(layout, geometry)
    arrays["duration"] = geometry.duration
    untimed = [geometry.names.index(name) for name in time.untimed]
    timed = geometry.duration[:, ~np.isin(geometry.period, untimed)]
    limit = np.maximum(interface.max_steps_of(timed.sum(axis=1)), 1)
    arrays["limit"] = np.minimum(limit, np.iinfo(np.int32).max)
    period_then = np.full(len(geometry.names), STAY, np.int16)
    for name, target in time.then.items():
        period_then[geometry.names.index(name)] = _goto(geometry, target)
    arrays["script_at"] = np.full((1, len(geometry.period)), -1, np.int64)
    size = interface.actions.size if interface.actions.continuous else 0
    script = np.zeros((0, interface.channels.size), np.float32)
    target_script = np.zeros((0, size), np.float32)
    if layout.frames:
        arrays["script_at"], script, target_script = _scripts(layout, geometry, arrays)
    return Tables(
        layout.n, interface, geometry.names, geometry.period, period_then,
        frozenset(time.untimed), script, target_script, dict(layout.notes), _slots(layout),
        layout.random, _has_jumps(layout), _unvisited(layout), layout, arrays,
        partial(_payoffs, layout, geometry),
    )  # fmt: skip


def _payoffs(layout: Layout, geometry: Geometry, tables: Tables) -> dict[str, Array]:
    if (tables.landing(np.arange(layout.n), np.zeros(layout.n, np.int64)) == END).any():
        raise TrialLayoutError(
            f"A trial of {layout.name} is over before its first step: periods of 0 ms lead to its"
            " end. Expected a first period with steps. Let it last longer, or lead to another"
            " period."
        )
    return _Payoffs(layout, geometry).arrays()


def _goto(geometry: Geometry, target: str, segment: int = 0) -> int:
    if target in ("stay", "wait"):
        return STAY
    if target == "restart":
        return int(geometry.period[segment])
    return END if target == "end" else geometry.names.index(target)


def _slots(layout: Layout) -> Slots:
    first = {slot.name: slot for slot in reversed(layout.slots)}
    names = tuple(dict.fromkeys(slot.name for slot in layout.slots))
    actions, units = layout.interface.actions, []
    for name in names:
        mine = [actions[slot.group] for slot in layout.slots if slot.name == name]
        units.append(slice(min(one.start for one in mine), max(one.stop for one in mine)))
    return Slots(
        names,
        tuple(units),
        tuple(
            -1 if first[name].needs is None else names.index(first[name].needs) for name in names
        ),
        tuple(first[name].again for name in names),
        tuple(first[name].pays for name in names),
        tuple(first[name].reported for name in names),
    )


class _Rows:
    """Named arrays of 1 or n rows."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.arrays: dict[str, Array] = {}

    def __getitem__(self, name: str) -> Array:
        return self.arrays[name]

    def new(self, name: str, shape: tuple[int, ...], kind: Any, entry: Any = 0) -> None:
        self.arrays[name] = np.full((1, *shape), entry, kind)

    def put(self, name: str, trials: Coverage, at: Any, values: Any, *, add: bool = False) -> None:
        """Write values, a number or (1 or n, …), to the entries `at` of some trials (True: all)."""
        values = one_row(np.asarray(values))
        if trials is not True and trials.all():
            trials = True
        array, each = self.arrays[name], values.ndim > 0 and len(values) > 1
        if len(array) == 1 < self.n and (trials is not True or each):
            array = self.arrays[name] = np.repeat(array, self.n, axis=0)
        rows = ALL if trials is True else trials
        if each and trials is not True:
            values = values[rows]
        at = at if isinstance(at, tuple) else (at,)
        if add:
            array[(rows, *at)] += values
        else:
            array[(rows, *at)] = values


def _column(values: Any) -> Array:
    """Return a number or (n,) as (1 or n, 1)."""
    return one_row(np.atleast_1d(np.asarray(values, np.float64)))[:, None]


# ---------------------------------------------------------------------- observations and targets


def _observed(layout: Layout, geometry: Geometry) -> dict[str, Array]:
    channels, rows = layout.interface.channels, _Rows(layout.n)
    shape = (len(geometry.period), channels.size)
    rows.new("shown", shape, np.float32)
    # Until the end it holds variances, which add up where standard deviations do not.
    rows.new("sd", shape, np.float32)
    for show in layout.shows:
        units, added = channels[show.channel], np.asarray(show.noise, np.float64) ** 2 / geometry.dt
        value = np.broadcast_to(show.value, (layout.n, units.stop - units.start))
        for segment, covered in geometry.segments(show.span):
            rows.put("shown", covered, (segment, units), value, add=True)
            if np.any(added):
                part = added if added.ndim == 0 else added[:, None]
                rows.put("sd", covered, (segment, units), part, add=True)
    # Adding 0 turns -0.0 into 0.0. Noise of SD 0 would do so, too, but not every renderer adds it,
    # and all must give the same bits.
    return {"shown": rows["shown"] + np.float32(0), "sd": np.sqrt(rows["sd"])}


def _wanted(layout: Layout, geometry: Geometry) -> dict[str, Array]:
    """The target, (S,) or (S, D), and the loss weight, (S,), of every segment."""
    actions, rows, n_segments = layout.interface.actions, _Rows(layout.n), len(geometry.period)
    # Without an action of resting nothing is right outside the response windows: no loss.
    resting = actions.continuous or actions.rest is not None
    rows.new("weight", (n_segments,), np.float32, float(resting))
    if actions.continuous:
        rows.new("target", (n_segments, actions.size), np.float32)
        rows["target"][:] = actions.rest_value.astype(np.float32)
    else:
        rows.new("target", (n_segments,), np.int64, actions.rest or 0)
    worths = _worths(layout, (layout.n, n_segments, actions.size))
    for slot in layout.slots:
        units, due = actions[slot.group], None
        if slot.due is not None:
            due = dict(geometry.due_pieces(slot))
        aimed = _aimed(slot, layout.slots, layout.n)
        for segment, covered in geometry.segments(slot.span):
            # The target of a timed answer is to rest, but on the one step on which it is due.
            # `Geometry` cuts that step out as a segment.
            now = covered if due is None else _is_due(due, geometry, segment, covered)
            if actions.continuous:
                if slot.right is not None:  # resting is right
                    continue
                # The values of a timed answer do not count; only its trigger has a target.
                if due is None:
                    rows.put("target", now, (segment, units), slot.aim.astype(np.float32))
                if actions.trigger is not None:
                    index, _ = actions.trigger
                    rows.put("target", now, (segment, index), actions.high[index])
                continue
            aim = one_row(np.asarray(slot.aim))
            ids = np.where(aim >= 0, units.start + aim, actions.rest or 0)
            if aimed is not True:
                now = aimed if now is True else now & aimed
            if slot.amounts is not None and slot.name in worths:
                mine, worth = ALL if now is True else now, worths[slot.name]
                worth[mine, segment, units] = slot.worth[mine]
                ids = worth[:, segment].argmax(axis=1)
            rows.put("target", now, segment, ids)
            if actions.rest is None:
                rows.put("weight", now, segment, 1)
    for weigh in layout.weights:
        for segment, covered in geometry.segments(weigh.span):
            rows.put("weight", covered, segment, np.asarray(weigh.weight, np.float32))
    return rows.arrays


def _worths(layout: Layout, shape: tuple[int, int, int]) -> dict[str, Array]:
    """Return room for the worth of every action, (n, S, A), for slots of several priced groups."""
    if layout.interface.actions.continuous:
        return {}
    calls = Counter(slot.name for slot in layout.slots if slot.amounts is not None)
    return {name: np.full(shape, -np.inf) for name, count in calls.items() if count > 1}


def _aimed(slot: Slot, slots: Sequence[Slot], n: int) -> Coverage:
    """Return the trials in which a slot sets the target; a sure bet beside an answer does not."""
    if slot.amounts is None:
        return True
    aimed = np.ones(n, bool)
    for other in slots:
        if other.name == slot.name and other.amounts is None:
            aimed &= False if other.span.where is None else ~other.span.where
    return True if aimed.all() else aimed


def _is_due(due: dict[int, Array], geometry: Geometry, segment: int, covered: Coverage) -> Array:
    """The trials in which a timed answer is due in this segment, bool (n,)."""
    p = geometry.period[segment]
    begin = geometry.edges[p][segment - geometry.first[p]]
    now = begin == due[p]  # so may segments of 0 steps begin; they are not played
    return np.asarray(now if covered is True else covered & now)


def _scripts(
    layout: Layout, geometry: Geometry, arrays: dict[str, Array]
) -> tuple[Array, Array, Array]:
    """Return `script_at`, and observations and targets of every step of every segment."""
    interface, n, n_segments = layout.interface, layout.n, len(geometry.period)
    lengths = np.where(geometry.tail, 1, geometry.duration)
    flat = lengths.ravel()
    script_at = (np.cumsum(flat) - flat).reshape(lengths.shape)
    place = np.repeat(np.arange(flat.size), flat)
    trial, segment = np.divmod(place, n_segments)
    # Steps from the onset of the period.
    begin = np.stack([edge for edges in geometry.edges for edge in edges[:-1]], axis=1)
    step = np.arange(len(place)) - script_at.ravel()[place] + begin.ravel()[place]

    def rows_of(values: Array) -> Array:
        return np.broadcast_to(values, (n, *values.shape[1:]))[trial, segment]

    script = rows_of(arrays["shown"])
    target = np.zeros(
        (0, interface.actions.size if interface.actions.continuous else 0), np.float32
    )
    if any(frames.name not in interface.channels for frames in layout.frames):
        target = rows_of(arrays["target"])
    for frames in layout.frames:
        shows = frames.name in interface.channels
        columns = (interface.channels if shows else interface.actions)[frames.name]
        start, _ = geometry.steps(frames.span)
        stays = not geometry.untimed.isdisjoint(frames.span.periods)
        for p, offset in geometry.offsets(frames.span):
            at = offset if start is None else offset - start
            k = step + at[trial]
            on = geometry.period[segment] == p
            if frames.span.where is not None:
                on &= frames.span.where[trial]
            # A period without a timer can outlast the values: the last one stays.
            k = np.minimum(k, frames.values.shape[1] - 1) if stays else k
            on = np.flatnonzero(on & (k >= 0) & (k < frames.values.shape[1]))
            values = frames.values[0 if len(frames.values) == 1 else trial[on], k[on]]
            if shows:
                script[on, columns] += values
            else:
                target[on, columns] = values
    return script_at, script + np.float32(0), target


# ---------------------------------------------------------------------- payoffs of actions


class _Payoffs:
    """Reward, outcome and effect of every action.

    In this order, since each overwrites the one before: the subject must rest everywhere, at the
    task's terms; then at those of `hold`; then response windows open. Charges add up.
    """

    def __init__(self, layout: Layout, geometry: Geometry) -> None:
        self.layout, self.geometry, self.interface = layout, geometry, layout.interface
        self.actions, self.n = self.interface.actions, layout.n
        # The columns of all actions except resting; none if there is no action of resting.
        self.acting = slice(0, 0) if self.actions.rest is None else slice(1, None)
        self.names = list(dict.fromkeys(slot.name for slot in layout.slots))
        self.rows = _Rows(self.n)
        n_segments, n_slots = len(geometry.period), len(self.names)
        cells = (n_segments, self.actions.n_table)
        for name in ("reward", "aborts", "goto", "slot", "outcome", "score", "window"):
            _, kind, entry = ARRAYS[name]
            self.rows.new(name, (n_segments, n_slots) if name == "window" else cells, kind, entry)
        # Few numbers: one row per trial, until the end.
        self.terms: dict[str, Array] = {
            name: np.full((self.n, n_slots), entry, kind)
            for name, (axes, kind, entry) in ARRAYS.items()
            if axes == "K" and name != "aim"
        }
        size = self.actions.size if self.actions.continuous else 0
        self.terms["aim"] = np.zeros((self.n, n_slots, size))
        self.worth_best = np.zeros((self.n, n_slots))
        # Worth of the call that sets `target_goto`; that of an answer is above all prices.
        self.worth_of_target = np.full((self.n, n_slots), -np.inf)
        self.priced = np.zeros(n_slots, bool)

    def arrays(self) -> dict[str, Array]:
        self._hold_everywhere()
        for hold in self.layout.holds:
            self._hold(hold)
        for slot in self.layout.slots:
            self._open(slot)
        for charge in self.layout.charges:
            for segment, covered in self.geometry.segments(charge.span):
                amount = charge.amount * self.interface.dt / 100
                self.rows.put("reward", covered, segment, amount, add=True)
        self._normalise_scores()
        scored = {slot.name: slot.scored for slot in reversed(self.layout.slots)}
        self.terms["asked"] &= np.array([scored[name] for name in self.names], bool)
        best = self.layout.best_pay
        if best is None and self.actions.traced:
            best = np.full(1, self.interface.rewards["correct"])
        self.terms["best"] = np.full(1, np.nan) if best is None else one_row(best)
        return self.rows.arrays | self.terms

    def _hold_everywhere(self) -> None:
        cost = self.interface.rewards["abort"] * self.interface.dt / 100
        self.rows.put("reward", True, (ALL, self.acting), cost)
        self.rows.put("aborts", True, (ALL, self.acting), True)
        if self.interface.abort_ends_trial:
            self.rows.put("goto", True, (ALL, self.acting), END)

    def _hold(self, hold: Hold) -> None:
        acting = self.acting
        cost = _column(self.interface.rewards["abort"] if hold.cost is None else hold.cost)
        amount = cost * self.interface.dt / 100
        free = (amount == 0) & (hold.cost is not None and hold.then is None)
        # The task's default, not the `then` of an earlier call for these steps.
        usual = "end" if self.interface.abort_ends_trial else "stay"
        for segment, covered in self.geometry.segments(hold.span):
            goto = np.where(free, STAY, _goto(self.geometry, hold.then or usual, segment))
            self.rows.put("reward", covered, (segment, acting), amount)
            self.rows.put("aborts", covered, (segment, acting), ~free)
            self.rows.put("goto", covered, (segment, acting), goto)

    def _open(self, slot: Slot) -> None:
        """Open the window of a slot; the kernel judges time and distance when it is answered."""
        k, rows = self.names.index(slot.name), self.rows
        units = slice(1, 2) if self.actions.continuous else self.actions[slot.group]
        terms = self._terms(slot)
        for segment, covered in self.geometry.segments(slot.span):
            rows.put("window", covered, (segment, k), True)
            if slot.reported:  # acting is free; the hook reads how a choice would be judged
                terms |= {"reward": 0.0, "goto": STAY}
            if self.actions.n_table == 1:
                # No action answers here: without a trigger, a continuous action is judged when its
                # window closes.
                continue
            for name, values in terms.items():
                rows.put(name, covered, (segment, units), values)
            rows.put("aborts", covered, (segment, units), False)
            rows.put("slot", covered, (segment, units), -1 if slot.reported else k)
        self._set_slot_terms(k, slot)

    def _terms(self, slot: Slot) -> dict[str, Any]:
        """Reward, outcome, score and goto of every choice of a slot, (1 or n, choices)."""
        if slot.amounts is not None:
            goto: Any = _goto(self.geometry, slot.then["other"])
            goto = goto if slot.leads is None else slot.leads
            return {
                "reward": slot.amounts, "outcome": Outcome.OTHER, "score": slot.worth, "goto": goto
            }  # fmt: skip
        right = np.ones((1, 1), bool) if slot.right is None else one_row(slot.right)
        correct, error = (_goto(self.geometry, slot.then[one]) for one in ("correct", "error"))
        goto = correct if correct == error else np.where(right, correct, error)
        goto = goto if slot.leads is None else slot.leads
        return {
            "reward": np.where(right, _column(slot.correct), _column(slot.error)),
            "outcome": np.where(right, Outcome.CORRECT, Outcome.ERROR),
            "score": right.astype(np.float64),
            "goto": goto,
        }

    def _set_slot_terms(self, k: int, slot: Slot) -> None:
        terms, where = self.terms, slot.span.where
        rows: Any = ALL if where is None else where
        asked = terms["asked"][:, k].copy()
        terms["asked"][rows, k] = True
        # `reduce` over few columns is much faster than max(axis=1).
        best = slot.correct if slot.amounts is None else reduce(np.maximum, slot.worth.T)
        self.worth_best[rows, k] = np.maximum(self.worth_best[rows, k], best[rows])
        target = rows
        if slot.amounts is not None:
            target = (best > self.worth_of_target[:, k]) & (True if where is None else where)
            self.priced[k] = True
            # Priced choices that join an open slot (a sure bet) leave its other terms as they are.
            rows = ~asked if where is None else where & ~asked
        resting_is_right = np.zeros(self.n, bool)
        if slot.right is not None and slot.amounts is None:
            resting_is_right = ~slot.right.any(axis=1)  # type: ignore[assignment]
        given = {
            "correct_reward": slot.correct,
            "error_reward": slot.error,
            "miss_reward": np.where(resting_is_right, slot.correct, slot.miss),
            "miss_outcome": np.where(resting_is_right, Outcome.CORRECT, Outcome.MISS),
            "due": slot.due,
            "tolerance": slot.tolerance,
        }
        for name, values in given.items():
            if values is not None:
                terms[name][rows, k] = np.broadcast_to(values, (self.n,))[rows]
        if self.actions.continuous:
            terms["aim"][rows, k, self.actions[slot.group]] = slot.aim[rows]
        self.worth_of_target[target, k] = np.inf if slot.amounts is None else best[target]
        self._set_target_goto(k, slot, target)

    def _set_target_goto(self, k: int, slot: Slot, rows: Any) -> None:
        if self.actions.n_table == 1 and not slot.reported:
            return
        outcome = "other" if slot.amounts is not None else "correct"
        if self.actions.continuous:
            answers = np.full(self.n, slot.right is None)
        else:
            answers = np.asarray(slot.aim) >= 0
        wanted: Any = _goto(self.geometry, slot.then[outcome])
        if slot.leads is not None:
            wanted = slot.leads[np.arange(self.n), slot.aim]
        self.terms["target_goto"][rows, k] = np.where(answers, wanted, STAY)[rows]
        self.terms["error_goto"][rows, k] = _goto(self.geometry, slot.then["error"])

    def _normalise_scores(self) -> None:
        """Divide the worth of priced choices by the best worth; if that is 0, each scores 1."""
        arrays = self.rows.arrays
        for k in np.flatnonzero(self.priced):
            mine = (arrays["slot"] == k) & (arrays["outcome"] == Outcome.OTHER)
            best = self.worth_best[:, k][:, None, None]
            score, best = np.broadcast_arrays(arrays["score"], best)
            score = np.divide(score, best, out=np.ones_like(score), where=best > 0)
            arrays["score"] = np.where(mine, np.clip(score, 0, 1), arrays["score"])


# ---------------------------------------------------------------------- the order of periods


def _has_jumps(layout: Layout) -> bool:
    """Whether a trial may leave the order of its periods.

    Without jumps, the oracle plays every period in order, except the unvisited last ones; its path
    then costs nothing to compute, and the payoffs are not needed to render trials.
    """
    then = _led_to(layout) - {"end", "wait"}
    timeline, unvisited = layout.timeline, _unvisited(layout)
    # An answer cannot pass over a period that has no step in any trial.
    names = [
        name for name in timeline.names
        if name not in unvisited and (name in timeline.untimed or np.any(timeline.steps[name]))
    ]  # fmt: skip
    # An answer that ends the trial passes over the periods after its window.
    early = names and any(
        "end" in slot.then.values() and _may_close_early(slot.span, names) for slot in layout.slots
    )
    by_choice = any(slot.leads is not None for slot in layout.slots)
    # An error may lead to an unvisited period: the oracle makes none.
    errors_lead = any(
        slot.then["error"] not in ("end", "wait", *unvisited) for slot in layout.slots
    )
    # Unvisited periods come with one entry of `then`, the "end" of the period before them.
    leads = len(timeline.then) > bool(unvisited)
    return bool(then or by_choice or errors_lead or leads or early or timeline.untimed)


def _unvisited(layout: Layout) -> frozenset[str]:
    """Return the names of the last periods that only errors lead to: a time-out, mostly."""
    names, then = layout.timeline.names, layout.timeline.then
    ends = [place for place, name in enumerate(names) if then.get(name) == "end"]
    if len(then) != 1 or not ends or any(slot.leads is not None for slot in layout.slots):
        return frozenset()
    behind = frozenset(names[ends[0] + 1 :])
    return frozenset() if behind & _led_to(layout) or layout.timeline.untimed else behind


def _led_to(layout: Layout) -> set[str]:
    """Return where answers lead that are no errors."""
    then = [slot.then for slot in layout.slots]
    return {place for one in then for outcome, place in one.items() if outcome != "error"}


def _may_close_early(span: Span, names: Sequence[str]) -> bool:
    """Whether a response window may close before the last period begins."""
    return span.periods[-1] != names[-1] or (span.stop is not None and len(span.periods) > 1)
