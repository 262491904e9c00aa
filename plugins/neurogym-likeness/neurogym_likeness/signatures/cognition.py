"""Statistics of published signatures of attention, control and memory in people."""

from __future__ import annotations

import numpy as np
from neurogym_behaviour import measures
from neurogym_behaviour.behaviour import Behaviour, CannotTellError
from neurogym_behaviour.measures import Measure
from neurogym_behaviour.proportions import difference_interval

from neurogym_likeness.signatures.columns import LEAST, columns, enough
from neurogym_likeness.signatures.model import signature

BEFORE = 4
"""Presses before a digit that asks for rest."""
BLINK, LATE = (2, 4), 6
"""Lags of the blink, and the first lag after it."""


def _slower(behaviour: Behaviour, one: np.ndarray, other: np.ndarray) -> Measure:
    """Return the mean time of right answers in some trials minus that in others, ms."""
    times, right = behaviour.column("reaction_time"), behaviour.correct
    one, other = one & right, other & right
    enough(one, other)
    return measures.mean_difference(times[one], times[other], "ms")


def _incongruent(behaviour: Behaviour, among: np.ndarray | None = None) -> Measure:
    (kind,) = columns(behaviour, "congruency")
    used = np.ones(len(kind), bool) if among is None else among
    return _slower(behaviour, used & (kind == "incongruent"), used & (kind == "congruent"))


def _line(x: np.ndarray, times: np.ndarray, unit: str) -> Measure:
    if np.ptp(x) == 0:
        raise CannotTellError("the condition does not vary")
    if np.ptp(times) == 0:
        return Measure(0.0, 0.0, 0.0, len(x), unit)
    found = measures.fitted_line(x, times)
    return Measure(found.value, found.low, found.high, found.n, unit)


def _difference(one: np.ndarray, other: np.ndarray) -> Measure:
    """Return the difference of two shares, of bools (n,) each."""
    found = difference_interval(int(one.sum()), len(one), int(other.sum()), len(other))
    return Measure(*found, len(one) + len(other))


@signature("incongruent-flankers-are-slow.toml")
def incongruent_flankers_are_slow(behaviour: Behaviour) -> Measure:
    """Return the time of right answers between incongruent minus congruent flankers."""
    return _incongruent(behaviour)


@signature("incongruent-places-are-slow.toml")
def incongruent_places_are_slow(behaviour: Behaviour) -> Measure:
    """Return the time of right answers to lights at the other side minus the key's own."""
    return _incongruent(behaviour)


@signature("incongruent-words-are-slow.toml")
def incongruent_words_are_slow(behaviour: Behaviour) -> Measure:
    """Return the time of naming inks of incongruent minus congruent words."""
    (rule,) = columns(behaviour, "rule")
    return _incongruent(behaviour, rule == "name")


@signature("switches-are-slow.toml")
def switches_are_slow(behaviour: Behaviour) -> Measure:
    """Return the time after a switch minus that without one, soonest after the cue."""
    transition, interval = columns(behaviour, "transition", "duration.cue")
    soon = interval == interval.min()
    stays = np.isin(transition, ("repeat", "same cue"))
    return _slower(behaviour, soon & (transition == "switch"), soon & stays)


@signature("memory-search-takes-time.toml")
def memory_search_takes_time(behaviour: Behaviour) -> Measure:
    """Return the slope of the time of right answers on the number of digits of the set."""
    size, _ = columns(behaviour, "size", "digits")
    right = behaviour.correct
    enough(right)
    return _line(size[right], behaviour.column("reaction_time")[right], "ms/digit")


@signature("conjunctions-are-searched.toml")
def conjunctions_are_searched(behaviour: Behaviour) -> Measure:
    """Return the slope of the time on the number of letters, conjunctions minus features."""
    search, size = columns(behaviour, "search", "size")
    times, parts = behaviour.column("reaction_time"), []
    for kind in ("conjunction", "feature"):
        here = behaviour.correct & (search == kind)
        enough(here)
        parts.append(_line(size[here], times[here], "ms/letter"))
    value = parts[0].value - parts[1].value
    half = np.hypot(*[(one.high - one.low) / 2 for one in parts])
    n = sum(one.n for one in parts)
    return Measure(value, float(value - half), float(value + half), n, "ms/letter")


@signature("changes-among-many-are-missed.toml")
def changes_among_many_are_missed(behaviour: Behaviour) -> Measure:
    """Return the accuracy with the most squares minus that with the fewest."""
    size, _ = columns(behaviour, "size", "change")
    many, few = (behaviour.correct[size == one] for one in (size.max(), size.min()))
    if size.max() == size.min() or min(len(many), len(few)) < LEAST:
        raise CannotTellError(f"there are no {LEAST} trials of two numbers of squares")
    return _difference(many, few)


@signature("preparation-costs-errors.toml")
def preparation_costs_errors(behaviour: Behaviour) -> Measure:
    """Return the share of errors in AY minus that in BX."""
    (pair,) = columns(behaviour, "pair")
    kinds = [pair == kind for kind in ("AY", "BX")]
    enough(*kinds)
    return _difference(*[~behaviour.correct[kind] for kind in kinds])


@signature("digits-are-forgotten.toml")
def digits_are_forgotten(behaviour: Behaviour) -> Measure:
    """Return the accuracy in the last pairs minus that in the first one, of AX and BY."""
    pairs, pair = columns(behaviour, "pairs", "pair")
    longest = pair.shape[1]
    outcomes = columns(behaviour, *[f"pair {k + 1}.outcome" for k in range(longest)])
    right = np.stack([one == "correct" for one in outcomes], axis=1)
    asks = np.isin(pair, (0, 4)) & (np.arange(longest) < pairs[:, None])  # AX and BY
    late, first = (right[:, part][asks[:, part]] for part in (slice(2, None), slice(0, 1)))
    if min(len(late), len(first)) < LEAST:
        raise CannotTellError(f"fewer than {LEAST} first, or third and later, pairs")
    return _difference(late, first)


@signature("valid-cues-are-fast.toml")
def valid_cues_are_fast(behaviour: Behaviour) -> Measure:
    """Return the time of right answers in invalid minus that in valid trials."""
    (kind,) = columns(behaviour, "validity")
    return _slower(behaviour, kind == "invalid", kind == "valid")


@signature("sequences-are-anticipated.toml")
def sequences_are_anticipated(behaviour: Behaviour) -> Measure:
    """Return the time of right presses in random blocks minus that in the sequence."""
    block, _ = columns(behaviour, "block", "light")
    return _slower(behaviour, block == "random", block == "sequence")


@signature("presses-speed-up-before-errors.toml")
def presses_speed_up_before_errors(behaviour: Behaviour) -> Measure:
    """Return the time of the presses before rests at the 3 minus before presses at it."""
    (digit,) = columns(behaviour, "digit")
    pressed, times = behaviour.column("choice") >= 0, behaviour.column("reaction_time")
    found: dict[bool, list[float]] = {True: [], False: []}
    session, stop = np.cumsum(~behaviour.after), digit == 3
    for one in np.unique(session):
        rows = np.flatnonzero(session == one)
        go = rows[~stop[rows] & pressed[rows]]
        for row in rows[stop[rows]]:
            last = go[go < row][-BEFORE:]
            if len(last) == BEFORE:
                found[bool(pressed[row])].append(float(times[last].mean()))
    if min(map(len, found.values())) < LEAST:
        raise CannotTellError(f"fewer than {LEAST} rests, or presses, at the 3")
    return measures.mean_difference(np.array(found[False]), np.array(found[True]), "ms")


@signature("second-targets-are-missed.toml")
def second_targets_are_missed(behaviour: Behaviour) -> Measure:
    """Return the share of Xs that are seen at late lags minus that at lags 2 to 4."""
    lag, target, probe, _ = columns(behaviour, "lag", "target.outcome", "probe.outcome", "present")
    there = (target == "correct") & (behaviour.record.codes("present") == 1)
    seen = probe == "correct"
    late, soon = there & (lag >= LATE), there & (lag >= BLINK[0]) & (lag <= BLINK[1])
    enough(late, soon)
    return _difference(seen[late], seen[soon])


@signature("long-waits-speed-presses.toml")
def long_waits_speed_presses(behaviour: Behaviour) -> Measure:
    """Return the slope of the time of right presses on the wait before the light."""
    wait, _ = columns(behaviour, "duration.wait", "duration.light")
    right = behaviour.correct
    enough(right)
    return _line(wait[right] / 1000, behaviour.column("reaction_time")[right], "ms/s")


__all__ = [
    "changes_among_many_are_missed",
    "conjunctions_are_searched",
    "digits_are_forgotten",
    "incongruent_flankers_are_slow",
    "incongruent_places_are_slow",
    "incongruent_words_are_slow",
    "long_waits_speed_presses",
    "memory_search_takes_time",
    "preparation_costs_errors",
    "presses_speed_up_before_errors",
    "second_targets_are_missed",
    "sequences_are_anticipated",
    "switches_are_slow",
    "valid_cues_are_fast",
]
