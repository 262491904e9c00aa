"""Public parts of commands: options, pages, progress bars, completion.

`ngym` and the commands of other packages use them.
"""

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
    packages = installed().packages
    tasks = [task for task in installed().tasks if task.usable]
    often = Counter(task.name for task in tasks)
    known = {
        "tasks": [*(task.id for task in tasks), *(one for one in often if often[one] == 1)],
        "wrappers": [one.name for one in installed().wrappers if one.usable],
        "packages": [one.distribution for one in packages],
        "other packages": [
            one.distribution for one in packages if canonical(one.distribution) != CORE
        ],
        "groups": [one.namespace for one in packages if one.tasks],
        **vocabulary().words,
    }
    names = sorted({name for kind in kinds for name in known[kind] if name.startswith(incomplete)})
    if not names and "tasks" in kinds:
        return [CompletionItem(incomplete, type="file")]
    return [*map(CompletionItem, names)]
