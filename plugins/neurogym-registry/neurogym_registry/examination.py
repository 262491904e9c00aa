"""Run the code of a wheel in child processes: describe its tasks, draw them, and check them."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, Literal, get_args

from neurogym_core.tools import clean, installed, run_child
from neurogym_registry import pip
from neurogym_registry.enter_sandbox import MOST
from neurogym_registry.errors import RegistryError
from neurogym_registry.folder import MAX_FILE
from neurogym_registry.releases import plain
from neurogym_registry.sandbox import require_sandbox, sandbox
from neurogym_registry.schemas import part_breaches
from neurogym_registry.wheels import Wheel

SECONDS = 120.0
CHECK_SECONDS = 300.0  # for one check: each answer starts the time again
PACKAGE_SECONDS = 2700.0  # for all code of a package in one command: 82 tasks need about 1000
MAX_DEPTH = 20  # of lists and tables in the description of a task; an ordinary one has five
MAX_DESCRIPTION = 200_000  # characters of JSON; those of this project have at most 20,000
MAX_INTEGER = 2**63
MAX_TEXT = 2000  # characters of a failure
Level = Literal["quick", "full"]


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
def unpacked(wheel: Wheel, *, boxed: bool, deadline: float | None = None) -> Iterator[Workbench]:
    """Yield a place for the code of a wheel, with its missing requirements; none of it has run.

    Args:
        wheel: the wheel.
        boxed: run its code in a sandbox.
        deadline: end of the time for its downloads and its code, of `time.monotonic`; None for
            `PACKAGE_SECONDS` from now.

    Raises:
        RegistryError: no sandbox can be made, or a requirement is missing.
    """
    if boxed:
        require_sandbox()
    with TemporaryDirectory(prefix="ngym-") as name:
        bench = Workbench(wheel, Path(name).resolve(), boxed=boxed, deadline=deadline)
        wheel.unpack(bench.site)
        pip.add_requirements(wheel.path, bench.site, deadline=bench.deadline)
        yield bench


class Workbench:
    """The unpacked files of a wheel, and child processes that run them.

    Args:
        wheel: the wheel.
        folder: an empty folder.
        boxed: run the children in a sandbox.
        deadline: as in `unpacked`.
    """

    def __init__(
        self, wheel: Wheel, folder: Path, *, boxed: bool = False, deadline: float | None = None
    ) -> None:
        self.wheel, self.boxed, self.site = wheel, boxed, folder / "site"
        self.deadline = time.monotonic() + PACKAGE_SECONDS if deadline is None else deadline

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
            RegistryError: a task cannot be imported or described, or its description has another
                form than that of a release file.
        """
        arguments = [self.wheel.name, str(self.site)]
        child = self.run("neurogym_registry.inspect_tasks", arguments, SECONDS)
        rows = {
            value["task"]: value
            for value in child.values
            if isinstance(value, dict) and isinstance(value.get("task"), str)
        }
        tasks, figures = dict[str, Mapping[str, Any]](), dict[str, bytes]()
        for name in self.names:
            row = rows.get(name)
            failure = _ended(child) if row is None else _failure(row) or _fault(row)
            if row is None or failure:
                raise RegistryError(
                    f"{name} of {self.wheel.name} {self.wheel.version} cannot be described:"
                    f" {clean(failure)[:MAX_TEXT].rstrip('.')}. Expected a task that can be"
                    f" imported and made with its defaults. Try `ngym info {name}`, correct the"
                    " task, and build the wheel again."
                )
            tasks[name] = {key: row[key] for key in ("description", "digest") if row.get(key)}
            if row.get("figure"):
                figures[name] = row["figure"].encode("utf-8", "replace")
        return tasks, figures

    def check(self, excuses: Mapping[str, str]) -> dict[str, Any]:
        """Run the conformance kit on all tasks at the full level, and return the summary.

        Raises:
            RegistryError: a child process gave no result.
        """
        totals: dict[str, Any] = {"passed": 0, "failed": 0, "expected_failures": [], "failures": []}
        for name in self.names:
            child = self.run(*_kit(self.wheel.name, name, "full", excuses, str(self.site)))
            value = summary_of(child, self.wheel.name, name, "full", excuses)
            totals = {key: totals[key] + value[key] for key in totals}
        # Not from the answers: foreign code can write these. The children run the same programs.
        core, python = installed().core_version, platform.python_version()
        return {**totals, "core": core, "python": python, "level": "full"}

    def run(self, module: str, arguments: list[str], seconds: float) -> Any:
        """Return the result of `run_child` for a module, within the time of the package.

        Raises:
            RegistryError: the time is over.
        """
        left = self.deadline - time.monotonic()
        within = sandbox(self.site) if self.boxed else ()
        child = run_child(module, arguments, seconds, within=within, total=left, most=MOST)
        if child.timed_out and time.monotonic() >= self.deadline:
            raise RegistryError(
                f"{self.wheel.name} {self.wheel.version} was stopped: its code took more than the"
                f" {PACKAGE_SECONDS:.0f} s that all versions of a package have in one command."
                " Expected tasks that can be drawn and checked in less. Make them faster, or divide"
                " the package; nothing was written."
            )
        return child


def examine_installed(distribution: str, task: str, level: Level) -> dict[str, Any]:
    """Run the conformance kit on one installed task in a child process, and return the summary.

    Raises:
        RegistryError: the child process gave no result.
    """
    child = run_child(*_kit(distribution, task, level, {}, ""))
    return summary_of(child, distribution, task, level, {})


def _kit(
    distribution: str, task: str, level: Level, excuses: Mapping[str, str], site: str
) -> tuple[str, list[str], float]:
    arguments = [distribution, task, level, json.dumps(dict(excuses)), site]
    return "neurogym_registry.examine_task", arguments, CHECK_SECONDS


def summary_of(
    child: Any, distribution: str, task: str, level: Level, excuses: Mapping[str, str]
) -> dict[str, Any]:
    """Return the counts, failures and expected failures of the results that a child wrote.

    Foreign code can write to the stream of the answers. A result counts if there is one for each
    check of this kit, and no other; an expected failure, if it is one of `excuses`. Which of the
    checks passed, code that knows the kit can forge.

    Args:
        child: the result of `run_child`.
        distribution: the package.
        task: its task.
        level: the level of the checks.
        excuses: as in `Workbench.examine`.

    Raises:
        RegistryError: it wrote no such results.
    """
    value = child.values[-1] if child.values and isinstance(child.values[-1], dict) else {}
    rows = value.get("results")
    if not _is_complete(rows, level, excuses):
        reason = _failure(value) or _ended(child)
        raise RegistryError(
            f"{task} cannot be checked: {clean(reason)[:MAX_TEXT].rstrip('.')}. Expected a result"
            f" of each check of the conformance kit. Report it to the authors of {distribution}."
        )
    failures = [text for _, status, text in rows if status in ("failed", "unexpected pass")]
    return {
        "passed": sum(status == "passed" for _, status, _ in rows),
        "failed": len(failures),
        "failures": [f"{task}: {clean(text)[:MAX_TEXT]}" for text in failures],
        "expected_failures": [
            {"task": task, "check": code, "reason": clean(excuses[code])[:400]}
            for code, status, _ in rows
            if status == "expected failure"
        ],
    }


def _is_complete(rows: Any, level: Level, excuses: Mapping[str, str]) -> bool:
    """Whether rows of an answer are the results of all checks of a level."""
    from neurogym_check.check_types import Status
    from neurogym_check.run_checks import all_checks

    if not (isinstance(rows, list) and all(map(_is_row, rows))):
        return False
    return [code for code, _, _ in rows] == [one.code for one in all_checks(level)] and all(
        status in get_args(Status) and (status != "expected failure" or code in excuses)
        for code, status, _ in rows
    )


def _is_row(row: Any) -> bool:
    return isinstance(row, list) and len(row) == 3 and all(isinstance(one, str) for one in row)


def _failure(row: Mapping[str, Any]) -> str:
    """Return the failure that an answer states, or an empty text."""
    failure = row.get("failure")
    return failure if isinstance(failure, str) else ""


def _fault(row: Mapping[str, Any]) -> str:
    """Return the fault of the answer about a task, or an empty text."""
    if not _is_modest(row, MAX_DEPTH):
        return "its description has lists within lists without an end, or a number without one"
    description, digest, figure = row.get("description"), row.get("digest", {}), row.get("figure")
    if not isinstance(figure, str | None) or len(figure or "") > MAX_FILE:
        return f"its figure is no text, or has more than {MAX_FILE:,} characters"
    if not isinstance(description, dict):
        return "its description is no table"
    length = len(json.dumps([description, digest]))
    if length > MAX_DESCRIPTION:
        return f"its description has {length:,} characters, more than {MAX_DESCRIPTION:,}"
    said = {**plain(description), "digest": plain(digest)}
    found = part_breaches(said, "common.schema.json#/$defs/description")
    return f"its {found[0].field} {found[0].message}" if found else ""


def _is_modest(value: Any, depth: int) -> bool:
    """Whether a value is nested no deeper, and has no huge integers, which files cannot have."""
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return depth > 0 and all(_is_modest(one, depth - 1) for one in inner)
    return not isinstance(value, int) or abs(value) < MAX_INTEGER


def _ended(child: Any) -> str:
    """Return how a child without an answer ended, with its last words."""
    words = clean(child.errors.strip().rpartition("\n")[2])[-200:]
    return f"the process {child.ending}{f' ({words})' if words else ''}"
