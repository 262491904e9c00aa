"""Shell completion of names of tasks, wrappers and packages, without importing them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import click
from click.shell_completion import CompletionItem

from neurogym_core.ecosystem.discovery import installed
from neurogym_core.ecosystem.manifest import vocabulary
from neurogym_core.ecosystem.names import CORE, canonical


def complete(
    kinds: Sequence[str], ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete names of some kinds without importing anything.

    For example: ``click.argument("task", shell_complete=partial(complete, ("tasks",)))``.

    Args:
        kinds: "tasks" (usable ones by id and unique bare name; else files), "wrappers" (usable
            ones), "packages" (also broken ones), "other packages" (without the core), "groups" (of
            tasks), or "tags" and "species" of the vocabulary.
        ctx, param, incomplete: as click gives them.
    """
    names = {name for kind in kinds for name in _names(kind) if name.startswith(incomplete)}
    if not names and "tasks" in kinds:
        return [CompletionItem(incomplete, type="file")]
    return [CompletionItem(name) for name in sorted(names)]


def _names(kind: str) -> Sequence[str]:
    if kind in ("tags", "species"):
        return vocabulary().words[kind]
    if kind in ("packages", "other packages"):
        found = [one.distribution for one in installed().packages]
        return found if kind == "packages" else [one for one in found if canonical(one) != CORE]
    if kind == "groups":
        return [one.namespace for one in installed().packages if one.tasks]
    if kind == "wrappers":
        return [one.name for one in installed().wrappers if one.usable]
    tasks = [task for task in installed().tasks if task.usable]
    often = Counter(task.name for task in tasks)
    return [task.id for task in tasks] + [name for name in often if often[name] == 1]
