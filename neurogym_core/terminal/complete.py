"""Shell completion of names of tasks, wrappers and packages, without importing them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import click
from click.shell_completion import CompletionItem

from neurogym_core.ecosystem.discovery import installed
from neurogym_core.ecosystem.manifest import vocabulary


def completes(*kinds: str) -> Callable[[click.Context, click.Parameter, str], list[Any]]:
    """Return a function for ``shell_complete=`` of click, which completes names of some kinds.

    Args:
        kinds: "tasks" (usable ones by id and unique bare name; else files), "wrappers" (usable
            ones), "packages" (also broken ones), or "tags" and "species" of the vocabulary.
    """

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        names = {name for kind in kinds for name in _names(kind) if name.startswith(incomplete)}
        if not names and "tasks" in kinds:
            return [CompletionItem(incomplete, type="file")]
        return [CompletionItem(name) for name in sorted(names)]

    return complete


def _names(kind: str) -> Iterable[str]:
    if kind in ("tags", "species"):
        return vocabulary().words[kind]
    if kind == "packages":
        return [one.distribution for one in installed().packages]
    if kind == "wrappers":
        return [one.name for one in installed().wrappers if one.usable]
    tasks = [task for task in installed().tasks if task.usable]
    often = Counter(task.name for task in tasks)
    return [task.id for task in tasks] + [name for name in often if often[name] == 1]
