"""Corsi's task: sequences of blocks, tapped in their order."""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, InvalidValueError, Task, TrialBuilder

BLOCKS = 9


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

    def define(self) -> None:
        if not self.sizes or not all(1 <= size <= BLOCKS for size in self.sizes):
            raise InvalidValueError(
                f"SequenceRecall was given sizes={self.sizes!r}; give 1 to {BLOCKS} blocks."
            )
        names = tuple(f"block {k + 1}" for k in range(BLOCKS))
        self.observe(fixation=1, block=names)
        self.act(rest=1, tap=names)
        self.vary(
            size=Choice(self.sizes),
            blocks=lambda rng, prior: rng.permuted(
                np.tile(np.arange(BLOCKS), (prior.n, 1)), axis=1
            ),
        )

    def new_trial(self, trial: TrialBuilder) -> None:
        size, rows, most = trial["size"], np.arange(trial.n), max(self.sizes)
        taps = [f"tap{k + 1}" for k in range(most)]
        lasts = {tap: self.tap_ms * (k < size) for k, tap in enumerate(taps)}
        trial.periods("fixation", "sequence", "delay", *taps, sequence=self.soa * size, **lasts)
        trial.show("fixation", 1, during=("fixation", "sequence", "delay"))
        for k, tap in enumerate(taps):
            shown = k < size
            at = np.where(shown, k, 0) * self.soa
            lit = np.eye(BLOCKS)[trial["blocks"][:, k]]
            trial.show("block", lit, "sequence", start=at, stop=at + self.soa / 2, where=shown)
            place = np.where(shown, size - 1 - k, 0) if self.backward else k
            wanted = trial["blocks"][rows, place]
            after = np.where(k + 1 < size, taps[min(k + 1, most - 1)], "end")
            trial.answer(
                "tap", wanted, tap, slot=f"tap_{k + 1}", where=shown,
                then=np.repeat(after[:, None], BLOCKS, axis=1),
            )  # fmt: skip
