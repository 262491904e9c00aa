"""Discovery of installed packages: their tasks, wrappers, manifests and hooks.

Names are imported when first used, so that importing this package is fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neurogym_core.ecosystem.discovery import (
        find_task,
        find_wrapper,
        installed,
        load,
        load_task,
        load_wrapper,
        refresh,
        task_id,
    )
    from neurogym_core.ecosystem.hooks import (
        PluginFailure,
        hookimpl,
        hookspec,
        trial_end_listeners,
        wrap_env,
    )
    from neurogym_core.ecosystem.manifest import Manifest, parse_manifest, read_manifest, vocabulary
    from neurogym_core.ecosystem.records import (
        Installed,
        Offer,
        PackageInfo,
        Problem,
        Reference,
        TaskInfo,
        WrapperInfo,
    )

__all__ = [
    "Installed",
    "Manifest",
    "Offer",
    "PackageInfo",
    "PluginFailure",
    "Problem",
    "Reference",
    "TaskInfo",
    "WrapperInfo",
    "find_task",
    "find_wrapper",
    "hookimpl",
    "hookspec",
    "installed",
    "load",
    "load_task",
    "load_wrapper",
    "parse_manifest",
    "read_manifest",
    "refresh",
    "task_id",
    "trial_end_listeners",
    "vocabulary",
    "wrap_env",
]

_HOME = {
    "discovery": (
        "find_task",
        "find_wrapper",
        "installed",
        "load",
        "load_task",
        "load_wrapper",
        "refresh",
        "task_id",
    ),
    "hooks": ("PluginFailure", "hookimpl", "hookspec", "trial_end_listeners", "wrap_env"),
    "manifest": ("Manifest", "parse_manifest", "read_manifest", "vocabulary"),
    "records": (
        "Installed",
        "Offer",
        "PackageInfo",
        "Problem",
        "Reference",
        "TaskInfo",
        "WrapperInfo",
    ),
}
_MODULE_OF = {name: module for module, found in _HOME.items() for name in found}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
