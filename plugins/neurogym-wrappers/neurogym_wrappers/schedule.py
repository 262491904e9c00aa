"""Decide which conditions hold in which trials: in turn, at random, in blocks, or by how well the
subject does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neurogym_core.trials.distributions import Distribution
from neurogym_wrappers.schedule_base import ScheduleBase


class Schedule(ScheduleBase):
    """Blocks of trials with conditions of their own: in turn, at random, or by performance.

    Every block is a mapping from conditions to values or distributions, in any written form;
    `answer` stands for what is right, whatever the task calls it. What a block does not mention is
    drawn as the task draws it. The record says in `block` which block a trial was in, from 0.

    Conditions that `reset` imposes come last, and win.

    Args:
        blocks: the blocks, e.g. ``({"coherence": 51.2}, {"coherence": [0, 6.4]})``.
        order: "sequence" (in turn, over and over), "random", or "performance" (the next block once
            the mean performance of the last `window` trials is `criterion` or more, the one before
            when it is below `fallback`).
        length: trials of a block, a number or a distribution; then it ends with probability
            `chance` a trial.
        chance: see `length`; 1: at once.
        weights: how likely each block is, for a random order; (): all alike.
        again: whether a random order may draw the same block twice in a row.
        once: whether a sequence stays with its last block, instead of starting again.
        window, criterion, fallback: see `order`; the window starts anew in every block.

    Raises:
        NotSupportedError: the task (or another wrapper) decides one of the conditions itself; or
            declares no answer.
        InvalidValueError: no blocks, values that a condition cannot have, or settings of which
            nothing would follow.
        UnknownNameError: a condition that the task does not have.
    """

    blocks: tuple[Mapping[str, Any], ...] = ()
    order: str = "sequence"
    length: int | Distribution = 1
    chance: float = 1.0
    weights: tuple[float, ...] = ()
    again: bool = True
    once: bool = False
    window: int = 100
    criterion: float = 0.8
    fallback: float = 0.0

    def define(self) -> None:
        self._set_up(self.blocks)
