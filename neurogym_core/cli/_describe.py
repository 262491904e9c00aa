"""Describe a class as JSON: ``python -m neurogym_core.cli._describe task|wrapper NAME``.

``ngym info`` runs this in a child process because it imports the code of other packages. It prints
one object, ``{"description": {…}}`` or ``{"failure": message}``.
"""

from __future__ import annotations

import sys
from typing import Any

from neurogym_core.child import Answers
from neurogym_core.ecosystem.discovery import load_task, load_wrapper
from neurogym_core.ecosystem.names import said_by
from neurogym_core.errors import NeurogymError
from neurogym_core.terminal.description import describe


def main(arguments: list[str]) -> None:
    """Describe the class that the two arguments name, and end the process."""
    with Answers() as answers:
        try:
            value: dict[str, Any] = {"description": describe(_loaded(*arguments))}
        except BaseException as error:
            value = {"failure": str(error) if isinstance(error, NeurogymError) else said_by(error)}
        answers.write(value)


def _loaded(kind: str, name: str) -> Any:
    return load_task(name) if kind == "task" else load_wrapper(name)


if __name__ == "__main__":
    main(sys.argv[1:])
