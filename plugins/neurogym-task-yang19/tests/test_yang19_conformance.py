"""`ngym check neurogym-task-yang19` as tests."""

from neurogym_check import parametrize_with_checks


@parametrize_with_checks("neurogym-task-yang19")
def test_task_conforms(task, check):
    check(task)
