"""Integration of one noisy input, in the form of low-rank networks."""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, TrialBuilder
from neurogym_task_dynamics.low_rank import PER_STEP, LowRank


class PerceptualDecision(LowRank):
    """Report the sign of a noisy input.

    After Gold & Shadlen (2007), Annu. Rev. Neurosci. 30:535,
    doi:10.1146/annurev.neuro.29.051605.113038, in the form of Dubreuil et al. (2022), Nat.
    Neurosci. 25:783, doi:10.1038/s41593-022-01088-4. Numbers are those of the code of Valente,
    Pillow & Ostojic (2022), arXiv:2206.12014 (adrian-valente/lowrank_inference).

    The mean of the input during the stimulus is 1, 2, 4, 8 or 16 times 0.032, of either sign; it is
    noisy all the time. After a delay the fixation cue turns off, and the output has to have the
    sign of the mean. The target of networks is +1 or -1, in the decision alone.

    The ideal observer is correct in all trials. With the noise of the code a look of 100 ms is
    enough, 1.00, and one step earns 0.95, so that nothing has to be integrated: with ``sigma=1.5``
    the ideal is 0.92, and a look of 100 ms earns 0.79. The output is judged in the decision alone,
    and may be given from the first step on.

    Deviations from the paper: a fixation cue marks beginning and end of a trial (there, networks
    begin every trial in the same state); the sign is judged, 0.01 from zero at least.

    Args:
        sigma: SD of the noise of the input, times sqrt(ms); 0.03 per step by default.
    """

    sigma: float = 0.03 * PER_STEP

    timing = {"fixation": 100, "stimulus": 800, "delay": 300, "decision": 300}  # ms
    evidence_periods = ("stimulus",)

    def inputs(self) -> dict:
        return {"stimulus": 1}

    def declare(self) -> None:
        levels = tuple(sign * 0.032 * level for level in (1, 2, 4, 8, 16) for sign in (-1, 1))
        self.vary(strength=Choice(levels))
        self.evidence("strength")

    def new_trial(self, trial: TrialBuilder) -> None:
        self.lay_out(trial, "fixation", "stimulus", "delay")
        trial.show("stimulus", trial["strength"], during="stimulus")
        self.ask_sign(trial, np.sign(trial["strength"]))
