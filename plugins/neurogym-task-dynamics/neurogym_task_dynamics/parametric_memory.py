"""Comparison of two frequencies, in the form of low-rank networks."""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, TrialBuilder, Uniform
from neurogym_task_dynamics.low_rank import PER_STEP, LowRank

PAIRS = tuple(
    (first, second)
    for first in range(10, 35)
    for second in range(10, 35)
    if abs(first - second) in (8, 16, 24)
)
"""The 54 pairs of frequencies, Hz."""


class ParametricMemory(LowRank):
    """Report the difference of two frequencies, the first of which has to be remembered.

    Romo, Brody, Hernandez & Lemus (1999), Nature 399:470, doi:10.1038/20939, in the form of
    Dubreuil et al. (2022), Nat. Neurosci. 25:783, doi:10.1038/s41593-022-01088-4. Numbers are those
    of the code of Valente, Pillow & Ostojic (2022), arXiv:2206.12014
    (adrian-valente/lowrank_inference).

    Two frequencies from 10 to 34 Hz are shown one after the other, as (f - 22) / 24, with a delay
    of 0.5 to 2 s between them. They differ by 8, 16 or 24 Hz; all 54 pairs are equally likely. When
    the fixation cue turns off, the output has to have the sign of the first minus the second. The
    target of networks is (f1 - f2) / 24, in the decision alone.

    The ideal observer is correct in all trials. One frequency alone, the first or the second, earns
    0.83, because low frequencies are mostly the lower ones of their pair; the paper's task has this
    shortcut, too. The output is judged in the decision alone, and may be given from the first step
    on.

    Deviations from the paper of 2022: a fixation cue marks beginning and end of a trial (there,
    networks begin every trial in the same state); the sign is judged, 0.01 from zero at least.

    Args:
        sigma: SD of the noise of the input, times sqrt(ms); 0.01 per step by default.
    """

    sigma: float = 0.01 * PER_STEP

    timing = {
        "fixation": 100,
        "first": 100,
        "delay": Uniform(500, 2000),
        "second": 100,
        "decision": 100,
    }  # ms
    evidence_periods = ("first", "second")
    noisy = ("frequency",)

    def inputs(self) -> dict:
        return {"frequency": 1}

    def declare(self) -> None:
        self.vary(pair=Choice(len(PAIRS)))

    def new_trial(self, trial: TrialBuilder) -> None:
        self.lay_out(trial, "fixation", "first", "delay", "second")
        pair = np.array(PAIRS)[trial["pair"]]
        for k, period in enumerate(("first", "second")):
            trial.show("frequency", (pair[:, k] - 22) / 24, during=period)
        self.ask_sign(trial, (pair[:, 0] - pair[:, 1]) / 24)
        trial.record(f1=pair[:, 0], f2=pair[:, 1])
