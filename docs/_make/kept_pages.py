"""Pages of tasks and their figures and data, kept from build to build as long as they stay the same.

A page is made again unless everything that it is made from is the same: the files of the task's
package, of the core and of all packages with plug-ins other than tasks, the scripts in this folder,
the versions of all installed packages, and the results of the gallery for the task."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import shutil
from collections.abc import Callable, Iterable
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).resolve().parent
KEPT = SCRIPTS.parent / "_build" / "kept"
KEY, PAGE, TEXT, THUMBNAIL = "key", "page", "text", "thumbnail.png"
_OF_TASKS = {"neurogym.tasks", "neurogym.manifest"}
"""Groups of entry points of a package that has nothing but tasks: others do not depend on it."""


def key_of(value: str, results: Any) -> str:
    """Return a hash of the sources of a page.

    Args:
        value: ``module:class`` of the task.
        results: of the gallery, as JSON.
    """
    own = _digest(_files(_folder(value)))
    parts = [own, _shared(), json.dumps(results, sort_keys=True)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@functools.cache
def _shared() -> str:
    """Return a hash of the sources of all pages."""
    packages = list(metadata.distributions())
    others = {
        _folder(point.value)
        for package in packages
        for point in package.entry_points
        if point.group.startswith("neurogym.") and point.group not in _OF_TASKS
    }
    folders = {_folder("neurogym_core"), *others}
    sources = [_digest(_files(folder)) for folder in sorted(folders)]
    scripts = _digest(sorted(SCRIPTS.glob("*.py")))
    versions = sorted({f"{one.name}=={one.version}" for one in packages})
    switches = sorted(
        f"{key}={text}" for key, text in os.environ.items() if key.startswith("NGYM_")
    )
    return "\n".join([platform.python_version(), scripts, *sources, *versions, *switches])


def _folder(value: str) -> Path:
    """Return the folder, or the file, of the package that a module is in."""
    root = value.partition(":")[0].partition(".")[0]
    spec = find_spec(root)
    if spec is None or spec.origin is None:
        raise RuntimeError(
            f"{root!r} of the entry point {value!r} is not found. Expected an installed package."
            " Run `ngym doctor`."
        )
    origin = Path(spec.origin)
    return origin.parent if spec.submodule_search_locations else origin


def _files(folder: Path) -> list[Path]:
    if folder.is_file():
        return [folder]
    found = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in found if "__pycache__" not in path.parts)


def _digest(files: Iterable[Path]) -> str:
    found = hashlib.sha256()
    for path in files:
        found.update(f"{path}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\0".encode())
    return found.hexdigest()


def taken(
    name: str, key: str, make: Callable[[Path, Path], str], folder: Path, thumbnail: Path
) -> str:
    """Copy the files of a page, which are made unless they were kept with this key; return its text.

    Args:
        name: id of the task.
        key: see `key_of`.
        make: (folder of the files, file of the small picture) -> text of the page.
        folder, thumbnail: where the files and the small picture belong.
    """
    kept = KEPT / name.replace("/", "-")
    if not (kept / KEY).is_file() or (kept / KEY).read_text("utf-8") != key:
        shutil.rmtree(kept, ignore_errors=True)
        (kept / PAGE).mkdir(parents=True)
        (kept / TEXT).write_text(make(kept / PAGE, kept / THUMBNAIL), "utf-8")
        (kept / KEY).write_text(key, "utf-8")  # last: a page that is kept in part has no key
    shutil.copytree(kept / PAGE, folder, dirs_exist_ok=True)
    shutil.copy2(kept / THUMBNAIL, thumbnail)
    return (kept / TEXT).read_text("utf-8")
