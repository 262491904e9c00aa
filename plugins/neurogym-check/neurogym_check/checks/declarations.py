"""T: declarations of a task have an effect."""

from __future__ import annotations

import inspect
import itertools
import sys
from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from types import CodeType, FunctionType, ModuleType
from typing import Any

from neurogym_check.candidate import Candidate
from neurogym_check.check_types import NotApplicable, check, require
from neurogym_core import Task
from neurogym_core.players import TaskView
from neurogym_core.tools import is_file_reference, listed

FOREIGN = {*sys.stdlib_module_names, "neurogym_core", "numpy", "scipy", "gymnasium"} - {"__main__"}
"""Top-level packages whose code reads no parameter of a task."""
HOLDERS = (dict, list, tuple, partial)
"""Types of objects that may hold functions of a task's module."""


def _parameters(cls: type) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(cls).parameters


@check("T010", kinds=("task",))
def declarations_are_used(candidate: Candidate) -> None:
    """The code of the task reads every parameter, and names every period of `timing`.

    Otherwise a user changes a parameter or a duration, and nothing happens. Use it in `define`,
    `draw`, `new_trial` or a hook, name the period in `trial.periods(…)`, or do not declare it."""
    task = candidate.task
    if TaskView(task).wrapped is not None:
        raise NotApplicable("it is a wrapper, which has the declarations of the wrapped task")
    cls = type(task)
    own = [name for name in _parameters(cls) if name not in _parameters(Task)]
    read = names_read_by(cls)
    unread = [name for name in own if name not in read]
    played = TaskView(task).period_names
    # The code may name periods that it plays with other settings.
    idle = [name for name in _own_timing(cls) if name not in played and name not in read]
    found = []
    if unread:
        found.append(f"No code of {cls.__name__} reads the parameters {listed(unread)}.")
    if idle:
        found.append(
            f"No trial has the periods {listed(idle)} of timing; its periods are {listed(played)}."
        )
    require(not found, " ".join(found), parameters=unread, periods=idle)


def _own_timing(cls: type) -> list[str]:
    """Return the periods of `timing` of the class with `new_trial`, and of its subclasses.

    A class with its own `new_trial` may leave out periods of the class that it is made from.
    """
    bases = list(itertools.takewhile(lambda base: "new_trial" not in vars(base), cls.__mro__))
    own = cls.__mro__[: len(bases) + 1]
    return list(dict.fromkeys(name for base in own for name in vars(base).get("timing", {})))


def names_read_by(cls: type) -> set[str]:
    """Return the names, and the texts, in the code that a task class may run.

    Methods that are overridden count only if an override calls `super()`. Code that is written
    elsewhere counts if it is called by its name.
    """
    own = [base for base in cls.__mro__ if base not in Task.__mro__]
    found: set[str] = set()
    waiting = [inspect.getattr_static(cls, name) for base in own for name in vars(base)]
    seen: set[int] = set()
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict | list | tuple) and id(value) not in seen:
            seen.add(id(value))
            waiting += value.values() if isinstance(value, dict) else value
        for function in _functions_of(value):
            if id(function) in seen:
                continue
            seen.add(id(function))
            names = set().union(*(_names_in(code) for code in _codes_of(function.__code__)))
            found |= names
            if "super" in names or "__class__" in names:
                name = function.__name__
                waiting += [vars(base)[name] for base in own if name in vars(base)]
            known = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
            called = [known[one] for one in names & known.keys() if one != "__class__"]
            for one in filter(_is_own, called):
                parts = vars(one) if isinstance(one, ModuleType) else {}
                waiting += [one, *(parts[part] for part in names & parts.keys())]
    return found


def _is_own(value: Any) -> bool:
    if isinstance(value, HOLDERS):
        return True
    module = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    # A task in a single file is a submodule of the module that reads files.
    return isinstance(module, str) and (
        module.startswith(f"{is_file_reference.__module__}.")
        or module.partition(".")[0] not in FOREIGN
    )


def _functions_of(value: Any) -> Iterator[FunctionType]:
    """Yield the functions of an attribute: of a method, a property, or a class."""
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    if callable(value) and not isinstance(value, type):
        value = inspect.unwrap(value)
    parts = {
        property: lambda: (value.fget,),
        cached_property: lambda: (value.func,),
        partial: lambda: (value.func,),
        type: lambda: tuple(vars(value).values()),
    }
    if isinstance(value, FunctionType):
        yield value
        return
    for kind, taken in parts.items():
        if isinstance(value, kind):
            for one in taken():
                if not isinstance(one, type):
                    yield from _functions_of(one)


def _codes_of(code: CodeType) -> Iterator[CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _codes_of(one)


def _names_in(code: CodeType) -> set[str]:
    texts = {one for one in code.co_consts if isinstance(one, str)}
    several = {one for item in code.co_consts if isinstance(item, tuple) for one in item}
    return {*code.co_names, *code.co_freevars, *texts, *filter(_is_text, several)}


def _is_text(value: Any) -> bool:
    return isinstance(value, str)
