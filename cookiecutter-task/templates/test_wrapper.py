"""Claims of the wrapper."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_core import InvalidValueError, Task, TrialBuilder, make_task

from {{ cookiecutter.__module }}.{{ cookiecutter.__file }} import {{ cookiecutter.task_name }}


class Light(Task):
    """One light, and no question."""

    def define(self) -> None:
        """Declare the channel and the action."""
        self.observe(light=1)
        self.act(rest=1)

    def new_trial(self, trial: TrialBuilder) -> None:
        """Show the light."""
        trial.periods("on", on=300)
        trial.show("light", 1, during="on")


def test_the_values_are_multiplied_by_the_factor():
    weak = make_task(Light, wrap=({{ cookiecutter.task_name }}, {"factor": 0.25}))
    shown, plain = (task.sample(1).render(None) for task in (weak, make_task(Light)))
    np.testing.assert_allclose(shown, 0.25 * plain)


def test_other_factors_are_refused():
    with pytest.raises(InvalidValueError, match="factor=2"):
        make_task(Light, wrap=({{ cookiecutter.task_name }}, {"factor": 2}))
