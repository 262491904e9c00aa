"""Compares the version of the core with the version specifiers of packages.

Only the release number is compared (``1.2.0rc1`` as ``1.2.0``), so that packages can be tested with
a pre-release of the core. The full syntax of specifiers would need the package packaging.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_CLAUSE = re.compile(
    r"(~=|===|==|!=|<=|>=|<|>)\s*v?(\d+(?:\.\d+)*)(\.\*)?[a-z0-9.+!_-]*", re.IGNORECASE
)
_REQUIREMENT = re.compile(
    r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*([^;]*)(;.*)?", re.DOTALL
)


def release(version: str) -> tuple[int, ...]:
    """Return the release number, ``(1, 2, 0)`` for ``1.2.0rc1``; ``()`` if there is none."""
    found = re.match(r"\s*v?(?:\d+!)?(\d+(?:\.\d+)*)", version)
    return tuple(int(part) for part in found.group(1).split(".")) if found else ()


def satisfies(version: str, specifier: str) -> bool | None:
    """Return whether a version satisfies a specifier such as ``>=1.0,<2``; None if unreadable."""
    clauses = [clause.strip() for clause in specifier.split(",") if clause.strip()]
    parsed = [_CLAUSE.fullmatch(clause) for clause in clauses]
    if not release(version) or not all(parsed):
        return None
    return all(_meets(release(version), *match.groups()) for match in parsed if match is not None)


def core_specifier(requirements: Iterable[str], name: str) -> str | None:
    """Return the specifier for the distribution `name`; None if no requirement names it.

    Requirements of extras are ignored. Several requirements for the same name are joined.
    """
    found = []
    for requirement in requirements:
        match = _REQUIREMENT.fullmatch(requirement)
        if match is None or re.sub(r"[-_.]+", "-", match.group(1)).lower() != name:
            continue
        if "extra" not in (match.group(3) or ""):
            found.append(match.group(2).strip().strip("()").replace(" ", ""))
    return ",".join(part for part in found if part) if found else None


def _meets(have: tuple[int, ...], operator: str, number: str, star: str | None) -> bool:
    want = tuple(int(part) for part in number.split("."))
    size = max(len(have), len(want))
    left, right = have + (0,) * (size - len(have)), want + (0,) * (size - len(want))
    same = left[: len(want)] == want if star else left == right
    return {
        "<": left < right,
        "<=": left <= right,
        ">": left > right,
        ">=": left >= right,
        "==": same,
        "===": same,
        "!=": not same,
        "~=": left >= right and left[: len(want) - 1] == want[:-1],  # ~=1.4.2 is >=1.4.2, ==1.4.*
    }[operator]
