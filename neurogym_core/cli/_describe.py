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


def describe_class(found: type) -> dict[str, Any]:
    """Docstring and parameters of any class."""
    return {"docstring": inspect.getdoc(found) or "", "parameters": _parameters(found)}


def _parameters(found: type) -> list[dict[str, Any]]:
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return []
    named = (
        one
        for one in signature.parameters.values()
        if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    )
    return [_parameter(one) for one in named]


def _parameter(one: inspect.Parameter) -> dict[str, Any]:
    written = inspect.formatannotation(one.annotation) if one.annotation is not one.empty else ""
    row: dict[str, Any] = {"name": one.name, "type": written.strip("'\""), "doc": ""}
    if one.default is not one.empty:
        row["default"] = (
            one.default if isinstance(one.default, int | float | str | None) else repr(one.default)
        )
    return row


def _said(error: BaseException) -> str:
    return str(error) if isinstance(error, NeurogymError) else said_by(error)


if __name__ == "__main__":
    main(sys.argv[1:])
