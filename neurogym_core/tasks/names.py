"""Which names of a task are the core's, so that nothing an author writes can collide with them
unnoticed.

The core keeps its own state under one name (`STATE`), and has no private methods: any name that
begins with "_" is free. Of the public names, an author may define those in `AUTHORS` and
`BASE_PARAMETERS`; all others are refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from neurogym_core.errors import TaskDefinitionError, listed
from neurogym_core.tasks.parameters import PLAYER_NAMES, own_annotations
from neurogym_core.tasks.state import STATE
from neurogym_core.trials.builder import VERBS, TrialBuilder
from neurogym_core.trials.record import RECORD_NAMES

BASE_PARAMETERS = frozenset({"dt", "trials_per_session", "abort_ends_trial", "max_duration"})
"""The parameters that every task has."""

METHODS = (
    "define",
    "new_trial",
    "new_session",
    "draw",
    "draw_ahead",
    "step_action",
    "step_observation",
    "step_target",
)
DECLARATIONS = (
    "timing",
    "rewards",
    "supervised",
    "batched",
    "reads_outcomes",
    "evidence_periods",
    "go_cue",
    "trial_state",
)
AUTHORS = frozenset({*METHODS, *DECLARATIONS})
"""What an author defines in a task class."""

RESERVED = frozenset({*PLAYER_NAMES, *VERBS, "previous"})
"""Names that players, verbs and sessions use; no parameter may have one of them."""


@cache
def public_names(cls: type) -> frozenset[str]:
    """Names of a class of the core that do not begin with "_"."""
    return frozenset(name for name in dir(cls) if not name.startswith("_"))


def check_class(cls: type, core: type, free: Iterable[str]) -> None:
    """Refuse a task class whose parameters, methods or attributes, or those of its mixins, have a
    name of the core.

    Args:
        cls: the class.
        core: the base class of the core whose names these are.
        free: further names that may be defined.

    Raises:
        TaskDefinitionError: for either, and for parameters without a default.
    """
    mixins = [
        base for base in cls.__mro__ if not (issubclass(base, core) or issubclass(core, base))
    ]
    for base in (cls, *mixins):
        _check_parameters(cls, own_annotations(base), public_names(core))
        _check_attributes(cls, vars(base), public_names(core) - {*AUTHORS, *BASE_PARAMETERS, *free})


def _check_parameters(cls: type, declared: Mapping[str, Any], taken: Iterable[str]) -> None:
    for name, kind in declared.items():
        if name in RESERVED or (name in taken and name not in BASE_PARAMETERS):
            raise TaskDefinitionError(
                f"{cls.__name__} declares the parameter {name!r}, a name that is taken by the core;"
                " choose another."
                + (
                    f" To say what the task is, leave the annotation away: {name} = …"
                    if name in AUTHORS
                    else ""
                )
            )
        if not hasattr(cls, name):
            raise TaskDefinitionError(
                f"{cls.__name__} declares the parameter {name!r} without a default; give it one:"
                f" {name}: {kind} = …"
            )


def _check_attributes(cls: type, defined: Iterable[str], taken: Iterable[str]) -> None:
    for name in defined:
        if name in taken or name == STATE:
            raise TaskDefinitionError(
                f"{cls.__name__} defines {name!r}, a name that is taken by the core; choose"
                f" another. A task class may define {listed(METHODS)}, and set"
                f" {listed(DECLARATIONS)}."
            )


def check_assignment(task_name: str, name: str, core: type, free: Iterable[str]) -> None:
    """Refuse that `define` sets an attribute of the core's base class.

    Raises:
        TaskDefinitionError: it does.
    """
    if name == STATE or (
        name in public_names(core) and name not in {*AUTHORS, *BASE_PARAMETERS, *free}
    ):
        raise TaskDefinitionError(
            f"{task_name}.{name} was set in define(), a name that is taken by the core; choose"
            f" another, such as _{name}."
        )


def check_condition(task_name: str, name: str) -> None:
    """Refuse a condition that could not be read as an attribute of a trial, or not be told from a
    column of the record.

    Raises:
        TaskDefinitionError: it is one.
    """
    if name.startswith("_"):
        raise TaskDefinitionError(
            f"{task_name} declares the condition {name!r}; names that begin with '_' are the"
            f" core's. Choose another, such as {name.lstrip('_') or 'condition'!r}."
        )
    if name in RECORD_NAMES or name in public_names(TrialBuilder):
        raise TaskDefinitionError(
            f"{task_name} declares the condition {name!r}, a name that is taken by the core; choose"
            " another."
        )
