"""`Experiment`: the tasks, the trainer and the length of a training run, as plain data."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from neurogym_core import InvalidValueError, NotSupportedError, Task, TaskWrapper, make_task
from neurogym_core.players import TaskView
from neurogym_core.tools import (
    installed,
    is_file_reference,
    load_task,
    load_wrapper,
    offers_of,
    unknown,
)
from neurogym_training.task_experiment import load
from neurogym_training.trainers import GROUP, checked_settings, settings_of, trainer_named
from neurogym_training.training import Trainer

OVERRIDES = ("timing", "rewards", "conditions")
ENDING = ("criterion", "patience", "best_by", "snapshots")


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
        patience, best_by, snapshots: as in `Trainer.train`.
        parameters: parameters of all tasks, of several tasks those that have them; and "timing",
            "rewards", "conditions".
        wrap: wrappers, each a mapping with "name" and its settings, innermost first.
        options: settings of the trainer.
    """

    tasks: tuple[Mapping[str, Any], ...]
    kind: str
    trainer: str
    amount: int
    seed: int = 0
    criterion: float | None = None
    patience: int | None = None
    best_by: str = "clean"
    snapshots: str = "none"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    wrap: tuple[Mapping[str, Any], ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_trainer(cls, trainer: Trainer, amount: int, **ending: Any) -> Experiment:
        """Return the experiment that makes an equal trainer.

        Args:
            trainer: a trainer.
            amount: total number of updates or steps.
            ending: the criterion and so on.

        Raises:
            NotSupportedError: a class has no name that another process can load.
        """
        given = {name: value for name, value in trainer.given.items() if name != "tasks"}
        env_wrappers = given.pop("wrap", None) or ()
        pairs = [_taken_apart(task) for task in trainer.tasks]
        wrap = pairs[0][1]
        if any(other != wrap for _, other in pairs):
            raise NotSupportedError("its tasks have different wrappers")
        wrap = [*wrap, *map(_env_wrapper, env_wrappers)]
        seed = given.pop("seed", 0)
        options = {name: _nameable(name, value) for name, value in given.items()}
        return cls(
            tasks=tuple(entry for entry, _ in pairs), kind=trainer.kind, amount=amount, seed=seed,
            trainer=_registered("trainer", type(trainer), offers_of(GROUP)), wrap=tuple(wrap),
            options=options, **ending,
        )  # fmt: skip

    def ending(self) -> dict[str, Any]:
        """Return the keywords of `Trainer.train` on its end and on the checkpoints to keep."""
        return {name: getattr(self, name) for name in ENDING}

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
            [
                self._make_task(task, shared, inner)
                for task, shared in zip(self.tasks, self._shared(), strict=True)
            ],
            seed=self.seed,
            **settings,
        )

    def _shared(self) -> list[dict[str, Any]]:
        """Return the parameters of all tasks that each task has.

        A single task gets them all, and refuses those that it does not have; so do several tasks
        where none of them has one.
        """
        if len(self.tasks) == 1:
            return [dict(self.parameters)]
        classes = [load_task(str(task["task"])) for task in self.tasks]
        known = [{*inspect.signature(cls).parameters, *OVERRIDES} for cls in classes]
        nowhere = self.parameters.keys() - set().union(*known)
        return [
            {name: value for name, value in self.parameters.items() if name in own | nowhere}
            for own in known
        ]

    def _make_task(
        self, given: Mapping[str, Any], shared: Mapping[str, Any], inner: list[tuple[str, dict]]
    ) -> Task:
        own = {name: value for name, value in given.items() if name != "task"}
        merged = {**shared, **own}
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
        path: a file that `neurogym_training.load` reads.
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
    *ENDING,
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


def _registered(kind: str, cls: type, offers: Iterable[Any]) -> str:
    """Return the name of a class in the entry points of an installed package."""
    value = f"{cls.__module__}:{cls.__qualname__}"
    for offer in offers:
        if offer.value == value:
            return offer.id if kind == "task" else offer.name
    raise NotSupportedError(f"no installed package offers the {kind} {cls.__name__}")


def source_of(cls: type) -> Path | None:
    """Return the file of a class."""
    # Tasks of a file have no module in sys.modules, but their functions know the file.
    codes = [vars(cls)[name] for name in vars(cls) if hasattr(vars(cls)[name], "__code__")]
    return Path(codes[0].__code__.co_filename) if codes else None


def _file_of(cls: type) -> str:
    """Return ``file.py:Class`` of a class that another process can load from its file."""
    source = source_of(cls)
    inside = "." in cls.__qualname__  # of a function or another class
    if inside or cls.__module__ == "__main__" or source is None or not source.is_file():
        raise NotSupportedError(f"{cls.__name__} is a class of this program or notebook only")
    return f"{source.resolve()}:{cls.__name__}"


def _taken_apart(task: Task) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the entry of a task, and those of the wrappers around it, innermost first."""
    wrap: list[dict[str, Any]] = []
    while (inner := TaskView(task).wrapped) is not None:
        if TaskView(task).joint:
            raise NotSupportedError(f"{type(task).__name__} joins several tasks")
        name = _registered("wrapper", type(task), installed().wrappers)
        wrap.insert(0, {"name": name, **TaskView(task).settings})
        task = inner
    try:
        name = _registered("task", type(task), installed().tasks)
    except NotSupportedError:
        name = _file_of(type(task))
    return {"task": name, **TaskView(task).settings}, wrap


def _env_wrapper(wrap: Any) -> dict[str, Any]:
    name, settings = wrap if isinstance(wrap, tuple) else (wrap, {})
    if isinstance(name, type):
        name = _registered("wrapper", name, installed().wrappers)
    return wrapper_entry({**name} if isinstance(name, Mapping) else {"name": name, **settings})


def _nameable(name: str, value: Any) -> Any:
    """Return a setting of a trainer as data for JSON; a class as ``file.py:Class``."""
    value = _file_of(value) if isinstance(value, type) else _plain(value)
    try:
        json.dumps(value)
    except TypeError:
        raise NotSupportedError(f"its setting {name} is a {type(value).__name__}") from None
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.to_plain() if hasattr(value, "to_plain") else value
