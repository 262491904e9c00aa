"""`ngym check neurogym-task-visual` as tests."""

from neurogym_check import parametrize_with_checks


@parametrize_with_checks("neurogym-task-visual")
def test_task_conforms(task, check):
    check(task)
