"""The facts that determine a run beside its settings, and how they differ from those of another
day.
"""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

from neurogym_core import Task
from neurogym_core.players import TaskView
from neurogym_core.tools import describe
from neurogym_training.artefacts import files_named_in
from neurogym_training.experiment import Experiment, source_of
from neurogym_training.trainers import settings_of
from neurogym_training.training import Trainer

_LIBRARIES = ("numpy", "gymnasium", "jax", "torch", "stable-baselines3", "sb3-contrib")
_PROSE = ("docstring",)


def facts_of(experiment: Experiment, trainer: Trainer) -> dict[str, Any]:
    """Return the facts that determine the results of a run, as data for JSON.

    Returns:
        versions (of Python and of the packages of the tasks, wrappers, trainer and libraries),
        trainer (all of its settings, with defaults and those that it chose), tasks (their resolved
        parameters, timing, rewards and conditions), splits (of the trials of training, of its
        tests, and of later play), files (SHA-256 of the source files of the tasks, of the `sources`
        of the trainer, and of all Python files that the experiment names).
    """
    defaults = {name: item.default for name, item in settings_of(type(trainer)).items()}
    classes = [cls for task in trainer.tasks for cls in _classes(task)]
    return {
        "versions": _versions([*classes, type(trainer)]),
        "trainer": {
            **defaults,
            **experiment.options,
            **trainer.chosen,
            "seed": experiment.seed,
        },
        "tasks": [_resolved(task) for task in trainer.tasks],
        "splits": dict(trainer.splits),
        "files": _hashes(
            [
                *map(Path, getattr(trainer, "sources", ())),
                *filter(None, map(source_of, classes)),
                *(one.path for one in files_named_in(experiment.to_plain())),
            ]
        ),
    }


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the facts that differ, one text each."""
    found = []
    for part, heading in (
        ("versions", "version of {}"),
        ("trainer", "the trainer's {}"),
        ("splits", "the split of {}"),
    ):
        for name, one, other in _changed(before.get(part, {}), now.get(part, {})):
            found.append(f"{heading.format(name)}: {one}, now {other}")
    for name, _, _ in _changed(before.get("files", {}), now.get("files", {})):
        found.append(f"the source file {name} was edited")
    pairs = zip(before.get("tasks", ()), now.get("tasks", ()), strict=False)
    for number, (one, other) in enumerate(pairs):
        for name, whole, new in _changed(one, other):
            for place, first, second in _leaves(name, whole, new):
                found.append(f"{place} of task {number}: {_short(first)}, now {_short(second)}")
    return found


def _leaves(place: str, before: Any, now: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the innermost parts that differ, as place, value before and value now."""
    before, now = _plain(before), _plain(now)
    if isinstance(before, dict) and isinstance(now, dict):
        for name, one, other in _changed(before, now):
            yield from _leaves(f"{name} of {place}", one, other)
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for number, (one, other) in enumerate(zip(before, now, strict=True)):
            if one != other:
                parts = (value.get("name") for value in (one, other) if isinstance(value, dict))
                names = {name for name in parts if name is not None}
                label = names.pop() if len(names) == 1 else f"item {number}"
                yield from _leaves(f"{label} in {place}", one, other)
    else:
        yield place, before, now


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for name in sorted({*before, *now}):
        one, other = before.get(name, "absent"), now.get(name, "absent")
        if _plain(one) != _plain(other):
            yield name, one, other


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _resolved(task: Task) -> dict[str, Any]:
    described = describe(task)
    described["parameters"] = {part["name"]: part["value"] for part in described["parameters"]}
    return {name: _plain(value) for name, value in described.items() if name not in _PROSE}


def _plain(value: Any) -> Any:
    """Return a value as JSON reads it again."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _classes(task: Task) -> Iterator[type]:
    """Yield the class of a task, and those of the wrappers around it."""
    inner: Any = task
    while inner is not None:
        yield type(inner)
        inner = TaskView(inner).wrapped


def _versions(classes: list[type]) -> dict[str, str]:
    owners = _owners(tuple(sys.path))
    modules = {cls.__module__.partition(".")[0] for cls in classes}
    names = {"neurogym-core", "neurogym-training", *_LIBRARIES}
    names |= {name for module in modules for name in owners.get(module, ())}
    # Editable packages have no list of their modules, but the names agree.
    names |= {module.replace("_", "-") for module in modules}
    found = {"python": platform.python_version()}
    for name in sorted(names):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


@lru_cache(maxsize=1)
def _owners(path: tuple[str, ...]) -> Mapping[str, list[str]]:
    """Return the packages of each module, as their lists of installed files have them.

    `metadata.packages_distributions` looks at every file, which takes a second.
    """
    owners: dict[str, list[str]] = {}
    for package in metadata.distributions(path=list(path)):
        record = package.read_text("RECORD") or ""
        for module in {line.partition("/")[0].partition(".")[0] for line in record.splitlines()}:
            owners.setdefault(module, []).append(package.metadata["Name"])
    return owners


def _hashes(files: Iterable[Path]) -> dict[str, str]:
    """Return {name: SHA-256}; of two files with one name, the second has that of its folder too."""
    hashes: dict[str, str] = {}
    for file in files:
        if file.is_file():
            found = hashlib.sha256(file.read_bytes()).hexdigest()
            taken = hashes.get(file.name, found) != found
            hashes[f"{file.parent.name}/{file.name}" if taken else file.name] = found
    return hashes
