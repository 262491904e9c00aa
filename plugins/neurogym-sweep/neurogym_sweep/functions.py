"""`Function`: the work that calls your function."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from neurogym_training import TaskExperiment

from neurogym_core import InvalidValueError
from neurogym_core.tools import load_file, unknown
from neurogym_sweep.base import Tasks, Work, with_settings
from neurogym_sweep.store import Job

RESERVED = ("experiment", "folder")
"""Arguments of functions that are not settings."""


class Function(Work):
    """Call a function with the settings of a row as keywords.

    It returns a mapping of results, or one per test. If it has an argument ``folder``, it gets the
    folder of its run, which may have files of an interrupted attempt; if it has an argument
    ``experiment``, a `neurogym_training.TaskExperiment`, to which the settings apply that are no
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
        self._tasks = Tasks()
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
            experiment = with_settings(self._base, others, self._plain, self._tasks)
            what["experiment"] = {
                "task": self._tasks.of_experiment(experiment),
                "imposed": dict(experiment.imposed),
                **{name: getattr(experiment, name) for name in ("seed", "trials", "steps")},
                **{name: getattr(experiment, name) for name in ("subject", "subjects")},
                "train": dict(experiment.train),
                **({} if experiment.split is None else {"split": experiment.split}),
            }
            how["experiment"] = experiment
        return Job.of(settings, what, how)


def call(job: Job, folder: Path) -> list[dict[str, Any]]:
    function = _function(job.how["function"])
    arguments = dict(job.how["arguments"])
    wanted = inspect.signature(function).parameters
    if "experiment" in wanted:
        arguments["experiment"] = job.how["experiment"]
    if "folder" in wanted:
        folder.mkdir(parents=True, exist_ok=True)
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
        module = load_file(path)
        # Modules beside the file can be imported, also while the function runs.
        if (beside := str(Path(path).parent)) not in sys.path:
            sys.path.insert(0, beside)
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
