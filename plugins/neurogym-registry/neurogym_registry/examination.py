"""Run the code of a wheel in child processes: describe its tasks, draw them, and check them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

from neurogym_core.tools import RegistryError, clean, remedy, run_child
from neurogym_registry import pip
from neurogym_registry.folder import MAX_FILE
from neurogym_registry.sandbox import require_sandbox, sandbox
from neurogym_registry.schemas import part_breaches
from neurogym_registry.wheels import Wheel

_COUNTS = ("passed", "failed", "expected_failures", "core", "python")
SECONDS = 120.0
CHECK_SECONDS = 300.0  # for one check: each answer starts the time again


@dataclass(frozen=True, kw_only=True)
class Examination:
    """Descriptions, figures and checks of the tasks of a wheel, from child processes.

    Attributes:
        tasks: task name -> description and digest.
        figures: task name -> the SVG file of a trial.
        conformance: the counts of the conformance kit, in the form of a release file; None if the
            wheel has no tasks.
    """

    tasks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    figures: Mapping[str, bytes] = field(default_factory=dict)
    conformance: Mapping[str, Any] | None = None


@contextmanager
def unpacked(wheel: Wheel, *, boxed: bool) -> Iterator[Workbench]:
    """Yield a place for the code of a wheel, with its missing requirements; none of it has run.

    Args:
        wheel: the wheel.
        boxed: run its code in a sandbox.

    Raises:
        RegistryError: no sandbox can be made, or a requirement is missing.
    """
    if boxed:
        require_sandbox()
    with TemporaryDirectory(prefix="ngym-") as name:
        bench = Workbench(wheel, Path(name).resolve(), boxed=boxed)
        wheel.unpack(bench.site)
        pip.add_requirements(wheel.path, bench.site)
        yield bench


class Workbench:
    """The unpacked files of a wheel, and child processes that run them.

    Args:
        wheel: the wheel.
        folder: an empty folder.
        boxed: run the children in a sandbox.
    """

    def __init__(self, wheel: Wheel, folder: Path, *, boxed: bool = False) -> None:
        self.wheel, self.boxed = wheel, boxed
        self.site, self.pictures = folder / "site", folder / "figures"
        self.pictures.mkdir(parents=True)

    def examine(self, excuses: Mapping[str, str] = MappingProxyType({})) -> Examination:
        """Describe, draw and check all tasks.

        Args:
            excuses: the kit's expected failures, code -> reason.

        Raises:
            RegistryError: a task cannot be described, or fails a check; the message lists the
                failures.
        """
        if not self.names:
            return Examination()
        tasks, figures = self.describe()
        said = self.check(excuses)
        failures = said.pop("failures")
        if failures:
            head = (
                f"{len(failures)} checks failed, expected all to pass. Correct the tasks, or state"
                " a reason with --expected-failure."
            )
            raise RegistryError("\n".join([head, *failures]))
        return Examination(
            tasks=tasks, figures=figures, conformance={**said, "isolated": self.boxed}
        )

    @property
    def names(self) -> list[str]:
        """The tasks of the wheel."""
        return sorted(self.wheel.entry_points.get("neurogym.tasks", {}))

    def describe(self) -> tuple[dict[str, Mapping[str, Any]], dict[str, bytes]]:
        """Return the descriptions of the tasks, with digests, and their figures.

        Raises:
            RegistryError: a task cannot be imported or described.
        """
        arguments = [self.wheel.name, str(self.pictures)]
        child = self.run("neurogym_registry.inspect_tasks", arguments, SECONDS)
        rows = {
            value["task"]: value
            for value in child.values
            if isinstance(value, dict) and isinstance(value.get("task"), str)
        }
        for name in self.names:
            value = rows.get(name)
            failure = _ended(child) if value is None else value.get("failure")
            if failure:
                raise RegistryError(
                    f"{name} of {self.wheel.name} {self.wheel.version} cannot be described:"
                    f" {clean(str(failure)).rstrip('.')}. Expected a task that can be imported and"
                    f" made with its defaults. Try `ngym info {name}`, correct the task, and build"
                    " the wheel again."
                )
        return rows, {name: data for name in self.names if (data := self.figure(name)) is not None}

    def figure(self, name: str) -> bytes | None:
        """Return the figure of a task, or None.

        Foreign code wrote the file: a link would lead the keeper to a file of the machine."""
        path = self.pictures / f"{name}.svg"
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_FILE:
            return None
        return path.read_bytes()

    def check(self, excuses: Mapping[str, str]) -> dict[str, Any]:
        """Run the conformance kit on all tasks at the full level, and return the summary.

        Raises:
            RegistryError: a child process gave no result.
        """
        totals: dict[str, Any] = {"passed": 0, "failed": 0, "expected_failures": [], "failures": []}
        for name in self.names:
            value = summary_of(
                self.run(*_kit(self.wheel.name, name, "full", excuses)), self.wheel.name, name
            )
            for key in ("passed", "failed", "expected_failures", "failures"):
                totals[key] = totals[key] + value[key]
            totals |= {"core": value["core"], "python": value["python"], "level": "full"}
        return totals

    def run(self, module: str, arguments: list[str], seconds: float) -> Any:
        """Return the result of `run_child` for a module that finds the wheel's files first."""
        if self.boxed:
            return run_child(module, arguments, seconds, within=sandbox(self.site, self.pictures))
        paths = [str(self.site), *(path or os.getcwd() for path in sys.path)]
        return run_child(module, arguments, seconds, {"PYTHONPATH": os.pathsep.join(paths)})


def examine_installed(distribution: str, task: str, level: str) -> dict[str, Any]:
    """Run the conformance kit on one installed task in a child process, and return the summary.

    Raises:
        RegistryError: the child process gave no result.
    """
    return summary_of(run_child(*_kit(distribution, task, level, {})), distribution, task)


def _kit(
    distribution: str, task: str, level: str, excuses: Mapping[str, str]
) -> tuple[str, list[str], float]:
    arguments = [distribution, task, level, json.dumps(dict(excuses))]
    return "neurogym_registry.examine_task", arguments, CHECK_SECONDS


def summary_of(child: Any, distribution: str, task: str) -> dict[str, Any]:
    """Return the summary that a child of the kit wrote.

    Args:
        child: the result of `run_child`.
        distribution: the package.
        task: its task.

    Raises:
        RegistryError: it wrote none.
    """
    value = child.values[-1] if child.values and isinstance(child.values[-1], dict) else {}
    # Foreign code can write to the stream of the answers.
    failures = value.get("failures")
    counted = {**{key: value.get(key) for key in _COUNTS}, "level": "full", "isolated": False}
    if part_breaches(counted, "common.schema.json#/$defs/conformance") or not (
        isinstance(failures, list) and all(isinstance(one, str) for one in failures)
    ):
        reason = value.get("failure") or _ended(child)
        raise RegistryError(
            f"{task} cannot be checked: {clean(str(reason)).rstrip('.')}. Expected a result of the"
            f" conformance kit. {remedy(distribution)}"
        )
    return value


def _ended(child: Any) -> str:
    """Return how a child without an answer ended, with its last words."""
    words = clean(child.errors.strip().rpartition("\n")[2])[-200:]
    return f"the process {child.ending}{f' ({words})' if words else ''}"
