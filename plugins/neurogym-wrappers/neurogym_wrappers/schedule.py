"""Set conditions block by block: in sequence, at random, or by performance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neurogym_core import Distribution
from neurogym_wrappers.schedule_base import ScheduleBase


class Schedule(ScheduleBase):
    """Set conditions in blocks of trials: in sequence, at random, or by performance.

    A block is a mapping from conditions to values or distributions, in any written form. The key
    `answer` stands for the correct answer in every task. The task draws the conditions that a block
    does not name. The column `block` of the record has the block of every trial, from 0.

    Blocks and the window of `order="performance"` continue over the subject's sessions, because a
    training schedule and its criterion can need more trials than one session has: at the defaults,
    the window alone fills with the last trial of a session of 100. Each env, and each row of a
    dataset, is one subject with its own schedule. Conditions that `reset` imposes override
    those of a block.

    Args:
        blocks: the blocks, e.g. ``({"coherence": 51.2}, {"coherence": [0, 6.4]})``.
        order: "sequence" (block after block, then again from the first), "random", or "performance"
            (the next block begins when the mean performance over the last `window` trials is at
            least `advance_at`, and the previous block returns when it is below `retreat_below`).
        block_length: minimum number of trials in a block, a number or a distribution.
        hazard_rate: probability per trial that a block ends once it has `block_length` trials; 1:
            it ends there.
        weights: relative frequency of each block in a random order; (): equal frequencies.
        allow_repeats: whether a random order may draw the same block twice in a row.
        stop_at_last: whether a sequence stays at its last block instead of starting again.
        window, advance_at, retreat_below: see `order`; the window is empty again in every block.

    Raises:
        NotSupportedError: the task or another wrapper sets one of the conditions, or the task
            declares no correct choice.
        InvalidValueError: no blocks, values that a condition cannot have, or a setting out of its
            range.
        UnknownNameError: a condition that the task does not have.
    """

    blocks: tuple[Mapping[str, Any], ...] = ()
    order: str = "sequence"
    block_length: int | Distribution = 1
    hazard_rate: float = 1.0
    weights: tuple[float, ...] = ()
    allow_repeats: bool = True
    stop_at_last: bool = False
    window: int = 100
    advance_at: float = 0.8
    retreat_below: float = 0.0

    def define(self) -> None:
        self._set_up(self.blocks)
