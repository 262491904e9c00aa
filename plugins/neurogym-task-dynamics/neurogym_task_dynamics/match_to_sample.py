"""Delayed match to sample, in the form of low-rank networks."""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, OneHot, TrialBuilder, Uniform
from neurogym_task_dynamics.low_rank import PER_STEP, LowRank

STIMULI = ("A", "B")


class MatchToSample(LowRank):
    """Report whether two stimuli are the same, across a delay.

    After Miyashita & Chang (1988), Nature 331:68, doi:10.1038/331068a0, in the form of Dubreuil et
    al. (2022), Nat. Neurosci. 25:783, doi:10.1038/s41593-022-01088-4. Numbers are those of the code
    of Valente, Pillow & Ostojic (2022), arXiv:2206.12014 (adrian-valente/lowrank_inference).

    Two stimuli, A or B, are shown one after the other with a delay of 0.5 to 3 s between them. When
    the fixation cue turns off, the output has to be positive if they are the same and negative if
    they differ. The target of networks is +1 or -1, in the decision alone.

    The ideal observer is correct in all trials. One of the stimuli alone says nothing: 0.5. The
    output is judged in the decision alone, and may be given from the first step on.

    Deviations from the paper: a fixation cue marks beginning and end of a trial (there, networks
    begin every trial in the same state); the sign is judged, 0.01 from zero at least.

    Args:
        sigma: SD of the noise of both inputs, times sqrt(ms); 0.03 per step by default.
    """

    sigma: float = 0.03 * PER_STEP

    timing = {
        "fixation": 100,
        "sample": 500,
        "delay": Uniform(500, 3000),
        "test": 500,
        "decision": 1000,
    }  # ms
    evidence_periods = ("sample", "test")

    def inputs(self) -> dict:
        return {"stimulus": OneHot(STIMULI)}

    def declare(self) -> None:
        self.vary(sample=Choice(STIMULI), test=Choice(STIMULI))

    def new_trial(self, trial: TrialBuilder) -> None:
        self.lay_out(trial, "fixation", "sample", "delay", "test")
        for period in ("sample", "test"):
            which = (trial[period] == "B").astype(int)
            shown = self.channels.encoder("stimulus").encode(which)
            trial.show("stimulus", shown, during=period)
        self.ask_sign(trial, np.where(trial["sample"] == trial["test"], 1, -1))
