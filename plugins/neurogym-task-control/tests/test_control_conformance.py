"""`ngym check neurogym-task-control` as tests."""

from neurogym_check import parametrize_with_checks


@parametrize_with_checks("neurogym-task-control")
def test_task_conforms(task, check):
    check(task)
