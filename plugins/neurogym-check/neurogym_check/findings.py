"""Checks of `ngym doctor`: the scan, imports, plug-ins that find problems, the core's needs."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from neurogym_check.checkup import Found, checkup
from neurogym_core import NeurogymError
from neurogym_core.players import kernel_in_use
from neurogym_core.tools import PackageInfo, Problem, clean, load, said_by

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


def kernel_found() -> tuple[str | None, str, str]:
    """Return the name of the kernel that plays, the reason, and both in a sentence.

    The name is None if `NGYM_KERNEL` cannot be met.
    """
    try:
        loaded = kernel_in_use()
    except NeurogymError as error:
        return None, str(error), str(error)
    return loaded.name, loaded.reason, str(loaded)


def torch_found() -> str | None:
    """Return a sentence about the installed torch and its size; None without it.

    From the index that pip asks, torch for Linux requires CUDA, which takes gigabytes.
    """
    sizes: dict[str, float] = {}
    version = ""
    for one in importlib.metadata.distributions():
        name = (one.metadata["Name"] or "").lower()
        if (name == "torch" or name.startswith("nvidia-")) and name not in sizes:
            sizes[name] = sum(file.size or 0 for file in one.files or ()) / 1e9
            version = one.version if name == "torch" else version
    if not version:
        return None
    said = f"torch {version} takes {sum(sizes.values()):.1f} GB"
    if len(sizes) == 1:
        return f"{said}, without packages of CUDA."
    return (
        f"{said}, CUDA for GPUs included (nvidia-...). For CPUs alone, make a new environment with:"
        " uv pip install --torch-backend cpu torch"
    )


def findings(found: Any, *, imports: bool, seconds: float) -> list[Finding]:
    """Return all problems, grouped by package in the order of the scan.

    Args:
        found: the scan.
        imports: whether code of packages may run. If False, only plug-ins of this project run.
        seconds: time limit for each import.
    """
    every = [finding for package in found.packages for finding in _declared(package)]
    probed = checkup(found.packages, imports, seconds)
    broken = {offer for _, offer, problem in probed if problem.code == "import"}
    packages = {package.distribution: package for package in found.packages}
    every += [
        Finding(package=packages[distribution], problem=problem, subject=subject)
        for distribution, subject, problem in (*probed, *_by_plugins(found, imports, broken))
        if distribution in packages
    ]
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


def _by_plugins(found: Any, imports: bool, broken: set[str]) -> Iterator[Found]:
    """Yield the problems that plug-ins with the hook ``ngym_checkup`` find, and their failures.

    Plug-ins that could not be imported before are left out.
    """
    for offer in found.plugins:
        wanted = offer.implements("ngym_checkup") and (imports or offer.ours)
        if not (wanted and offer.usable) or offer.id in broken:
            continue
        try:
            for problems in load(offer).hook.ngym_checkup(packages=found.packages):
                yield from problems
        except (Exception, SystemExit) as error:
            problem = Problem(level="error", code="import", message=clean(said_by(error)))
            yield offer.distribution, offer.id, problem
