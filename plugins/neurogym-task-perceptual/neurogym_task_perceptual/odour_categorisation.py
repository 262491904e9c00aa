"""Mixtures of two odours, sampled as long as the subject wants."""

from __future__ import annotations

import numpy as np

from neurogym_core import InvalidValueError, Task, TrialBuilder
from neurogym_task_perceptual.odours import ODOURS, larger_part, mixtures, show_mixture

EARLIEST = 100.0  # ms from the onset of the odour, before which no report counts


class OdourCategorisation(Task):
    """Report which of two odours is the larger part of a mixture, as soon as possible.

    Uchida & Mainen (2003), Nat. Neurosci. 6:1224, doi:10.1038/nn1142.

    The subject pokes into a port, an odour comes, and the subject samples it as long as it wants,
    but for 100 ms at least. Its report ends the trial: left if odour A is the larger part of the
    mixture, right if B is. The units of `odour` show the parts of A and B, each with noise that is
    drawn once for the trial, so that more time brings no more evidence: one sniff suffices, as it
    does for the paper's rats. (In RoitmanShadlen the noise is new on every step, and time helps.)

    Time has a price: the reward of the right report falls by the share `price` of it from the first
    to the last moment at which it counts, in steps of 100 ms. Performance is the reward relative to
    that of the first moment. The ideal observer reports at once, and earns 0.863: 0.64, 0.86, 0.96
    and 1.00 from the hardest mixture to the pure odours. Always the same report earns 0.5, and a
    subject that smells one of the two odours alone 0.81: the share of one shows that of the other.
    As the paper has it, the first sniff shows all that there is.

    Deviations from the paper:

    - two units stand for the response of the nose; the mixtures are not compared with the paper,
      and the noise is ours;
    - one right report for each mixture, of which none is 50 % A (so that no reward is by chance);
    - the price of time, and the durations, are ours.

    Args:
        shares: parts of B in the mixtures, %.
        sigma: SD of the noise of each unit in a trial, where a pure odour shows 1.
        price: share of the reward that is lost between the first and the last moment.
    """

    dt: float = 20
    shares: tuple[float, ...] = (0, 20, 32, 44, 56, 68, 80, 100)
    sigma: float = 0.24
    price: float = 0.5

    timing = {"poke": 300, "odour": 1000}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}
    go_cue = None
    evidence_periods = ("odour",)

    def define(self) -> None:
        if not 0 <= self.price <= 1:
            raise InvalidValueError(
                f"OdourCategorisation was given price={self.price!r}; give 0 to 1."
            )
        self.observe(port=1, odour=ODOURS)
        self.act(rest=1, choose=("left", "right"))
        self.vary(**mixtures(self))
        self.correct_choice(larger_part)
        self.evidence(lambda drawn: 2 * drawn["share"] - 100)

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("poke", "odour")
        trial.show("port", 1, during=("poke", "odour"))
        show_mixture(trial, self.sigma)
        end = float(trial.duration("odour").max())
        for start in np.arange(EARLIEST, end, 100.0):
            lost = self.price * (start - EARLIEST) / (end - EARLIEST)
            window = {"start": start, "stop": min(start + 100, end)}
            pay = self.rewards["correct"] * (1 - lost)
            trial.answer("choose", trial.correct_choice, "odour", correct=pay, **window)
        trial.max_reward(self.rewards["correct"])
