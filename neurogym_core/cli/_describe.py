"""Describe a class as JSON: ``python -m neurogym_core.cli._describe task|wrapper NAME``.

``ngym info`` runs this in a child process because it imports the code of other packages. It prints
one object, ``{"description": {…}}`` or ``{"failure": message}``.
"""

from __future__ import annotations

import inspect
import sys
from typing import Any

from neurogym_core.child import Answers
from neurogym_core.ecosystem.discovery import load_task, load_wrapper
from neurogym_core.ecosystem.names import said_by
from neurogym_core.errors import NeurogymError
from neurogym_core.terminal.description import describe_class


def main(arguments: list[str]) -> None:
    """Describe the class that the two arguments name, and end the process."""
    with Answers() as answers:
        try:
            value: dict[str, Any] = {"description": describe(*arguments)}
        except BaseException as error:
            value = {"failure": str(error) if isinstance(error, NeurogymError) else said_by(error)}
        answers.write(value)


def describe(kind: str, name: str) -> dict[str, Any]:
    """Describe a task with its default parameters, or the class of a wrapper or another env."""
    found: Any = load_task(name) if kind == "task" else load_wrapper(name)
    # A Task is recognised by the methods that its author writes, so that describing any other class
    # does not import NumPy.
    if kind != "task" or not (hasattr(found, "define") and hasattr(found, "new_trial")):
        return describe_class(found)
    from neurogym_core.tasks.describe import describe

    return {"docstring": inspect.getdoc(found) or "", **describe(found())}


if __name__ == "__main__":
    main(sys.argv[1:])
