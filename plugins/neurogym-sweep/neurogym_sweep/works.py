"""The works of sweeps: training, evaluation, or your function.

A work turns a row of settings into a `Job`, and checks it before the first run starts. `perform`
does a job in any process that has the same packages.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.util
import inspect
import json
import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from neurogym_study.experiment import Experiment, read_experiment, task_entry, wrapper_entry
from neurogym_study.playing import play_task
from neurogym_study.runs import Run
from neurogym_study.task_experiment import TaskExperiment, load
from neurogym_study.trainers import checked_settings, settings_of, trainer_named
from neurogym_study.training import checked_criterion

from neurogym_core import make_task
from neurogym_core.ecosystem.discovery import load_task, task_id
from neurogym_core.ecosystem.files import is_file_reference
from neurogym_core.errors import InvalidValueError, NotSupportedError, unknown
from neurogym_core.subjects import player_of
from neurogym_core.tasks.parameters import parameter_types
from neurogym_sweep.store import CLAIM, JOB_FILE, RESULT_FILE, Job

SECTIONS = ("timing", "rewards", "conditions")
UNITS = {"model": "updates", "algo": "steps"}
RESERVED = ("experiment", "folder")
"""Arguments of functions that are not settings."""


class Work(ABC):
    """A kind of run, which makes jobs of rows of settings."""

    name: str

    @abstractmethod
    def job(self, settings: Mapping[str, Any]) -> Job:
        """Return the job of a row.

        Raises:
            NeurogymError: a setting does not exist, or has an impossible value.
        """


def work_named(name: str | None, source: str | None, *, trust: bool = False) -> Work:
    """Return the work of the command line.

    Args:
        name: "train", "evaluate", "module:function" or "file.py:function"; None: "train" if the
            experiment has a table [train], else "evaluate".
        source: an experiment file, the id of a task, or None.
        trust: whether code in a file that the experiment names may be run.

    Raises:
        NeurogymError: there is no such work, or the source is wrong.
    """
    if name is not None and ":" in name:
        base = None if source is None else _experiment(source, trust)
        return Function(name, base)
    if name not in (None, "train", "evaluate"):
        raise unknown("work", name, ["train", "evaluate", "module:function", "file.py:function"])
    if source is None:
        raise InvalidValueError(
            "No experiment was given. Expected an experiment.toml or the id of a task. Add it, or"
            " name a function with --do file.py:function."
        )
    is_file = source.endswith(".toml")
    if name is None:
        name = "train" if is_file and _experiment(source, trust).train else "evaluate"
    if name == "evaluate":
        return Evaluation(_experiment(source, trust))
    if is_file:
        _experiment(source, trust)  # its errors name the line
        return Training(read_experiment(Path(source), trust=trust))
    return Training({"tasks": [source], "set": {}, "wrap": []})


def perform(job: Job, folder: Path) -> list[dict[str, Any]]:
    """Do a job in the folder of its run, and return a row of results per test."""
    do = job.what["do"]
    if do == "train":
        return _train(job, folder)
    if do == "evaluate":
        return _evaluate(job)
    return _call(job, folder)


# ---------------------------------------------------------------------- training


class Training(Work):
    """Train a network or an agent, as `ngym train` does; a row of results per test.

    Args:
        said: an experiment, as `neurogym_study.experiment.read_experiment` returns it.
    """

    name = "train"
    _plain = ("algo", "batch", "criterion", "model", "seed", "steps", "task", "updates")

    def __init__(self, said: Mapping[str, Any]) -> None:
        self._said = said
        self._tried: set[str] = set()
        self._tasks = _Tasks()

    def job(self, settings: Mapping[str, Any]) -> Job:
        """Return the job of a row; see `Work.job`."""
        experiment = self._experiment(settings)
        trainer = trainer_named(experiment.trainer, experiment.kind)
        known = settings_of(trainer)
        options = {
            name: parameter.default
            for name, parameter in known.items()
            if name not in ("seed", "wrap") and parameter.default is not inspect.Parameter.empty
        }
        options |= checked_settings(trainer, experiment.trainer, experiment.options)
        tasks = [self._tasks.described(entry, experiment.parameters) for entry in experiment.tasks]
        # One trainer for each set of names, and the values of each row: a trainer takes a while.
        kind = json.dumps([tasks, experiment.trainer, sorted(options)], default=repr)
        if kind not in self._tried:
            # A pattern may match a task that cannot be learned this way: that run fails alone.
            with contextlib.suppress(NotSupportedError):
                experiment.make_trainer()
            self._tried.add(kind)
        what = {
            "do": "train",
            "tasks": tasks,
            experiment.kind: experiment.trainer,
            "amount": experiment.amount,
            "seed": experiment.seed,
            "criterion": checked_criterion(experiment.criterion),
            "wrap": [dict(entry) for entry in experiment.wrap],
            "options": options,
        }
        return Job.of(settings, what, {"experiment": experiment.to_plain()})

    def _experiment(self, settings: Mapping[str, Any]) -> Experiment:
        said = dict(self._said)
        entries = [dict(task_entry(task)) for task in said["tasks"]]
        if "task" in settings:
            entries[0]["task"] = task_entry(settings["task"])["task"]
        for one, other in (("model", "algo"), ("algo", "model")):
            if one in settings:
                said.pop(other, None)
                said[one] = settings[one]
        kinds = [kind for kind in UNITS if said.get(kind)]
        if len(kinds) != 1:
            raise InvalidValueError(
                f"{len(kinds)} trainers were given. Expected one. Set model or algo under [train]"
                " in the experiment file, or vary it: --vary model=rnn,gru."
            )
        (kind,) = kinds
        unit, name = UNITS[kind], said[kind]
        said |= {key: settings[key] for key in self._plain if key in settings}
        if not _is_whole(said.get(unit)):
            raise InvalidValueError(
                f"{unit} is {said.get(unit)!r}. Expected a whole number above 0, the length of a"
                f" run. Set {unit} under [train] in the experiment file, or --vary {unit}=2000."
            )
        options = dict(said.get("options", {}))
        if "batch" in said:
            options["batch"] = said["batch"]
        parameters = _copied(said["set"])
        trainer_settings = set(settings_of(trainer_named(name, kind))) - {"seed", "wrap"}
        task_settings = set(self._tasks.parameters(entries[0]["task"]))
        for key, value in settings.items():
            if key in self._plain:
                continue
            section, dot, inside = key.partition(".")
            if dot and section in SECTIONS:
                parameters[section] = {**parameters.get(section, {}), inside: value}
            elif dot and section == "options":
                options[inside] = value
            elif dot and section == "parameters":
                parameters[inside] = value
            elif key in trainer_settings and key in task_settings:
                raise InvalidValueError(
                    f"{key} is a setting of {name} and of {entries[0]['task']}. Expected one of"
                    f" them. Write options.{key} or parameters.{key}."
                )
            elif key in trainer_settings:
                options[key] = value
            elif key in task_settings:
                parameters[key] = value
            else:
                known = [*self._plain, *sorted(trainer_settings), *sorted(task_settings)]
                known += [f"{section}.NAME" for section in SECTIONS]
                raise unknown("setting", key, known, of=f"{name} and {entries[0]['task']}")
        return Experiment(
            tasks=tuple(entries), kind=kind, trainer=name, amount=int(said[unit]),
            seed=_seed(said.get("seed")), criterion=said.get("criterion"), parameters=parameters,
            wrap=tuple(wrapper_entry(item) for item in said["wrap"]), options=options,
        )  # fmt: skip


def _train(job: Job, folder: Path) -> list[dict[str, Any]]:
    run = Run(
        folder,
        Experiment.from_plain(job.how["experiment"]),
        foreign=(JOB_FILE, RESULT_FILE, f"{CLAIM}*"),
    )
    if not run.started:
        run.write()
    trainer = run.trainer()  # continues from the newest checkpoint
    trainer.train(run.experiment.amount, out=folder, criterion=run.experiment.criterion)
    return [dict(row) for row in trainer.curve]


# ---------------------------------------------------------------------- evaluation


class Evaluation(Work):
    """Let a reference subject play; one row of results.

    Args:
        base: the task, its settings, and the subject, "guess" by default, that rows change.
    """

    name = "evaluate"
    _plain = ("seed", "subject", "task", "trials")

    def __init__(self, base: TaskExperiment) -> None:
        self._base = base
        self._tasks = _Tasks()
        self._subjects: set[str] = set()

    def job(self, settings: Mapping[str, Any]) -> Job:
        """Return the job of a row; see `Work.job`."""
        experiment = _with(self._base, settings, self._plain, self._tasks)
        trials = 2000 if experiment.trials is None else experiment.trials
        if not _is_whole(trials):
            raise InvalidValueError(
                f"trials is {trials!r}. Expected a whole number above 0. Write for example"
                " --vary trials=1000."
            )
        seed = _seed(experiment.seed)
        subject = experiment.subject or "guess"
        if subject not in self._subjects:
            player_of(subject)
            self._subjects.add(subject)
        experiment = replace(experiment, trials=int(trials), seed=seed, subject=subject)
        what = {
            "do": "evaluate",
            "task": self._tasks.of_experiment(experiment),
            "imposed": dict(experiment.imposed),
            "subject": subject,
            "trials": int(trials),
            "seed": seed,
        }
        return Job.of(settings, what, {"experiment": experiment})


def _evaluate(job: Job) -> list[dict[str, Any]]:
    experiment = job.how["experiment"]
    played = play_task(
        experiment.make_task(),
        experiment.subject,
        experiment.trials,
        seed=experiment.seed,
        imposed=experiment.imposed,
    )
    record = played.record
    row = {"trials": len(record)}
    for name in ("performance", "reward", "reaction_time", "aborts", "steps"):
        if name in record.columns:
            values = record[name].astype(float)
            values = values[values == values]  # trials without an answer have no reaction time
            row[name] = float(values.mean()) if len(values) else None
    return [{"accuracy" if name == "performance" else name: value for name, value in row.items()}]


# ---------------------------------------------------------------------- functions


class Function(Work):
    """Call a function with the settings of a row as keywords.

    It returns a mapping of results, or one per test. If it has an argument ``folder``, it gets the
    folder of its run, which may have files of an interrupted attempt; if it has an argument
    ``experiment``, it gets a `neurogym_study.TaskExperiment`, to which settings apply that are no
    arguments.

    Args:
        reference: "module:function" or "file.py:function".
        base: the experiment, or None.
    """

    _plain = ("seed", "steps", "subject", "task", "trials")

    def __init__(self, reference: str, base: TaskExperiment | None = None) -> None:
        path, _, name = reference.rpartition(":")
        self.name = reference
        self._source = None
        self._reference = reference
        if path.endswith(".py"):
            file = Path(path)
            if not file.is_file():
                raise InvalidValueError(
                    f"There is no file {path!r}, which {reference!r} names. Expected"
                    " file.py:function. Correct the path."
                )
            self._source = hashlib.sha256(file.read_bytes()).hexdigest()
            self._reference = f"{file.resolve()}:{name}"
            self.name = f"{file.name}:{name}"
        function = _function(self._reference)
        self._signature = inspect.signature(function)
        self._base = base
        self._tasks = _Tasks()
        wants = "experiment" in self._signature.parameters
        if (base is not None) != wants:
            raise InvalidValueError(
                f"{self.name} has {'an' if wants else 'no'} argument `experiment`, and"
                f" {'no' if base is None else 'an'} experiment was given. Expected both or neither."
                f" {'Give' if wants else 'Leave out'} the experiment.toml"
                f"{'' if wants else ', or add the argument'}."
            )

    def job(self, settings: Mapping[str, Any]) -> Job:
        """Return the job of a row; see `Work.job`."""
        parameters = self._signature.parameters
        own = [
            name
            for name, parameter in parameters.items()
            if name not in RESERVED
            and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        ]
        takes_any = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
        given = {name: value for name, value in settings.items() if name in own or takes_any}
        others = {name: value for name, value in settings.items() if name not in given}
        if others and self._base is None:
            raise unknown("setting", next(iter(others)), own, of=self.name)
        missing = [
            name
            for name in own
            if name not in given and parameters[name].default is inspect.Parameter.empty
        ]
        if missing:
            raise InvalidValueError(
                f"{self.name} was given no {', '.join(missing)}. Expected a value for each argument"
                f" without a default. Add --vary {missing[0]}=VALUE."
            )
        defaults = {name: parameters[name].default for name in own if name not in given}
        what: dict[str, Any] = {
            "do": self.name,
            "source": self._source,
            **{"with": defaults | given},
        }
        how: dict[str, Any] = {"function": self._reference, "arguments": given}
        if self._base is not None:
            experiment = _with(self._base, others, self._plain, self._tasks)
            what["experiment"] = {
                "task": self._tasks.of_experiment(experiment),
                "imposed": dict(experiment.imposed),
                **{name: getattr(experiment, name) for name in ("seed", "trials", "steps")},
                **{name: getattr(experiment, name) for name in ("subject", "subjects")},
                "train": dict(experiment.train),
            }
            how["experiment"] = experiment
        return Job.of(settings, what, how)


def _call(job: Job, folder: Path) -> list[dict[str, Any]]:
    function = _function(job.how["function"])
    arguments = dict(job.how["arguments"])
    wanted = inspect.signature(function).parameters
    if "experiment" in wanted:
        arguments["experiment"] = job.how["experiment"]
    if "folder" in wanted:
        arguments["folder"] = folder
    returned = function(**arguments)
    rows = [returned] if isinstance(returned, Mapping) else returned
    if not isinstance(rows, Iterable) or isinstance(rows, str):
        raise _wrong_return(job, returned)
    checked = []
    for row in rows:
        if not isinstance(row, Mapping):
            raise _wrong_return(job, row)
        checked.append({str(name): _scalar(name, value) for name, value in row.items()})
    return checked


def _wrong_return(job: Job, value: Any) -> InvalidValueError:
    return InvalidValueError(
        f"{job.what['do']} returned a value of type {type(value).__name__}. Expected a mapping of"
        " names to numbers, or a list of mappings, one per test. Return for example"
        " {'accuracy': 0.8}."
    )


def _scalar(name: Any, value: Any) -> Any:
    value = value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value
    if value is not None and not isinstance(value, bool | int | float | str):
        raise InvalidValueError(
            f"The result {name!r} is of type {type(value).__name__}. Expected a number, a text, a"
            " bool or None. Return one value, or write the others into `folder`."
        )
    return value


_FUNCTIONS: dict[str, Callable[..., Any]] = {}


def _function(reference: str) -> Callable[..., Any]:
    """Return the function behind "module:function" or "file.py:function"."""
    if reference in _FUNCTIONS:
        return _FUNCTIONS[reference]
    path, _, name = reference.rpartition(":")
    if path.endswith(".py"):
        module_name = f"neurogym_sweep_file_{hashlib.sha256(path.encode()).hexdigest()[:12]}"
        spec = importlib.util.spec_from_file_location(module_name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module
        # Modules beside the file can be imported, also while the function runs.
        if (beside := str(Path(path).parent)) not in sys.path:
            sys.path.insert(0, beside)
        spec.loader.exec_module(module)
    else:
        try:
            module = importlib.import_module(path)
        except ModuleNotFoundError as error:
            raise InvalidValueError(
                f"{reference!r} cannot be imported: {error}. Expected module:function or"
                " file.py:function. Correct the name, or install the module."
            ) from error
    function = getattr(module, name, None)
    if not callable(function):
        known = [key for key, value in vars(module).items() if inspect.isfunction(value)]
        raise unknown("function", name, known, of=path)
    _FUNCTIONS[reference] = function
    return function


# ---------------------------------------------------------------------- parts


class _Tasks:
    """Descriptions of tasks, each made once, so that rows with equal ones are checked quickly."""

    def __init__(self) -> None:
        self._described: dict[str, Any] = {}

    def parameters(self, name: str) -> Mapping[str, Any]:
        """Return the parameters of a task class, name -> annotation."""
        return parameter_types(load_task(name))

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
                self._described[text] = [task_id(name), repr(task)]
        return self._described[text]


def _experiment(source: str, trust: bool) -> TaskExperiment:
    """Return the experiment of a file, or of a task."""
    if not source.endswith(".toml"):
        return TaskExperiment.of(source)
    if not Path(source).is_file():
        raise InvalidValueError(
            f"There is no file {source!r}. Expected an experiment.toml, or the id of a task."
            " Correct the path."
        )
    return load(source, trust=trust)


def _with(
    base: TaskExperiment, settings: Mapping[str, Any], plain: tuple[str, ...], tasks: _Tasks
) -> TaskExperiment:
    """Return the experiment with the settings of a row."""
    changes: dict[str, Any] = {name: settings[name] for name in plain if name in settings}
    # A file is found from the folder of the experiment; that of the row, from the current one.
    if "task" in changes and is_file_reference(changes["task"]):
        changes["task"] = task_entry(changes["task"])["task"]
    elif "task" in changes:
        changes["task"] = task_id(changes["task"])
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


def _copied(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: dict(value) if isinstance(value, Mapping) else value
        for name, value in settings.items()
    }


def _is_whole(value: Any) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and value == int(value)
        and value > 0
    )


def _seed(value: Any) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidValueError(
            f"seed is {value!r}. Expected a whole number from 0 on. Write for example --vary"
            " seed=0:20."
        )
    return value
