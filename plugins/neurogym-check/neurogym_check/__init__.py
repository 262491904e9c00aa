"""Conformance checks for tasks, called from Python, as pytest tests or as ``ngym check``.

::

    from neurogym_check import check_task, parametrize_with_checks

    for result in check_task("perceptual/Detection-v0", level="full"):
        print(result.code, result.status, result.reason)

    @parametrize_with_checks("neurogym-task-perceptual")     # every task of the package
    def test_conformance(task, check):
        check(task)

A check is a function in a module of `neurogym_check.checks`; its argument is a `Candidate`. The
first paragraph of its docstring is the rule, the rest is advice for authors whose task breaks it.
``expected_failures={code: reason}`` is the only way to excuse a failure. Families: M packaging,
G Gymnasium, D determinism, S spaces and values, T trials, B behaviour, R digest. Plug-ins add
checks through the hook ``ngym_check_task``.

Names are imported on first use, so that importing the package is fast.
"""

from __future__ import annotations

from neurogym_core.tools import lazy_names

_HOMES = {
    "CheckFailedError": "check_types",
    "CheckResult": "check_types",
    "check_task": "run_checks",
    "checks_for": "run_checks",
    "parametrize_with_checks": "parametrize",
    "posterior_performance": "posterior",
}

__all__ = [*_HOMES]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
