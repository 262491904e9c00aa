"""Context-dependent integration, in the form of low-rank networks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, OneHot, TrialBuilder
from neurogym_task_dynamics.low_rank import PER_STEP, LowRank

CONTEXTS = ("colour", "motion")


class ContextIntegration(LowRank):
    """Report the sign of one of two noisy inputs, as the context says.

    Dubreuil, Valente, Beiran, Mastrogiuseppe & Ostojic (2022), Nat. Neurosci. 25:783,
    doi:10.1038/s41593-022-01088-4; after the task of Mante, Sussillo, Shenoy & Newsome (2013),
    Nature 503:78, doi:10.1038/nature12742. Numbers are those of the code of Valente, Pillow &
    Ostojic (2022), arXiv:2206.12014 (adrian-valente/lowrank_inference).

    A cue of height 0.1 says which of colour and motion counts; both inputs are noisy all the time,
    and during the stimulus their means are +-0.1, +-0.2 or +-0.4, drawn independently. After a
    delay the fixation cue turns off, and the output has to have the sign of the input that counts.
    The target of networks is +1 or -1, in the decision alone.

    The ideal observer, which sums the input that counts, is correct in all trials. A look of 100 ms
    is enough, 1.00, and one step earns 0.93, so that nothing has to be integrated: with ``sigma=4``
    the ideal is 0.90, and a look of 100 ms earns 0.72. Ignoring the context earns 0.75, since half
    of the trials are congruent; one of the inputs alone as much. The output is judged in the
    decision alone, and may be given from the first step on.

    Deviations from the paper: a fixation cue marks beginning and end of a trial (there, networks
    begin every trial in the same state); the sign is judged, 0.01 from zero at least.

    Args:
        sigma: SD of the noise of both inputs, times sqrt(ms); 0.1 per step by default.
    """

    sigma: float = 0.1 * PER_STEP

    timing = {"fixation": 100, "context": 350, "stimulus": 800, "delay": 100, "decision": 20}  # ms
    evidence_periods = ("stimulus",)
    noisy = CONTEXTS

    def inputs(self) -> dict:
        return {"colour": 1, "motion": 1, "context": OneHot(CONTEXTS)}

    def declare(self) -> None:
        levels = tuple(sign * level / 10 for level in (1, 2, 4) for sign in (-1, 1))
        self.vary(context=Choice(CONTEXTS), colour=Choice(levels), motion=Choice(levels))
        self.evidence(_relevant)

    def new_trial(self, trial: TrialBuilder) -> None:
        before = ("fixation", "context", "stimulus", "delay")
        self.lay_out(trial, *before)
        cue = self.channels.encoder("context").encode((trial["context"] == "motion").astype(int))
        trial.show("context", 0.1 * cue, during=before[1:])
        for name in CONTEXTS:
            trial.show(name, trial[name], during="stimulus")
        self.ask_sign(trial, np.sign(_relevant(trial)))


def _relevant(conditions: Mapping | TrialBuilder) -> np.ndarray:
    """Mean of the input that counts, (n,)."""
    return np.where(conditions["context"] == "colour", conditions["colour"], conditions["motion"])
