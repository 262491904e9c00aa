"""Play tasks in a browser: trials as tables, and a kernel in JavaScript that plays them."""

from __future__ import annotations

from neurogym_core.tools import lazy_names

_HOMES = {
    "add_task": "pages",
    "trial_tables": "tables",
    "write_experiment": "page",
    "write_page": "page",
}

__all__ = [*_HOMES]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
