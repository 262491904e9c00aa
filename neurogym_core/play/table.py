"""`PlayTable`: a batch of trials flattened for playing, so that a step is a few gathers; `Rules`: what can happen in them.

Every step of every trial has a place on one long *tape*, all periods in order; a trial moves along it and, where it
jumps, to another place. Steps point to *cells*: two per segment, one for its last step and one for the others, because
things happen when time runs out. What an action does is looked up at ``cell * A + action``.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from neurogym_core.errors import TrialLayoutError
from neurogym_core.trials.batch import KnownRows, TrialBatch
from neurogym_core.trials.noise import Noise
from neurogym_core.trials.record import RESTING, Outcome
from neurogym_core.trials.trial import END, STAY

ANSWER, LEAVE, EXPIRE = 1, 2, 4
"""Bits of `code`: the action answers a slot; it leads elsewhere; the time of something runs out on this step."""
RAN_OUT, BY_ACTION = 1, 2
"""`code` of simple tables: the trial is over on this step, because time ran out or because of the action."""


class Rules:
    """What can happen in trials of k kinds: trials of one kind are alike but for their noise.

    Where something leads is told in steps from the beginning of a trial's part of the tape.

    Attributes:
        batch, payoffs: one trial of each kind.
        shared: whether several trials are of one kind, so that it is worth looking for more of them.
        lengths, begin, limit: (k,) steps on the tape, step at which a trial begins, steps that it may last.
        offset, expire: (k, S) first step of every segment, and what happens after its last.
        closes: (k, S, K) whether a response window is over then.
        reward, aborts, code: (cells * A,) float64, bool, uint8.
        simple: whether all that can happen is that the trial ends, by one answer or when time runs out.
    """

    def __init__(self, batch: TrialBatch, shared: bool = False) -> None:
        self.batch, self.payoffs = batch, batch.payoffs
        self.shared = shared
        _, self.n_segments = batch.duration.shape
        self.n_actions = self.payoffs.reward.shape[2]
        self.dt = batch.task.dt
        self.lengths = batch.duration.sum(axis=1)
        if not self.lengths.all():
            raise TrialLayoutError(f"A trial of {batch.task.name} lasts 0 steps; let at least one period last dt={self.dt:g} ms or more.")
        self.offset = np.cumsum(batch.duration, axis=1) - batch.duration
        landing = self._landing()
        self.begin = self._offsets(landing[:, 0])
        if (self.begin == END).any():
            raise TrialLayoutError(
                f"A trial of {batch.task.name} is over before its first step: periods of 0 ms lead to its end; let the period "
                "that it begins with last longer, or lead elsewhere."
            )
        self.expire = self._expiry(landing)
        self.closes = self._closings(landing)
        self.limit = batch.task.max_steps_of(self.lengths)
        self.can_exceed = bool((self.lengths > self.limit).any()) or self._can_go_back() or batch.task.step_action is not None
        self.simple = not self.can_exceed and self._is_simple()
        self.scored = self.simple and bool(self.payoffs.slot_names) and not np.isfinite(self.payoffs.best).any()
        self._flatten()

    def _can_go_back(self) -> bool:
        """Whether steps may be played again."""
        if self._errors_go_back():
            return True
        if self.payoffs.goto.max() < 0 and self.payoffs.period_then.max() < 0:
            return False
        back = (self.payoffs.goto >= 0) & (self.payoffs.goto <= self.batch.period[None, :, None])
        later = np.arange(len(self.payoffs.period_then))
        return bool(back.any() or ((self.payoffs.period_then >= 0) & (self.payoffs.period_then <= later)).any())

    def _errors_go_back(self) -> bool:
        """The same of answers that turn out to be wrong: at the wrong moment, or after a wrong one."""
        pay = self.payoffs
        for k in range(len(pay.slot_names)):
            if pay.needs[k] < 0 and not np.isfinite(pay.due[:, k]).any():
                continue
            last = self.batch.period[pay.window[:, :, k].any(axis=0)].max(initial=-1)
            if ((pay.error_goto[:, k] >= 0) & (pay.error_goto[:, k] <= last)).any():
                return True
        return False

    # ------------------------------------------------------------------ where time leads

    def first_segments(self) -> np.ndarray:
        """(P,) the first segment of every period."""
        return np.searchsorted(self.batch.period, np.arange(len(self.batch.period_names)))

    def _landing(self) -> np.ndarray:
        """(k, S + 1): the segment played when a trial comes to one, skipping those of no duration; END: none."""
        duration = self.batch.duration
        n, n_segments = duration.shape
        landing = np.full((n, n_segments + 1), END, np.int64)
        first = self.first_segments()
        for _ in range(2 if (self.payoffs.period_then >= 0).any() else 1):  # the second pass resolves jumps back
            for s in range(n_segments - 1, -1, -1):
                skipped = self._following(landing, s, first)
                landing[:, s] = np.where(duration[:, s] > 0, s, skipped)
        return landing

    def _following(self, landing: np.ndarray, s: int, first: np.ndarray) -> np.ndarray:
        """Where a trial lands when the time of segment `s` runs out, (k,)."""
        p = self.batch.period[s]
        is_last = s + 1 == self.n_segments or self.batch.period[s + 1] != p
        then = self.payoffs.period_then[p] if is_last else STAY
        if then == STAY:
            return landing[:, s + 1]
        return np.full(len(landing), END) if then == END else landing[:, first[then]]

    def _offsets(self, segment: np.ndarray) -> np.ndarray:
        """First steps of segments given per kind, (k,) or (k, m); END stays END."""
        row = np.arange(len(segment)) * self.n_segments
        at = np.maximum(segment, 0) + (row if segment.ndim == 1 else row[:, None])
        return np.where(segment == END, END, self.offset.reshape(-1).take(at))

    def _expiry(self, landing: np.ndarray) -> np.ndarray:
        """(k, S): what happens after a segment's last step: STAY = on to the next place of the tape, END, or a step."""
        n, n_segments = self.batch.duration.shape
        first = self.first_segments()
        expire = np.full((n, n_segments), STAY, np.int64)
        following = np.full(n, END, np.int64)  # the next segment on the tape
        for s in range(n_segments - 1, -1, -1):
            target = self._following(landing, s, first)
            natural = target == following
            if natural.all():
                expire[:, s] = np.where(target == END, END, STAY)
            else:
                expire[:, s] = np.where(natural, np.where(target == END, END, STAY), self._offsets(target))
            following = np.where(self.batch.duration[:, s] > 0, s, following)
        return expire

    def _closings(self, landing: np.ndarray) -> np.ndarray:
        """(k, S, K): a response window is over when the time of the segment runs out."""
        window = self.payoffs.window & (self.batch.duration > 0)[:, :, None]
        n, n_segments, n_slots = window.shape
        closes = np.zeros_like(window)
        padded = np.concatenate([window, np.zeros((n, 1, n_slots), bool)], axis=1)
        first = self.first_segments()
        rows = np.arange(n)
        for s in range(n_segments):
            target = self._following(landing, s, first)
            goes_on = padded[rows, np.where(target == END, n_segments, target)]
            closes[:, s] = window[:, s] & ~goes_on
        return closes

    @cached_property
    def since(self) -> np.ndarray:
        """(k * S, K): step of the tape where the response window that a segment lies in was opened."""
        window = self.payoffs.window
        n, n_segments, n_slots = window.shape
        since = np.zeros(window.shape, np.int64)
        begun = np.zeros((n, n_slots), np.int64)
        is_open = np.zeros((n, n_slots), bool)
        for s in range(n_segments):
            played = self.batch.duration[:, s] > 0
            opens = window[:, s] & ~is_open
            begun = np.where(opens, self.offset[:, s, None], begun)
            since[:, s] = begun
            leaves = (self.expire[:, s] != STAY)[:, None]
            is_open = np.where(played[:, None], window[:, s] & ~leaves, is_open)
        return since.reshape(n * n_segments, n_slots)

    # ------------------------------------------------------------------ what actions do

    def _is_simple(self) -> bool:
        pay = self.payoffs
        leads_on = ((pay.goto != END) & (pay.slot >= 0)).any() or (pay.goto >= 0).any()
        special = np.isfinite(pay.due).any() or max(pay.needs, default=-1) >= 0 or self.batch.task.hooked
        continuous = self.batch.task.actions.continuous
        return len(pay.slot_names) <= 1 and not (leads_on or special or continuous) and not (self.expire >= 0).any()

    def _flatten(self) -> None:
        pay = self.payoffs
        n_actions = pay.reward.shape[2]

        def doubled(values: np.ndarray) -> np.ndarray:
            return np.repeat(values.reshape(-1, n_actions), 2, axis=0).reshape(-1, 2, n_actions)

        reward = doubled(pay.reward)
        expires = (self.expire != STAY).reshape(-1, 1)
        if self.simple:
            code = doubled(np.where(pay.goto == END, np.uint8(BY_ACTION), np.uint8(0)))
            code[:, 1] = np.where((code[:, 1] == 0) & expires, RAN_OUT, code[:, 1])
            self._fold_misses(reward)
        else:
            code = doubled((ANSWER * (pay.slot >= 0) + LEAVE * (pay.goto != STAY)).astype(np.uint8))
            code[:, 1] |= np.where(expires | self.closes.any(axis=2).reshape(-1, 1), EXPIRE, 0).astype(np.uint8)
        self.reward = reward.reshape(-1)
        self.code = code.reshape(-1)
        self.aborts = doubled(pay.aborts).reshape(-1)

    def _fold_misses(self, reward: np.ndarray) -> None:
        """In simple tables a window that closes finds its question unanswered; pay for that in the table."""
        if not self.payoffs.slot_names:
            return
        miss = np.where(self.closes[:, :, 0], self.payoffs.miss_reward[:, :1], 0).reshape(-1, 1)
        ends = ((self.payoffs.slot >= 0) | (self.payoffs.goto == END)).reshape(-1, self.n_actions)  # answers, and aborts
        reward[:, 1] += np.where(ends, 0, miss)

    @cached_property
    def cell_target(self) -> np.ndarray:
        """(cells,) the target of every cell; discrete actions only."""
        return np.repeat(self.batch.target.reshape(-1), 2)

    @cached_property
    def cell_period(self) -> np.ndarray:
        """(cells,) the name of the period of every cell."""
        names = np.array(self.batch.period_names)
        return np.repeat(np.tile(names[self.batch.period], len(self.batch)), 2)

    @cached_property
    def settled(self) -> np.ndarray:
        """(cells * A,) in simple tables: with a trial that ends with this key, unanswered, the response window is over."""
        over = np.zeros(self.closes.shape[:2], bool)
        closing = over
        if self.payoffs.slot_names:
            closing = self.closes[:, :, 0]
            over[:, 1:] = np.logical_or.accumulate(closing[:, :-1], axis=1)
        ran_out = self.code.reshape(-1, 2, self.n_actions) == RAN_OUT
        return (over.reshape(-1, 1, 1) | (ran_out & closing.reshape(-1, 1, 1))).ravel()

    @cached_property
    def performance(self) -> np.ndarray:
        """(cells * A,) of a trial that ends with this key."""
        pay = self.payoffs
        answered = np.repeat((pay.slot >= 0).reshape(-1, 1, self.n_actions), 2, axis=1)
        score = np.repeat(pay.score.reshape(-1, 1, self.n_actions), 2, axis=1)
        rested = np.repeat((pay.miss_outcome[:, 0] == Outcome.CORRECT) & pay.asked[:, 0], self.n_segments)[:, None, None]
        unanswered = self.settled.reshape(answered.shape)
        return np.where(answered, score, unanswered & rested).astype(np.float64).ravel()

    @cached_property
    def last_outcome(self) -> np.ndarray:
        """(cells * A,) int8, in simple tables: the outcome of a trial that ends with this key."""
        pay = self.payoffs
        shape = (-1, 2, self.n_actions)
        aborted = (self.code == BY_ACTION).reshape(shape)
        if not pay.slot_names:
            return np.where(aborted, Outcome.ABORT, Outcome.NONE).astype(np.int8).ravel()
        asked, missed = (np.repeat(values[:, 0], self.n_segments)[:, None, None] for values in (pay.asked, pay.miss_outcome))
        unanswered = np.where(asked, np.where(self.settled.reshape(shape), missed, Outcome.MISS), Outcome.NONE)
        slot, outcome = (values.reshape(-1, 1, self.n_actions) for values in (pay.slot, pay.outcome))
        return np.where(slot >= 0, outcome, np.where(aborted, Outcome.ABORT, unanswered)).astype(np.int8).ravel()

    @cached_property
    def last_choice(self) -> np.ndarray:
        """(cells * A,) int, in simple tables: what was chosen in a trial that ends with this key."""
        if not self.payoffs.slot_names:
            return np.full(len(self.code), RESTING)
        choice = np.arange(self.n_actions) - self.payoffs.units[0].start
        answers = np.repeat((self.payoffs.slot >= 0).reshape(-1, self.n_actions), 2, axis=0)
        return np.where(answers, choice, RESTING).ravel()

    @cached_property
    def noise(self) -> np.ndarray:
        """(k * S, units) float32: SD of the noise of the units that may be noisy."""
        units = self.batch.noisy
        level = np.broadcast_to(self.batch.noise, self.batch.shown.shape)[:, :, units]
        return np.ascontiguousarray(level).reshape(-1, level.shape[2])

    @cached_property
    def ends(self) -> np.ndarray:
        """(cells * A,) bool, in simple tables: the trial is over."""
        return self.code != 0

    @cached_property
    def results(self) -> np.ndarray:
        """(4, cells * A) float64, in simple tables: reward; whether it is an abort; the performance, and -1, where the trial ends."""
        results = np.zeros((4, len(self.reward)))
        results[0], results[1] = self.reward, self.aborts
        if self.scored:
            np.multiply(self.performance, self.ends, out=results[2])
        results[3][self.ends] = -1.0
        return results

    @cached_property
    def _period_offset(self) -> np.ndarray:
        """(k, P) step where a jump to a period leads."""
        return self._offsets(self._landing()[:, self.first_segments()])

    @cached_property
    def leads(self) -> np.ndarray:
        """(k * S * A,) where an action leads: STAY, END, or a step of the tape."""
        goto = self.payoffs.goto.reshape(len(self.batch), -1)
        steps = np.take_along_axis(self._period_offset, np.maximum(goto, 0).astype(np.int64), axis=1)
        return np.where(goto < 0, goto, steps).reshape(-1)

    def closing(self, segment: np.ndarray) -> np.ndarray:
        """(m, K): the response windows that are over when the time of these segments (kind * S + segment) runs out."""
        return self.closes.reshape(-1, self.closes.shape[2])[segment] if self.closes.size else np.zeros((*np.shape(segment), 0), bool)

    def open(self, segment: np.ndarray) -> np.ndarray:
        """(m, K): the response windows that these segments lie in."""
        window = self.payoffs.window
        return window.reshape(-1, window.shape[2])[segment] if window.size else np.zeros((*np.shape(segment), 0), bool)

    def by_action(self, name: str, key: np.ndarray) -> np.ndarray:
        """An (n, S, A) table of the payoffs at keys = cell * A + action."""
        cell, action = np.divmod(key, self.n_actions)
        return getattr(self.payoffs, name).reshape(-1, self.n_actions)[cell >> 1, action]

    def steps_to(self, kind: np.ndarray, goto: np.ndarray) -> np.ndarray:
        """Steps of the tape at which trials of these kinds come to periods; STAY and END stay."""
        return np.where(goto < 0, goto, self._period_offset[kind, np.maximum(goto, 0)])

    # ------------------------------------------------------------------ which trials are of which kind

    @cached_property
    def _known(self) -> KnownRows:
        return KnownRows(self.batch.traits)

    def kinds_of(self, batch: TrialBatch) -> np.ndarray | None:
        """(n,) the kinds of trials that were laid out later; None if some of them are of no kind that is known here."""
        if "like" in batch.__dict__ and batch.like[0] is self.batch:
            return batch.like[1]
        if not self.shared or batch.random or not np.array_equal(batch.period, self.batch.period):
            return None
        return self._known.find(batch.traits)


class PlayTable:
    """The trials of a batch on their tape, each with its own part of it, since no two have the same noise.

    Attributes:
        batch: the n trials; `kind` (n,) the kind of each, `rules` what can happen in them.
        tape: (steps, obs) float32.
        start: (n,) place of every trial's first step; `row_start`, `row_stop` (n,) the part of the tape it owns.
    """

    def __init__(self, batch: TrialBatch, tape: np.ndarray, kind: np.ndarray | None = None, rules: Rules | None = None) -> None:
        self.batch, self.tape = batch, tape
        if kind is None or rules is None:
            kinds, kind = batch.like
            rules = Rules(kinds, shared=len(kinds) < len(kind))
        self.kind, self.rules = kind, rules
        lengths = rules.lengths[kind]
        self.row_stop = np.cumsum(lengths)
        self.row_start = self.row_stop - lengths
        self.start = self.row_start + rules.begin[kind]

    @cached_property
    def cell(self) -> np.ndarray:
        """(steps,) the cell of every step."""
        return self._per_step(1)

    @cached_property
    def base(self) -> np.ndarray:
        """(steps,) cell * A: what an action is added to, to look up what it does."""
        return self._per_step(self.rules.n_actions)

    def _per_step(self, width: int) -> np.ndarray:
        """(steps,) width times the cell of every step."""
        n_segments, flat = self.rules.n_segments, self.batch.duration.ravel()
        cells = 2 * n_segments * width * self.kind[:, None] + np.arange(0, 2 * n_segments * width, 2 * width)
        steps = np.repeat(cells.ravel(), flat)
        steps[np.cumsum(flat)[flat > 0] - 1] += width
        return steps

    @cached_property
    def targets(self) -> np.ndarray:
        """(steps,) or (steps, k): what is right on every step, in task units."""
        return self.batch.render_targets(self.batch.duration)

    @cached_property
    def period(self) -> np.ndarray:
        """(steps,) index of the period of every step."""
        return np.repeat(np.broadcast_to(self.batch.period, self.batch.duration.shape).ravel(), self.batch.duration.ravel())

    def destination(self, row: np.ndarray, goto: np.ndarray) -> np.ndarray:
        """Tape places of period indices; STAY and END stay."""
        return self.placed(row, self.rules.steps_to(self.kind[row], goto))

    def expiry(self, row: np.ndarray, cell: np.ndarray) -> np.ndarray:
        """What happens when the time of these cells runs out: STAY, END or a place."""
        return self.placed(row, self.rules.expire.reshape(-1)[cell >> 1])

    def placed(self, row: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """Places of steps of these trials' parts of the tape; STAY and END stay."""
        return np.where(steps < 0, steps, self.row_start[row] + steps)

    @cached_property
    def segment_start(self) -> np.ndarray:
        """(n, S) place of the first step of every segment."""
        return self.row_start[:, None] + self.rules.offset[self.kind]

    @cached_property
    def period_stop(self) -> np.ndarray:
        """(steps,) place after the last of the period of each step."""
        return self.period_onset + np.stack([*self.batch.period_steps.values()], axis=1)[self._trial_of_step, self.period]

    @cached_property
    def _trial_of_step(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.batch)), self.row_stop - self.row_start)

    @cached_property
    def period_onset(self) -> np.ndarray:
        """(steps,) place where the period of each step begins."""
        onset = self.segment_start[:, self.rules.first_segments()]
        return onset[self._trial_of_step, self.period]

    # ------------------------------------------------------------------ renewing

    @classmethod
    def render(cls, batch: TrialBatch, rng: np.random.Generator | Noise | None) -> PlayTable:
        """The table of a new batch, with noise, or without (None)."""
        return cls(batch, batch.render(rng, batch.duration))

    def renew(self, batch: TrialBatch, rng: np.random.Generator | Noise | None) -> PlayTable:
        """The table of a new batch, with the rules of this one where they hold for it."""
        return self._with(batch, batch.render(rng, batch.duration), self.rules.kinds_of(batch))

    def extend(self, keep: np.ndarray, batch: TrialBatch, rng: np.random.Generator | Noise | None) -> PlayTable:
        """Some of the trials of this table as they are, then a new batch."""
        if not len(keep):
            return self.renew(batch, rng)
        lengths = (self.row_stop - self.row_start)[keep]
        offsets = np.repeat(self.row_start[keep] - (np.cumsum(lengths) - lengths), lengths)
        old = self.tape[offsets + np.arange(lengths.sum())]
        tape = np.concatenate([old, batch.render(rng, batch.duration)])
        kind = self.rules.kinds_of(batch)
        joined = TrialBatch.concatenate([self.batch.take(keep), batch])
        return self._with(joined, tape, None if kind is None else np.concatenate([self.kind[keep], kind]))

    def _with(self, batch: TrialBatch, tape: np.ndarray, kind: np.ndarray | None) -> PlayTable:
        return PlayTable(batch, tape) if kind is None else PlayTable(batch, tape, kind, self.rules)

    def refresh_noise(self, row: int, begin: int, rng: np.random.Generator) -> None:
        """Draw the noise of a trial anew from a place of the tape on."""
        start, stop = self.row_start[row], self.row_stop[row]
        single = self.batch.take(np.array([row]))
        self.tape[begin:stop] = single.render(rng, single.duration)[begin - start :]
