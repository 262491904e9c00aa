"""Tell failures of a task's code with settings that were given from failures of the code itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from neurogym_core.errors import InvalidValueError, NeurogymError
from neurogym_core.tasks.identity import keywords
from neurogym_core.tasks.state import TaskLike


@contextmanager
def naming_settings(task: TaskLike) -> Iterator[None]:
    """An error of NumPy or Python while a task is made with settings of the caller's becomes one
    that names them.

    A task that fails with its defaults fails as it does: its author needs to see where.

    Raises:
        InvalidValueError: the task's code fails with these settings.
    """
    try:
        yield
    except NeurogymError:
        raise
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        given = ", ".join(f"{name}={value!r}" for name, value in keywords(task).items())
        if not given:
            raise
        raise InvalidValueError(
            f"{task.name} cannot be made with {given}: its code fails there"
            f" ({type(error).__name__}: {error}). Settings that it can lay out trials with were"
            " expected. Give other values, nearer to its defaults."
        ) from error
