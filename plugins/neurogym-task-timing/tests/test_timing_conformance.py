"""`ngym check neurogym-task-timing` as tests."""

from neurogym_check import parametrize_with_checks


@parametrize_with_checks("neurogym-task-timing")
def test_task_conforms(task, check):
    check(task)
