"""`ngym check neurogym-task-driscoll24` as tests."""

from neurogym_check import parametrize_with_checks


@parametrize_with_checks("neurogym-task-driscoll24")
def test_task_conforms(task, check):
    check(task)
