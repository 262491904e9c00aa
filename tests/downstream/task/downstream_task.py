"""A task package: names for authors only."""

from __future__ import annotations

from neurogym_core import Choice, InvalidValueError, OneHot, Task, TrialBuilder


class Brighter(Task):
    """Choose the side of a light.

    Args:
        contrast: strength of the light, above 0.

    Raises:
        InvalidValueError: a contrast of 0 or less.
    """

    contrast: float = 1.0

    timing = {"fixation": 300, "light": 500, "decision": 500}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        """Declare the channels, the actions and the condition."""
        if self.contrast <= 0:
            raise InvalidValueError(
                f"Brighter was given contrast={self.contrast!r}. Expected a number above 0. Give"
                " the strength of the light."
            )
        self.observe(fixation=1, light=OneHot(("left", "right")))
        self.act(fixate=1, choose=("left", "right"))
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial: TrialBuilder) -> None:
        """Show the light, then ask."""
        trial.periods("fixation", "light", "decision")
        trial.show("fixation", 1, during=("fixation", "light"))
        light = self.channels.encoder("light").encode(trial["side"], strength=self.contrast)
        trial.show("light", light, during=("light", "decision"))
        trial.answer("choose", trial["side"], during="decision")
