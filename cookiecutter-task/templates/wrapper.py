"""The wrapper {{ cookiecutter.task_name }}."""

from __future__ import annotations

from neurogym_core import InvalidValueError, TaskWrapper, TrialBuilder


class {{ cookiecutter.task_name }}(TaskWrapper):
    """Weaken everything that the task shows.

    Args:
        factor: multiplies the values of all channels; 0 to 1.

    Raises:
        InvalidValueError: the factor is not between 0 and 1.
    """

    factor: float = 0.5

    def define(self) -> None:
        """Check the settings; refuse tasks that the wrapper cannot be applied to."""
        if not 0 <= self.factor <= 1:
            raise InvalidValueError(
                f"{type(self).__name__} was given factor={self.factor!r}. Expected 0 to 1. Give a"
                " number in this range."
            )

    def new_trial(self, trial: TrialBuilder) -> None:
        """Change the trials after the task has described them."""
        super().new_trial(trial)
        for show in trial.layout.shows:
            show.value = show.value * self.factor
