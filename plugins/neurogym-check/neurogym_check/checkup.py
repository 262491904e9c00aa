"""Packages whose import fails, and stale editable installs, for `ngym doctor`."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

from neurogym_core.tools import PackageInfo, Problem, clean, listed, run_child

Found = tuple[str, str, Problem]
"""A problem, after the distribution and the id of the offer ("": none) that have it."""


def checkup(packages: Sequence[PackageInfo], imports: bool, seconds: float) -> list[Found]:
    """Return stale editable installs, and with `imports` the problems that imports show.

    Each package is imported in a separate child process. Blocked packages are not imported.
    """
    every = [found for package in packages for found in _stale(package)]
    wanted = [package for package in packages if imports and not package.blocked]
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        probed = pool.map(lambda package: list(_probed(package, seconds)), wanted)
        every += [found for some in probed for found in some]
    return every


def _stale(package: PackageInfo) -> Iterator[Found]:
    """Yield a problem if the pyproject.toml of an editable install differs from its metadata."""
    if package.editable is None or package.editable == package.location:
        return
    try:
        text = (Path(package.editable) / "pyproject.toml").read_text("utf-8")
        project = tomllib.loads(text)["project"]
        if "entry-points" in project.get("dynamic", []):
            return
        written = {
            (group, name, value)
            for group, rows in project.get("entry-points", {}).items()
            if group.startswith("neurogym.") and group != "neurogym.manifest"
            for name, value in rows.items()
        }
    except (OSError, ValueError, KeyError, AttributeError):  # nothing to compare
        return
    declared = {(offer.group, offer.name, offer.value) for offer in package.offers}
    changed = sorted({name for _, name, _ in declared ^ written})
    version = project.get("version", package.version)
    if version != package.version and not package.unreadable:
        changed.insert(0, f"version {version}")
    if changed:
        message = (
            "pyproject.toml of the editable install has changed since it was installed"
            f" ({listed(map(clean, changed))}). Install it again: `python -m pip install -e"
            f" {package.editable}`."
        )
        problem = Problem(level="error", code="stale", message=message)
        yield package.distribution, "", problem


def _probed(package: PackageInfo, seconds: float) -> Iterator[Found]:
    """Yield the problems that importing a package's offers shows.

    If a child process dies or hangs at one offer, another child continues with the next offer.
    """
    offers = [offer for offer in package.offers if offer.usable]

    def found(index: int, level: Literal["error", "warning"], code: str, message: str) -> Found:
        problem = Problem(level=level, code=code, message=message)
        return package.distribution, offers[index].id, problem

    first = 0
    while first < len(offers):
        arguments = [package.distribution, str(first)]
        child = run_child("neurogym_check._offer_probe", arguments, seconds)
        started, finished = first, set()
        for value in child.values:
            if not isinstance(value, dict):
                continue
            if isinstance(value.get("start"), int):
                started = max(started, value["start"])
            if value.get("done") in range(len(offers)):
                finished.add(value["done"])
                if value.get("message"):
                    yield found(value["done"], "error", "import", clean(str(value["message"])))
                if value.get("printed"):
                    message = (
                        f"prints {value['printed']} bytes when imported; expected none. Report it"
                        " to its authors."
                    )
                    yield found(value["done"], "warning", "output", message)
        if started not in finished and started < len(offers):
            value = clean(offers[started].value)
            message = f"importing {value} {child.ending}. {package.remedy}"
            yield found(started, "error", "import", message)
        first = started + 1
