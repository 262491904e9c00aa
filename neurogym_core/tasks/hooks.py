"""The step hooks of a task, and the conditions that they read."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator
from types import CodeType, FunctionType
from typing import Any

from neurogym_core.tasks.state import TaskLike, state_of

HOOKS = ("step_action", "step_observation", "step_target")


def read_by_hooks(task: TaskLike, conditions: Collection[str]) -> set[str]:
    """Return the names of those conditions that the hooks of a task mention.

    The code is read, not run, since a hook may read a condition after rare actions only. The
    search follows the methods and functions that hooks call, and the texts that they refer to
    (``now.conditions[self.which]``). A hook without Python code may read all conditions.
    """
    found: set[str] = set()
    for owner in _with_wrapped(task):
        hooks = [getattr(owner, name) for name in HOOKS if getattr(owner, name) is not None]
        if not all(_function(hook) for hook in hooks):
            return set(conditions)
        # A wrapper without its own hook has the one of the wrapped task.
        for hook in hooks:
            found.update(_texts(hook, getattr(hook, "__self__", owner)))
    return found & set(conditions)


def _with_wrapped(task: TaskLike) -> Iterator[TaskLike]:
    """Yield a task, and the tasks that it wraps."""
    inner: TaskLike | None = task
    while inner is not None:
        yield inner
        inner = state_of(inner).wraps


def _texts(hook: Any, owner: Any) -> Iterator[str]:
    """Yield the texts that the code of a hook of `owner` refers to, and of functions it calls."""
    waiting, seen = [hook], set()
    packages = {cls.__module__.partition(".")[0] for cls in type(owner).__mro__}
    packages -= {"builtins", "neurogym_core"}  # no need to search the core's methods
    while waiting:
        function = _function(waiting.pop())
        if function is None or function in seen:
            continue
        seen.add(function)
        for code in _codes(function.__code__):
            yield from _flat(code.co_consts)
            for name in code.co_names:
                known = _named(name, function, owner)
                yield from _flat(known)
                if _package(known) in packages:
                    waiting.append(known)
        for cell in function.__closure__ or ():
            yield from _flat(cell.cell_contents)
            waiting.append(cell.cell_contents)


def _function(value: Any) -> FunctionType | None:
    """The Python function behind a method, property or decorated function, or None."""
    value = getattr(value, "fget", value)
    value = getattr(value, "__func__", value)
    value = inspect.unwrap(value) if callable(value) else value
    return value if isinstance(value, FunctionType) else None


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object, and those of the functions within it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


def _named(name: str, function: FunctionType, owner: Any) -> Any:
    """The attribute of `owner` or the global of `function` with this name, or None."""
    known = inspect.getattr_static(owner, name, None)
    return function.__globals__.get(name) if known is None else known


def _package(value: Any) -> str | None:
    function = _function(value)
    return None if function is None else function.__module__.partition(".")[0]


def _flat(value: Any) -> Iterator[str]:
    """Yield a text, or the texts in a tuple, list or set."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple | list | set | frozenset):
        for item in value:
            yield from _flat(item)
