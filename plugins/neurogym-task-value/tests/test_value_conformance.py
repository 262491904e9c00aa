"""`ngym check neurogym-task-value` as tests."""

from neurogym_check import parametrize_with_checks


@parametrize_with_checks("neurogym-task-value")
def test_task_conforms(task, check):
    check(task)
