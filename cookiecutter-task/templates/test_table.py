"""Claims of the task."""

from __future__ import annotations

import pytest
from neurogym_core import make_task, run

TASK = "{{ cookiecutter.lab }}/{{ cookiecutter.task_name }}-v0"


def test_the_oracle_is_always_correct():
    assert (run(TASK, "oracle", 200, seed=1)["outcome"] == "correct").all()


def test_premature_responses_earn_less_than_guessing():
    premature, guess = (
        run(TASK, subject, 200, seed=1)["reward"].mean() for subject in ("premature", "guess")
    )
    assert premature < guess


@pytest.mark.parametrize("contrast", [0.25, 1.0])
def test_the_light_has_the_contrast_of_the_trial(contrast):
    task = make_task(TASK)
    shown = task.sample(20, seed=1, contrast=contrast).render(None)[:, task.channels["light"]]
    assert shown.max() == pytest.approx(contrast)
