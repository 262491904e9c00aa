"""Statistics of signatures of tasks on which networks are trained: contexts, strengths, delays."""

from __future__ import annotations

import numpy as np
from neurogym_behaviour.behaviour import Behaviour
from neurogym_behaviour.measures import Measure
from neurogym_behaviour.proportions import wilson_interval

from neurogym_likeness.signatures.columns import columns, enough
from neurogym_likeness.signatures.model import signature

UNITS, STEP = 16, 100.0
"""Units of a ring, and the delay that turns the answer by one of them, ms."""


@signature("context-selects-inputs.toml")
def context_selects_inputs(behaviour: Behaviour) -> Measure:
    """Return how much more often the sign of the answer is that of the input that counts."""
    context, colour, motion = columns(behaviour, "context", "colour", "motion")
    choice = behaviour.column("choice").astype(float)
    counts = np.where(context == "colour", colour, motion)
    apart = (colour * motion < 0) & (choice != 0) & ~np.isnan(choice)
    enough(apart)
    follows = np.sign(choice) == np.sign(counts)
    return _balance(apart & follows, apart & ~follows)


@signature("context-selects-modality.toml")
def context_selects_modality(behaviour: Behaviour) -> Measure:
    """Return the share of right minus wrong answers, where the other modality says otherwise."""
    coherence, distracting = columns(behaviour, "coherence", "distracting_coherence")
    apart = coherence * distracting < 0
    enough(apart)
    right = behaviour.column("outcome") == "correct"
    return _balance(apart & right, apart & ~right)


@signature("both-stimuli-are-compared.toml")
def both_stimuli_are_compared(behaviour: Behaviour) -> Measure:
    """Return the share of right answers minus wrong ones, where the first stimulus misleads."""
    favours, coherence, mean = columns(behaviour, "favours", "coherence", "mean")
    first = mean + favours * coherence
    misleads = np.sign(first - np.median(mean)) != np.sign(favours)
    enough(misleads)
    right = behaviour.column("outcome") == "correct"
    return _balance(misleads & right, misleads & ~right)


@signature("answers-turn-with-the-delay.toml")
def answers_turn_with_the_delay(behaviour: Behaviour) -> Measure:
    """Return the share of answers turned by the delay minus that of answers not turned."""
    unit, delay = columns(behaviour, "unit", "delay")
    choice, turn = behaviour.column("choice"), np.rint(delay / STEP).astype(int)
    used = (unit >= 0) & (turn > 0) & (choice >= 0)
    # The record does not say to which side answers turn.
    back = [used & (choice == (unit + side * turn) % UNITS) for side in (-1, 1)]
    turned, not_turned = used & (choice == unit), max(back, key=np.sum)
    enough(turned | not_turned)
    return _balance(turned, not_turned)


def _balance(one: np.ndarray, other: np.ndarray) -> Measure:
    """Return the share of one kind of answers minus that of another, (n,) bool, of both."""
    first, n = int(one.sum()), int((one | other).sum())
    low, high = wilson_interval(first, n)
    return Measure(2 * first / n - 1, 2 * low - 1, 2 * high - 1, n)
