"""`ngym check neurogym-task-cognition` as tests."""

from neurogym_check import parametrize_with_checks


@parametrize_with_checks("neurogym-task-cognition")
def test_task_conforms(task, check):
    check(task)
