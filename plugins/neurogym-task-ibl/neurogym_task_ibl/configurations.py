"""Simpler versions of the task that are in use."""

from __future__ import annotations

from neurogym_core import TrialBuilder
from neurogym_task_ibl.ibl import IBL, SIDES


class IBLTwoChoice(IBL):
    """Choose left or right after one observation of two contrasts; both sides are equally likely.

    After Burgess, Lak, Steinmetz, et al. (2017), Cell Rep. 20:2513,
    doi:10.1016/j.celrep.2017.08.047. The laboratory that made it a standard: Abbott et al. (2017),
    Neuron 96:1213, doi:10.1016/j.neuron.2017.12.013.

    A trial is one step, whatever dt is. The subject sees the contrast of a grating on its left or
    on its right, with noise, and chooses a side: choice 0 is left, choice 1 right; there is no
    resting action. The simplest version, for bandit-like learners. The best observer, which
    compares the two sides, is correct in 54.5, 58.9, 67.5, 81.7, 96.5 and 100 % of trials at
    contrasts of 1.6, 3.2, 6.4, 12.8, 25.6 and 51.2 %.

    Deviations from the paper:

    - one step instead of quiescence, stimulus and feedback; contrasts are those of NeuroGym's
      corresponding task;
    - the noise of the look is NeuroGym's, an SD of 10 % contrast on either side.

    Args:
        sigma: noise of the look at any dt; 1 is an SD of 10 % contrast on either side.
    """

    contrasts: tuple[float, ...] = (51.2, 25.6, 12.8, 6.4, 3.2, 1.6)  # as in NeuroGym
    zero_weight: float = 0.0
    unbiased_trials: int = 0
    priors: tuple[float, ...] = (0.5,)

    evidence_periods = ("look",)

    def declare_interface(self) -> None:
        self.observe(grating=SIDES)
        self.act(choose=SIDES)

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("look", look=self.dt)  # one step, since every action is a choice
        which = trial.correct_choice
        sides = (which[:, None] == (0, 1)) * trial["contrast"][:, None] / 100
        noise = self.sigma * (self.dt / 100) ** 0.5  # one look has the same SD at any dt
        trial.show("grating", sides, during="look", noise=noise)
        trial.answer("choose", which, during="look")
        trial.record(signed_contrast=(2 * which - 1) * trial["contrast"])
        self.note_block(trial)


class IBLBlocks(IBLTwoChoice):
    """Choose left or right after one observation of two contrasts, in blocks of 200 trials.

    After the International Brain Laboratory (2021), eLife 10:e63711, doi:10.7554/eLife.63711.

    As `IBLTwoChoice`, but the left side has a probability of 0.2, 0.8 or 0.5 for 200 trials each,
    never the same twice in a row. The side of the block alone gives 80 % in biased blocks, 70 %
    overall.

    Deviations from the paper:

    - one step instead of quiescence, stimulus and feedback; contrasts and noise as in
      `IBLTwoChoice`;
    - all blocks have 200 trials, and unbiased ones occur among them, as in NeuroGym.
    """

    priors: tuple[float, ...] = (0.2, 0.8, 0.5)
    shortest_block: int = 200
    longest_block: int = 200
    trials_per_session: int | None = 1000


class IBL20(IBL):
    """Report the side of a grating in strictly alternating blocks of 90 trials.

    After the International Brain Laboratory (2021), eLife 10:e63711, doi:10.7554/eLife.63711.

    As `IBL`, but without an unbiased beginning; the probability of the left side alternates between
    0.8 and 0.2 every 90 trials. The side of the block alone gives 80 %.

    Deviations from the paper:

    - all blocks have 90 trials, and none is unbiased, as in NeuroGym's configuration of this name;
    - those of `IBL`.
    """

    unbiased_trials: int = 0
    shortest_block: int = 90
    longest_block: int = 90
