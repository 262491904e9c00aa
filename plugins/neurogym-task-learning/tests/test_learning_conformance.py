"""`ngym check neurogym-task-learning` as tests."""

from neurogym_check import parametrize_with_checks


@parametrize_with_checks("neurogym-task-learning")
def test_task_conforms(task, check):
    check(task)
