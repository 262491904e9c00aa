"""What the task claims."""

from __future__ import annotations

import pytest
from neurogym_core import make_task, run

TASK = "{{ cookiecutter.lab }}/{{ cookiecutter.task_name }}-v0"


def test_a_subject_that_knows_the_targets_is_always_right():
    assert (run(TASK, "oracle", 200, seed=1)["outcome"] == "correct").all()


def test_answering_before_it_is_asked_earns_less():
    premature, guess = (run(TASK, subject, 200, seed=1)["reward"].mean() for subject in ("premature", "guess"))
    assert premature < guess


@pytest.mark.parametrize("contrast", [0.25, 1.0])
def test_the_light_is_as_strong_as_asked_for(contrast):
    task = make_task(TASK)
    shown = task.sample(20, seed=1, contrast=contrast).render(None)[:, task.channels["light"]]
    assert shown.max() == pytest.approx(contrast)
