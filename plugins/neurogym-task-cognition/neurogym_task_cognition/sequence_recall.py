"""Corsi's task: sequences of blocks, tapped in their order."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core import Choice, InvalidValueError, Task, TrialBuilder


class SequenceRecall(Task):
    """Tap the blocks that lit up, in the same order, or from the last one to the first.

    Corsi's block-tapping task: Kessels et al. (2000), Applied Neuropsychology 7:252,
    doi:10.1207/S15324826AN0704_8.

    Two to nine of nine blocks light up one after the other, each for 500 ms, with 500 ms between
    them; no block lights up twice. After a delay the subject taps them, one answer for each,
    `tap_1` to `tap_9`. Numbers of blocks are equally likely. Performance is the fraction of blocks
    tapped in their place; with all of them in place, a trial counts for the span.

    A perfect memory earns 1: no stimulus has noise. Tapping at random earns 1/9, and tapping the
    right blocks in a random order 0.23. People confuse neighbours in the sequence, and are better
    at its first and last blocks. The observer `neurogym_task_cognition.observers:BlurredOrder`,
    whose memory of the places in the sequence is blurred, shows both; a perfect one shows neither.

    Deviations from the paper:

    - trials of all numbers are mixed (there, sequences become longer until the subject fails), and
      all sequences are equally likely (there, they are fixed);
    - each tap has 2 s at most, and the time of a block is not compared with the paper; the blocks
      have no positions in the plane.

    Args:
        sizes: numbers of blocks, of 1 to 9.
        backward: whether the last block is tapped first.
        soa: ms from one block to the next one; a block is lit for half of it.
        tap_ms: longest time of a tap, ms.
    """

    sizes: tuple[int, ...] = (2, 3, 4, 5, 6, 7, 8, 9)
    backward: bool = False
    soa: float = 1000
    tap_ms: float = 2000

    timing = {"fixation": 500, "delay": 500}  # ms; the others depend on the number of blocks
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}
    evidence_periods = ("sequence",)

    items = tuple(f"block {k + 1}" for k in range(9))
    item, order, recall = "block", "blocks", "tap"
    """Names of the channel, of the condition with the order, and of the answers."""

    def define(self) -> None:
        known = len(self.items)
        if any(size != int(size) for size in self.sizes):
            raise InvalidValueError(
                f"{self.name} was given sizes={self.sizes!r}; give whole numbers."
            )
        if not self.sizes or not all(1 <= size <= known for size in self.sizes):
            raise InvalidValueError(
                f"{self.name} was given sizes={self.sizes!r}; give 1 to {known} {self.order}."
            )
        if not self.soa >= 2 * self.dt:
            raise InvalidValueError(
                f"{self.name} was given soa={self.soa!r}; give at least two steps, {2 * self.dt:g}"
                f" ms, since a {self.item} is shown for half of it."
            )
        self.observe(**{"fixation": 1, self.item: self.items})
        self.act(**{"rest": 1, self.recall: self.items})
        self.vary(size=Choice(self.sizes), **{self.order: self._draw_order})

    def _draw_order(self, rng: np.random.Generator, prior: Any) -> np.ndarray:
        """Draw the items of trials in their order, (n, items); the first `size` are shown."""
        return rng.permuted(np.tile(np.arange(len(self.items)), (prior.n, 1)), axis=1)

    def new_trial(self, trial: TrialBuilder) -> None:
        size, rows, most = trial["size"], np.arange(trial.n), max(self.sizes)
        taps, order = [f"{self.recall}{k + 1}" for k in range(most)], trial[self.order]
        lasts = {tap: self.tap_ms * (k < size) for k, tap in enumerate(taps)}
        trial.periods("fixation", "sequence", "delay", *taps, sequence=self.soa * size, **lasts)
        trial.show("fixation", 1, during=("fixation", "sequence", "delay"))
        for k, tap in enumerate(taps):
            shown = k < size
            at = np.where(shown, k, 0) * self.soa
            lit = np.eye(len(self.items))[order[:, k]]
            trial.show(self.item, lit, "sequence", start=at, stop=at + self.soa / 2, where=shown)
            place = np.where(shown, size - 1 - k, 0) if self.backward else k
            wanted = order[rows, place]
            after = np.where(k + 1 < size, taps[min(k + 1, most - 1)], "end")
            trial.answer(
                self.recall, wanted, tap, slot=f"{self.recall}_{k + 1}", where=shown,
                then=np.repeat(after[:, None], len(self.items), axis=1),
            )  # fmt: skip
