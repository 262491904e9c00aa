"""Run the conformance kit on one task, and print the counts.

``python -m neurogym_registry.examine_task DISTRIBUTION TASK LEVEL EXCUSES`` runs in a child process
of ``ngym submit``, ``ngym registry accept`` and ``ngym install``. It prints one object: passed and
failed (numbers), expected_failures and failures (lists), core and python (versions). EXCUSES is
JSON, code -> reason.
"""

from __future__ import annotations

import json
import platform
import sys
from typing import Any, Literal, cast

from neurogym_check import check_task

from neurogym_core import UnknownTaskError
from neurogym_core.tools import Answers, canonical, clean, installed, said_by


def main(arguments: list[str]) -> None:
    """Check the task, print the result, and exit."""
    distribution, name, level, excuses = arguments
    with Answers() as answers:
        try:
            known = cast(Literal["quick", "full"], level)
            value = summary(distribution, name, known, json.loads(excuses), answers.write)
        except BaseException as error:
            value = {"failure": f"failed with {said_by(error)}"}
        answers.write(value)


def summary(
    distribution: str,
    name: str,
    level: Literal["quick", "full"],
    excuses: dict[str, str],
    progress: Any,
) -> dict[str, Any]:
    """Return the counted results of a task's checks, without those that do not apply."""
    tasks = [
        task
        for package in installed().packages
        if canonical(package.distribution) == distribution
        for task in package.tasks
        if task.name == name
    ]
    if not tasks:
        raise UnknownTaskError(
            f"{distribution} has no task {name!r}. Expected an entry point of the package. Correct"
            " the name."
        )
    results = check_task(tasks[0].id, level, excuses, progress=progress)
    failed = [result for result in results if not result.ok]
    excused = [result for result in results if result.status == "expected failure"]
    return {
        "passed": sum(result.status == "passed" for result in results),
        "failed": len(failed),
        "failures": [f"{result.task}: {clean(str(result))}" for result in failed],
        "expected_failures": [
            {"task": name, "check": result.code, "reason": clean(result.reason)[:400]}
            for result in excused
        ],
        "core": installed().core_version,
        "python": platform.python_version(),
    }


if __name__ == "__main__":
    main(sys.argv[1:])
