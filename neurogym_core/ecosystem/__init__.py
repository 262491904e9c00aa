"""Discovery of installed packages: their tasks, wrappers, manifests and hooks.

Names are imported when first used, so that importing this package is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "find_task": "discovery",
    "find_wrapper": "discovery",
    "hookimpl": "hooks",
    "installed": "discovery",
    "load_task": "discovery",
    "load_wrapper": "discovery",
    "refresh": "discovery",
    "task_id": "discovery",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
