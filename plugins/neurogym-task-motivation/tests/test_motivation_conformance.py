"""`ngym check neurogym-task-motivation` as tests: a sample, and all tasks as slow tests."""

import pytest
from neurogym_check import parametrize_with_checks

from neurogym_core.tools import installed

TASKS = sorted(one.id for one in installed().tasks if one.namespace == "motivation")


@parametrize_with_checks(TASKS[::3])
def test_sampled_task_conforms(task, check):
    check(task)


@pytest.mark.slow
@parametrize_with_checks("neurogym-task-motivation")
def test_task_conforms(task, check):
    check(task)
