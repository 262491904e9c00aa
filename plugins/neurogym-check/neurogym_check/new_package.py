"""The step of ``ngym new`` that stores the first digest and the shortcuts of a new task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from neurogym_check.audit.measures import measure_shortcuts
from neurogym_check.audit.stored import to_store, write
from neurogym_check.digest import FILE, digest_of, store
from neurogym_core.ecosystem.files import load_from_file
from neurogym_core.tasks.task import Task


def store_first_digest(folder: Path, task: str) -> str | None:
    """Store the digest and the shortcuts of the new task in its package, as ``ngym check`` does.

    Args:
        folder: folder of the new package.
        task: name of the task's class.

    Returns:
        A line for the user; None for an env that is not a Task, which has no digest.
    """
    module = folder / folder.name.replace("-", "_")
    (source,) = (path for path in module.glob("*.py") if path.name != "__init__.py")
    found: Any = load_from_file(f"{source}:{task}")
    if not issubclass(found, Task):
        return None
    path = module / FILE
    made = found()
    store(path, {f"{task}-v0": digest_of(made)})
    manifest = module / "ngym.toml"
    if not manifest.is_file():
        return f"Stored the digest of {task}-v0 in {path}."
    write(manifest, {f"{task}-v0": to_store(measure_shortcuts(made))})
    return f"Stored the digest of {task}-v0 in {path}, and its shortcuts in {manifest.name}."
