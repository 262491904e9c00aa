"""Discovery of installed packages: their tasks, wrappers, manifests and hooks.

Names are imported when first used, so that importing this package is fast.
"""

from __future__ import annotations

from neurogym_core.lazy import lazy_names

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

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
