"""Shell completion of names of tasks, wrappers and packages, without importing them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import click
from click.shell_completion import CompletionItem

from neurogym_core.ecosystem.discovery import installed


def complete_task(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """Complete the ids and unique bare names of usable tasks, and files."""
    tasks = [task for task in installed().tasks if task.usable]
    often = Counter(task.name for task in tasks)
    names = [task.id for task in tasks] + [task.name for task in tasks if often[task.name] == 1]
    found = [CompletionItem(name) for name in sorted(names) if name.startswith(incomplete)]
    return found or [CompletionItem(incomplete, type="file")]


def complete_anything(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """Complete the names of tasks, wrappers and packages, and files."""
    names = [wrapper.name for wrapper in installed().wrappers if wrapper.usable]
    names += [package.distribution for package in installed().packages]
    found = [CompletionItem(name) for name in sorted(set(names)) if name.startswith(incomplete)]
    tasks = complete_task(ctx, param, incomplete)
    return [*found, *(item for item in tasks if item.type != "file" or not found)]
