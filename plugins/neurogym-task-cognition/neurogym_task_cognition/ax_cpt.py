"""AX continuous performance task."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, Task, TrialBuilder
from neurogym_task_cognition.price import priced_answer
from neurogym_task_cognition.shares import check_shares

PAIRS = ("AX", "AY", "BX", "BY")


class AXCPT(Task):
    """Report whether a probe is an X that follows the cue A, fast.

    Servan-Schreiber, Cohen & Steingard (1996), Archives of General Psychiatry 53:1105,
    doi:10.1001/archpsyc.1996.01830120037008; two ways of control: Braver (2012), Trends in
    Cognitive Sciences 16:106, doi:10.1016/j.tics.2011.12.010.

    A cue, A or B, is followed after a delay by a probe, X or Y. An X after an A is the target
    (choice 1); all other pairs are not (choice 0). The pairs AX, AY, BX and BY occur in 70, 10, 10
    and 10 % of the trials, so that after an A an X is expected. The probe has independent noise on
    every step, the cue none.

    Time has a price: the reward of the right answer falls linearly from `correct` at the onset of
    the probe by the share `price` of it, until the end of the window. Performance is the reward
    relative to `correct`. The ideal observer knows the answer after a B, and gives it at once;
    after an A it starts from the odds of an X, sums the evidence of the probe, and answers when
    waiting no longer pays. It earns 0.935.

    Mean performance says little, since most trials are targets. Always answering "target" earns
    0.70. Ignoring the probe, an answer by the cue alone earns 0.90, as in the paper, and so does
    ignoring the cue if there is no noise; with noise the cue ignored earns 0.80. Compare the pairs:
    ignoring the probe, no AY is right, and ignoring the cue, hardly any BX is. The
    sensitivity to the context, hits in AX against false alarms in BX, shows the latter, too. With
    ``p_target=0.4`` the pairs occur in 40, 20, 20 and 20 %, another common choice: the ideal
    observer then earns 0.925, the probe ignored 0.80, and the cue ignored 0.69.

    A subject that prepares for the probe errs in AY: the ideal observer in 34 % of them, and in no
    BX. One that does not keep the cue errs in BX: the same observer without the cue in 99 % of
    them, and in 21 % of AY. Without noise, the ideal observer errs in neither. The sizes are ours,
    and not compared with people's, who err more in AY if they are young and well, and more in BX
    with schizophrenia.

    Deviations from the papers:

    - one letter that is no A, and one that is no X (there, several);
    - durations are those of a battery in public use, with a delay of 3 s; noise and price are ours;
    - pairs are drawn independently.

    Args:
        p_target: proportion of AX; the three other pairs are equally likely.
        sigma: SD of the noise of the probe, times sqrt(ms).
        price: share of the reward that is lost between the onset and the end of the window.
    """

    dt: float = 20
    p_target: float = 0.7
    sigma: float = 8.0
    price: float = 1.0

    timing = {"fixation": 500, "cue": 500, "delay": 3000, "probe": 1500}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        check_shares(self, "p_target", "price")
        self.observe(fixation=1, cue=("A", "B"), probe=("X", "Y"))
        self.act(rest=1, choose=("other", "target"))
        rest = (1 - self.p_target) / 3
        self.vary(pair=Choice(PAIRS, p=(self.p_target, rest, rest, rest)))
        self.correct_choice(_is_target)

    def new_trial(self, trial: TrialBuilder) -> None:
        before = ("fixation", "cue", "delay")
        trial.periods(*before, "probe")
        trial.show("fixation", 1, during=before)
        pair = np.searchsorted(PAIRS, trial["pair"])
        trial.show("cue", np.eye(2)[pair // 2], during="cue")
        trial.show("probe", np.eye(2)[pair % 2], during="probe", noise=self.sigma)
        right = _is_target(trial.conditions)
        priced_answer(trial, "choose", right, "probe", self.rewards["correct"], self.price)


def _is_target(conditions: Mapping[str, np.ndarray]) -> np.ndarray:
    """1 where the probe is an X after an A, 0 otherwise, (n,)."""
    return (conditions["pair"] == "AX") * 1
