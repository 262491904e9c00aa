"""Import and play tasks in a child process with another PYTHONHASHSEED."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from neurogym_check.candidate import Candidate
from neurogym_check.check_types import CheckFailedError
from neurogym_core.tools import installed, run_child

SECONDS = 60.0
HASH_SEED = "4242"


@dataclass(frozen=True)
class Imported:
    """Result of importing and playing a task in a child process.

    Attributes:
        effects: side effects of the import, as texts ("printed 12 bytes").
        costs: much time or memory that the import takes, as texts ("takes 3.1 s").
        trajectory: fingerprints of the play, see `trajectories.trajectory`; None if it failed.
        failure: why the import or the play failed; "" if it did not.
    """

    effects: tuple[str, ...]
    costs: tuple[str, ...]
    trajectory: tuple[str, ...] | None
    failure: str


def imported(candidate: Candidate) -> Imported:
    """Return the result of importing and playing this task in a child process.

    Raises:
        CheckFailedError: the import failed there.
    """
    row = _rows(candidate).get(candidate.source)
    if row is None:
        raise CheckFailedError("The process that imports it ended without a result.")
    if row.get("failure") and "trajectory" not in row:
        raise CheckFailedError(f"Importing it fails: {row['failure']}")
    trajectory = row.get("trajectory")
    failure = str(row.get("failure") or "")
    return Imported(
        effects=tuple(row["effects"]),
        costs=tuple(row["costs"]),
        trajectory=None if trajectory is None else tuple(trajectory),
        failure=failure,
    )


def _rows(candidate: Candidate) -> dict[str, Any]:
    """Return the rows of all tasks of the package; one process for all saves start-up time."""
    if candidate.info is None:
        return _rows_of((candidate.source,), _Scan(installed()))
    scan = installed()
    package = [
        task.id
        for task in scan.tasks
        if task.distribution == candidate.info.distribution and task.usable
    ]
    return _rows_of(
        tuple(package) if candidate.source in package else (candidate.source,), _Scan(scan)
    )


class _Scan:
    """A scan of installed packages, equal to itself only, so that `refresh` clears the cache."""

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
        child = _child("", left)
        rows.update(
            (value["name"], value)
            for value in child.values
            if isinstance(value, dict) and isinstance(value.get("name"), str)
        )
        done = [name for name in left if name in rows]
        if len(done) == len(left):
            break
        culprit = left[len(done)]  # rows come in order
        lines = [line.strip() for line in child.errors.splitlines() if line.strip()]
        last = lines[-1] if lines else ""
        rows[culprit] = {"failure": f"the process that imported it {child.ending}. {last}".strip()}
        left = left[len(done) + 1 :]
    for name, row in rows.items():
        if row.get("others") and (row["effects"] or row["costs"]):
            _leave_out_others(name, row)
    return rows


def _leave_out_others(name: str, row: dict[str, Any]) -> None:
    """Keep only effects and costs that remain if the libraries of the task are imported before.

    Some libraries set filters of warnings or register functions with atexit."""
    child = _child(",".join(row["others"]), (name,))
    again = child.values[-1] if child.values else None
    if isinstance(again, dict) and again.get("name") == name:
        row["effects"], row["costs"] = again["effects"], again["costs"]


def _child(before: str, names: tuple[str, ...]) -> Any:
    return run_child(
        "neurogym_check._import_probe", [before, *names], SECONDS, {"PYTHONHASHSEED": HASH_SEED}
    )
