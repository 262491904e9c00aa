"""Find the wheels that a package needs, without running code of any of them.

pip's own resolver builds sources to which a requirement gives an address, even with --only-binary.
Therefore the requirements are followed here: pip is asked for single packages by name and version,
without their dependencies."""

from __future__ import annotations

import contextlib
import importlib.metadata
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from neurogym_core.tools import canonical, clean
from neurogym_registry.client import Catalogue
from neurogym_registry.errors import InstallError
from neurogym_registry.index import newest
from neurogym_registry.pip import Candidate, installed_version, look_up
from neurogym_registry.resolve import unfit
from neurogym_registry.wheels import Wheel, read_requirement

MOST_ROUNDS = 50


def closure(
    wheel: Wheel,
    catalogue: Catalogue,
    core: str,
    ask: Callable[[Iterable[str]], list[Candidate]] = look_up,
) -> list[Candidate]:
    """Return the candidates for everything that a wheel needs and that is not installed.

    Packages that a registry lists come in a listed version, with a listed hash. No version is
    chosen that breaks a requirement of an installed package, unless the plan changes that package.

    Args:
        wheel: the wheel, which `read_wheel` has accepted.
        catalogue: the listings of all registries.
        core: the installed version of the core.
        ask: finds candidates for requirements.

    Raises:
        InstallError: a requirement names an address or cannot be read, nothing fits it or the
            installed packages, or a package is revoked or has another hash than the registry lists.
    """
    return _Closure(wheel, catalogue, core).follow(ask)


class _Closure:
    def __init__(self, wheel: Wheel, catalogue: Catalogue, core: str) -> None:
        self.wheel, self.catalogue, self.core = wheel, catalogue, core
        self.needs = needs_of_installed()
        self.wanted: dict[str, SpecifierSet] = {}
        self.extras: dict[str, set[str]] = {}
        self.found: dict[str, Candidate] = {}
        self.pending: set[str] = set()

    def follow(self, ask: Callable[[Iterable[str]], list[Candidate]]) -> list[Candidate]:
        if not self.allowed(self.wheel.name).contains(self.wheel.version, prereleases=True):
            raise InstallError(
                f"{self.wheel.name} {self.wheel.version} does not fit installed packages:"
                f" {self.said([self.wheel.name])}. Expected a version that does. Choose another, or"
                " use a separate environment. Nothing was installed."
            )
        self.add(self.wheel.name, self.wheel.requires, ())
        for _ in range(MOST_ROUNDS):
            names, self.pending = sorted(self.pending), set()
            lines = [line for name in names if (line := self.line(name)) is not None]
            for one in self.answers(ask, lines):
                self.refuse_other_file(one)
                self.found[one.name] = one
                self.add(one.name, one.requires, self.extras[one.name])
            if not self.pending:
                return [self.found[name] for name in sorted(self.found)]
        raise InstallError(
            f"The requirements of {self.wheel.name} lead on after {MOST_ROUNDS} rounds. Expected"
            " fewer. Report this to its maintainers. Nothing was installed."
        )

    def answers(
        self, ask: Callable[[Iterable[str]], list[Candidate]], lines: list[str]
    ) -> list[Candidate]:
        """Return the candidates; an error says which installed packages limit the choice."""
        try:
            return ask(lines) if lines else []
        except InstallError as error:
            limits = self.said(canonical(Requirement(line).name) for line in lines)
            if not limits:
                raise
            raise InstallError(
                f"{error} Installed packages limit the choice: {limits}. If no version fits both,"
                " use a separate environment. Nothing was installed."
            ) from error

    def limits(self, name: str) -> dict[str, SpecifierSet]:
        """Return {owner: versions of a package} of the installed packages that stay as they are."""
        changed = {self.wheel.name, *self.found}
        needs = self.needs.get(name, {})
        return {owner: versions for owner, versions in needs.items() if owner not in changed}

    def allowed(self, name: str) -> SpecifierSet:
        """Return the versions of a package that fit the plan and the packages that stay."""
        every = [self.wanted.get(name, SpecifierSet()), *self.limits(name).values()]
        return SpecifierSet(",".join(filter(None, map(str, every))))

    def said(self, names: Iterable[str]) -> str:
        """Return which installed packages need which versions, in words."""
        return ", ".join(
            f"{owner} needs {name}{versions}"
            for name in names
            for owner, versions in sorted(self.limits(name).items())
        )

    def add(self, owner: str, requires: Iterable[str], extras: Iterable[str]) -> None:
        """Add the requirements of a package that apply here."""
        for text in requires:
            try:
                requirement = read_requirement(text)
            except ValueError as error:
                raise InstallError(
                    f"{owner} cannot be installed: {error}. Expected requirements by name, because"
                    " pip runs the build steps of sources at an address. Report this to its"
                    " maintainers. Nothing was installed."
                ) from error
            if _applies(requirement, extras):
                name = canonical(requirement.name)
                before = (self.wanted.get(name), set(self.extras.get(name, ())))
                self.wanted[name] = self.wanted.get(name, SpecifierSet()) & requirement.specifier
                self.extras.setdefault(name, set()).update(requirement.extras)
                if before != (self.wanted[name], self.extras[name]):
                    self.pending.add(name)

    def line(self, name: str) -> str | None:
        """Return the requirement to look up for a package; None if a fitting one is there."""
        wanted, extras = self.wanted[name], self.extras[name]
        known = self.found.get(name)
        version = known.version if known else installed_version(name)
        if name == self.wheel.name:
            version = self.wheel.version
        if version is not None and wanted.contains(version, prereleases=True):
            self.refuse_revoked(name, version, installed=known is None)
            if known is not None:
                self.add(name, known.requires, extras)
            elif extras and name != self.wheel.name:
                self.add(name, importlib.metadata.requires(name) or (), extras)
            return None
        if name == self.wheel.name:
            raise InstallError(
                f"A requirement of {name} {version} needs {name}{wanted}. Expected requirements"
                " that fit together. Report this to its maintainers. Nothing was installed."
            )
        return (
            f"{name}=={self.listed(name)}"
            if self.is_listed(name)
            else f"{name}{self.allowed(name)}"
        )

    def is_listed(self, name: str) -> bool:
        """Whether a registry has releases of a package."""
        listing = self.catalogue.named(name)
        return listing is not None and bool(listing.releases)

    def listed(self, name: str) -> str:
        """Return the newest listed version that fits."""
        listing = self.catalogue.named(name)
        assert listing is not None
        allowed = self.allowed(name)
        reasons = {
            version: f"does not fit {name}{allowed}"
            if not allowed.contains(version, prereleases=True)
            else unfit(listing, release, self.core)
            for version, release in listing.releases.items()
        }
        best = newest([version for version, reason in reasons.items() if reason is None])
        if best is None:
            raise InstallError(
                f"{self.wheel.name} needs {name}, of which no listed release can be installed:"
                f" {'; '.join(f'{one} {reason}' for one, reason in reasons.items())}. Expected one"
                " that fits. Choose another version, or ask the maintainers. Nothing was installed."
            )
        return best

    def refuse_revoked(self, name: str, version: str, *, installed: bool) -> None:
        reason = self.catalogue.revocation(name, version)
        if reason is not None:
            remedy = f" Remove it: `python -m pip uninstall {name}`." if installed else ""
            raise InstallError(
                f"{self.wheel.name} needs {name} {version}, which is revoked: {clean(reason)}"
                f" Expected no revoked package.{remedy} Nothing was installed."
            )

    def refuse_other_file(self, found: Candidate) -> None:
        """Raise an error if a registry lists the package, but not this file."""
        self.refuse_revoked(found.name, found.version, installed=False)
        listing = self.catalogue.named(found.name)
        release = listing.releases.get(found.version) if listing is not None else None
        if release is not None:
            refuse_other_hash(found, release)


def refuse_other_hash(found: Candidate, release: Mapping[str, Any]) -> None:
    """Raise an error if the SHA-256 of a candidate is not in its release.

    Raises:
        InstallError: it is not.
    """
    known = {file["filename"]: file["sha256"] for file in release["files"]}
    if found.sha256 not in known.values():
        raise InstallError(
            f"pip found {found.filename} with SHA-256 {found.sha256}. Expected one of the release"
            f" in the registry: {', '.join(f'{file} {sha}' for file, sha in known.items())}. The"
            " file may have been replaced; report this to the package's maintainers. Nothing was"
            " installed."
        )


def _applies(requirement: Requirement, extras: Iterable[str]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": one}) for one in {"", *extras})


def needs_of_installed() -> dict[str, dict[str, SpecifierSet]]:
    """Return {package: {owner: versions}}, the requirements of installed packages that are met.

    pip does not record which extras are used: those of which all requirements are met count.
    """
    found: dict[str, dict[str, SpecifierSet]] = {}
    for distribution in importlib.metadata.distributions():
        try:
            owner = canonical(distribution.metadata["Name"] or "")
        except UnicodeDecodeError:
            continue  # `ngym doctor` names it
        requirements = _readable(distribution.requires or ())
        plain = [one for one in requirements if _applies(one, ())]
        needed = [one for one in plain if _is_met(one)]
        for extra in distribution.metadata.get_all("Provides-Extra") or ():
            more = [one for one in requirements if one not in plain and _applies(one, (extra,))]
            needed += more if all(map(_is_met, more)) else []
        for one in needed:
            name = canonical(one.name)
            if one.specifier and name != owner:
                before = found.setdefault(name, {}).get(owner, SpecifierSet())
                found[name][owner] = before & one.specifier
    return found


def _readable(texts: Iterable[str]) -> list[Requirement]:
    found = []
    for text in texts:
        with contextlib.suppress(ValueError):  # one at an address says nothing of versions
            found.append(read_requirement(text))
    return found


def _is_met(requirement: Requirement) -> bool:
    here = installed_version(requirement.name)
    return here is not None and requirement.specifier.contains(here, prereleases=True)
