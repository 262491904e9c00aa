"""`ngym check neurogym-task-perceptual` as tests."""

import pytest
from neurogym_check import parametrize_with_checks


@parametrize_with_checks("neurogym-task-perceptual")
def test_task_conforms(task, check):
    check(task)


@pytest.mark.slow
@parametrize_with_checks("neurogym-task-perceptual", level="full")
def test_task_conforms_at_the_full_level(task, check):
    check(task)
