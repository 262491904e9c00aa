"""`Experiment`: the tasks, the trainer and the length of a training run, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from neurogym_core import InvalidValueError, Task, TaskWrapper, make_task
from neurogym_core.tools import is_file_reference, load_wrapper, unknown
from neurogym_study.task_experiment import load
from neurogym_study.trainers import checked_settings, settings_of, trainer_named
from neurogym_study.training import Trainer

OVERRIDES = ("timing", "rewards", "conditions")


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Settings of ``ngym train`` as plain data.

    Args:
        tasks: each a mapping with "task" (id or "file.py:Class") and its parameters.
        kind: "model" or "algo".
        trainer: name of the trainer.
        amount: total number of updates or steps.
        seed: seed of the run.
        criterion: mean performance at which to stop, or None.
        parameters: parameters of all tasks, and "timing", "rewards", "conditions".
        wrap: wrappers, each a mapping with "name" and its settings, innermost first.
        options: settings of the trainer.
    """

    tasks: tuple[Mapping[str, Any], ...]
    kind: str
    trainer: str
    amount: int
    seed: int = 0
    criterion: float | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    wrap: tuple[Mapping[str, Any], ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    def make_trainer(self) -> Trainer:
        """Return the trainer, not yet trained.

        Raises:
            UnknownNameError, InvalidValueError: an invalid setting of the task or of the trainer.
            DiscoveryError: a task does not exist, or cannot be loaded.
        """
        trainer = trainer_named(self.trainer, self.kind)
        inner, outer = self._sorted_wrappers()
        settings = checked_settings(trainer, self.trainer, self.options)
        if outer:
            if "wrap" not in settings_of(trainer):
                names = ", ".join(name for name, _ in outer)
                raise InvalidValueError(
                    f"{self.trainer} was given {names}, which wraps envs. Networks are trained on"
                    " targets and never step an env. Use it with --algo, or leave it out."
                )
            settings["wrap"] = outer
        return trainer(
            [self._make_task(task, inner) for task in self.tasks], seed=self.seed, **settings
        )

    def _make_task(self, given: Mapping[str, Any], inner: list[tuple[str, dict]]) -> Task:
        own = {name: value for name, value in given.items() if name != "task"}
        merged = {**self.parameters, **own}
        for name in OVERRIDES:
            parts = [part.get(name, {}) for part in (self.parameters, own)]
            if any(parts):
                merged[name] = {**parts[0], **parts[1]}
        return make_task(given["task"], wrap=inner, **merged)

    def _sorted_wrappers(self) -> tuple[list[tuple[str, dict]], list[tuple[str, dict]]]:
        """Return the wrappers of tasks, and the wrappers of envs."""
        sorted_: tuple[list, list] = ([], [])
        for entry in self.wrap:
            settings = {name: value for name, value in entry.items() if name != "name"}
            wraps_tasks = issubclass(load_wrapper(entry["name"]), TaskWrapper)
            sorted_[0 if wraps_tasks else 1].append((entry["name"], settings))
        return sorted_

    def with_amount(self, amount: int) -> Experiment:
        """Return a copy with another number of updates or steps."""
        return replace(self, amount=amount)

    def to_plain(self) -> dict[str, Any]:
        """Return the experiment as data for JSON; `from_plain` is the inverse."""
        return {name: _plain(getattr(self, name)) for name in self.__dataclass_fields__}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Experiment:
        return cls(**{**plain, "tasks": tuple(plain["tasks"]), "wrap": tuple(plain["wrap"])})


def read_experiment(path: Path, *, trust: bool = False) -> dict[str, Any]:
    """Return the contents of an experiment file and of its table ``[train]``.

    The keys are those of the parts of an `Experiment`; see the README.

    Args:
        path: a file that `neurogym_study.load` reads.
        trust: whether code in files that it names may be run.

    Raises:
        InvalidValueError: not TOML, not a valid experiment, or it names code that is not trusted.
    """
    said = load(path, trust=trust)
    train = dict(said.train)
    for name in train:
        if name not in _KEYS:
            raise unknown("key", name, _KEYS, of=f"[train] in {path}")
    if said.imposed:
        raise InvalidValueError(
            f"{path} imposes conditions trial by trial, under [imposed]. Training draws its trials."
            " Use [conditions]."
        )
    also = [_beside(path, task) for task in train.pop("also", [])]
    if is_file_reference(str(train.get("model"))):
        train["model"] = str(path.parent / train["model"])
    seed = {} if said.seed is None else {"seed": said.seed}
    wrap = [{"name": name, **settings} for name, settings in said.wrappers]
    return {**seed, **train, "tasks": [said.source, *also], "set": said.settings, "wrap": wrap}


_KEYS = (
    "also",
    "model",
    "algo",
    "updates",
    "steps",
    "batch",
    "threads",
    "criterion",
    "out",
    "options",
)


def _beside(path: Path, task: Any) -> dict[str, Any]:
    """Return the entry of a further task; its file is relative to the experiment file."""
    entry = dict(task) if isinstance(task, Mapping) else {"task": task}
    name = entry.get("task")
    if not isinstance(name, str) or not is_file_reference(name):
        return entry
    return {**entry, "task": str(path.parent / name)}


def task_entry(task: Any) -> dict[str, Any]:
    """Return a task as an experiment holds it: {"task": …, its parameters}.

    Files are given by their absolute path.
    """
    entry = {"task": task} if isinstance(task, str) else dict(task)
    if not isinstance(entry.get("task"), str):
        raise InvalidValueError(
            f'{task!r} names no task; give an id, or a table with task = "…" and parameters.'
        )
    name = entry["task"]
    # An absolute path lets the run be resumed from another folder.
    if name.partition(":")[0].endswith(".py"):
        file, colon, inside = name.partition(".py")
        entry["task"] = str(Path(file + colon).resolve()) + inside
    return entry


def wrapper_entry(wrap: Any) -> dict[str, Any]:
    """Return a wrapper as an experiment holds it: {"name": …, its settings}."""
    entry = {"name": wrap} if isinstance(wrap, str) else dict(wrap)
    if not isinstance(entry.get("name"), str):
        raise InvalidValueError(
            f'{wrap!r} names no wrapper; give its name, or a table with name = "…" and settings.'
        )
    return entry


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.to_plain() if hasattr(value, "to_plain") else value
