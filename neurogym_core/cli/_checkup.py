"""Checks of `ngym doctor` beyond the scan: imports, stale editable installs, the core's needs."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from neurogym_core.child import run_child
from neurogym_core.cli._probe import usable_offers
from neurogym_core.ecosystem import companions
from neurogym_core.ecosystem.names import clean
from neurogym_core.ecosystem.records import (
    Installed,
    Level,
    PackageInfo,
    Problem,
    advice,
)
from neurogym_core.ecosystem.scan import GROUPS, UNKNOWN
from neurogym_core.errors import NeurogymError, listed
from neurogym_core.play.kernels import load

NEEDED = ("numpy", "gymnasium", "pluggy", "importlib-metadata", "click", "rich")
OPTIONAL = ("matplotlib", "scipy", "pandas", "cookiecutter")


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A problem, with the package and, where known, the offer (`subject`) that has it."""

    package: PackageInfo
    problem: Problem
    subject: str = ""

    def __str__(self) -> str:
        """``foo/Bar-v0: …``."""
        text = clean(str(self.problem))
        return (
            f"{clean(self.subject)}: {text}" if self.subject and self.subject not in text else text
        )


def versions() -> dict[str, str | None]:
    """Return the versions of Python and of the core's dependencies; None if not installed."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    for name in (*NEEDED, *OPTIONAL):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return found


def kernel_in_use() -> tuple[str | None, str, str]:
    """Return the name of the kernel that plays, the reason, and both in a sentence.

    The name is None if `NGYM_KERNEL` cannot be met.
    """
    try:
        loaded = load()
    except NeurogymError as error:
        return None, str(error), str(error)
    return loaded.name, loaded.reason, str(loaded)


def findings(found: Installed, *, imports: bool, seconds: float) -> list[Finding]:
    """Return all problems, grouped by package in the order of the scan.

    Args:
        found: the scan.
        imports: also import all offers, each package in a separate child process. If False, import
            only the part of neurogym-registry that knows the revoked versions.
        seconds: time limit for each import.
    """
    every = [
        finding for package in found.packages for finding in (*_declared(package), *_stale(package))
    ]
    groups = () if imports else ("neurogym.registries",)
    wanted = [
        package
        for package in found.packages
        if not package.blocked and (imports or package.distribution == companions.REGISTRY)
    ]
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        probed = pool.map(lambda one: list(_probed(found, one, groups, seconds)), wanted)
        every += [finding for some in probed for finding in some]
    order = {package.distribution: number for number, package in enumerate(found.packages)}
    return sorted(every, key=lambda finding: order[finding.package.distribution])


def _declared(package: PackageInfo) -> Iterator[Finding]:
    """Yield the problems of the package, then those of single offers; each problem once."""
    owners = dict.fromkeys(package.problems, "")
    for offer in package.offers:
        for problem in offer.problems:
            owners.setdefault(problem, offer.id)
    for problem, owner in owners.items():
        yield Finding(package=package, problem=problem, subject=owner)


def _stale(package: PackageInfo) -> Iterator[Finding]:
    """Yield a finding if the pyproject.toml of an editable install differs from its metadata."""
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
            # Groups of a newer core are not in the scan, so that they cannot be compared.
            if group in GROUPS
            for name, value in rows.items()
        }
    except (OSError, ValueError, KeyError, AttributeError):  # nothing to compare
        return
    declared = {(offer.group, offer.name, offer.value) for offer in package.offers}
    changed = sorted({name for _, name, _ in declared ^ written})
    version = project.get("version", package.version)
    if version != package.version and package.version != UNKNOWN:
        changed.insert(0, f"version {version}")
    if changed:
        message = (
            "pyproject.toml of the editable install has changed since it was installed"
            f" ({listed(map(clean, changed))}). Install it again: `python -m pip install -e"
            f" {package.editable}`."
        )
        problem = Problem(level="error", code="stale", message=message)
        yield Finding(package=package, problem=problem)


def _probed(
    found: Installed, package: PackageInfo, groups: Sequence[str], seconds: float
) -> Iterator[Finding]:
    """Yield the problems that importing a package's offers shows.

    If a child process dies or hangs at one offer, another child continues with the next offer.
    """
    offers = usable_offers(package.distribution, groups)

    def finding(index: int, level: Level, code: str, message: str) -> Finding:
        problem = Problem(level=level, code=code, message=message)
        return Finding(package=package, problem=problem, subject=offers[index].id)

    first = 0
    while first < len(offers):
        arguments = [package.distribution, str(first), *groups]
        child = run_child(f"{__package__}._probe", arguments, seconds)
        started, finished = first, set()
        for value in child.values:
            if not isinstance(value, dict):
                continue
            if isinstance(value.get("start"), int):
                started = max(started, value["start"])
            if value.get("done") in range(len(offers)):
                finished.add(value["done"])
                if value.get("message"):
                    yield finding(value["done"], "error", "import", clean(str(value["message"])))
                if value.get("printed"):
                    message = (
                        f"prints {value['printed']} bytes when imported; expected none. Report it"
                        " to its authors."
                    )
                    yield finding(value["done"], "warning", "output", message)
            for other in found.packages:
                if other.distribution == value.get("package"):  # reported by a registry
                    level = value.get("level")
                    problem = Problem(
                        level=level if level in get_args(Level) else "warning",
                        code=clean(str(value.get("code"))),
                        message=clean(str(value.get("message"))),
                    )
                    yield Finding(package=other, problem=problem)
        if started not in finished and started < len(offers):
            value = clean(offers[started].value)
            message = f"importing {value} {child.ending}. {advice(package.distribution)}"
            yield finding(started, "error", "import", message)
        first = started + 1
