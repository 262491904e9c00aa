"""Parameters that are proportions."""

from __future__ import annotations

from neurogym_core import InvalidValueError, Task


def check_shares(task: Task, *names: str) -> None:
    """Check that parameters of a task are proportions, 0 to 1.

    Args:
        task: the task.
        names: the parameters.

    Raises:
        InvalidValueError: one of them is not.
    """
    if not all(0 <= getattr(task, name) <= 1 for name in names):
        given = ", ".join(f"{name}={getattr(task, name)!r}" for name in names)
        raise InvalidValueError(
            f"{type(task).__name__} was given {given}; give proportions, 0 to 1."
        )


__all__ = ["check_shares"]
