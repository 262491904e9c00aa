"""Run the conformance kit on one task, and print the result of each check.

``python -m neurogym_registry.examine_task DISTRIBUTION NAME LEVEL EXCUSES SITE`` runs in a child
process, because it imports foreign code: of the folder SITE, or, if this is empty, of the
environment. It prints the codes of checks as they begin and at last one object, ``{"results":
[[code, status, text], …]}`` or ``{"failure": reason}``. EXCUSES is a JSON object of expected
failures, code -> reason.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Literal, cast

from neurogym_check import check_task
from neurogym_check.run_checks import all_checks

from neurogym_core import UnknownTaskError
from neurogym_core.tools import Answers, canonical, installed, said_by
from neurogym_registry.inspect_tasks import look_in


def main(arguments: list[str]) -> None:
    """Check the task, print the results, and exit."""
    distribution, name, level, excuses, site = arguments
    if site:
        look_in(site)
    with Answers() as answers:
        try:
            known = cast(Literal["quick", "full"], level)
            value = results_of(distribution, name, known, json.loads(excuses), answers.write)
        except BaseException as error:
            value = {"failure": f"failed with {said_by(error)}"}
        answers.write(value)


def results_of(
    distribution: str,
    name: str,
    level: Literal["quick", "full"],
    excuses: dict[str, str],
    progress: Any,
) -> dict[str, Any]:
    """Return the results of the kit's checks of a task, without those of plug-ins."""
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
    codes = [one.code for one in all_checks(level)]
    results = check_task(tasks[0].id, level, excuses, select=codes, progress=progress)
    return {"results": [[one.code, one.status, "" if one.ok else str(one)] for one in results]}


if __name__ == "__main__":
    main(sys.argv[1:])
