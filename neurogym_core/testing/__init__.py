"""For testing tasks: reference subjects, and the conformance kit.

Names are imported when first used: `run` needs the subjects only.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "CheckFailedError": "neurogym_core.testing.conformance",
    "CheckResult": "neurogym_core.testing.conformance",
    "check_task": "neurogym_core.testing.conformance",
    "checks_for": "neurogym_core.testing.conformance",
    "parametrize_with_checks": "neurogym_core.testing.conformance",
    "Subject": "neurogym_core.testing.subject",
    "subject_named": "neurogym_core.testing.subjects",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'neurogym_core.testing' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
