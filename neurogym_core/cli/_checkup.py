"""Checks of `ngym doctor`: the scan, the packages that find further problems, the core's needs."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Iterator
from dataclasses import dataclass

from neurogym_core.ecosystem.companions import CHECK, REGISTRY
from neurogym_core.ecosystem.hooks import check_up
from neurogym_core.ecosystem.names import clean
from neurogym_core.ecosystem.records import Installed, PackageInfo, Problem
from neurogym_core.errors import NeurogymError
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
        imports: whether code of packages may run. If False, only packages of this project check
            the others.
        seconds: time limit for each import.
    """
    every = [finding for package in found.packages for finding in _declared(package)]
    every += _found_by_packages(found, imports, seconds)
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


def _found_by_packages(found: Installed, imports: bool, seconds: float) -> Iterator[Finding]:
    """Yield the problems that packages with the hook ``ngym_checkup`` find, and their failures."""
    packages = {package.distribution: package for package in found.packages}
    for offer in found.checkups:
        if not offer.usable or not (imports or offer.distribution in (CHECK, REGISTRY)):
            continue
        try:
            problems = check_up(offer, found.packages, imports, seconds)
        except NeurogymError as error:
            problem = Problem(level="error", code="import", message=str(error))
            problems = [(offer.distribution, offer.id, problem)]
        for distribution, subject, problem in problems:
            if distribution in packages:
                yield Finding(package=packages[distribution], problem=problem, subject=subject)
