"""`ngym check neurogym-task-motor` as tests."""

from neurogym_check import parametrize_with_checks


@parametrize_with_checks("neurogym-task-motor")
def test_task_conforms(task, check):
    check(task)
