"""Checks of `ngym doctor` beyond the scan: imports, stale editable installs, the core's needs."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from neurogym_core.child import Child, run_child
from neurogym_core.cli._probe import usable_offers
from neurogym_core.ecosystem import companions
from neurogym_core.ecosystem.distributions import UNKNOWN
from neurogym_core.ecosystem.names import clean
from neurogym_core.ecosystem.records import (
    KINDS,
    Installed,
    Level,
    Offer,
    PackageInfo,
    Problem,
    advice,
)
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
    return {
        "python": platform.python_version(),
        **{name: _version(name) for name in (*NEEDED, *OPTIONAL)},
    }


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """The kernel that plays: ``compiled``, ``plain``, or None if `NGYM_KERNEL` cannot be met."""

    name: str | None
    reason: str
    line: str  # a sentence with name and reason


def kernel_in_use() -> Kernel:
    """Return the kernel that plays trials in this environment."""
    try:
        loaded = load()
    except NeurogymError as error:
        return Kernel(name=None, reason=str(error), line=str(error))
    return Kernel(name=loaded.name, reason=loaded.reason, line=str(loaded))


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


# -- problems found without imports ----------------------------------------------------------------


def _declared(package: PackageInfo) -> Iterator[Finding]:
    """Yield the problems of the package, then those of single offers; each problem once."""
    seen = set(package.problems)
    for problem in package.problems:
        yield Finding(package=package, problem=problem)
    for offer in package.offers:
        for problem in offer.problems:
            if problem not in seen:
                seen.add(problem)
                yield Finding(package=package, problem=problem, subject=offer.id)


def _stale(package: PackageInfo) -> Iterator[Finding]:
    """Yield a finding if the pyproject.toml of an editable install differs from its metadata."""
    project = _project(package)
    if project is None:
        return
    declared = {
        (f"neurogym.{kind}", offer.name, offer.value)
        for kind in KINDS
        for offer in getattr(package, kind)
    }
    written = set(_entry_points(project))
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
        yield Finding(
            package=package, problem=Problem(level="error", code="stale", message=message)
        )


def _project(package: PackageInfo) -> dict[str, Any] | None:
    """Return the ``[project]`` table of an editable install; None if there is none to compare."""
    if package.editable is None or package.editable == package.location:
        return None
    try:
        project = tomllib.loads((Path(package.editable) / "pyproject.toml").read_text("utf-8"))[
            "project"
        ]
    except (OSError, ValueError, KeyError):
        return None
    dynamic = project.get("dynamic", []) if isinstance(project, dict) else ["entry-points"]
    return None if "entry-points" in dynamic else project


def _entry_points(project: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for group, rows in project.get("entry-points", {}).items():
        # Groups of a newer core are not in the scan, so that they cannot be compared.
        if group.removeprefix("neurogym.") in KINDS and group.startswith("neurogym."):
            yield from ((group, name, value) for name, value in rows.items())


# -- problems found by imports ---------------------------------------------------------------------


def _probed(
    found: Installed, package: PackageInfo, groups: Sequence[str], seconds: float
) -> Iterator[Finding]:
    """Yield the problems that importing a package's offers shows.

    If a child process dies or hangs at one offer, another child continues with the next offer.
    """
    offers = usable_offers(package.distribution, groups)
    first = 0
    while first < len(offers):
        arguments = [package.distribution, str(first), *groups]
        child = run_child(f"{__package__}._probe", arguments, seconds)
        values = [value for value in child.values if isinstance(value, dict)]
        for value in values:
            if value.get("done") in range(len(offers)):
                yield from _outcome(package, offers[value["done"]], value)
            yield from (
                Finding(package=other, problem=_reported(value))
                for other in found.packages
                if other.distribution == value.get("package")
            )
        started = max(
            (value["start"] for value in values if isinstance(value.get("start"), int)),
            default=first,
        )
        finished = {value.get("done") for value in values}
        if started not in finished and started < len(offers):
            yield _died(package, offers[started], child)
        first = max(started, first) + 1


def _reported(value: Mapping[str, Any]) -> Problem:
    """Return the problem of another package that a registry reported."""
    level = value.get("level")
    return Problem(
        level=level if level in get_args(Level) else "warning",
        code=clean(str(value.get("code"))),
        message=clean(str(value.get("message"))),
    )


def _outcome(package: PackageInfo, offer: Offer, value: Mapping[str, Any]) -> Iterator[Finding]:
    if value.get("message"):
        problem = Problem(level="error", code="import", message=clean(str(value["message"])))
        yield Finding(package=package, problem=problem, subject=offer.id)
    if value.get("printed"):
        message = (
            f"prints {value['printed']} bytes when imported; expected none. Report it to its"
            " authors."
        )
        yield Finding(
            package=package,
            problem=Problem(level="warning", code="output", message=message),
            subject=offer.id,
        )


def _died(package: PackageInfo, offer: Offer, child: Child) -> Finding:
    message = f"importing {clean(offer.value)} {child.ending}. {advice(package.distribution)}"
    return Finding(
        package=package,
        problem=Problem(level="error", code="import", message=message),
        subject=offer.id,
    )
