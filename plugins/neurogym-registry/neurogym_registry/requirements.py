"""Requirements of packages: names of distributions, and versions."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from packaging.requirements import Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from neurogym_core.tools import canonical

CORE = "neurogym-core"


def is_distribution_name(name: str) -> bool:
    """Return whether pip accepts this name; other names are not printed as part of a command."""
    return re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", name) is not None


def core_specifier(requirements: Iterable[str]) -> str:
    """Return the specifier for the core, in the words of the requirements; "" if none names it."""
    own = re.compile(rf"\s*{CORE.replace('-', '[-_.]+')}\s*(\[[^]]*\])?([^;]*)", re.IGNORECASE)
    found = [
        re.sub(r"[()\s]", "", match[2])
        for one in requirements
        if canonical(Requirement(one).name) == CORE and "extra" not in one.partition(";")[2]
        if (match := own.match(one))
    ]
    return ",".join(filter(None, found))


@functools.cache
def satisfies(version: str, specifier: str) -> bool | None:
    """Return whether a version satisfies a specifier; None if one of them cannot be read.

    A pre-release, ``1.2.0rc1``, counts as ``1.2.0``."""
    try:
        release = Version(version.rstrip("+")).base_version  # of builds of Python
        return SpecifierSet(specifier).contains(release)
    except (InvalidSpecifier, InvalidVersion):
        return None
