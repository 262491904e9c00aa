"""`ngym check neurogym-task-modcog` as tests."""

from neurogym_check import parametrize_with_checks


@parametrize_with_checks("neurogym-task-modcog")
def test_task_conforms(task, check):
    check(task)
