"""Descriptions of tasks as plain data, for `ngym info`, the registry and the docs."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np

from neurogym_core.tasks.building import build_trials
from neurogym_core.tasks.drawing import draw_independent
from neurogym_core.tasks.parameters import parameter_types, plain_settings
from neurogym_core.tasks.state import Drawn, state_of
from neurogym_core.tasks.task import Task
from neurogym_core.trials.distributions import Distribution
from neurogym_core.trials.encoders import Ring

UNTIMED = "until an action"
"""The written duration of a period without a timer."""
REFERENCE = r"(as in|see) `?[\w.]+`?\.?"
"""The text on a parameter that refers to another class."""


def describe_task(task: Task) -> dict[str, Any]:
    """Describe a task, see `neurogym_core.tools.describe`."""
    return {
        "name": task.name,
        "docstring": _docstring(type(task)),
        "dt": task.dt,
        "supervised": task.supervised,
        "reads_outcomes": task.reads_outcomes,
        "trials_per_session": task.trials_per_session,
        "parameters": _parameters(task),
        "channels": _parts(task.channels),
        "actions": _parts(task.actions),
        "periods": _periods(task),
        "conditions": [
            {"name": name, "distribution": _written(spec)} for name, spec in task.conditions.items()
        ],
        "rewards": dict(task.rewards),
        "payoff": _payoff(task),
    }


def _payoff(task: Task) -> str:
    """How answers of continuous actions are paid; empty for discrete actions."""
    if not task.actions.continuous or task.step_action is not None:
        return ""
    within = "An answer within its tolerance pays `correct`, or a part of it that falls with the"
    answer = f"{within} error; beyond the tolerance it pays `error`."
    if task.actions.trigger is not None:
        return answer
    return (
        f"{answer} It is given when its window closes. Every step with a weight costs `correct`"
        " times the mean squared error, as a fraction of the range of each axis, per 100 ms."
    )


def _parameters(task: Task) -> list[dict[str, Any]]:
    cls = type(task)
    given = state_of(task).parameters
    values = plain_settings(given)
    defaults = plain_settings({name: getattr(cls, name, None) for name in given})
    docs = argument_docs(cls)
    types = parameter_types(cls)
    return [
        {
            "name": name,
            # Without ``from __future__ import annotations`` it is a type, not a string.
            "type": kind if isinstance(kind, str) else inspect.formatannotation(kind),
            "default": defaults[name],
            "value": values[name],
            "doc": docs.get(name, ""),
        }
        for name, kind in ((name, types.get(name, "")) for name in given)
    ]


def argument_docs(cls: type) -> dict[str, str]:
    """Return the text on each parameter in the ``Args:`` sections of a class and its bases.

    Where a class only refers to a base, as in "sigma: as in PerceptualDecisionMaking.", the text of
    the base stays.
    """
    docs: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        for name, text in _read_arguments(inspect.cleandoc(base.__doc__ or "")).items():
            if name not in docs or not re.fullmatch(REFERENCE, text):
                docs[name] = text
    return docs


def _docstring(cls: type[Task]) -> str:
    """The docstring of a class, or of the task that it is made from."""
    base = next((base for base in cls.__mro__ if base.__doc__ or base is Task), Task)
    return "" if base is Task else inspect.cleandoc(base.__doc__ or "")


def _read_arguments(docstring: str) -> dict[str, str]:
    _, found, section = docstring.partition("\nArgs:\n")
    docs: dict[str, str] = {}
    names: list[str] = []
    for line in section.splitlines() if found else []:
        if line and not line.startswith(" "):
            break
        head, colon, text = line.strip().partition(": ")
        if line.startswith("    ") and not line.startswith("     ") and colon:
            names = [name.strip() for name in head.split(",")]
            docs.update(dict.fromkeys(names, text))
        elif line.strip():
            docs.update({name: f"{docs[name]} {line.strip()}" for name in names})
    return docs


def _parts(named: Any) -> list[dict[str, Any]]:
    rows = []
    for name, part in named.parts.items():
        plain = part.to_plain()
        if isinstance(part, Ring):
            plain["names"] = list(part.unit_names)
        kind = plain.pop("encoder", type(part).__name__)
        place = {"start": named[name].start, "stop": named[name].stop, "size": part.size}
        rows.append({"name": name, **place, "kind": kind, **plain})
    return rows


def _periods(task: Task) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    batch = build_trials(task, draw_independent(task, rng, 20, {}), rng, 20)
    rows = []
    for name, steps in batch.period_steps.items():
        spec = task.timing.get(name)
        duration = None if spec is None else spec.to_plain()
        typical: float | None = float(np.median(steps) * task.dt)
        if name in batch.untimed:  # JSON has no infinity
            duration, typical = UNTIMED, None
        row = {"name": name, "duration": duration, "typical": typical}
        rows.append({**row, "repeats": True} if name in state_of(task).repeated else row)
    return rows


def _written(spec: Any) -> Any:
    if isinstance(spec, Drawn):
        return f"{spec.kind.__name__}, set by draw"
    return (
        spec.to_plain()
        if isinstance(spec, Distribution)
        else "computed from the conditions before it"
    )
