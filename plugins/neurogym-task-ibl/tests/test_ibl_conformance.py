"""`ngym check neurogym-task-ibl` as tests."""

from neurogym_check import parametrize_with_checks


@parametrize_with_checks("neurogym-task-ibl")
def test_task_conforms(task, check):
    check(task)
