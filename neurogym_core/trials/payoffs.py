"""`Payoffs`: reward, outcome and effect of every action in every segment of a batch of trials.

Together with the durations, they make a trial a small state machine: each period is a state with a
timer, outputs, and a transition for every action."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce
from typing import Any

import numpy as np

from neurogym_core.trials.arrays import Array
from neurogym_core.trials.geometry import Geometry, spread, spread_index, until
from neurogym_core.trials.layout import END, STAY, Charge, Hold, Layout, Pays, Slot
from neurogym_core.trials.record import Outcome


@dataclass(eq=False, repr=False)
class Payoffs:
    """Tables over `n` trials, S segments, A actions, K answer slots, P periods.

    For continuous actions A is 2 (resting, acting), or 1 where no axis triggers.

    Attributes:
        slot_names: (K,) names of the slots.
        needs: (K,) index of the slot that must be correct first, or -1.
        again: (K,) whether the slot can be answered again when its window opens again.
        pays: (K,) reward of graded answers, or None.
        units: (K,) the actions that answer each slot.
        period: (S,) int, the period of each segment.
        reward: (n, S, A) float64.
        aborts: (n, S, A) bool: the action counts as an abort.
        goto: (n, S, A) int16: STAY, END, or the index of a period.
        slot: (n, S, A) int8: the slot that the action answers, or -1.
        outcome: (n, S, A) int8: an `Outcome`.
        score: (n, S, A) float64: 1 for a correct answer, 0 for an error, worth / best for priced
            choices.
        window: (n, S, K) bool: the slot's response window.
        asked: (n, K) bool: the trial has the slot, and scores it.
        miss_reward, miss_outcome: (n, K), if the window closes unanswered.
        correct_reward: (n, K), of a right answer. Continuous actions without a trigger read it;
            others have it in `reward`.
        error_reward: (n, K), if the slot of `needs` is not correct.
        due: (n, K) ms after the window's opening at which the answer is due; NaN for untimed slots.
        tolerance: (n, K) ms around `due`, or the largest error of a continuous answer.
        aim: (n, K, k) target values of continuous answers, in task units.
        best: (n,) largest reward of the trial; NaN: unknown.
        target_goto, error_goto: (n, K), `goto` of the target and of an error.
        period_then: (P,) the successor of each period: STAY (the next one), END, or the index of a
            period.
    """

    slot_names: tuple[str, ...]
    needs: tuple[int, ...]
    again: tuple[bool, ...]
    pays: tuple[Pays | None, ...]
    units: tuple[slice, ...]
    period: Array
    period_then: Array
    reward: Array
    aborts: Array
    goto: Array
    slot: Array
    outcome: Array
    score: Array
    window: Array
    asked: Array
    miss_reward: Array
    miss_outcome: Array
    correct_reward: Array
    error_reward: Array
    due: Array
    tolerance: Array
    aim: Array
    best: Array
    target_goto: Array
    error_goto: Array

    BY_SEGMENT = ("reward", "aborts", "goto", "slot", "outcome", "score", "window")
    BY_TRIAL = (
        "asked",
        "miss_reward",
        "miss_outcome",
        "correct_reward",
        "error_reward",
        "due",
        "tolerance",
        "aim",
        "best",
        "target_goto",
        "error_goto",
    )

    def __len__(self) -> int:
        return len(self.reward)

    def take(self, rows: Array) -> Payoffs:
        """Return the payoffs of some of the trials."""
        if len(rows) == len(self) and np.array_equal(rows, np.arange(len(self))):
            return self
        taken: dict[str, Any] = {
            name: getattr(self, name).take(rows, axis=0)
            for name in (*self.BY_SEGMENT, *self.BY_TRIAL)
        }
        return replace(self, **taken)

    @staticmethod
    def concatenate(parts: Sequence[Payoffs], period: Array) -> Payoffs:
        """Join the payoffs of several batches of one task, over the segments of `period` (S,)."""
        parts = align_slots([part.over(period) for part in parts])
        joined: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in (*Payoffs.BY_SEGMENT, *Payoffs.BY_TRIAL)
        }
        return replace(parts[0], **joined)

    def over(self, period: Array) -> Payoffs:
        """Return the payoffs over the segments of `period` (S,), of which there may be more."""
        if np.array_equal(self.period, period):
            return self
        at = spread_index(self.period, period)
        wide: dict[str, Any] = {
            name: spread(getattr(self, name), at, len(period)) for name in self.BY_SEGMENT
        }
        return replace(self, period=period, **wide)

    def oracle_path(
        self,
        duration: Array,
        untimed: Sequence[int],
        limit: Array,
        answering: Array,
        returns: bool = True,
    ) -> Array:
        """Return the steps that the oracle plays in each segment, (n, V), round after round.

        The oracle answers on the last step of every window, so that periods with a timer run to
        their end. Only an action leads out of a period without one: there it answers on the first
        step on which an answer leads out, or stays until the limit. It answers a slot once, unless
        the slot can be answered again. A move to the same or an earlier period begins another round
        of the S segments.

        Args:
            duration: (n, S) steps.
            untimed: indices of the periods that have no timer.
            limit: (n,) steps after which the trials are over.
            answering: (n, S) the column of the target of each segment.
            returns: whether the oracle returns to periods; if not, its path ends there.
        """
        n, n_periods = len(duration), len(self.period_then)
        closing = self._closing(duration)
        endless = np.isin(np.arange(n_periods), untimed)
        last = np.searchsorted(self.period, np.arange(n_periods), side="right") - 1
        answered, once = np.zeros((n, len(self.slot_names)), bool), ~np.array(self.again, bool)
        left, idle = limit.astype(np.int64), np.zeros(n, np.int64)
        path, turn = np.zeros((n, 1, duration.shape[1]), np.int64), np.zeros(n, np.int64)
        # The trials that are on the way, and their periods; all go from period to period together.
        rows, at = np.arange(n), np.zeros(n, np.int64)
        while len(rows):
            steps = np.where(self.period == at[:, None], duration[rows], 0)
            exits, by = self.period_then[at].astype(np.int64), np.full(len(rows), -1)
            for k in range(len(self.slot_names)):
                goto = self.target_goto[rows, k]
                leads = closing[rows, at, k] & (goto != STAY) & ~answered[rows, k] & ~endless[at]
                exits[leads], by[leads] = goto[leads], k
            leads = by >= 0
            answered[rows[leads], by[leads]] = once[by[leads]]
            waits = np.flatnonzero(endless[at])
            if len(waits):
                steps[waits], exits[waits] = self._first_exit(
                    rows[waits], steps[waits], answered, answering
                )
                stays = waits[exits[waits] == STAY]
                steps[stays, last[at[stays]]], exits[stays] = left[rows[stays]], END
            steps = until(steps, left[rows])
            path[rows, turn[rows]] += steps
            played = steps.sum(axis=1)
            left[rows] -= played
            # Periods of 0 steps that lead to each other end the trial, as in the kernel.
            idle[rows] = np.where(played > 0, 0, idle[rows] + 1)
            following = np.where(exits == STAY, at + 1, exits)
            on = (following >= 0) & (following < n_periods) & (left[rows] > 0)
            on &= (idle[rows] <= 2 * n_periods) & ((following > at) | returns)
            turn[rows] += on & (following <= at)
            rows, at = rows[on], following[on]
            if turn.max(initial=0) == path.shape[1]:
                path = np.concatenate([path, np.zeros_like(path)], axis=1)
        return path[:, : turn.max(initial=0) + 1].reshape(n, -1)

    def _first_exit(
        self, rows: Array, steps: Array, answered: Array, answering: Array
    ) -> tuple[Array, Array]:
        """Return where the oracle's answers lead out of a period without a timer, and when.

        Args:
            rows: (m,) the trials that are in such a period.
            steps: (m, S) the steps of the period.
            answered: (n, K) whether each slot was answered; set for those that are answered here.
            answering: as for `oracle_path`.

        Returns:
            (m, S) steps until an answer leads out, and (m,) where to; STAY: none does.
        """
        steps, exits = steps.copy(), np.full(len(rows), STAY, np.int64)
        again = np.array(self.again, bool)
        for s in np.flatnonzero(steps.any(axis=0)).tolist():
            column = answering[rows, s]
            k, goto = self.slot[rows, s, column], self.goto[rows, s, column]
            answers = (exits == STAY) & (steps[:, s] > 0) & (k >= 0)
            answers[answers] = ~answered[rows[answers], k[answers]]
            answered[rows[answers], k[answers]] = ~again[k[answers]]
            leaves = answers & (goto != STAY)
            exits[leaves] = goto[leaves]
            steps[leaves, s] = 1
            steps[leaves, s + 1 :] = 0
        return steps, exits

    def _closing(self, duration: Array) -> Array:
        """Whether the window of each slot closes in each period, (n, P, K)."""
        n_periods = len(self.period_then)
        closing = np.zeros((len(duration), n_periods, len(self.slot_names)), bool)
        played = duration > 0
        period_steps = np.stack(
            [duration[:, self.period == p].sum(axis=1) for p in range(len(self.period_then))],
            axis=1,
        )
        for k in range(len(self.slot_names)):
            window = self.window[:, :, k] & played
            # A window closes in the last of its periods; there the oracle answers, and goes where
            # its answer leads. Elsewhere the period's own successor follows.
            for p in range(n_periods):
                closing[:, p, k] = window[:, self.period == p].any(axis=1) & ~self._open_after(
                    window, period_steps, p
                )
        return closing

    def _open_after(self, window: Array, period_steps: Array, p: int) -> Array:
        """Whether the window is still open in the period that follows period `p`, (n,)."""
        n_periods, rows = len(self.period_then), np.arange(len(window))
        follows = np.where(self.period_then == STAY, np.arange(1, n_periods + 1), self.period_then)
        follows[follows == n_periods] = END
        following = np.full(len(window), follows[p])
        for _ in range(n_periods):  # periods of 0 steps are passed over
            passed = (following >= 0) & (period_steps[rows, np.maximum(following, 0)] == 0)
            following = np.where(passed, follows[np.maximum(following, 0)], following)
        return np.asarray(
            (following >= 0) & (window & (self.period == following[:, None])).any(axis=1)
        )


def build_payoffs(layout: Layout, geometry: Geometry) -> Payoffs:
    """Return the payoffs of a layout."""
    # In this order, since each overwrites the one before: the subject must rest everywhere, at
    # the task's terms; then at those of `hold`; then response windows open. Charges add up.
    builder = _Builder(layout, geometry)
    builder.hold_everywhere()
    for hold in layout.holds:
        builder.hold(hold)
    for slot in builder.slots:
        builder.open_window(slot)
    for charge in layout.charges:
        builder.charge(charge)
    return builder.finish()


class _Builder:
    """Tables of payoffs, filled entry by entry of a layout."""

    def __init__(self, layout: Layout, geometry: Geometry) -> None:
        self.layout, self.geometry, self.interface = layout, geometry, layout.interface
        self.actions = self.interface.actions
        n, n_segments = geometry.duration.shape
        self.n = n
        shape = (n, n_segments, self.actions.n_table)
        names = list(dict.fromkeys(slot.name for slot in layout.slots))
        self.slots, self.names = layout.slots, names
        self.reward = np.zeros(shape)
        self.aborts = np.zeros(shape, bool)
        self.goto = np.full(shape, STAY, np.int16)
        self.slot = np.full(shape, -1, np.int8)
        self.outcome = np.zeros(shape, np.int8)
        self.score = np.zeros(shape)
        self.window = np.zeros((n, n_segments, len(names)), bool)
        self.asked = np.zeros((n, len(names)), bool)
        self.per_slot = {
            name: np.zeros((n, len(names)))
            for name in ("miss_reward", "correct_reward", "error_reward", "tolerance")
        }
        self.per_slot["due"] = np.full((n, len(names)), np.nan)
        self.miss_outcome = np.full((n, len(names)), Outcome.MISS, np.int8)
        self.aim = np.zeros((n, len(names), self.actions.size if self.actions.continuous else 0))
        self.target_goto = np.full((n, len(names)), STAY, np.int16)
        self.error_goto = np.full((n, len(names)), STAY, np.int16)
        self.worth_best = np.zeros((n, len(names)))
        # Worth of the call that sets `target_goto`; that of an answer is above all prices.
        self.worth_of_target = np.full((n, len(names)), -np.inf)
        self.priced = np.zeros(len(names), bool)

    def _acting(self) -> slice:
        """The columns of all actions except resting; none if there is no action of resting."""
        if self.actions.rest is None:
            return slice(0, 0)
        return slice(1, None)

    def hold_everywhere(self) -> None:
        acting = self._acting()
        self.reward[:, :, acting] = self.interface.rewards["abort"] * self.interface.dt / 100
        self.aborts[:, :, acting] = True
        if self.interface.abort_ends_trial:
            self.goto[:, :, acting] = END

    def hold(self, hold: Hold) -> None:
        acting = self._acting()
        cost = self.interface.rewards["abort"] if hold.cost is None else hold.cost
        amount = np.broadcast_to(np.asarray(cost, np.float64), (self.n,)) * self.interface.dt / 100
        free = (amount == 0) & (hold.cost is not None and hold.then is None)
        # The task's default, not the `then` of an earlier call for these steps.
        usual = "end" if self.interface.abort_ends_trial else "stay"
        for segment, covered in self.geometry.segments(hold.span):
            rows = slice(None) if covered is True else covered
            self.reward[rows, segment, acting] = amount[rows, None]
            self.aborts[rows, segment, acting] = ~free[rows, None]
            self.goto[rows, segment, acting] = np.where(
                free, STAY, self._goto(hold.then or usual, segment)
            )[rows, None]

    def charge(self, charge: Charge) -> None:
        for segment, covered in self.geometry.segments(charge.span):
            self.reward[slice(None) if covered is True else covered, segment] += (
                charge.amount * self.interface.dt / 100
            )

    def _goto(self, target: str, segment: int) -> int:
        if target in ("stay", "wait"):
            return STAY
        if target == "end":
            return END
        if target == "restart":
            return int(self.geometry.period[segment])
        return self.geometry.names.index(target)

    def open_window(self, slot: Slot) -> None:
        k = self.names.index(slot.name)
        units = slice(1, 2) if self.actions.continuous else self.actions[slot.group]
        terms = self._terms(slot)
        for segment, covered in self.geometry.segments(slot.span):
            rows = slice(None) if covered is True else covered
            self.window[rows, segment, k] = True
            if self.actions.n_table == 1:
                # No action answers here: without a trigger, a continuous action is judged when its
                # window closes.
                continue
            self.reward[rows, segment, units] = terms["reward"][rows]
            self.aborts[rows, segment, units] = False
            self.slot[rows, segment, units] = k
            self.outcome[rows, segment, units] = terms["outcome"][rows]
            self.score[rows, segment, units] = terms["score"][rows]
            self.goto[rows, segment, units] = terms["goto"][rows]
        self._set_slot_terms(k, slot)

    def _terms(self, slot: Slot) -> dict[str, Array]:
        """Reward, outcome, score and goto of every choice of a slot, (n, choices).

        Neither time nor distance enters them: the kernel judges timed and continuous answers when
        they are given.
        """
        if slot.amounts is not None:
            other = np.full(slot.amounts.shape, Outcome.OTHER, np.int8)
            goto = (
                np.full(slot.amounts.shape, self._goto(slot.then["other"], 0), np.int16)
                if slot.leads is None
                else slot.leads
            )
            return {"reward": slot.amounts, "outcome": other, "score": slot.worth, "goto": goto}
        right = np.ones((self.n, 1), bool) if slot.right is None else slot.right
        gotos = [self._goto(slot.then[outcome], 0) for outcome in ("correct", "error")]
        return {
            "reward": np.where(right, slot.correct[:, None], slot.error[:, None]),
            "outcome": np.where(right, Outcome.CORRECT, Outcome.ERROR).astype(np.int8),
            "score": right.astype(np.float64),
            "goto": (
                np.where(right, gotos[0], gotos[1]).astype(np.int16)
                if slot.leads is None
                else slot.leads
            ),
        }

    def _set_slot_terms(self, k: int, slot: Slot) -> None:
        rows = slice(None) if slot.span.where is None else slot.span.where
        asked = self.asked[:, k].copy()
        self.asked[rows, k] = True
        # `reduce` over few columns is much faster than max(axis=1).
        best = slot.correct if slot.amounts is None else reduce(np.maximum, slot.worth.T)
        self.worth_best[rows, k] = np.maximum(self.worth_best[rows, k], best[rows])
        target = rows
        if slot.amounts is not None:
            asks = True if slot.span.where is None else slot.span.where
            target = (best > self.worth_of_target[:, k]) & asks
            self.priced[k] = True
            # Priced choices that join an open slot (a sure bet) leave its other terms as they are.
            rows = ~asked if slot.span.where is None else slot.span.where & ~asked
        self.per_slot["correct_reward"][rows, k] = slot.correct[rows]
        self.per_slot["error_reward"][rows, k] = slot.error[rows]
        self._set_miss_terms(k, slot, rows)
        if slot.due is not None:
            self.per_slot["due"][rows, k] = slot.due[rows]
        if slot.tolerance is not None:
            self.per_slot["tolerance"][rows, k] = np.broadcast_to(slot.tolerance, (self.n,))[rows]
        if self.actions.continuous:
            self.aim[rows, k, self.actions[slot.group]] = slot.aim[rows]
        self.worth_of_target[target, k] = np.inf if slot.amounts is None else best[target]
        self._set_target_goto(k, slot, target)

    def _set_miss_terms(self, k: int, slot: Slot, rows: Any) -> None:
        resting_is_right = np.zeros(self.n, bool)
        if slot.right is not None and slot.amounts is None and not self.actions.continuous:
            resting_is_right = ~slot.right.any(axis=1)  # type: ignore[assignment]
        self.per_slot["miss_reward"][rows, k] = np.where(resting_is_right, slot.correct, slot.miss)[
            rows
        ]
        self.miss_outcome[rows, k] = np.where(resting_is_right, Outcome.CORRECT, Outcome.MISS)[rows]

    def _set_target_goto(self, k: int, slot: Slot, rows: Any) -> None:
        if self.actions.n_table == 1:
            return
        outcome = "other" if slot.amounts is not None else "correct"
        answers = np.ones(self.n, bool) if self.actions.continuous else np.asarray(slot.aim) >= 0
        wanted = self._goto(slot.then[outcome], 0)  # no "restart" here: the segment is not used
        if slot.leads is not None:
            wanted = slot.leads[np.arange(self.n), slot.aim]
        goto = np.where(answers, wanted, STAY)
        self.target_goto[rows, k] = goto[rows]
        self.error_goto[rows, k] = self._goto(slot.then["error"], 0)

    def finish(self) -> Payoffs:
        self._normalise_scores()
        names, first = self.names, {slot.name: slot for slot in reversed(self.slots)}
        needs = tuple(
            -1 if (need := first[name].needs) is None else names.index(need) for name in names
        )
        units = []
        for name in names:
            mine = [self.actions[slot.group] for slot in self.slots if slot.name == name]
            units.append(slice(min(one.start for one in mine), max(one.stop for one in mine)))
        then = np.full(len(self.geometry.names), STAY, np.int16)
        for name, target in self.layout.timeline.then.items():
            then[self.geometry.names.index(name)] = self._goto(target, 0)
        best = np.full(self.n, np.nan) if self.layout.best_pay is None else self.layout.best_pay
        return Payoffs(
            slot_names=tuple(names),
            needs=needs,
            again=tuple(first[name].again for name in names),
            pays=tuple(first[name].pays for name in names),
            units=tuple(units),
            period=self.geometry.period,
            period_then=then,
            reward=self.reward,
            aborts=self.aborts,
            goto=self.goto,
            slot=self.slot,
            outcome=self.outcome,
            score=self.score,
            window=self.window,
            asked=self.asked & np.array([first[name].scored for name in names], bool),
            miss_outcome=self.miss_outcome,
            aim=self.aim,
            best=best,
            target_goto=self.target_goto,
            error_goto=self.error_goto,
            **self.per_slot,
        )

    def _normalise_scores(self) -> None:
        """Divide the worth of priced choices by the best worth; if that is 0, each scores 1."""
        for k in np.flatnonzero(self.priced):
            mine = (self.slot == k) & (self.outcome == Outcome.OTHER)
            best = self.worth_best[:, k][:, None, None]
            score = np.divide(self.score, best, out=np.ones_like(self.score), where=best > 0)
            self.score = np.where(mine, np.clip(score, 0, 1), self.score)


_NOT_ASKED = {
    "miss_outcome": Outcome.MISS,
    "due": np.nan,
    "target_goto": STAY,
    "error_goto": STAY,
}
"""Entries for a slot that a trial does not have, where they are not 0."""


def align_slots(parts: Sequence[Payoffs]) -> list[Payoffs]:
    """Give all parts the same slots in the same order; a part does not ask those it lacked."""
    names = tuple(dict.fromkeys(name for part in parts for name in part.slot_names))
    if all(part.slot_names == names for part in parts):
        return list(parts)
    return [_with_slots(part, names, parts) for part in parts]


def _with_slots(part: Payoffs, names: tuple[str, ...], parts: Sequence[Payoffs]) -> Payoffs:
    """Payoffs with the slots `names`; needs, rewards and actions of new ones come from `parts`."""
    place = np.array([names.index(name) for name in part.slot_names], int)
    wide: dict[str, Any] = {}
    for field in fields(part):
        values = getattr(part, field.name)
        if field.name == "window":
            wide["window"] = np.zeros((*values.shape[:2], len(names)), bool)
            wide["window"][:, :, place] = values
        elif field.name in Payoffs.BY_TRIAL and field.name != "best":
            fill = _NOT_ASKED.get(field.name, 0)
            wide[field.name] = np.full(
                (len(part), len(names), *values.shape[2:]), fill, values.dtype
            )
            wide[field.name][:, place] = values
    known = {
        name: (other, other.slot_names.index(name))
        for other in reversed(parts)
        for name in other.slot_names
    }
    owners = [known[name] for name in names]
    renumber = np.append(place, -1).astype(np.int8)  # the last entry: -1, no slot, stays -1
    return replace(
        part,
        slot_names=names,
        slot=renumber[part.slot],
        needs=tuple(
            -1 if owner.needs[k] < 0 else names.index(owner.slot_names[owner.needs[k]])
            for owner, k in owners
        ),
        again=tuple(owner.again[k] for owner, k in owners),
        pays=tuple(owner.pays[k] for owner, k in owners),
        units=tuple(owner.units[k] for owner, k in owners),
        **wide,
    )
