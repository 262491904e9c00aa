"""Statistics of signatures of changing evidence, confidence, odours, reaches and memory."""

from __future__ import annotations

import numpy as np
from neurogym_behaviour import measures
from neurogym_behaviour.behaviour import Behaviour, CannotTellError
from neurogym_behaviour.measures import Measure
from neurogym_behaviour.proportions import difference_interval

from neurogym_likeness.signatures.columns import LEAST, columns, enough
from neurogym_likeness.signatures.model import signature

WINDOW = 500.0
"""Part of the trains before the report whose clicks are weighed, ms."""
PARTS, THIRDS = 5, 3
LAGS = 4
"""Stars before the last one that have weights."""
SOON = 3
"""Trials after a change of the rotation that count as its after-effect."""
LATE = 20
"""Trials with a force field, before a catch trial counts."""


def _chose_right(behaviour: Behaviour) -> np.ndarray:
    return behaviour.column("choice") == 1


@signature("recent-clicks-count-more.toml")
def recent_clicks_count_more(behaviour: Behaviour) -> Measure:
    """Return the trend of the weights of the clicks over five parts of the last 500 ms."""
    left, right, length = columns(behaviour, "left", "right", "length")
    steps = left.shape[1]
    dt = max(round(float(length.max()) / steps), 1)
    last = np.clip(np.rint(length / dt).astype(int), 1, steps)
    window = round(WINDOW / dt)
    used = (behaviour.column("choice") >= 0) & (last >= window)
    enough(used)
    back = last[:, None] - window + np.arange(window)
    surplus = np.take_along_axis((right - left).astype(float), np.maximum(back, 0), axis=1)
    parts = np.stack([one.sum(axis=1) for one in np.array_split(surplus, PARTS, axis=1)], axis=1)
    return measures.psychophysical_kernel(parts[used], _chose_right(behaviour)[used])["trend"]


@signature("towers-flat-kernel.toml")
def towers_flat_kernel(behaviour: Behaviour) -> Measure:
    """Return the trend of the weights of the towers over the thirds of the corridor."""
    left, right = columns(behaviour, "left", "right")
    used = behaviour.column("choice") >= 0
    enough(used)
    surplus = (right - left).astype(float)[:, : left.shape[1] // THIRDS * THIRDS]
    parts = np.stack([one.sum(axis=1) for one in np.array_split(surplus, THIRDS, axis=1)], axis=1)
    return measures.psychophysical_kernel(parts[used], _chose_right(behaviour)[used])["trend"]


@signature("context-selects-evidence.toml")
def context_selects_evidence(behaviour: Behaviour) -> Measure:
    """Return the weight of the feature that counts minus that of the other one."""
    context, right, high = columns(behaviour, "context", "right", "high")
    used = behaviour.column("choice") >= 0
    enough(used)
    sides, pitches = (one.astype(float) - np.mean(one) for one in (right, high))
    located = context == "location"
    counts, other = (np.where(located, *pair) for pair in ((sides, pitches), (pitches, sides)))
    both = counts + other, counts - other  # the weight of the second one is half the difference
    scale = 2 * np.std(counts)
    found = measures.logistic_regression(
        {"sum": both[0][used] / scale, "difference": both[1][used] / scale},
        _chose_right(behaviour)[used],
    )["difference"]
    return Measure(found.value, found.low, found.high, int(used.sum()))


@signature("belief-follows-hazard.toml")
def belief_follows_hazard(behaviour: Behaviour) -> Measure:
    """Return the weight of the star before the last at low hazards minus that at high ones."""
    hazard, number, star = columns(behaviour, "hazard", "number", "star")
    rows, there = np.arange(len(number)), (behaviour.column("choice") >= 0) & (number > LAGS)
    low, high = (there & side for side in (hazard < 0.5, hazard > 0.5))
    enough(low, high)
    used, half = low | high, np.where(low, 0.5, -0.5)
    # Stars before it count, too, and agree with it at low hazards.
    lags = [star[rows, np.maximum(number.astype(int) - 1 - k, 0)][used] for k in range(LAGS + 1)]
    weighed = {f"star {k}": one for k, one in enumerate(lags)}
    weighed |= {f"change {k}": one * half[used] for k, one in enumerate(lags)}
    found = measures.logistic_regression(weighed, _chose_right(behaviour)[used])["change 1"]
    return Measure(found.value, found.low, found.high, int(used.sum()))


@signature("waiting-tells-accuracy.toml")
def waiting_tells_accuracy(behaviour: Behaviour) -> Measure:
    """Return the accuracy after long waits minus that after short ones, without a reward."""
    waited, paid = columns(behaviour, "waited", "paid")
    used = (behaviour.column("choice") >= 0) & (paid == 0)
    enough(used)
    right = behaviour.column("outcome") == "correct"
    middle = np.median(waited[used])
    long, short = used & (waited > middle), used & (waited < middle)
    enough(long, short)
    found = difference_interval(
        int(right[long].sum()), int(long.sum()), int(right[short].sum()), int(short.sum())
    )
    return Measure(*found, int(long.sum() + short.sum()))


@signature("sniffs-do-not-last-longer.toml")
def sniffs_do_not_last_longer(behaviour: Behaviour) -> Measure:
    """Return the mean time of reports about the hardest mixtures minus that about the easiest."""
    (share,) = columns(behaviour, "share")
    times, used = behaviour.column("reaction_time"), behaviour.column("choice") >= 0
    ease = np.abs(share.astype(float) - 50)
    hard, easy = used & (ease == ease.min()), used & (ease == ease.max())
    enough(hard, easy)
    return measures.mean_difference(times[hard], times[easy], "ms")


@signature("rotation-after-effect.toml")
def rotation_after_effect(behaviour: Behaviour) -> Measure:
    """Return the mean angle of the cursor in the first trials after a rotation, against it."""
    turn, angle = columns(behaviour, "turn", "end_angle")
    after, sign = np.zeros(len(turn), bool), np.zeros(len(turn))
    for k in range(1, SOON + 1):
        held = behaviour.after.copy()
        for back in range(1, k):
            held[back:] &= behaviour.after[:-back]
        past = np.concatenate([np.zeros(k), turn[:-k]])
        here = held & (turn == 0) & (past != 0) & ~after
        after, sign = after | here, np.where(here, np.sign(past), sign)
    if after.sum() < 8:
        raise CannotTellError("fewer than 8 trials after a rotation")
    return _mean(-(sign * angle)[after], "degrees")


@signature("force-after-effect.toml")
def force_after_effect(behaviour: Behaviour) -> Measure:
    """Return the mean deviation in catch trials, to the side that the field does not push to."""
    field, catch, off = columns(behaviour, "field", "catch", "deviation")
    session = np.cumsum(~behaviour.after)
    found = []
    for one in np.unique(session):
        rows = np.flatnonzero(session == one)
        there = np.cumsum(field[rows] != 0)
        sign = np.sign(field[rows].sum())
        late = rows[(there > LATE) & catch[rows].astype(bool)]
        found.extend((sign * off[late]).tolist())
    if len(found) < 8:
        raise CannotTellError("fewer than 8 catch trials")
    return _mean(np.array(found), "dm")


def _mean(values: np.ndarray, unit: str) -> Measure:
    mean, half = values.mean(), 2.36 * values.std(ddof=1) / np.sqrt(len(values))  # t, 7 df
    return Measure(float(mean), float(mean - half), float(mean + half), len(values), unit)


@signature("slow-pursuit-at-low-contrast.toml")
def slow_pursuit_at_low_contrast(behaviour: Behaviour) -> Measure:
    """Return the early gain of the pursuit at the highest contrast minus that at the lowest."""
    contrast, speed, early = columns(behaviour, "contrast", "speed", "early")
    gain = early / speed
    low, high = contrast == contrast.min(), contrast == contrast.max()
    enough(low, high)
    if contrast.min() == contrast.max():
        raise CannotTellError("the contrast does not vary")
    return measures.mean_difference(gain[high], gain[low])


@signature("neighbours-are-confused.toml")
def neighbours_are_confused(behaviour: Behaviour) -> Measure:
    """Return the share of misplaced items that are one place off, minus that by chance."""
    kind, answer = ("letters", "report") if "letters" in behaviour.record else ("blocks", "tap")
    size, blocks = columns(behaviour, "size", kind)
    near, chance = [], []
    for row, n in enumerate(size.astype(int)):
        if n < 4:
            continue
        taps = [behaviour.record.codes(f"{answer}_{k + 1}.choice")[row] for k in range(n)]
        places = {int(block): place for place, block in enumerate(blocks[row, :n])}
        for place, tap in enumerate(taps):
            shown = places.get(int(tap), place)
            if shown != place:
                near.append(abs(shown - place) == 1)
                chance.append((1 + (0 < place < n - 1)) / (n - 1))
    if len(near) < LEAST:
        raise CannotTellError(f"fewer than {LEAST} {kind} were put at a wrong place")
    return _mean(np.array(near) - np.array(chance), "")


@signature("rotation-takes-time.toml")
def rotation_takes_time(behaviour: Behaviour) -> Measure:
    """Return the slope of reaction times on angles, right answers to figures that are the same."""
    angle, mirror = columns(behaviour, "angle", "mirror")
    right = (behaviour.column("outcome") == "correct") & (mirror == 0)
    enough(right)
    if np.ptp(angle[right]) == 0:
        raise CannotTellError("the angle does not vary")
    times, n = behaviour.column("reaction_time")[right], int(right.sum())
    if np.ptp(times) == 0:
        return Measure(0.0, 0.0, 0.0, n, "ms/degree")
    return measures.fitted_line(angle[right], times)


__all__ = [
    "belief_follows_hazard",
    "context_selects_evidence",
    "force_after_effect",
    "neighbours_are_confused",
    "recent_clicks_count_more",
    "rotation_after_effect",
    "rotation_takes_time",
    "slow_pursuit_at_low_contrast",
    "sniffs_do_not_last_longer",
    "towers_flat_kernel",
    "waiting_tells_accuracy",
]
