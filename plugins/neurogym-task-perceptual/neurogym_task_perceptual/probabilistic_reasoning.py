"""Integration of probabilistic evidence from shapes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import InvalidValueError, OneHot, Task, TrialBuilder, Uniform

EPOCHS = 4
"""Number of shapes in a trial."""


class ProbabilisticReasoning(Task):
    """Choose the target that four shapes together make more likely to be rewarded.

    Yang & Shadlen (2007), Nature 447:1075, doi:10.1038/nature05852.

    Four shapes appear one after another, at four locations in random order, and stay. Each of the
    ten shapes has a weight, and the log odds (base 10) that the second target is the rewarded one
    are the sum of the four weights: P(second) = 1 / (1 + 10 ^ -sum). The rewarded target is drawn
    with this probability. When the fixation cue turns off, the subject chooses a target, and is
    rewarded if it is the drawn one: choice 0 is the first target, choice 1 the second. Correct
    means rewarded, so even a subject that knows all the weights is correct in 91 % of trials only;
    `log_odds` in the record gives the available evidence. The two trump shapes, of which at least
    one appears in 59 % of trials, make it easier: following them, and guessing in the other trials,
    gives 76 %. Because the shapes stay, the last stimulus period alone shows all of them: no memory
    is needed. A classifier of that period earns 0.86, one that leaves out an earlier period 0.81.

    The condition `shapes` holds the shapes, index of the weight, (n, 4), in the order of
    appearance; `places` holds their locations; `luck` determines, given the odds, which target is
    rewarded.

    Deviations from the paper:

    - the two trump shapes have weights of -10 and 10 (there, infinite), as in NeuroGym;
    - the two targets are not shown (there, one red and one green), and durations are NeuroGym's.

    Args:
        weights: weight of each shape, in favour of the second target.
    """

    weights: tuple[float, ...] = (-10, -0.9, -0.7, -0.5, -0.3, 0.3, 0.5, 0.7, 0.9, 10)

    timing = {
        "fixation": 500,
        "stimulus1": 500,
        "stimulus2": 500,
        "stimulus3": 500,
        "stimulus4": 500,
        "delay": {"uniform": [450, 550]},
        "decision": 500,
    }  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        if len(self.weights) < 2:
            raise InvalidValueError(
                f"ProbabilisticReasoning was given weights={self.weights!r}; give at least two"
                " shapes."
            )
        shapes = tuple(f"{weight:+g}" for weight in self.weights)
        self.code = OneHot(shapes if len(set(shapes)) == len(shapes) else len(shapes))
        self.observe(fixation=1, **{f"place{k + 1}": self.code for k in range(EPOCHS)})
        self.act(fixate=1, choose=("first", "second"))
        self.vary(
            shapes=lambda rng, prior: rng.integers(0, len(self.weights), (prior.n, EPOCHS)),
            places=lambda rng, prior: rng.permuted(
                np.tile(np.arange(EPOCHS), (prior.n, 1)), axis=1
            ),
            luck=Uniform(0, 1),
        )
        self.correct_choice(self._rewarded)
        self.evidence(lambda known: self.log_odds(known["shapes"]))

    def new_trial(self, trial: TrialBuilder) -> None:
        stimuli = tuple(f"stimulus{k + 1}" for k in range(EPOCHS))
        before = ("fixation", *stimuli, "delay")
        trial.periods(*before, "decision")
        trial.show("fixation", 1, during=before)
        for k in range(EPOCHS):
            shape = self.code.encode(trial["shapes"][:, k])
            for place in range(EPOCHS):
                here = trial["places"][:, k] == place
                trial.show(f"place{place + 1}", shape, during=(*stimuli[k:], "delay"), where=here)
        trial.answer("choose", trial.correct_choice, during="decision")
        trial.record(log_odds=self.log_odds(trial["shapes"]))

    def log_odds(self, shapes: np.ndarray) -> np.ndarray:
        """Return the log odds (base 10) in favour of the second target, (n,), of shapes (n, 4)."""
        return np.take(self.weights, shapes).sum(axis=1)

    def _rewarded(self, conditions: Mapping[str, np.ndarray]) -> np.ndarray:
        """The rewarded target, 0 or 1, (n,)."""
        return (conditions["luck"] < 1 / (1 + 10.0 ** -self.log_odds(conditions["shapes"]))).astype(
            int
        )
