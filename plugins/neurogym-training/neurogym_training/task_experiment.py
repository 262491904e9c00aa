"""`TaskExperiment`: a task with its settings, wrappers, subject and seed, as a file for a paper.

::

    schema = 1
    task = "perceptual/PerceptualDecisionMaking-v0"   # the full id: namespace and version
    seed = 0
    split = "test"                                    # or "train", "validation", "none"
    trials = 500                                      # or steps
    subject = "oracle"                                # also "diffusion:bound=50"

    [parameters]
    coherences = [0, 51.2]

    [timing]                                          # also [rewards] and [conditions]
    delay = {uniform = [500, 1500]}

    [imposed]                                         # on all trials; lists: one value per trial
    coherence = 51.2

    [[wrap]]                                          # innermost first
    name = "core/ReactionTime"
    urgency = -0.01

A task in a Python file, ``task = "my_task.py:MyTask"``, and the run of a trained subject,
``subject = "./net"``, are looked for beside the experiment's file. Code in files is run only if you
allow it (`trust`). The table ``[train]`` has the settings of
`ngym train`."""

from __future__ import annotations

import inspect
import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium

from neurogym_core import (
    Dataset,
    DiscoveryError,
    InvalidValueError,
    NeurogymError,
    NotSupportedError,
    Task,
    TaskVectorEnv,
    TaskWrapper,
    make,
    make_task,
    make_vec,
)
from neurogym_core.players import SPLITS, Dealer, named_subject, resolve
from neurogym_core.tools import (
    find_task,
    find_wrapper,
    installed,
    is_file_reference,
    load_wrapper,
    replacing,
    unknown,
)
from neurogym_training.artefacts import check_artefact, files_named_in

SCHEMA = 1
SECTIONS = ("parameters", "timing", "rewards", "conditions")
TASK_KEYS = ("other_tasks", "distractor")
"""Settings of wrappers that name tasks, or have tables with a ``task``."""
NOTHING = "none"
"""The text for None, for which TOML has no value."""
Keys = tuple[Any, ...]
"""Path of a key in a file: names, and indices of tables in a list."""

_NUMBERS = {"seed": 0, "trials": 1, "steps": 1, "subjects": 1}  # {key: least value}
_TABLES = (*SECTIONS, "imposed", "train")
_TASK_ID = re.compile(r"[\w.-]+/[\w.-]+-v\d+")
_WRAPPER_ID = re.compile(r"[\w.-]+/\w+")


@dataclass(frozen=True, kw_only=True)
class TaskExperiment:
    """A task with its settings and wrappers, a seed, a subject, and a number of trials.

    Attributes:
        task: full id, or "file.py:Class".
        parameters, timing, rewards, conditions: settings of the task that differ from its defaults.
        imposed: conditions of all trials, as for `reset`: values, or lists of which the trials
            take one value after the other.
        wrap: (name, settings) of wrappers of tasks and envs, innermost first; names are full ids.
        seed: seed of the trials.
        split: stream of the trials, "none", "train", "validation" or "test"; None: in `ngym run`
            "test" for a trained subject, elsewhere none.
        trials, steps: number of trials or steps to play; at most one of them.
        subject: name of the subject, perhaps with settings: ``"diffusion:bound=50"``.
        subjects: number of subjects, which share the trials; None: one.
        train: settings of training.
        folder: folder in which files of tasks and folders of runs are looked for; it is not saved.

    Example:
        >>> from neurogym_training import TaskExperiment
        >>> task = "perceptual/PerceptualDecisionMaking-v0"
        >>> experiment = TaskExperiment.of(task, dt=20, seed=1, subject="oracle")
        >>> experiment.make_task().dt
        20
        >>> print(experiment.to_toml())
        schema = 1
        task = "perceptual/PerceptualDecisionMaking-v0"
        seed = 1
        subject = "oracle"
        <BLANKLINE>
        [parameters]
        dt = 20
        <BLANKLINE>
    """

    task: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    timing: Mapping[str, Any] = field(default_factory=dict)
    rewards: Mapping[str, float] = field(default_factory=dict)
    conditions: Mapping[str, Any] = field(default_factory=dict)
    imposed: Mapping[str, Any] = field(default_factory=dict)
    wrap: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    seed: int | None = None
    split: str | None = None
    trials: int | None = None
    steps: int | None = None
    subject: str | None = None
    subjects: int | None = None
    train: Mapping[str, Any] = field(default_factory=dict)
    folder: Path | None = field(default=None, compare=False)

    # ------------------------------------------------------------------ making tasks and envs

    @property
    def settings(self) -> dict[str, Any]:
        """The keywords of the task for `make`."""
        found = resolve(self.source)
        overrides = {
            name: dict(getattr(self, name)) for name in SECTIONS[1:] if getattr(self, name)
        }
        return {**_read(self.parameters, found), **overrides}

    @property
    def source(self) -> str:
        """The task for `make`: its id, or its file, found from the experiment's folder."""
        return self._beside(self.task)

    def _beside(self, name: str) -> str:
        there = is_file_reference(name) and self.folder is not None
        return str(self.folder / name) if there else name  # type: ignore[operator]

    @property
    def player(self) -> str | None:
        """The subject for `run`; the folder of a run is found from the experiment's folder."""
        return self._with_run(lambda run: str(self.folder / run) if self.folder else run)

    def _with_run(self, place: Callable[[str], str]) -> str | None:
        """Return the subject, with `place` applied to the folder of a run."""
        if self.subject is None:
            return None
        name, settings = named_subject(self.subject)
        if name != "trained" or "run" not in settings:
            return self.subject
        others = [f"{key}={value}" for key, value in settings.items() if key != "run"]
        return ":".join([place(settings["run"]), *([",".join(others)] if others else [])])

    @property
    def wrappers(self) -> list[tuple[str, dict[str, Any]]]:
        """The wrappers for `make`."""
        return [
            (name, _with_tasks(_read(settings, load_wrapper(name)), self._beside))
            for name, settings in self.wrap
        ]

    def make_task(self) -> Task:
        """Return the task with its task wrappers; env wrappers are left out."""
        wrap = [one for one in self.wrappers if _is_a(load_wrapper(one[0]), TaskWrapper)]
        return make_task(self.source, wrap=wrap, **self.settings)

    def make(self, **options: Any) -> gymnasium.Env:
        """Return the env.

        Args:
            options: as in `neurogym_core.make`; they override the experiment.
        """
        return make(self.source, wrap=self.wrappers, **{**self._stream, **self.settings, **options})

    def make_vec(self, num_envs: int = 1, **options: Any) -> TaskVectorEnv:
        """Return the vector env.

        Args:
            num_envs, options: as in `neurogym_core.make_vec`; options override the experiment.
        """
        return make_vec(
            self.source,
            num_envs,
            wrap=self.wrappers,
            **{**self._stream, **self.settings, **options},
        )

    def dataset(self, batch_size: int = 16, seq_len: int | None = None, **options: Any) -> Dataset:
        """Return a `Dataset` of the task with its task wrappers.

        Args:
            batch_size, seq_len, options: as in `Dataset`; options override the experiment.
        """
        return Dataset(self.make_task(), batch_size, seq_len, **{**self._stream, **options})

    @property
    def _stream(self) -> dict[str, Any]:
        """The seed and the split for `make`."""
        return {"seed": self.seed, "split": None if self.split == NOTHING else self.split}

    # ------------------------------------------------------------------ writing

    def to_toml(self) -> str:
        """Return the text of the file. Reading it gives an equal experiment.

        Raises:
            NotSupportedError: a setting cannot be written as TOML, such as an array of objects.
        """
        lines = [f"schema = {SCHEMA}", f"task = {written(self.task)}"]
        lines += [
            f"{name} = {written(getattr(self, name))}"
            for name in ("seed", "split", "trials", "steps", "subject", "subjects")
            if getattr(self, name) is not None
        ]
        for name in _TABLES:
            if getattr(self, name):
                lines += ["", f"[{name}]", *_entries(getattr(self, name))]
        for name, settings in self.wrap:
            lines += ["", "[[wrap]]", f"name = {written(name)}", *_entries(settings)]
        return "\n".join(lines) + "\n"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the file, completely or not at all; paths become relative to its folder.

        Args:
            path: the file, TOML.

        Raises:
            FileNotWrittenError (OSError): the file cannot be written; an existing file is
                unchanged.
        """
        text = self._moved_to(Path(path).parent).to_toml()
        with replacing(path) as temporary:
            temporary.write_bytes(text.encode("utf-8"))
        return Path(path)

    def _moved_to(self, folder: Path) -> TaskExperiment:
        """Return the experiment with its paths relative to another folder."""

        def moved(name: str) -> str:
            if not is_file_reference(name):
                return name
            file, colon, inside = self._beside(name).partition(".py")
            return Path(os.path.relpath(file + colon, folder)).as_posix() + inside

        def run_moved(run: str) -> str:
            path = Path(os.path.relpath(self.folder / run if self.folder else run, folder))
            return path.as_posix() if len(path.parts) > 1 else f"./{path.as_posix()}"

        wrap = tuple((name, _with_tasks(settings, moved)) for name, settings in self.wrap)
        return replace(self, task=moved(self.task), wrap=wrap, subject=self._with_run(run_moved))

    @classmethod
    def of(cls, task: Any, *, wrap: Any = (), **settings: Any) -> TaskExperiment:
        """Return the experiment of arguments as for `make`.

        Args:
            task: an id, a bare name, or "file.py:Class".
            wrap: as for `make`, but wrappers by name, or installed ones.
            settings: attributes of the experiment (seed, trials, …), and settings of the task.

        Raises:
            NotSupportedError: the task or a wrapper has no name that a file can refer to.
        """
        own = {one.name for one in fields(cls)} - {"task", "wrap"}
        kept = {name: value for name, value in settings.items() if name in own}
        parameters = _plain({name: value for name, value in settings.items() if name not in own})
        kept["parameters"] = {**kept.get("parameters", {}), **parameters}
        for name in (*SECTIONS, "imposed"):
            kept[name] = _plain(kept.get(name) or {})
        return cls(
            task=_full_id_of(task),
            wrap=tuple(_named_wrapper(item) for item in _each(wrap)),
            **kept,
        )


def load(path: str | os.PathLike[str], *, trust: bool = False) -> TaskExperiment:
    """Read an experiment from a file, and check it by making its task.

    Args:
        path: the file, TOML.
        trust: whether code in Python files that it names (``my_task.py:MyTask``) may be run.

    Raises:
        InvalidValueError: the file has an error, or names code that is not trusted; the message has
            the line.
        OSError: the file cannot be read.

    Example:
        >>> import tempfile
        >>> from neurogym_training import TaskExperiment, load
        >>> task = "perceptual/PerceptualDecisionMaking-v0"
        >>> experiment = TaskExperiment.of(task, seed=1, trials=50)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = experiment.save(f"{folder}/experiment.toml")
        ...     again = load(file)
        >>> again.seed, again.trials, again.task == experiment.task
        (1, 50, True)
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidValueError(
            f"{path.name} is not UTF-8: {error}. Expected a TOML file. Save it as UTF-8."
        ) from error
    return replace(_Reader(text, path.name, trust, path.parent).read(), folder=path.parent)


_NUMBERED_LINES = 500
"""Lines of a file in which the line of a key is searched for: the time grows with their square."""


class _Reader:
    """Reads the text of an experiment; errors have the line, in files of up to 500 lines."""

    def __init__(self, text: str, file: str, trust: bool, folder: Path) -> None:
        self.text, self.file, self.trust, self.folder = text, file, trust, folder
        try:
            self.data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            line = re.search(r"line \d+", str(error))
            place = f"{file}, {line.group()}" if line else file
            raise InvalidValueError(
                f"{place}: this is not TOML: {error}. Correct this line."
            ) from error

    def wrong(self, key: Keys, message: str) -> InvalidValueError:
        """Return the error for a key."""
        line = self.line_of(key)
        return InvalidValueError(f"{self.file}{f', line {line}' if line else ''}: {message}")

    def line_of(self, key: Keys) -> int | None:
        """Return the line of a key, or else of its table."""
        # tomllib reports no lines, but the key is in the first part of the file that has it.
        lines, complete = self.text.splitlines(), 0
        if len(lines) > _NUMBERED_LINES:
            return None
        for number in range(1, len(lines) + 1):
            try:
                found: Any = tomllib.loads("\n".join(lines[:number]))
                for part in key:
                    found = found[part]
                return complete + 1 if key else None
            except tomllib.TOMLDecodeError:  # this line continues on the next one
                continue
            except LookupError:
                complete = number
        return self.line_of(key[:-1])

    def read(self) -> TaskExperiment:
        """Return the experiment; raise an error for the first mistake."""
        known = ("schema", "task", *_NUMBERS, "split", "subject", *_TABLES, "wrap")
        for name in self.data:
            if name not in known:
                raise self.wrong((name,), str(unknown("key", name, known)))
        if self.data.get("schema", SCHEMA) != SCHEMA:
            raise self.wrong(
                ("schema",),
                f"schema is {self.data['schema']!r}. Expected {SCHEMA}, which this core reads."
                " Use a newer core.",
            )
        if "task" not in self.data:
            raise self.wrong(
                (), 'the file names no task. Expected a full id. Give task = "namespace/Name-v0".'
            )
        self._check_code()
        self._check_task(("task",), self.data["task"])
        for name, least in _NUMBERS.items():
            value = self.data.get(name, least)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise self.wrong(
                    (name,),
                    f"{name} is {value!r}. Expected a whole number, at least {least}. Give one.",
                )
        if "trials" in self.data and "steps" in self.data:
            raise self.wrong(
                ("steps",), "trials and steps are both given. Expected one of them. Leave one out."
            )
        splits = ("none", *SPLITS)
        if self.data.get("split", NOTHING) not in splits:
            raise self.wrong(
                ("split",),
                f"split is {self.data['split']!r}. Expected one of {', '.join(splits)}. Write"
                " one, or leave it out.",
            )
        if not isinstance(self.data.get("subject", ""), str):
            raise self.wrong(
                ("subject",),
                f"subject is {self.data['subject']!r}. Expected a text. Write a name such as"
                ' "oracle".',
            )
        for name in _TABLES:
            if not isinstance(self.data.get(name, {}), dict):
                raise self.wrong(
                    (name,),
                    f"{name} is {self.data[name]!r}. Expected a table. Write its keys under"
                    f" [{name}].",
                )
        given = {name: value for name, value in self.data.items() if name != "schema"}
        found = TaskExperiment(**{**given, "wrap": self._wrappers(), "folder": self.folder})
        self._check_made(found)
        return found

    def _check_code(self) -> None:
        """Refuse Python files in any place of the file, unless they are trusted."""
        named = files_named_in(self.data, self.folder)
        line = self.line_of(named[0].keys) if named else None
        source = f"{self.file}, line {line}" if line else self.file
        check_artefact(source, self.data, self.folder, trust=self.trust)

    def _check_task(self, key: Keys, name: Any) -> None:
        if isinstance(name, str) and is_file_reference(name):
            return
        if not isinstance(name, str) or not _TASK_ID.fullmatch(name):
            try:
                hint = f"Write {find_task(name).id!r}."
            except DiscoveryError as error:
                hint = str(error)
            raise self.wrong(
                key, f"the task {name!r} is not a full id. Expected namespace/Name-v0. {hint}"
            )

    def _wrappers(self) -> tuple[tuple[str, dict[str, Any]], ...]:
        tables = self.data.get("wrap", [])
        if not isinstance(tables, list):
            raise self.wrong(
                ("wrap",),
                "wrap is not a list of tables. Expected one table per wrapper. Write each under"
                " [[wrap]].",
            )
        read = []
        for k, table in enumerate(tables):
            settings = dict(table) if isinstance(table, dict) else {}
            name = settings.pop("name", None)
            if not isinstance(name, str) or not _WRAPPER_ID.fullmatch(name):
                raise self.wrong(
                    ("wrap", k, "name"),
                    f"the wrapper {name!r} is not a full id. Expected namespace/Name. Write a name"
                    ' such as "core/ReactionTime".',
                )
            for key, value in settings.items():
                _with_tasks({key: value}, partial(self._check_task, ("wrap", k, key)))
            read.append((name, settings))
        return tuple(read)

    def _check_made(self, found: TaskExperiment) -> None:
        """Make the task, wrapper by wrapper, and impose the conditions."""
        self._tried(lambda: resolve(found.source), ("task",), {})
        # A plain env has no Task to check; errors show when it is made.
        if not _is_a(resolve(found.source), Task):
            return
        given: dict[Keys, Any] = {
            (section, key): value
            for section in SECTIONS
            for key, value in getattr(found, section).items()
        }
        self._tried(lambda: make_task(found.source, **found.settings), ("task",), given)
        for k, (name, settings) in enumerate(found.wrap):
            given = {("wrap", k, key): value for key, value in settings.items()}
            self._tried(partial(_check_env_wrapper, name, settings), ("wrap", k, "name"), given)
            part = replace(found, wrap=found.wrap[: k + 1])
            self._tried(part.make_task, ("wrap", k, "name"), given)
        given = {("imposed", key): value for key, value in found.imposed.items()}
        self._tried(
            lambda: Dealer(found.make_task(), 1, 0).impose(found.imposed), ("imposed",), given
        )

    def _tried(self, make: Callable[[], Any], fallback: Keys, given: Mapping[Keys, Any]) -> None:
        """Call `make`; raise its error with the line of the key that the message is about.

        Args:
            make: makes the task, or a part of it.
            fallback: the key to blame if the message has no name or value of `given`.
            given: the settings, by key.
        """
        try:
            make()
        except NeurogymError as error:
            says = str(error)
            # The message may list the known names after the one that it is about.
            places = {
                key: found.start()
                for key in given
                if (found := re.search(rf"'{re.escape(key[-1])}'|\b{re.escape(key[-1])}=", says))
            }
            valued = (
                key
                for key, value in given.items()
                if any(text in says for text in re.findall(r"'[^']*'", repr(value)))
            )
            about = min(places, key=places.__getitem__) if places else next(valued, fallback)
            raise self.wrong(about, says) from error


def _is_a(made: Any, base: type) -> bool:
    """Return whether an object, or a class, is one of `base`."""
    return issubclass(made if isinstance(made, type) else type(made), base)


def _check_env_wrapper(name: str, settings: Mapping[str, Any]) -> None:
    """Raise for unknown settings of an env wrapper; task wrappers raise when they are made."""
    wrapper = load_wrapper(name)
    parameters = inspect.signature(wrapper).parameters
    if _is_a(wrapper, TaskWrapper) or any(
        one.kind is one.VAR_KEYWORD for one in parameters.values()
    ):
        return
    known = list(parameters)[1:]
    for key in settings:
        if key not in known:
            raise unknown("parameter", key, known, of=wrapper.__name__)


# ---- values ----


def written(value: Any) -> str:
    """Return a value as TOML text.

    Raises:
        NotSupportedError: TOML has no form for the value.
    """
    value = _plain(value)
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if value is None:
        value = NOTHING
    if isinstance(value, bool | int | str):
        # As in JSON, except that TOML also requires DEL to be escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Mapping):
        return f"{{{', '.join(_entries(value))}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(written(item) for item in value)}]"
    raise NotSupportedError(
        f"{value!r} cannot be written into an experiment's file. Expected numbers, strings, lists"
        " and mappings. Name tasks by their ids."
    )


def _plain(value: Any) -> Any:
    """Return a setting with distributions and arrays in their written form."""
    for conversion in ("to_plain", "tolist"):
        value = getattr(value, conversion, lambda unchanged=value: unchanged)()
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _entries(values: Mapping[str, Any]) -> list[str]:
    return [
        f"{name if re.fullmatch(r'[A-Za-z0-9_-]+', name) else written(name)} = {written(value)}"
        for name, value in values.items()
    ]


def _read(values: Mapping[str, Any], owner: Any) -> dict[str, Any]:
    """Return settings of the file; "none" means None, unless the setting of `owner` is text."""
    return {
        name: None
        if value == NOTHING and not isinstance(getattr(owner, name, None), str)
        else value
        for name, value in values.items()
    }


def _full_id_of(task: Any) -> str:
    if not isinstance(task, str):
        raise NotSupportedError(
            f"{task!r} has no id. Expected the id of an installed task, or 'file.py:Class', which a"
            " file can refer to. Give that."
        )
    return task if is_file_reference(task) else find_task(task).id


def _each(wrap: Any) -> list[Any]:
    """Return the wrappers of the argument `wrap`, of which a single one may be given by itself."""
    with_settings = isinstance(wrap, tuple) and len(wrap) == 2 and isinstance(wrap[1], Mapping)
    return [wrap] if isinstance(wrap, str) or callable(wrap) or with_settings else list(wrap or ())


def _named_wrapper(item: Any) -> tuple[str, dict[str, Any]]:
    wrapper, settings = item if isinstance(item, tuple) else (item, {})
    if isinstance(wrapper, str):
        name = find_wrapper(wrapper).id
    else:
        value = f"{getattr(wrapper, '__module__', '')}:{getattr(wrapper, '__qualname__', '')}"
        name = next((one.id for one in installed().wrappers if one.value == value), "")
        if not name:
            raise NotSupportedError(
                f"{wrapper!r} is not an installed wrapper. Expected one, which a file can refer to."
                " Install its package."
            )
    return name, _with_tasks(_plain(settings), _full_id_of)


def _with_tasks(
    value: Any, change: Callable[[str], Any], key: str = "", inside: bool = False
) -> Any:
    """Return the settings of a wrapper with `change` applied to every name of a task in them."""
    if isinstance(value, str):
        return change(value) if key in TASK_KEYS or (inside and key == "task") else value
    if isinstance(value, Mapping):
        inside = inside or key in TASK_KEYS
        return {name: _with_tasks(item, change, name, inside) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_tasks(item, change, key, inside) for item in value]
    return value
