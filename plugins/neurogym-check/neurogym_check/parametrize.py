"""`parametrize_with_checks`: the conformance checks as pytest tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import pytest

from neurogym_check.candidate import Candidate, expanded
from neurogym_check.check_types import Check, CheckFailedError, CheckResult, Level
from neurogym_check.run_checks import all_checks, run_check


def parametrize_with_checks(
    tasks: Any, level: Level = "quick", expected_failures: Mapping[str, Any] | None = None
) -> Callable[[Callable], Callable]:
    """Return a pytest decorator: one test per task and check, named like ``Detection-v0-T003``.

    ::

        @parametrize_with_checks("neurogym-task-perceptual")
        def test_conformance(task, check):
            check(task)

    The test function gets `task` (an argument of `check_task`) and `check`. `check(task)` raises
    `CheckFailedError` with the reason and the advice, or returns the `CheckResult`. No task is
    imported before the tests run.

    Args:
        tasks: one or several arguments of `check_task`, or the name of an installed package for all
            of its tasks.
        level: "quick" or "full".
        expected_failures: code -> reason for all tasks, or task (id or bare name) -> {code:
            reason}. Such a test is marked as an expected failure, and fails if the check passes.

    Raises:
        ValueError: there are no tasks.
    """
    found = expanded(tasks)
    if not found:
        raise ValueError(
            f"parametrize_with_checks was given {tasks!r}, which has no tasks. Expected at least"
            " one. Name tasks or an installed package."
        )
    parameters = []
    for task in found:
        reasons = _reasons(task, expected_failures or {})
        for one in all_checks(level):
            marks = (
                [pytest.mark.xfail(reason=reasons[one.code], strict=True)]
                if one.code in reasons
                else []
            )
            run = partial(_run, one, level)
            parameters.append(pytest.param(task, run, marks=marks, id=f"{_short(task)}-{one.code}"))
    return pytest.mark.parametrize(("task", "check"), parameters)


def _run(one: Check, level: Level, task: Any) -> CheckResult:
    result = run_check(one, _candidate(task, level))
    if result.ok:
        return result
    raise CheckFailedError(f"{result.task}: {result}")


@cache
def _candidate(task: Any, level: Level) -> Candidate:
    """Return the one candidate for all checks of a task, which share recordings."""
    return Candidate(task, level)


def _reasons(task: Any, given: Mapping[str, Any]) -> Mapping[str, str]:
    shared = {code: reason for code, reason in given.items() if isinstance(reason, str)}
    name = task if isinstance(task, str) else getattr(task, "__name__", "")
    return {**shared, **given.get(_short(task), {}), **given.get(name, {})}


def _short(task: Any) -> str:
    name = (
        task
        if isinstance(task, str)
        else getattr(task, "__name__", None) or getattr(task, "name", repr(task))
    )
    return str(name).rpartition("/")[2]
