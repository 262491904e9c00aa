"""`BlockSequence`: the order of a subject's blocks, and the entry of each trial.

An entry is anything that can change from block to block, such as conditions, a transition matrix or
a task."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from neurogym_core import Constant, Distribution, InvalidValueError, Session, parse
from neurogym_core.tools import unknown

ORDERS = ("sequence", "random", "performance")


@dataclass(frozen=True)
class BlockSequence:
    """Order and lengths of blocks, each with one of `size` entries.

    The blocks belong to the subject and continue over its sessions, because a block or a criterion
    of an experiment can need more trials than one session has.

    Attributes:
        owner: name of the wrapper, for errors.
        size: number of entries.
        order: "sequence" (entry after entry, then again from the first), "random", or "performance"
            (forward or back by one entry, depending on the subject's performance).
        block_length: minimum number of trials in a block.
        hazard_rate: probability that the block ends, on every trial from its `block_length`-th on;
            1: every block has `block_length` trials.
        block_lengths: `block_length` of each entry; None: `block_length` for all entries.
        weights: (size,) probability of each entry in a random order; None: equal probabilities.
        allow_repeats: whether the next block of a random order may have the same entry.
        stop_at_last: whether a sequence stays at its last entry.
        window: number of trials over which performance is averaged.
        advance_at: mean performance at which the next entry begins.
        retreat_below: mean performance below which the previous entry returns.
        key: prefix of the names of its state in `session.subject`.
    """

    owner: str
    size: int
    order: str = "sequence"
    block_length: Distribution = Constant(1)  # noqa: RUF009
    hazard_rate: float = 1.0
    block_lengths: tuple[Distribution, ...] | None = None
    weights: tuple[float, ...] | None = None
    allow_repeats: bool = True
    stop_at_last: bool = False
    window: int = 100
    advance_at: float = 0.8
    retreat_below: float = 0.0
    key: str = "block_sequence"

    @classmethod
    def checked(
        cls, owner: str, size: int, *, block_length: Any = 1, weights: Any = (), **settings: Any
    ) -> BlockSequence:
        """Return a block sequence from the settings of a wrapper.

        Raises:
            InvalidValueError: a setting is out of its range.
            UnknownNameError: there is no such order.
        """
        order = settings.get("order", "sequence")
        if order not in ORDERS:
            raise unknown("order", order, ORDERS, of=owner)
        rate, window = settings.get("hazard_rate", 1.0), settings.get("window", 1)
        _check(owner, "hazard_rate", rate, 0 < rate <= 1, "a probability above 0, at most 1")
        _check(owner, "window", window, window >= 1, "at least 1 trial")
        if (lengths := settings.get("block_lengths")) is not None:
            wanted = f"{size} numbers of trials"
            _check(owner, "block_lengths", lengths, len(lengths) == size, wanted)
            settings["block_lengths"] = tuple(
                _block_length(owner, "block_lengths", one) for one in lengths
            )
        sequence = cls(
            owner,
            size,
            block_length=_block_length(owner, "block_length", block_length),
            weights=_weights(owner, size, weights),
            **settings,
        )
        possible = np.count_nonzero(sequence._weights)
        if order == "random" and not sequence.allow_repeats and possible < 2:
            raise InvalidValueError(
                f"{owner} was given allow_repeats=False and {possible} block that can be drawn; it"
                " needs two to alternate between. Give more blocks, or allow_repeats=True."
            )
        return sequence

    # ------------------------------------------------------------------ state

    def _name(self, part: str) -> str:
        return f"{self.key}_{part}"

    def begin(self, session: Session, rng: np.random.Generator) -> None:
        """Draw the first blocks of new subjects, or continue the blocks of their last sessions."""
        holder: Any = session.subject
        if self.size == 1:
            return
        if hasattr(holder, self._name("at")):
            # No later call sees the outcome of the trial that ended the last session.
            if self.reads_outcomes and "performance" in holder.previous:
                self._judge(session, np.arange(len(session)), holder.previous["performance"])
            return
        n = len(session)
        at = self._drawn(rng, n) if self.order == "random" else np.zeros(n, np.int64)
        setattr(holder, self._name("at"), at)
        setattr(holder, self._name("left"), self._lengths(rng, at))
        if self.reads_outcomes:
            setattr(holder, self._name("scores"), np.zeros((n, self.window)))
            setattr(holder, self._name("seen"), np.zeros(n, np.int64))

    @property
    def reads_outcomes(self) -> bool:
        """Whether the entries depend on the subject's performance."""
        return self.order == "performance" and self.size > 1

    def advance(self, session: Session, rng: np.random.Generator, trials: int) -> np.ndarray:
        """Return the entries of the coming trials, (trials, sessions)."""
        if self.size == 1:
            return np.zeros((trials, len(session)), np.int64)
        if self.reads_outcomes:
            return np.stack([self._by_performance(session) for _ in range(trials)])
        one_trial = (
            self.block_length == Constant(1)
            and self.block_lengths is None
            and self.hazard_rate == 1
        )
        if self.order == "random" and self.allow_repeats and one_trial:  # independent trials
            return self._drawn(rng, trials * len(session)).reshape(trials, len(session))
        return self._by_blocks(session.subject, rng, trials, len(session))

    # ------------------------------------------------------------------ blocks

    def _by_blocks(self, holder: Any, rng: np.random.Generator, trials: int, n: int) -> np.ndarray:
        at, left = (
            getattr(holder, self._name("at")).copy(),
            getattr(holder, self._name("left")).copy(),
        )
        room = np.full(n, trials)
        entries, takes = [], []
        while room.any():
            over = np.flatnonzero((left == 0) & (room > 0))
            if len(over):
                at[over] = self._next(at[over], rng)
                left[over] = self._lengths(rng, at[over])
            take = np.minimum(left, room)
            entries.append(at.copy())
            takes.append(take)
            left, room = left - take, room - take
        setattr(holder, self._name("at"), at)
        setattr(holder, self._name("left"), left)
        entry, take = np.stack(entries, axis=1).ravel(), np.stack(takes, axis=1).ravel()
        return np.repeat(entry, take).reshape(n, trials).T

    def _next(self, at: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if self.order == "sequence":
            return np.minimum(at + 1, self.size - 1) if self.stop_at_last else (at + 1) % self.size
        return self._drawn(rng, len(at)) if self.allow_repeats else self._another(at, rng)

    @property
    def _weights(self) -> np.ndarray:
        return (
            np.full(self.size, 1 / self.size) if self.weights is None else np.asarray(self.weights)
        )

    def _drawn(self, rng: np.random.Generator, n: int) -> np.ndarray:
        if self.weights is None:
            return rng.integers(0, self.size, n)
        return np.searchsorted(np.cumsum(self._weights)[:-1], rng.random(n), side="right")

    def _another(self, at: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw entries other than `at`, with their weights."""
        weights = np.where(at[:, None] == np.arange(self.size), 0, self._weights)
        reached = np.cumsum(weights, axis=1)
        luck = rng.random((len(at), 1)) * reached[:, -1:]
        return np.minimum((luck >= reached).sum(axis=1), self.size - 1)

    def _lengths(self, rng: np.random.Generator, at: np.ndarray) -> np.ndarray:
        """Draw the lengths, in trials, of new blocks with the entries `at`."""
        lengths = np.empty(len(at), np.int64)
        for k, length in enumerate(self.block_lengths or (self.block_length,)):
            rows = slice(None) if self.block_lengths is None else np.flatnonzero(at == k)
            drawn = np.asarray(length.sample(rng, len(lengths[rows])), float)
            lengths[rows] = np.maximum(np.floor(drawn + 0.5), 1)
        if self.hazard_rate == 1:
            return lengths
        return lengths - 1 + rng.geometric(self.hazard_rate, len(at))

    # ------------------------------------------------------------------ performance

    def _by_performance(self, session: Session) -> np.ndarray:
        played = np.flatnonzero(session.trial > 0)
        return self._judge(session, played, session.previous["performance"][played]).copy()

    def _judge(self, session: Session, played: np.ndarray, performance: np.ndarray) -> np.ndarray:
        """Return the entries (sessions,) after a trial of the sessions `played`.

        A session moves by one entry when the mean over a full window reaches a criterion. The
        window is empty again after every move.
        """
        holder: Any = session.subject
        at, seen, scores = (
            getattr(holder, self._name(part)).copy() for part in ("at", "seen", "scores")
        )
        scores[played, seen[played] % self.window] = performance
        seen[played] += 1
        mean, full = scores.mean(axis=1), seen >= self.window
        up = full & (mean >= self.advance_at) & (at < self.size - 1)
        down = full & (mean < self.retreat_below) & (at > 0)
        at += up.astype(np.int64) - down
        seen[up | down] = 0
        for part, values in (("at", at), ("seen", seen), ("scores", scores)):
            setattr(holder, self._name(part), values)
        return at


def _block_length(owner: str, name: str, spec: Any) -> Distribution:
    try:
        length = parse(spec)
        low, high = length.bounds
    except (InvalidValueError, TypeError, ValueError):
        low, high = math.nan, math.nan
    _check(
        owner,
        name,
        spec,
        low >= 1 and high < math.inf,
        "a number of trials of at least 1, or a distribution of such numbers",
    )
    return length


def _weights(owner: str, size: int, given: Any) -> tuple[float, ...] | None:
    if given is None or (isinstance(given, tuple | list) and not given):
        return None
    weights = np.asarray(given, float)
    good = (
        weights.shape == (size,)
        and np.isfinite(weights).all()
        and (weights >= 0).all()
        and weights.sum() > 0
    )
    _check(owner, "weights", given, bool(good), f"{size} numbers of 0 or more, not all 0")
    return tuple((weights / weights.sum()).tolist())


def _check(owner: str, name: str, value: Any, good: bool, wanted: str) -> None:
    if not good:
        raise InvalidValueError(f"{owner} was given {name}={value!r}; it needs {wanted}.")
