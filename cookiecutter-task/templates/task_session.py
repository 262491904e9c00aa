"""{{ cookiecutter.__words }}."""

from __future__ import annotations

import numpy as np
from neurogym_core import Choice, OneHot, Session, Task, TrialBuilder


class {{ cookiecutter.task_name }}(Task):
    """Report the side of a light, in blocks of trials in which one side is more likely.

    Cite here the paper that the task follows, with its DOI.

    Deviations from the paper: list them here.

    Args:
        bias: probability of the more likely side, 0.5 to 1.
        block: number of trials in a block.
        sigma: SD of the noise of the light, times sqrt(ms).
    """

    bias: float = 0.8
    block: int = 20
    sigma: float = 5.0
    trials_per_session: int | None = 200  # ten blocks

    timing = {"fixation": 300, "light": 500, "decision": 500}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        """Declare the channels, the actions and the conditions."""
        self.observe(fixation=1, light=OneHot(("left", "right")))
        self.act(fixate=1, choose=("left", "right"))  # the first single action is the rest
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        """Set the state that lasts from trial to trial: one value for each parallel session."""
        session.left_first = rng.random(len(session)) < 0.5

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Return the conditions of the next trial of each session."""
        left = session.left_first ^ (session.trial // self.block % 2 == 1)
        p_right = np.where(left, 1 - self.bias, self.bias)
        return {"side": (rng.random(len(session)) < p_right).astype(int)}

    def new_trial(self, trial: TrialBuilder) -> None:
        """Describe one trial; the method runs once for a batch, so that conditions are arrays."""
        trial.periods("fixation", "light", "decision")
        trial.show("fixation", 1, during=("fixation", "light"))
        light = self.channels.encoder("light").encode(trial["side"])
        trial.show("light", light, during="light", noise=self.sigma)
        trial.answer("choose", trial["side"], during="decision")
