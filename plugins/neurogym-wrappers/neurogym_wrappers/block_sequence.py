"""`BlockSequence`: the order of a session's blocks, and which entry (conditions, a matrix, a task)
applies on each trial.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from neurogym_core.errors import InvalidValueError, unknown
from neurogym_core.tasks.session import Session
from neurogym_core.trials.distributions import Constant, Distribution, parse

ORDERS = ("sequence", "random", "performance")


@dataclass(frozen=True)
class BlockSequence:
    """An order of blocks, each with one of `size` entries.

    Attributes:
        owner: name of the wrapper, for errors.
        size: number of entries.
        order: "sequence" (one after another, repeatedly), "random", or "performance" (the next
            entry when the subject is good enough, the one before when it is not).
        length: trials of a block; after them it ends with probability `chance` per trial.
        chance: see `length`; 1: the block ends after `length` trials.
        lengths: lengths of each entry's blocks, instead of `length`; None: `length` for all.
        weights: (size,) probability of each entry in a random order; None: equal ones.
        again: whether a random order may take the same entry twice in a row.
        once: whether a sequence stays with its last entry.
        window: trials over which performance is averaged.
        criterion, fallback: mean performance at which the next entry begins, and below which the
            one before returns.
        lasting: whether the next session continues where the last one ended.
        key: prefix of the names under which it keeps its state in the session.
    """

    owner: str
    size: int
    order: str = "sequence"
    length: Distribution = Constant(1)  # noqa: RUF009
    chance: float = 1.0
    lengths: tuple[Distribution, ...] | None = None
    weights: tuple[float, ...] | None = None
    again: bool = True
    once: bool = False
    window: int = 100
    criterion: float = 0.8
    fallback: float = 0.0
    lasting: bool = False
    key: str = "block_sequence"

    @classmethod
    def checked(
        cls, owner: str, size: int, *, length: Any = 1, weights: Any = (), **settings: Any
    ) -> BlockSequence:
        """A block sequence from the settings of a wrapper.

        Raises:
            InvalidValueError: a setting is out of its range.
            UnknownNameError: there is no such order.
        """
        if settings.get("order", "sequence") not in ORDERS:
            raise unknown("order", settings["order"], ORDERS, of=owner)
        _check(
            owner,
            "chance",
            settings.get("chance", 1.0),
            0 < settings.get("chance", 1.0) <= 1,
            "above 0, at most 1",
        )
        _check(
            owner,
            "window",
            settings.get("window", 1),
            settings.get("window", 1) >= 1,
            "at least 1 trial",
        )
        if settings.get("lengths") is not None:
            _check(
                owner,
                "lengths",
                settings["lengths"],
                len(settings["lengths"]) == size,
                f"{size} numbers of trials",
            )
            settings["lengths"] = tuple(_length(owner, one) for one in settings["lengths"])
        sequence = cls(
            owner,
            size,
            length=_length(owner, length),
            weights=_weights(owner, size, weights),
            **settings,
        )
        if (
            sequence.order == "random"
            and not sequence.again
            and np.count_nonzero(sequence._weights) < 2
        ):
            raise InvalidValueError(
                f"{owner} was given again=False and one entry that can be drawn; two are needed to"
                " change between them. Give more, or again=True."
            )
        return sequence

    # ------------------------------------------------------------------ state

    def _holder(self, session: Session) -> Any:
        return session.subject if self.lasting else session

    def _name(self, part: str) -> str:
        return f"{self.key}_{part}"

    def begin(self, session: Session, rng: np.random.Generator) -> None:
        """Choose the first block of new sessions, or continue those of the last ones."""
        holder = self._holder(session)
        if self.lasting and hasattr(holder, self._name("at")):
            # The trial that ended the last session is seen here only.
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
        """Whether the next entry depends on the subject's performance."""
        return self.order == "performance" and self.size > 1

    def advance(self, session: Session, rng: np.random.Generator, trials: int) -> np.ndarray:
        """The entries of the coming trials, (trials, sessions)."""
        if self.size == 1:
            return np.zeros((trials, len(session)), np.int64)
        if self.reads_outcomes:
            return np.stack([self._by_performance(session) for _ in range(trials)])
        single = self.length == Constant(1) and self.lengths is None and self.chance == 1
        if self.order == "random" and self.again and single:  # trials are independent
            return self._drawn(rng, trials * len(session)).reshape(trials, len(session))
        return self._by_blocks(self._holder(session), rng, trials, len(session))

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
            return np.minimum(at + 1, self.size - 1) if self.once else (at + 1) % self.size
        return self._drawn(rng, len(at)) if self.again else self._another(at, rng)

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
        """Entries other than `at`, drawn with their weights."""
        weights = np.where(at[:, None] == np.arange(self.size), 0, self._weights)
        reached = np.cumsum(weights, axis=1)
        luck = rng.random((len(at), 1)) * reached[:, -1:]
        return np.minimum((luck >= reached).sum(axis=1), self.size - 1)

    def _lengths(self, rng: np.random.Generator, at: np.ndarray) -> np.ndarray:
        """Lengths in trials of new blocks of the entries `at`."""
        lengths = np.empty(len(at), np.int64)
        for k, length in enumerate(self.lengths or (self.length,)):
            rows = slice(None) if self.lengths is None else np.flatnonzero(at == k)
            drawn = np.asarray(length.sample(rng, len(lengths[rows])), float)
            lengths[rows] = np.maximum(np.floor(drawn + 0.5), 1)
        return lengths if self.chance == 1 else lengths - 1 + rng.geometric(self.chance, len(at))

    # ------------------------------------------------------------------ performance

    def _by_performance(self, session: Session) -> np.ndarray:
        played = np.flatnonzero(session.trial > 0)
        return self._judge(session, played, session.previous["performance"][played]).copy()

    def _judge(self, session: Session, played: np.ndarray, performance: np.ndarray) -> np.ndarray:
        """Entries (sessions,) after the last trials of the sessions `played`: the next or previous
        one where the mean over a full window says so.
        """
        holder = self._holder(session)
        at, seen, scores = (
            getattr(holder, self._name(part)).copy() for part in ("at", "seen", "scores")
        )
        scores[played, seen[played] % self.window] = performance
        seen[played] += 1
        mean, full = scores.mean(axis=1), seen >= self.window
        up = full & (mean >= self.criterion) & (at < self.size - 1)
        down = full & (mean < self.fallback) & (at > 0)
        at += up.astype(np.int64) - down
        seen[up | down] = 0
        for part, values in (("at", at), ("seen", seen), ("scores", scores)):
            setattr(holder, self._name(part), values)
        return at


def _length(owner: str, spec: Any) -> Distribution:
    try:
        length = parse(spec)
        low, high = length.bounds
    except (InvalidValueError, TypeError, ValueError):
        low, high = math.nan, math.nan
    _check(
        owner,
        "length",
        spec,
        low >= 1 and high < math.inf,
        "a number of trials, at least 1, or a distribution of it",
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
