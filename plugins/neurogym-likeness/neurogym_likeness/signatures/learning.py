"""Statistics of published signatures of learning across trials."""

from __future__ import annotations

import numpy as np
from neurogym_behaviour.behaviour import Behaviour, CannotTellError
from neurogym_behaviour.measures import Measure
from neurogym_behaviour.proportions import difference_interval, wilson_interval

from neurogym_likeness.signatures.columns import columns, enough
from neurogym_likeness.signatures.model import signature

RESAMPLES = 400
"""Resamples of the bootstrap."""
SETTLE, LEAST_BLOCK, LEAST_BLOCKS = 10, 20, 8
"""Trials at the beginning of a block that are left out, shortest block, fewest blocks."""
RATES = np.linspace(0, 0.9, 46)
BETAS = np.geomspace(1, 300, 15)
"""Learning rates, and inverse temperatures per largest amount, that are compared."""
PARTS = 20
"""Parts of the trials of a phase that are resampled."""
LEARNS = 5.0
"""Least gain in log likelihood by learning, in each phase."""


@signature("matching-of-choices.toml")
def matching_of_choices(behaviour: Behaviour) -> Measure:
    """Return the slope of log choice ratios over log reward ratios of blocks."""
    record, choice = behaviour.record, behaviour.column("choice")
    if "probability" not in record or record["probability"].shape[1:] != (2,):
        raise CannotTellError(
            "the record has no column 'probability' with the chances of both sides, (n, 2)"
        )
    p = record["probability"].astype(float)
    new = np.append(True, (p[1:] != p[:-1]).any(axis=1)) | ~behaviour.after
    rows = []
    for block in np.split(np.arange(len(p)), np.flatnonzero(new)[1:]):
        block = block[SETTLE:][choice[block[SETTLE:]] >= 0]
        if len(block) < LEAST_BLOCK - SETTLE or not (p[block[0]] > 0).all():
            continue
        right, paid = choice[block] == 1, record["reward"][block] > 0
        rows.append([
            np.log(p[block[0], 1] / p[block[0], 0]),
            _log_ratio(right.sum(), (~right).sum()),
            _log_ratio((right & paid).sum(), (~right & paid).sum()),
        ])  # fmt: skip
    if len(rows) < LEAST_BLOCKS or np.ptp(np.array(rows)[:, 0]) == 0:
        raise CannotTellError(f"fewer than {LEAST_BLOCKS} blocks, or all have one ratio of chances")
    table = np.array(rows)
    rng = np.random.default_rng(0)
    drawn = [_slope(table[rng.integers(0, len(table), len(table))]) for _ in range(RESAMPLES)]
    low, high = np.nanquantile(drawn, (0.025, 0.975))
    return Measure(_slope(table), float(low), float(high), len(record))


def _log_ratio(one: float, other: float) -> float:
    return float(np.log((one + 0.5) / (other + 0.5)))


def _slope(rows: np.ndarray) -> float:
    """Return the slope of choices over rewards, by the chances as an instrument.

    A side that is chosen more often by chance is paid more often, too: the slope of choices over
    rewards alone is positive for a subject that ignores its rewards.
    """
    away = rows - rows.mean(axis=0)
    return float((away[:, 0] @ away[:, 1]) / (away[:, 0] @ away[:, 2]))


@signature("faster-learning-when-volatile.toml")
def faster_learning_when_volatile(behaviour: Behaviour) -> Measure:
    """Return the learning rate in the volatile phase minus that in the stable one."""
    record, choice = behaviour.record, behaviour.column("choice")
    missing = [name for name in ("volatile", "right", "amount") if name not in record]
    if missing:
        raise CannotTellError(f"the record has no column {', '.join(missing)}")
    first, blue = ~behaviour.after, record["right"] == 0
    expected = np.empty((len(record), len(RATES)))
    q = np.full(len(RATES), 0.5)
    for row in range(len(record)):
        q = np.full(len(RATES), 0.5) if first[row] else q
        expected[row] = q
        q = q + RATES * (blue[row] - q)
    amount = record["amount"] / record["amount"].max()
    lead = expected * amount[:, [0]] - (1 - expected) * amount[:, [1]]
    lead = np.where(choice == 0, 1, -1)[:, None] * lead  # of the chosen colour
    phases = []
    for phase in (False, True):
        rows = np.flatnonzero((record["volatile"].astype(bool) == phase) & (choice >= 0))
        if len(rows) < 5 * PARTS:
            raise CannotTellError(f"fewer than {5 * PARTS} trials of one of the phases")
        log = -np.logaddexp(0, -BETAS[:, None] * lead[rows][:, None])  # (rows, betas, rates)
        parts = np.array([part.sum(axis=0) for part in np.array_split(log, PARTS)])
        by_rate = parts.sum(axis=0).max(axis=0)
        if by_rate.max() - by_rate[0] < LEARNS:
            raise CannotTellError("choices do not follow the outcomes, so there is no rate")
        phases.append(parts)
    rng = np.random.default_rng(0)
    values = [_rate(phases[1].sum(axis=0)) - _rate(phases[0].sum(axis=0))]
    for _ in range(RESAMPLES):
        counts = (rng.multinomial(PARTS, np.full(PARTS, 1 / PARTS)) for _ in phases)
        stable, volatile = (
            _rate(np.tensordot(times, parts, 1))
            for times, parts in zip(counts, phases, strict=True)
        )
        values.append(volatile - stable)
    low, high = np.quantile(values[1:], (0.025, 0.975))
    grid = RATES[1]  # a rate between two of the grid may be either one
    return Measure(values[0], float(low - grid), float(high + grid), len(record))


def _rate(log: np.ndarray) -> float:
    """Return the most likely rate, given log likelihoods (betas, rates)."""
    return float(RATES[log.max(axis=0).argmax()])


@signature("exploration-with-horizon.toml")
def exploration_with_horizon(behaviour: Behaviour) -> Measure:
    """Return how much more often the less known option is chosen with a longer horizon."""
    record = behaviour.record
    missing = [name for name in ("free1.choice", "known", "horizon") if name not in record]
    if missing:
        raise CannotTellError(f"the record has no column {', '.join(missing)}")
    choice, known, horizon = (record[name] for name in ("free1.choice", "known", "horizon"))
    used = (choice >= 0) & (known[:, 0] != known[:, 1])
    less = choice == known.argmin(axis=1)
    long, short = (less[used & (horizon == one)] for one in (horizon.max(), horizon.min()))
    if horizon.max() == horizon.min() or not len(long) or not len(short):
        raise CannotTellError("there are no games of two horizons with a less known option")
    found = difference_interval(int(long.sum()), len(long), int(short.sum()), len(short))
    return Measure(*found, len(long) + len(short))


@signature("surprise-speeds-learning.toml")
def surprise_speeds_learning(behaviour: Behaviour) -> Measure:
    """Return the median learning rate after large errors minus that after middling ones."""
    number, _ = columns(behaviour, "number", "since")
    guess = behaviour.column("choice").astype(float)
    next_ = np.flatnonzero(behaviour.after[1:])  # rows that the next one follows
    error = number[next_] - guess[next_]
    known = np.isfinite(error) & np.isfinite(guess[next_ + 1]) & (error != 0)
    rows, error = next_[known], error[known]
    enough(known)
    rate = (guess[rows + 1] - guess[rows]) / error
    low, high = np.quantile(np.abs(error), (1 / 3, 2 / 3))
    size = np.abs(error)
    parts = rate[(size >= low) & (size < high)], rate[size >= high]
    enough(*[np.ones(len(part), bool) for part in parts])
    rng, drawn = np.random.default_rng(0), []
    for _ in range(RESAMPLES):
        middle, large = (np.median(part[rng.integers(0, len(part), len(part))]) for part in parts)
        drawn.append(large - middle)
    limits = np.quantile(drawn, (0.025, 0.975))
    return Measure(float(np.median(parts[1]) - np.median(parts[0])), *map(float, limits), len(rows))


@signature("one-trial-of-learning.toml")
def one_trial_of_learning(behaviour: Behaviour) -> Measure:
    """Return the accuracy in the second trial of a problem minus one half."""
    (presentation,) = columns(behaviour, "presentation")
    right = behaviour.correct[presentation == 2]
    enough(np.ones(len(right), bool))
    low, high = wilson_interval(int(right.sum()), len(right))
    return Measure(float(right.mean() - 0.5), low - 0.5, high - 0.5, len(right))


__all__ = [
    "exploration_with_horizon",
    "faster_learning_when_volatile",
    "matching_of_choices",
    "one_trial_of_learning",
    "surprise_speeds_learning",
]
