"""`ngym check neurogym-task-perceptual` as tests."""

from neurogym_check import parametrize_with_checks


@parametrize_with_checks("neurogym-task-perceptual")
def test_task_conforms(task, check):
    check(task)
