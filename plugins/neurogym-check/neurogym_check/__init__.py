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

Names are imported on first use, because every `make` imports the hooks of this package.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_MODULES = {
    "CheckFailedError": "neurogym_check.check_types",
    "CheckResult": "neurogym_check.check_types",
    "check_task": "neurogym_check.run_checks",
    "checks_for": "neurogym_check.run_checks",
    "parametrize_with_checks": "neurogym_check.parametrize",
}

__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'neurogym_check' has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
