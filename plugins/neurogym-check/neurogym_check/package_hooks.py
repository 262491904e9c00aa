"""The hooks of this package; pluggy imports the module with the first `make`, so that it imports
nothing heavy itself.
"""

from __future__ import annotations

from pathlib import Path

from neurogym_core import hookimpl


@hookimpl
def ngym_package_created(folder: Path, task: str) -> str | None:
    """Store the digest of the task that `ngym new` has written, beside the manifest of its
    package.
    """
    from neurogym_check.new_package import store_first_digest

    return store_first_digest(folder, task)
