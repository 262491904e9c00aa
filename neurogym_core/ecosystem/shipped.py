"""Tasks of this project's other packages, from the list that the core ships.

Without neurogym-registry, the core answers ``ngym search`` and unknown names from this list. The
tasks of other authors, and newer lists, need a registry."""

from __future__ import annotations

import json
from functools import cache
from typing import NamedTuple

from neurogym_core._bundled import list_of_packages
from neurogym_core.errors import nearest


class ShippedTask(NamedTuple):
    """A task that may be installed: its id, bare name and title, and its package.

    Attributes:
        words: lower-case text for searches: names, title, summary, tags and species.
    """

    id: str
    name: str
    title: str
    package: str
    words: str


@cache
def shipped_tasks() -> tuple[ShippedTask, ...]:
    """Return the tasks in the list by id; none if the list cannot be read."""
    try:
        packages = json.loads(list_of_packages().read_text("utf-8"))["packages"]
    except (OSError, ValueError):  # an incomplete installation must not replace an error message
        return ()
    rows = [(package, task) for package in packages for task in package["tasks"]]
    return tuple(
        ShippedTask(
            f"{package['namespace']}/{task['name']}", task["name"], task["title"], package["name"],
            " ".join(
                (package["name"], task["name"], task["title"], task["summary"], *task["tags"],
                 *task["species"], *task.get("aliases", ()))
            ).casefold(),
        )
        for package, task in rows
    )  # fmt: skip


def searched(text: str) -> list[ShippedTask]:
    """Return the tasks with all words of a text."""
    words = text.casefold().split()
    return [task for task in shipped_tasks() if all(word in task.words for word in words)]


def shipped_task(name: str) -> ShippedTask | None:
    """Return the task of an id or bare name, or None."""
    return next((task for task in shipped_tasks() if name in (task.id, task.name)), None)


def resembling(name: str) -> ShippedTask | None:
    """Return the task whose name is nearest to an unknown one, or None if none is near."""
    names = {task.name: task for task in shipped_tasks()}
    near = nearest(name.rpartition("/")[2], names, 0.8)
    return None if near is None else names[near]
