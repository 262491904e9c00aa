"""{{ cookiecutter.__words }}."""

from __future__ import annotations

from neurogym_core import Choice, OneHot, Task, TrialBuilder


class {{ cookiecutter.task_name }}(Task):
    """Remember the side of a light over a delay.

    Cite here the paper that the task follows, with its DOI.

    Deviations from the paper: list them here.

    Args:
        contrasts: strength of the light, 0 to 1.
        sigma: SD of the noise of the light, times sqrt(ms).
    """

    contrasts: tuple[float, ...] = (0.25, 0.5, 1.0)
    sigma: float = 1.0

    timing = {"fixation": 300, "light": 500, "delay": 600, "decision": 500}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        """Declare the channels, the actions and the conditions."""
        self.observe(fixation=1, light=OneHot(("left", "right")))
        self.act(fixate=1, choose=("left", "right"))  # the first single action is the rest
        self.vary(side=Choice(2), contrast=Choice(self.contrasts))
        self.correct_choice("side")

    def new_trial(self, trial: TrialBuilder) -> None:
        """Describe one trial; the method runs once for a batch, so that conditions are arrays."""
        before = ("fixation", "light", "delay")
        trial.periods(*before, "decision")
        trial.show("fixation", 1, during=before)
        light = self.channels.encoder("light").encode(trial["side"], strength=trial["contrast"])
        trial.show("light", light, during="light", noise=self.sigma)
        trial.answer("choose", trial["side"], during="decision")
