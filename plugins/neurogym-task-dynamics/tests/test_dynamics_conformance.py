"""`ngym check neurogym-task-dynamics` as tests."""

from neurogym_check import parametrize_with_checks


@parametrize_with_checks("neurogym-task-dynamics")
def test_task_conforms(task, check):
    check(task)
