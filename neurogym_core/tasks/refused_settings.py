"""Distinguish failures of a task's code that settings cause from mistakes in the code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from neurogym_core.errors import InvalidValueError, NeurogymError
from neurogym_core.tasks.identity import keywords
from neurogym_core.tasks.state import TaskLike


@contextmanager
def naming_settings(task: TaskLike) -> Iterator[None]:
    """Convert errors of NumPy or Python, while a task is made, to one that names its settings.

    Errors of a task with default settings are not converted: its author needs the traceback.

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
            f"{task.name} cannot be made with {given}: its code fails"
            f" ({type(error).__name__}: {error}). Settings for which it can build trials were"
            " expected. Give other values, nearer to its defaults."
        ) from error
