"""Offers of this project's other packages, for errors, help texts and searches.

The only source is ``index.json`` of the repository's registry, of which wheels of the core have a
copy. Installed packages are found through entry points, not through this list."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from neurogym_core.ecosystem.published import how_to_install
from neurogym_core.errors import nearest

_CORE = Path(__file__).resolve().parents[1]


class ListedTask(NamedTuple):
    """A task of this project: its id and title, its package, and all its words."""

    id: str
    title: str
    package: str
    words: str


@cache
def rows() -> tuple[dict[str, Any], ...]:
    """Return the rows of the packages; none if the list cannot be read."""
    for root in (_CORE / "_bundled", _CORE.parent / "registry"):  # of a wheel, of a checkout
        try:
            return tuple(json.loads((root / "index.json").read_text("utf-8"))["packages"])
        except (OSError, ValueError):  # an incomplete installation must not replace an error
            continue
    return ()


@cache
def brought(kind: str) -> dict[str, str]:
    """Return {name: package} for a kind.

    Args:
        kind: "commands", "subjects", "plugins", "wrappers", "former wrappers", "tasks" (bare
            names), "namespaces" or "modules".
    """
    pairs = {
        "wrappers": lambda row: [one["name"] for one in row["wrappers"]],
        "former wrappers": lambda row: [old for one in row["wrappers"] for old in one["aliases"]],
        "tasks": lambda row: [one["name"] for one in row["tasks"]],
        "namespaces": lambda row: [row["namespace"]] if row["tasks"] else [],
        "modules": lambda row: [row["name"].replace("-", "_")],
    }.get(kind, lambda row: row["offers"].get(kind, ()))
    return {name: row["name"] for row in rows() for name in pairs(row)}


@cache
def helps(kind: str) -> dict[str, str]:
    """Return {name: line of help} for "commands" or "subjects", so that help texts import none."""
    own = (row.get("helps", {}).get(kind, {}) for row in rows())
    return {name: text for some in own for name, text in some.items()}


def help_line(kind: str, name: str, owners: Iterable[str]) -> str:
    """Return the line of help about an offer, or the packages of strangers that have it."""
    owners = dict.fromkeys(owners)
    ours = [*owners] == [brought(kind).get(name)]
    return helps(kind)[name] if ours else f"from {' and from '.join(owners)}"


@cache
def tasks() -> tuple[ListedTask, ...]:
    """Return the tasks of all packages; their words are those of titles, tags, papers and so on."""
    found = []
    for row in rows():
        for task in row["tasks"]:
            papers = [str(one.get(field, "")) for one in task.get("references", ())
                      for field in ("authors", "year", "title", "doi")]  # fmt: skip
            words = (row["name"], task["name"], task["title"], task["summary"], *task["tags"],
                     *task["species"], *task.get("aliases", ()), *papers)  # fmt: skip
            name = f"{row['namespace']}/{task['name']}"
            found.append(ListedTask(name, task["title"], row["name"], " ".join(words).casefold()))
    return tuple(found)


def resembling(name: str) -> ListedTask | None:
    """Return the task whose name is nearest to an unknown one, or None if none is near."""
    known = {task.id.rpartition("/")[2]: task for task in tasks()}
    near = nearest(name.rpartition("/")[2], known, 0.8)
    return None if near is None else known[near]


def comes_with(what: str, package: str | None) -> str:
    """Return the line that names the package that brings something.

    For example: 'check' comes with neurogym-check: `pip install -e /src/plugins/neurogym-check`

    Args:
        what: the missing command, wrapper, ability and so on.
        package: its package; None if the list of packages cannot be read.
    """
    if package is None:
        return f"{what!r} comes with a package that is not installed. Install the core again."
    return f"{what!r} comes with {package}: {how_to_install(package)}"


def of_missing_module(error: BaseException) -> str:
    """Return the line that names the package of a missing module; "" for any other error."""
    module = (getattr(error, "name", None) or "").partition(".")[0]
    if not isinstance(error, ImportError) or module not in brought("modules"):
        return ""
    return comes_with(module, brought("modules")[module])
