"""``python -m neurogym_core.cli._describe task|wrapper NAME``: what the class says about itself, as
JSON.

Runs in a child process of ``ngym info``: it imports foreign code. Prints one object:
``{"description": {…}}`` or ``{"failure": {"message": …, "traceback": …}}``."""

from __future__ import annotations

import inspect
import sys
import traceback
from typing import Any

from neurogym_core.child import answer_with, claim_stdout, leave
from neurogym_core.ecosystem.discovery import load_task, load_wrapper
from neurogym_core.ecosystem.names import said_by
from neurogym_core.errors import NeurogymError
from neurogym_core.terminal.description import describe_class


def main(arguments: list[str]) -> None:
    """Describe the class that the two arguments name, and leave."""
    answer, _ = claim_stdout()
    kind, name = arguments
    try:
        value = {
            "description": describe_task(name)
            if kind == "task"
            else describe_class(load_wrapper(name))
        }
    except BaseException as error:
        value = {
            "failure": {
                "message": _said(error),
                "traceback": "".join(traceback.format_exception(error)),
            }
        }
    answer_with(answer, value)
    leave()


def describe_task(name: str) -> dict[str, Any]:
    """The description of a task with its default parameters; of any other environment, what its
    class shows.
    """
    found: Any = load_task(name)
    # A Task is known by what its author writes: any other class never needs the Task machinery to
    # be imported.
    if not (hasattr(found, "define") and hasattr(found, "new_trial")):
        return describe_class(found)
    from neurogym_core.tasks.describe import describe

    return {"docstring": inspect.getdoc(found) or "", **describe(found())}


def _said(error: BaseException) -> str:
    return str(error) if isinstance(error, NeurogymError) else said_by(error)


if __name__ == "__main__":
    main(sys.argv[1:])
