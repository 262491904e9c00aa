"""Importing tasks in a process of its own (with another PYTHONHASHSEED), and what that showed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from neurogym_check.candidate import Candidate
from neurogym_check.check_types import CheckFailedError
from neurogym_core.child import Child, run_child
from neurogym_core.ecosystem.discovery import declared

SECONDS = 60.0
HASH_SEED = "4242"


@dataclass(frozen=True)
class Imported:
    """What importing and playing a task in another process showed.

    Attributes:
        effects: what importing it did that it should not, in words ("printed 12 bytes").
        trajectory: what it showed when played there, see `play.trajectory`; None where it could not
            be played.
        failure: why it could not be imported or played; "" where it could.
    """

    effects: tuple[str, ...]
    trajectory: tuple[str, ...] | None
    failure: str


def imported(candidate: Candidate) -> Imported:
    """What another process saw of this task.

    Raises:
        CheckFailedError: it could not be imported there.
    """
    row = _rows(candidate).get(candidate.source)
    if row is None:
        raise CheckFailedError("The process that imports it ended without an answer.")
    if row.get("failure") and "trajectory" not in row:
        raise CheckFailedError(f"Importing it fails: {row['failure']}")
    trajectory = row.get("trajectory")
    failure = str(row.get("failure") or "")
    return Imported(
        tuple(row["effects"]), None if trajectory is None else tuple(trajectory), failure
    )


def _rows(candidate: Candidate) -> dict[str, Any]:
    """Of all tasks of the same package: one process for them all, since starting it takes most of
    the time.
    """
    if candidate.info is None:
        return _rows_of((candidate.source,), _Scan(declared()))
    scan = declared()
    package = [
        task.id
        for task in scan.tasks
        if task.distribution == candidate.info.distribution and task.usable
    ]
    return _rows_of(
        tuple(package) if candidate.source in package else (candidate.source,), _Scan(scan)
    )


class _Scan:
    """A scan of what is installed, equal to itself only: what was seen before a `refresh` counts no
    longer.
    """

    def __init__(self, scan: Any) -> None:
        self.scan = scan

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Scan) and other.scan is self.scan

    def __hash__(self) -> int:
        return id(self.scan)


@lru_cache(maxsize=64)
def _rows_of(names: tuple[str, ...], scan: _Scan) -> dict[str, Any]:
    rows: dict[str, Any] = {}
    left: tuple[str, ...] = names
    while left:
        child = run_child(
            "neurogym_check._import_probe", left, SECONDS, {"PYTHONHASHSEED": HASH_SEED}
        )
        rows.update(_answers(child))
        done = [name for name in left if name in rows]
        if len(done) == len(left):
            break
        culprit = left[len(done)]  # the answers come in order
        rows[culprit] = {
            "failure": (
                f"the process that imported it {child.ending}. {_last_line(child.errors)}".strip()
            )
        }
        left = left[len(done) + 1 :]
    return rows


def _answers(child: Child) -> Iterable[tuple[str, Any]]:
    for value in child.values:
        if isinstance(value, dict) and isinstance(value.get("name"), str):
            yield value["name"], value


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""
