"""A wrapper package: it reads and changes the layout of trials."""

from __future__ import annotations

from neurogym_core import Charge, NotSupportedError, Show, Span, TaskWrapper, TrialBuilder


class Fade(TaskWrapper):
    """Hide a period's stimuli, and charge for the time of answering.

    Args:
        period: name of the period.
        cost: reward per 100 ms of the response windows, at most 0.

    Raises:
        NotSupportedError: the task's trials have no such period.
    """

    period: str = "light"
    cost: float = -0.01

    def new_trial(self, trial: TrialBuilder) -> None:
        """Change the trials that the task described."""
        super().new_trial(trial)
        layout = trial.layout
        if self.period not in layout.timeline.names:
            raise NotSupportedError(
                f"Fade was given period={self.period!r}. Expected one of"
                f" {', '.join(layout.timeline.names)}. Give one of them."
            )
        faded: list[Show] = [show for show in layout.shows if self.period in show.span.periods]
        for show in faded:
            show.value = 0 * show.value
        layout.charges += [Charge(self.cost, Span(slot.span.periods)) for slot in layout.slots]
