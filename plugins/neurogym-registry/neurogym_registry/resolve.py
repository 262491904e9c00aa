"""Choose the release of a listed package to install."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any

from neurogym_core.tools import how_to_install
from neurogym_registry.client import Listing
from neurogym_registry.errors import InstallError
from neurogym_registry.index import newest
from neurogym_registry.requirements import CORE, satisfies
from neurogym_registry.versions import is_prerelease, version_key


def resolve(
    listing: Listing, version: str | None, core: str, *, yanked: bool = False
) -> Mapping[str, Any]:
    """Return the release to install: the requested version, or the newest final one that fits.

    Args:
        listing: the package.
        version: the requested version, or None.
        core: the installed version of the core.
        yanked: accept a yanked release if its version is requested.

    Raises:
        InstallError: no release fits; the message has the reason for each.
    """
    releases = listing.releases
    if version is not None:
        return _asked_for(listing, version, core, yanked)
    reasons = {number: unfit(listing, release, core) for number, release in releases.items()}
    fitting = [
        number for number, reason in reasons.items() if reason is None and not is_prerelease(number)
    ]
    best = newest(fitting)
    if best is not None:
        return releases[best]
    shown = [
        f"{number} {reason or 'is a pre-release'}"
        for number, reason in sorted(reasons.items(), key=lambda item: version_key(item[0]))
    ]
    if not shown and "folder" in listing.row:
        raise InstallError(
            f"{listing.name} has no release in the registry, because it is a package of the"
            " repository of the core. Expected a package with releases. Install it from its"
            f" sources: {how_to_install(listing.name)}."
        )
    raise InstallError(
        f"No release of {listing.name} can be installed: {'; '.join(shown) or 'it has none'}."
        f" Expected one that fits {CORE} {core} and Python {platform.python_version()}."
        f" {_remedy(listing, releases, core)}"
    )


def _remedy(listing: Listing, releases: Mapping[str, Mapping[str, Any]], core: str) -> str:
    """Return what to do where none of the releases can be installed."""
    sound = [one for one in releases.values() if listing.revocation(one["version"]) is None]
    remedies = []
    if any(one["yanked"] is None and _misfit(one, core) is not None for one in sound):
        remedies.append("use an environment with these versions")
    if any(one["yanked"] is None and _misfit(one, core) is None for one in sound):
        remedies.append("request a pre-release with ==VERSION")
    if any(one["yanked"] is not None and _misfit(one, core) is None for one in sound):
        remedies.append("request a yanked release with ==VERSION --yanked")
    said = ", or ".join(remedies or ["ask its maintainers for a new release"])
    return f"{said[0].upper()}{said[1:]}."


def unfit(listing: Listing, release: Mapping[str, Any], core: str) -> str | None:
    """Return why a release cannot be installed, or None. Pre-releases can, if requested."""
    if (reason := listing.revocation(release["version"])) is not None:
        return f"is revoked ({reason.rstrip('.')})"
    if release["yanked"] is not None:
        return f"is yanked ({release['yanked'].rstrip('.')})"
    return _misfit(release, core)


def _misfit(release: Mapping[str, Any], core: str) -> str | None:
    if satisfies(core, release["requires_core"]) is not True:
        return f"needs {CORE}{release['requires_core']}, and {core} is installed"
    if satisfies(platform.python_version(), release["requires_python"]) is not True:
        return f"needs Python {release['requires_python']}, and this is {platform.python_version()}"
    return None


def _asked_for(listing: Listing, version: str, core: str, yanked: bool) -> Mapping[str, Any]:
    wanted = version_key(version)
    release = next(
        (one for number, one in listing.releases.items() if version_key(number) == wanted), None
    )
    if release is None:
        known = ", ".join(sorted(listing.releases, key=version_key)) or "none"
        raise InstallError(
            f"{listing.name} has no release {version}. Known: {known}. Choose one of them."
        )
    reason = unfit(listing, release, core)
    if reason is not None and reason.startswith("is yanked") and yanked:
        reason = _misfit(release, core)
    if reason is not None:
        hint = " Add --yanked to install it anyway." if reason.startswith("is yanked") else ""
        raise InstallError(
            f"{listing.name} {release['version']} {reason}. Expected a release that can be"
            f" installed. Choose another version.{hint}"
        )
    return release
