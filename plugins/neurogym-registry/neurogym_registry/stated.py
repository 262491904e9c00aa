"""Compare a listed release with its wheel: the plan of an installation shows the wheel's facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from neurogym_core.tools import clean
from neurogym_registry.client import Listing
from neurogym_registry.errors import InstallError, RegistryError
from neurogym_registry.releases import facts_of
from neurogym_registry.wheels import Wheel

FACTS = ("version", "requires_core", "requires_python", "license", "offers")
"""Facts of a release that its wheel states, too."""
OF_ROWS = ("name", "title", "summary", "tags", "species", "references", "aliases")
"""The same of its tasks and wrappers, which the index has for the newest release."""


def stated_by(wheel: Wheel, listing: Listing, release: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts that a wheel states, in the form of a release file.

    Args:
        wheel: the wheel, whose hash is that of the release.
        listing: the package in its registry.
        release: the release in the index.

    Raises:
        InstallError: the registry states other facts, so that its pages and searches would show
            another package than the installed one.
    """
    try:
        facts = facts_of(wheel)
    except RegistryError as error:
        raise InstallError(f"{error} Nothing was installed.") from error
    differ = list(_differences(facts, listing, release))
    if differ:
        raise InstallError(
            f"{clean(listing.registry)} states of {wheel.name} {wheel.version}: {differ[0]}."
            " Expected the facts of the wheel, which its hash identifies. Choose another version,"
            " and report this to the keepers of the registry. Nothing was installed."
        )
    return facts


def _differences(
    facts: Mapping[str, Any], listing: Listing, release: Mapping[str, Any]
) -> Iterator[str]:
    """Yield each fact that differs, in words."""
    for key in FACTS:
        listed = release.get(key, {} if key == "offers" else None)
        if listed != facts[key]:
            yield f"{key} {_short(listed)}, and the wheel {_short(facts[key])}"
    if release["version"] != listing.latest:
        return  # the index has no rows of it
    for kind in ("tasks", "wrappers"):
        rows = [{key: row.get(key) for key in OF_ROWS} for row in listing.row.get(kind, ())]
        own = [{key: row.get(key) for key in OF_ROWS} for row in facts[kind]]
        if rows == own:
            continue
        names, others = ([one["name"] for one in some] for some in (rows, own))
        if names != others:
            yield f"{kind} {_short(names)}, and the wheel {_short(others)}"
        for one, other in zip(rows, own, strict=False):
            for key in OF_ROWS:
                if one[key] != other[key]:
                    yield (
                        f"{key} {_short(one[key])} of {clean(str(one['name']))}, and the wheel"
                        f" {_short(other[key])}"
                    )


def _short(value: Any) -> str:
    text = clean(str(value))
    return text if len(text) <= 80 else f"{text[:77]}..."
