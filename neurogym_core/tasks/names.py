"""Names of a task that are reserved for the core; a class that defines one of them is refused.

The core keeps its state of a task under one name (`STATE`) and has no private methods, so that
authors may use every name that begins with "_". Of the public names of `Task`, they may define
those in `AUTHORS` and `BASE_PARAMETERS`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from neurogym_core.errors import TaskDefinitionError, listed
from neurogym_core.tasks.parameters import PLAYER_NAMES, own_annotations
from neurogym_core.tasks.state import STATE
from neurogym_core.trials.record import RECORD_NAMES

BASE_PARAMETERS = frozenset({"dt", "trials_per_session", "abort_ends_trial", "max_duration"})
"""The parameters that every task has."""

METHODS = (
    "define", "new_trial", "new_session", "draw", "draw_ahead", "step_action", "step_observation",
    "step_target",
)  # fmt: skip
DECLARATIONS = (
    "timing", "rewards", "supervised", "reads_outcomes", "evidence_periods", "go_cue",
    "trial_state",
)  # fmt: skip
AUTHORS = frozenset({*METHODS, *DECLARATIONS})
"""Methods and declarations that authors may define in a task class."""
REMOVED = {"draw_one": "draw", "new_session_one": "new_session"}
"""Methods of former versions, which nothing calls, and those that have their jobs."""


@cache
def public_names(cls: type) -> frozenset[str]:
    """Return the names in a class of the core that do not begin with "_"."""
    return frozenset(name for name in dir(cls) if not name.startswith("_"))


def check_class(cls: type, core: type, free: Iterable[str]) -> None:
    """Refuse a class that defines a name of the class `core`, in itself or in a mixin."""
    mixins = [
        base for base in cls.__mro__ if not (issubclass(base, core) or issubclass(core, base))
    ]
    for base in (cls, *mixins):
        _check_parameters(cls, own_annotations(base), public_names(core))
        taken = {STATE, *public_names(core)} - {*AUTHORS, *BASE_PARAMETERS, *free}
        for name in vars(base):
            if name in REMOVED:
                raise TaskDefinitionError(
                    f"{cls.__name__} defines {name!r}, which is never called. Expected"
                    f" {REMOVED[name]!r}, for all subjects at once. Write {REMOVED[name]}(self,"
                    " session, rng) with arrays of one row per subject: len(session)."
                )
            if name in taken:
                raise TaskDefinitionError(
                    f"{cls.__name__} defines {name!r}, a name that is taken by the core; choose"
                    f" another. A task class may define {listed(METHODS)}, and set"
                    f" {listed(DECLARATIONS)}."
                )


def _check_parameters(cls: type, declared: Mapping[str, Any], taken: Iterable[str]) -> None:
    for name, kind in declared.items():
        if name in PLAYER_NAMES or (name in taken and name not in BASE_PARAMETERS):
            raise TaskDefinitionError(
                f"{cls.__name__} declares the parameter {name!r}, a name that is taken by the core;"
                " choose another."
                + (
                    f" For the task's {name!r}, drop the annotation: {name} = …"
                    if name in AUTHORS
                    else ""
                )
            )
        if not hasattr(cls, name):
            raise TaskDefinitionError(
                f"{cls.__name__} declares the parameter {name!r} without a default; give it one:"
                f" {name}: {kind} = …"
            )
        default = getattr(cls, name)
        if kind in (int, "int") and isinstance(default, float):
            raise TaskDefinitionError(
                f"{cls.__name__} declares {name}: int = {default!r}. Expected a whole number as the"
                f" default, like its annotation. Write {name}: float = {default!r}."
            )


def check_assignment(task_name: str, name: str, core: type, free: Iterable[str]) -> None:
    """Refuse an assignment to an attribute of the core's base class."""
    if name == STATE or (
        name in public_names(core) and name not in {*AUTHORS, *BASE_PARAMETERS, *free}
    ):
        raise TaskDefinitionError(
            f"{task_name}.{name} was set in define(), a name that is taken by the core; choose"
            f" another, such as _{name}."
        )


def check_condition(task_name: str, name: str) -> None:
    """Raise `TaskDefinitionError` for a condition with the name of a column of every record."""
    if name in RECORD_NAMES:
        raise TaskDefinitionError(
            f"{task_name} declares the condition {name!r}, the name of a column that every record"
            " has; choose another."
        )
