"""The base class of all works, `Work`, and the ways from a row of settings to a task."""

from __future__ import annotations

import hashlib
import inspect
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from neurogym_training import TaskExperiment
from neurogym_training.experiment import task_entry

from neurogym_core import InvalidValueError, make_task
from neurogym_core.tools import find_task, is_file_reference, load_task, unknown
from neurogym_sweep.store import Job

SECTIONS = ("timing", "rewards", "conditions")


class Work(ABC):
    """A kind of run, which makes jobs of rows of settings."""

    name: str

    @abstractmethod
    def job(self, settings: Mapping[str, Any]) -> Job:
        """Return the job of a row.

        Raises:
            NeurogymError: a setting does not exist, or has an impossible value.
        """


class Tasks:
    """Descriptions of tasks, each made once, so that rows with equal ones are checked quickly."""

    def __init__(self) -> None:
        self._described: dict[str, Any] = {}

    def parameters(self, name: str) -> Mapping[str, Any]:
        """Return the parameters of a task class, name -> annotation."""
        known = inspect.signature(load_task(name)).parameters
        return {key: one.annotation for key, one in known.items() if key not in SECTIONS}

    def described(self, entry: Mapping[str, Any], common: Mapping[str, Any]) -> Any:
        """Return a task of a training experiment with all its settings, as plain data."""
        own = {name: value for name, value in entry.items() if name != "task"}
        merged = {**common, **own}
        for name in SECTIONS:
            parts = {**common.get(name, {}), **own.get(name, {})}
            if parts:
                merged[name] = parts
        return self._once(
            [entry["task"], merged], entry["task"], lambda: make_task(entry["task"], **merged)
        )

    def of_experiment(self, experiment: TaskExperiment) -> Any:
        """Return the task of an experiment with all its settings and wrappers, as plain data."""
        key = [
            experiment.source,
            *(dict(getattr(experiment, name)) for name in ("parameters", *SECTIONS)),
            [[name, dict(settings)] for name, settings in experiment.wrap],
        ]
        described = self._once(key, experiment.source, experiment.make_task)
        return [described, key[-1]]

    def _once(self, key: Any, name: str, make: Callable[[], Any]) -> Any:
        text = json.dumps(key, sort_keys=True, default=repr)
        if text not in self._described:
            task = make()
            if is_file_reference(name):
                # Machines may have the file at other places; its content decides.
                path, _, inside = name.rpartition(":") if ".py:" in name else (name, "", "")
                source = hashlib.sha256(Path(path).read_bytes()).hexdigest()
                self._described[text] = [Path(path).name, inside, source, repr(task)]
            else:
                self._described[text] = [find_task(name).id, repr(task)]
        return self._described[text]


def with_settings(
    base: TaskExperiment, settings: Mapping[str, Any], plain: tuple[str, ...], tasks: Tasks
) -> TaskExperiment:
    """Return the experiment with the settings of a row."""
    changes: dict[str, Any] = {name: settings[name] for name in plain if name in settings}
    # A file is found from the folder of the experiment; that of the row, from the current one.
    if "task" in changes and is_file_reference(changes["task"]):
        changes["task"] = task_entry(changes["task"])["task"]
    elif "task" in changes:
        changes["task"] = find_task(changes["task"]).id
    task = replace(base, **changes).source
    sections = {name: dict(getattr(base, name)) for name in ("parameters", *SECTIONS)}
    subject: dict[str, Any] = {}
    known = tasks.parameters(task)
    for key, value in settings.items():
        section, dot, inside = key.partition(".")
        if key in plain:
            continue
        if dot and section in sections:
            sections[section][inside] = value
        elif dot and section == "subject" and "subject" in plain:
            subject[inside] = value
        elif key in known:
            sections["parameters"][key] = value
        else:
            names = [*plain, *sorted(known), *(f"{one}.NAME" for one in (*SECTIONS, "subject"))]
            raise unknown("setting", key, names, of=task)
    if subject:
        name = changes.get("subject") or base.subject or "guess"
        joined = ",".join(f"{key}={_toml(value)}" for key, value in subject.items())
        changes["subject"] = f"{name}{',' if ':' in name else ':'}{joined}"
    return replace(base, **changes, **sections)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return f"[{','.join(map(_toml, value))}]"
    return str(value)


def copied(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: dict(value) if isinstance(value, Mapping) else value
        for name, value in settings.items()
    }


def is_whole(value: Any) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and value == int(value)
        and value > 0
    )


def checked_seed(value: Any) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidValueError(
            f"seed is {value!r}. Expected a whole number from 0 on. Write for example --vary"
            " seed=0:20."
        )
    return value
