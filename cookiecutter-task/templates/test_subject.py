"""Claims of the subject."""

from __future__ import annotations

import numpy as np
from neurogym_core import Choice, Task, TrialBuilder, run

from {{ cookiecutter.__module }}.{{ cookiecutter.__file }} import {{ cookiecutter.task_name }}


class Press(Task):
    """Two buttons, either of which is right in its trial."""

    def define(self) -> None:
        """Declare the channel, the actions and the condition."""
        self.observe(light=1)
        self.act(rest=1, press=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial: TrialBuilder) -> None:
        """Ask for the button of the trial."""
        trial.periods("go", go=300)
        trial.show("light", 1, during="go")
        trial.answer("press", trial["side"], during="go")


def test_it_presses_one_button_only():
    choices = run(Press, {{ cookiecutter.task_name }}(action=2), 20)["choice"]
    np.testing.assert_array_equal(choices, 1)
