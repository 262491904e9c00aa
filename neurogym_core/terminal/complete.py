"""Shell completion of names of tasks, wrappers and packages, without importing them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import click
from click.shell_completion import CompletionItem

from neurogym_core.ecosystem.discovery import declared, installed
from neurogym_core.ecosystem.manifest import vocabulary
from neurogym_core.ecosystem.names import CORE, canonical


def complete_task(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """Complete the ids and unique bare names of usable tasks, and files.

    Args:
        ctx, param, incomplete: as ``shell_complete=`` of click gives them.
    """
    tasks = [task for task in installed().tasks if task.usable]
    often = Counter(task.name for task in tasks)
    names = [task.id for task in tasks] + [task.name for task in tasks if often[task.name] == 1]
    return _items(names, incomplete) or [CompletionItem(incomplete, type="file")]


def complete_wrapper(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """Complete the names of usable wrappers."""
    return _items({one.name for one in installed().wrappers if one.usable}, incomplete)


def complete_package(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """Complete the names of installed packages, also of broken ones, without the core.

    Args:
        ctx, param, incomplete: as ``shell_complete=`` of click gives them.
    """
    names = {one.distribution for one in declared().packages}
    return _items({name for name in names if canonical(name) != CORE}, incomplete)


def complete_word(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """Complete the words of the vocabulary, for the parameters ``tags`` and ``species``.

    Args:
        ctx, param, incomplete: as ``shell_complete=`` of click gives them.
    """
    words = vocabulary().words[str(param.name)]
    return [CompletionItem(word) for word in words if word.startswith(incomplete)]


def complete_target(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """Complete the names of tasks and packages, and files.

    Args:
        ctx, param, incomplete: as ``shell_complete=`` of click gives them.
    """
    found = _items({one.distribution for one in installed().packages}, incomplete)
    tasks = complete_task(ctx, param, incomplete)
    return [*found, *(item for item in tasks if item.type != "file" or not found)]


def complete_anything(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """Complete the names of tasks, wrappers and packages, and files."""
    found = complete_wrapper(ctx, param, incomplete)
    others = complete_target(ctx, param, incomplete)
    return [*found, *(item for item in others if item.type != "file" or not found)]


def _items(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in sorted(names) if name.startswith(incomplete)]
