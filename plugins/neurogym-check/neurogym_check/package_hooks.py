"""The hooks of this package. The first `make` imports this module: keep its imports light."""

from __future__ import annotations

from pathlib import Path

from neurogym_core import hookimpl


@hookimpl
def ngym_package_created(folder: Path, task: str) -> str | None:
    """Store digest and shortcuts of the task that `ngym new` has written."""
    from neurogym_check.new_package import store_first_digest

    return store_first_digest(folder, task)
