"""Checks that every task must pass, as functions, as pytest tests and as ``ngym check``.

::

    from neurogym_check import check_task, parametrize_with_checks

    for result in check_task("perceptual/Detection-v0", level="full"):
        print(result.code, result.status, result.reason)

    @parametrize_with_checks("neurogym-task-perceptual")     # every task of the package
    def test_conformance(task, check):
        check(task)

A check is a function of a `Candidate` in a module of `neurogym_check.checks`; the first
paragraph of its docstring is the rule, the rest is advice for the author of a task that breaks it.
``expected_failures={code: reason}`` is the only way round one. Families: M packaging, G Gymnasium,
D determinism, S spaces and values, T trials, B behaviour, R digest. A package adds checks of its
own through the hook ``ngym_check_task``.

Names are imported when first used: the hooks of this package are imported with every `make`.
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
