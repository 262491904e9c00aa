"""`Experiment`: what is played, as a file that goes into a paper's supplement.

::

    schema = 1
    task = "perceptual/PerceptualDecisionMaking-v0"   # the whole id: namespace and version
    seed = 0
    trials = 500                                      # or steps
    subject = "oracle"

    [parameters]
    coherences = [0, 51.2]

    [timing]                                          # also [rewards] and [conditions]
    delay = {uniform = [500, 1500]}

    [imposed]                                         # on all trials; several values are taken in turn
    coherence = 51.2

    [[wrap]]                                          # innermost first
    name = "core/ReactionTime"
    urgency = -0.01

A task in a file of one's own, ``task = "my_task.py:MyTask"``, is looked for beside the experiment's
file, and is only run where somebody says that it may be (`trust`). A table ``[train]`` is for those
who train (`ngym train`)."""

from __future__ import annotations

import inspect
import json
import math
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neurogym_core.ecosystem.discovery import find_wrapper, installed, load_wrapper, task_id
from neurogym_core.ecosystem.files import is_file_reference
from neurogym_core.errors import (
    DiscoveryError,
    InvalidValueError,
    NeurogymError,
    NotSupportedError,
    unknown,
)
from neurogym_core.files import replacing
from neurogym_core.play.make import (
    _as_list,
    _wrapper,
    _wraps_tasks,
    is_task,
    make,
    make_task,
    make_vec,
    resolve,
)

if TYPE_CHECKING:
    import gymnasium

    from neurogym_core.play.dataset import Dataset
    from neurogym_core.play.vector_env import TaskVectorEnv
    from neurogym_core.tasks.task import Task

SCHEMA = 1
SECTIONS = ("parameters", "timing", "rewards", "conditions")
TASK_KEYS = ("other_tasks", "distractor")
"""Settings of wrappers that name tasks, or hold tables with a ``task``."""
NOTHING = "none"
"""How None is written: TOML has no word for it."""
Keys = tuple[Any, ...]
"""The path of a key in a file: names, and numbers of tables in a list."""

_TASK_ID = re.compile(r"[\w.-]+/[\w.-]+-v\d+")
_WRAPPER_ID = re.compile(r"[\w.-]+/\w+")


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A task with its settings and wrappers, a seed, and how much of it is played by whom.

    Attributes:
        task: whole id, or "file.py:Class".
        parameters, timing, rewards, conditions: settings of the task that are not its defaults.
        imposed: conditions of all trials, as `reset` takes them: values, or lists that are taken in
            turn.
        wrap: (name, settings) of wrappers of tasks and envs, innermost first; names are whole ids.
        seed: of the stream of trials.
        trials, steps: how much is played; one of them, or neither.
        subject: who plays, by name.
        train: what training reads.
        folder: where files of one's own are looked for; not part of what is saved.

    Example:
        >>> from neurogym_core import Experiment
        >>> task = "perceptual/PerceptualDecisionMaking-v0"
        >>> experiment = Experiment.of(task, dt=20, seed=1, subject="oracle")
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
    trials: int | None = None
    steps: int | None = None
    subject: str | None = None
    train: Mapping[str, Any] = field(default_factory=dict)
    folder: Path | None = field(default=None, compare=False)

    # ------------------------------------------------------------------ making what it says

    @property
    def settings(self) -> dict[str, Any]:
        """Keywords of the task, as `make` takes them."""
        found = resolve(self.source)
        parameters = {
            name: _read(value, getattr(found, name, None))
            for name, value in self.parameters.items()
        }
        overrides = {
            name: dict(getattr(self, name)) for name in SECTIONS[1:] if getattr(self, name)
        }
        return {**parameters, **overrides}

    @property
    def source(self) -> str:
        """The task, as `make` takes it: its file beside the experiment's."""
        return self._beside(self.task)

    def _beside(self, name: str) -> str:
        return (
            str(self.folder / name) if is_file_reference(name) and self.folder is not None else name
        )

    @property
    def wrappers(self) -> list[tuple[str, dict[str, Any]]]:
        """The wrappers, as `make` takes them."""
        made = []
        for name, settings in self.wrap:
            wrapper = load_wrapper(name)
            read = {
                key: _read(value, getattr(wrapper, key, None)) for key, value in settings.items()
            }
            made.append((name, _with_tasks(read, self._beside)))
        return made

    def make_task(self) -> Task:
        """The task with its task wrappers; wrappers of envs are left out."""
        wrap = [item for item in self.wrappers if _wraps_tasks(_wrapper(item)[0])]
        return make_task(self.source, wrap=wrap, **self.settings)

    def make(self, **options: Any) -> gymnasium.Env:
        """The env, as `neurogym_core.make` makes it; `options` are those of `make`."""
        return make(
            self.source, wrap=self.wrappers, **{"seed": self.seed, **self.settings, **options}
        )

    def make_vec(self, num_envs: int = 1, **options: Any) -> TaskVectorEnv:
        """The vector env, as `neurogym_core.make_vec` makes it.

        Args:
            num_envs, options: as in `make_vec`.
        """
        return make_vec(
            self.source,
            num_envs,
            wrap=self.wrappers,
            **{"seed": self.seed, **self.settings, **options},
        )

    def dataset(self, batch_size: int = 16, seq_len: int | None = None, **options: Any) -> Dataset:
        """Supervised batches of the task with its task wrappers.

        Args:
            batch_size, seq_len, options: as in `Dataset`.
        """
        from neurogym_core.play.dataset import Dataset

        return Dataset(self.make_task(), batch_size, seq_len, **{"seed": self.seed, **options})

    # ------------------------------------------------------------------ writing

    def to_toml(self) -> str:
        """The text of the file. Reading it gives an equal experiment.

        Raises:
            NotSupportedError: a setting that cannot be written, such as a task that is no id.
        """
        lines = [f"schema = {SCHEMA}", f"task = {written(self.task)}"]
        lines += [
            f"{name} = {written(getattr(self, name))}"
            for name in ("seed", "trials", "steps", "subject")
            if getattr(self, name) is not None
        ]
        for name in (*SECTIONS, "imposed", "train"):
            if getattr(self, name):
                lines += ["", f"[{name}]", *_entries(getattr(self, name))]
        for name, settings in self.wrap:
            lines += ["", "[[wrap]]", f"name = {written(name)}", *_entries(settings)]
        return "\n".join(lines) + "\n"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the file, in one piece; tasks in files are named as they are found from its folder.

        Args:
            path: the file, TOML.

        Raises:
            FileNotWrittenError (OSError): it cannot be written; an earlier file is as it was.
        """
        text = self._moved_to(Path(path).parent).to_toml()
        with replacing(path) as temporary:
            temporary.write_bytes(text.encode("utf-8"))
        return Path(path)

    def _moved_to(self, folder: Path) -> Experiment:
        """The same with files of one's own named as they are found from another folder."""

        def moved(name: str) -> str:
            if not is_file_reference(name):
                return name
            file, colon, inside = self._beside(name).partition(".py")
            return Path(os.path.relpath(file + colon, folder)).as_posix() + inside

        wrap = tuple((name, _with_tasks(settings, moved)) for name, settings in self.wrap)
        return replace(self, task=moved(self.task), wrap=wrap)

    @classmethod
    def of(cls, task: Any, *, wrap: Any = (), **settings: Any) -> Experiment:
        """The experiment of what `make` would be given.

        Args:
            task: an id, a bare name, or "file.py:Class".
            wrap: as for `make`, but wrappers by name, or installed ones.
            settings: those of the experiment (seed, trials, …); others are the task's.

        Raises:
            NotSupportedError: a task or wrapper that has no name others could find it by.
        """
        from neurogym_core.tasks.identity import plain_settings

        own = {one.name for one in fields(cls)} - {"task", "wrap"}
        kept = {name: value for name, value in settings.items() if name in own}
        parameters = plain_settings(
            {name: value for name, value in settings.items() if name not in own}
        )
        kept["parameters"] = {**kept.get("parameters", {}), **parameters}
        for name in (*SECTIONS, "imposed"):
            kept[name] = plain_settings(kept.get(name) or {})
        return cls(
            task=_whole_id(task),
            wrap=tuple(_named_wrapper(item) for item in _as_list(wrap)),
            **kept,
        )


def load(path: str | os.PathLike[str], *, trust: bool = False) -> Experiment:
    """The experiment in a file, checked by making its task.

    Args:
        path: the file, TOML.
        trust: whether code in a file that it names (``my_task.py:MyTask``) may be run.

    Raises:
        InvalidValueError: what the file says cannot be; names the line.
        OSError: the file cannot be read.

    Example:
        >>> import tempfile
        >>> from neurogym_core import Experiment, load
        >>> experiment = Experiment.of("perceptual/PerceptualDecisionMaking-v0", seed=1, trials=50)
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
            f"{path.name} is no text in UTF-8: {error}. Save it as UTF-8."
        ) from error
    return replace(_Reader(text, path.name, trust, path.parent).read(), folder=path.parent)


class _Reader:
    """Reads an experiment's text; every complaint names the line."""

    def __init__(self, text: str, file: str, trust: bool, folder: Path) -> None:
        self.file, self.trust, self.folder = file, trust, folder
        try:
            self.said = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            line = re.search(r"line (\d+)", str(error))
            raise self.wrong(
                int(line.group(1)) if line else None,
                f"this is not TOML: {error}. Correct it there.",
            ) from error
        self.lines = dict(_lines_of(text))

    def wrong(self, line: int | None, says: str) -> InvalidValueError:
        return InvalidValueError(f"{self.file}{f', line {line}' if line else ''}: {says}")

    def at(self, *path: Any) -> int | None:
        """The line of a key, or of the table it is in."""
        while path:
            if path in self.lines:
                return self.lines[path]
            path = path[:-1]
        return None

    def read(self) -> Experiment:
        self._check_keys()
        self._check_task()
        wrap = tuple(self._wrapper(k, table) for k, table in enumerate(self.said.get("wrap", [])))
        seed, trials, steps = (self._number(name) for name in ("seed", "trials", "steps"))
        if trials is not None and steps is not None:
            raise self.wrong(
                self.at("steps"),
                "trials and steps are both given. Expected one of them. Leave one out.",
            )
        sections: dict[str, Any] = {
            name: self._table(name) for name in (*SECTIONS, "imposed", "train")
        }
        found = Experiment(
            task=self.said["task"], wrap=wrap, subject=self._subject(), folder=self.folder,
            seed=seed, trials=trials, steps=steps, **sections,
        )  # fmt: skip
        self._check_made(found)
        return found

    def _check_keys(self) -> None:
        known = (
            "schema",
            "task",
            "seed",
            "trials",
            "steps",
            "subject",
            *SECTIONS,
            "imposed",
            "wrap",
            "train",
        )
        for name in self.said:
            if name not in known:
                raise self.wrong(self.at(name), str(unknown("key", name, known)))
        if self.said.get("schema", SCHEMA) != SCHEMA:
            raise self.wrong(
                self.at("schema"),
                f"schema is {self.said['schema']!r}; this core reads {SCHEMA}. Use a newer core.",
            )
        if "task" not in self.said:
            raise self.wrong(None, 'it names no task; give task = "namespace/Name-v0".')

    def _check_task(self) -> None:
        self._check_task_name(self.said["task"], self.at("task"))
        if not isinstance(self.said.get("wrap", []), list):
            raise self.wrong(
                self.at("wrap"), "wrap is no list of tables; write each wrapper under [[wrap]]."
            )

    def _check_task_name(self, name: Any, line: int | None) -> None:
        if isinstance(name, str) and is_file_reference(name):
            if not self.trust:
                raise self.wrong(
                    line,
                    f"the task {name!r} is code in a file, which would be run. Read it, then give"
                    " --trust (in Python: trust=True).",
                )
        elif not isinstance(name, str) or not _TASK_ID.fullmatch(name):
            raise self.wrong(
                line,
                f"the task {name!r} is no whole id; expected namespace/Name-v0."
                f" {self._full_id(name)}",
            )

    @staticmethod
    def _full_id(name: Any) -> str:
        """The whole id of what was meant, where that is clear."""
        try:
            return f"Write {task_id(name)!r}."
        except DiscoveryError as error:
            return str(error)

    def _wrapper(self, k: int, table: Any) -> tuple[str, dict[str, Any]]:
        name = table.get("name") if isinstance(table, dict) else None
        if not isinstance(name, str) or not _WRAPPER_ID.fullmatch(name):
            raise self.wrong(
                self.at("wrap", k, "name"),
                f"the wrapper {name!r} is no whole id; expected a name such as"
                ' "core/ReactionTime".',
            )
        settings = {key: value for key, value in table.items() if key != "name"}
        for key, value in settings.items():
            line = self.at("wrap", k, key)
            _with_tasks({key: value}, partial(self._check_task_name, line=line))
        return name, settings

    def _number(self, name: str) -> int | None:
        value, least = self.said.get(name), 0 if name == "seed" else 1
        if value is not None and (
            isinstance(value, bool) or not isinstance(value, int) or value < least
        ):
            raise self.wrong(
                self.at(name), f"{name} is {value!r}; expected a whole number, at least {least}."
            )
        return value

    def _subject(self) -> str | None:
        value = self.said.get("subject")
        if value is not None and not isinstance(value, str):
            raise self.wrong(
                self.at("subject"), f'subject is {value!r}; expected a name such as "oracle".'
            )
        return value

    def _table(self, name: str) -> dict[str, Any]:
        value = self.said.get(name, {})
        if not isinstance(value, dict):
            raise self.wrong(self.at(name), f"{name} is {value!r}; expected a table, [{name}].")
        return value

    # ------------------------------------------------------------------ what only making it shows

    def _check_made(self, found: Experiment) -> None:
        from neurogym_core.play.dealer import Dealer

        self._tried(lambda: resolve(found.source), ("task",), {})
        # A plain env has no Task to check; it is made when it is played.
        if not is_task(resolve(found.source)):
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
            self._tried(
                replace(found, wrap=found.wrap[: k + 1]).make_task, ("wrap", k, "name"), given
            )
        given = {("imposed", key): value for key, value in found.imposed.items()}
        self._tried(
            lambda: Dealer(found.make_task(), 1, 0).impose(found.imposed), ("imposed",), given
        )

    def _tried(self, make: Callable[[], Any], fallback: Keys, given: Mapping[Keys, Any]) -> None:
        """Make something; a failure is told with the line of the key that it is about, by its name
        or its value.
        """
        try:
            make()
        except NeurogymError as error:
            says = str(error)
            # The message may list the known names after the one that it is about.
            places = {
                path: found.start()
                for path in given
                if (found := re.search(rf"'{re.escape(path[-1])}'|\b{re.escape(path[-1])}=", says))
            }
            named = sorted(places, key=places.__getitem__)
            valued = [
                path
                for path, value in given.items()
                if any(repr(text) in says for text in _texts(value))
            ]
            about = (*named, *valued, fallback)[0]
            raise self.wrong(self.at(*about), says) from error


def _texts(value: Any) -> Iterator[str]:
    """All texts in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _check_env_wrapper(name: str, settings: Mapping[str, Any]) -> None:
    """Raise for settings that a wrapper of envs does not take; one of tasks says so itself when it
    is made.
    """
    wrapper = load_wrapper(name)
    parameters = inspect.signature(wrapper).parameters
    if _wraps_tasks(wrapper) or any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return
    known = list(parameters)[1:]
    for key in settings:
        if key not in known:
            raise unknown("parameter", key, known, of=wrapper.__name__)


# ---- lines ----------------------------------------------------------------------------------------------------------

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"""\s*("[^"]*"|'[^']*'|[\w.-]+)\s*=""")
_QUOTED = re.compile(r"'''.*?'''|\"\"\".*?\"\"\"|\"(?:\\.|[^\"\\])*\"|'[^']*'|#.*")


def _lines_of(text: str) -> Iterator[tuple[Keys, int]]:
    """Where every key of a TOML text is written: path -> line, from 1. Keys of inline tables are
    left out.
    """
    table: Keys = ()
    counts: dict[str, int] = {}
    depth = 0
    for number, line in enumerate(text.splitlines(), 1):
        if depth == 0 and (header := _HEADER.match(line)):
            name = header.group(2).strip("\"'")
            table = (
                (name, counts.setdefault(name, 0))
                if header.group(1) == "[["
                else tuple(name.split("."))
            )
            if header.group(1) == "[[":
                counts[name] += 1
            yield table, number
            continue
        if depth == 0 and (key := _KEY.match(line)):
            yield (*table, key.group(1).strip("\"'")), number
        bare = _QUOTED.sub("", line)
        depth = max(
            depth + sum(bare.count(one) for one in "[{") - sum(bare.count(one) for one in "]}"), 0
        )


# ---- values ---------------------------------------------------------------------------------------------------------


def written(value: Any) -> str:
    """A value as TOML writes it.

    Raises:
        NotSupportedError: it cannot be written.
    """
    if hasattr(value, "to_plain"):
        value = value.to_plain()
    if value is None:
        return written(NOTHING)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return (
            repr(value)
            if math.isfinite(value)
            else "nan"
            if value != value
            else "inf"
            if value > 0
            else "-inf"
        )
    if isinstance(value, str | os.PathLike):
        return _text(str(value))
    if isinstance(value, Mapping):
        return (
            "{" + ", ".join(f"{_key(name)} = {written(item)}" for name, item in value.items()) + "}"
        )
    if isinstance(value, list | tuple):
        return f"[{', '.join(written(item) for item in value)}]"
    if hasattr(value, "tolist"):
        return written(value.tolist())
    raise NotSupportedError(
        f"{value!r} cannot be written into an experiment's file; numbers, texts, lists and mappings"
        " can. Name tasks by their ids."
    )


def _entries(values: Mapping[str, Any]) -> list[str]:
    return [f"{_key(name)} = {written(value)}" for name, value in values.items()]


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _text(text: str) -> str:
    """A TOML text; it is written as JSON writes it, but for one character that JSON lets pass."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _read(value: Any, default: Any) -> Any:
    """A value of the file; "none" is None where it can be no text."""
    return None if value == NOTHING and not isinstance(default, str) else value


def _whole_id(task: Any) -> str:
    if not isinstance(task, str):
        raise NotSupportedError(
            f"{task!r} has no id; an experiment names its task by the id of an installed one, or by"
            " its file. Give that."
        )
    return task if is_file_reference(task) else task_id(task)


def _named_wrapper(item: Any) -> tuple[str, dict[str, Any]]:
    from neurogym_core.tasks.identity import plain_settings

    wrapper, settings = item if isinstance(item, tuple) else (item, {})
    if isinstance(wrapper, str):
        name = find_wrapper(wrapper).id
    else:
        value = f"{getattr(wrapper, '__module__', '')}:{getattr(wrapper, '__qualname__', '')}"
        name = next((one.id for one in installed().wrappers if one.value == value), "")
        if not name:
            raise NotSupportedError(
                f"{wrapper!r} is no installed wrapper, so an experiment's file could not name it."
                " Install it."
            )
    return name, _with_tasks(plain_settings(settings), _whole_id)


def _with_tasks(
    value: Any, change: Callable[[str], Any], key: str = "", inside: bool = False
) -> Any:
    """A wrapper's settings with every name of a task in them changed."""
    if isinstance(value, str):
        return change(value) if key in TASK_KEYS or (inside and key == "task") else value
    if isinstance(value, Mapping):
        inside = inside or key in TASK_KEYS
        return {name: _with_tasks(item, change, name, inside) for name, item in value.items()}
    return (
        [_with_tasks(item, change, key, inside) for item in value]
        if isinstance(value, list | tuple)
        else value
    )
