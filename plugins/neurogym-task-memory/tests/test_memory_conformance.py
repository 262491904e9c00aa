"""`ngym check neurogym-task-memory` as tests."""

from neurogym_check import parametrize_with_checks


@parametrize_with_checks("neurogym-task-memory")
def test_task_conforms(task, check):
    check(task)
