"""`Store`: the folder of a sweep, in which several machines work without doing a run twice.

::

    sweep/
      sweep.json            the plan of the newest command: the work, and the keys in order
      table.parquet         one row per run and test
      runs/KEY/job.json     description of the run
      runs/KEY/result.json  its rows, or its error; written last and at once
      runs/KEY/claim.N      the N-th process that works on it; the highest N holds the run

A claim is created with ``O_CREAT | O_EXCL``, which one process wins, on network file systems too. A
thread touches the claims of its process. A claim is dead if its process has ended on this machine,
or if it was not touched for `LEASE` seconds by the clock of the file system. Then the run is taken
over with the next N, which again one process wins: the dead claim is never removed, so that no
process can remove a live one by mistake. A process that was only paused sees a higher N when it
ends, and leaves the result to the new holder.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import socket
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neurogym_core import InvalidValueError
from neurogym_core.tools import replacing, trusted

FORMAT = 1
SWEEP_FILE, TABLE_FILE, RUNS = "sweep.json", "table.parquet", "runs"
JOB_FILE, RESULT_FILE, CLAIM = "job.json", "result.json", "claim."
FOREIGN = (JOB_FILE, RESULT_FILE, f"{CLAIM}*")
"""Patterns of the files in the folder of a run that are no part of a checkpoint."""
TRAINED = "trained."
"""Prefix of the settings with which a sweep trained the run that another sweep plays."""
LEASE = 60.0
"""Seconds without a touch after which a claim of another machine is dead."""
BEAT = 5.0
"""Seconds between the touches of a claim."""


@dataclass(frozen=True)
class Job:
    """A run to do.

    Attributes:
        key: hash of `what`, and name of the folder of the run.
        settings: the settings that vary, name -> value, as the table shows them.
        what: description of the run, as plain data; equal descriptions are the same run.
        how: its arguments on this machine, such as the paths of files.
        trust: whether code in files that artefacts name may be run, in any process.
    """

    key: str
    settings: Mapping[str, Any]
    what: Mapping[str, Any]
    how: Mapping[str, Any]
    trust: bool = False

    @classmethod
    def of(
        cls, settings: Mapping[str, Any], what: Mapping[str, Any], how: Mapping[str, Any]
    ) -> Job:
        """Return the job, with the key of `what` and the permission of this moment."""
        text = json.dumps(_canonical(what), sort_keys=True, separators=(",", ":"), default=repr)
        return cls(hashlib.sha256(text.encode()).hexdigest()[:16], settings, what, how, trusted())


class Store:
    """The folder of a sweep."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def run_folder(self, key: str) -> Path:
        """Return the folder of a run."""
        return self.folder / RUNS / key

    # ------------------------------------------------------------------ the plan

    def write_plan(self, work: str, jobs: Sequence[Job]) -> None:
        """Write the plan of the newest command."""
        rows = [{"key": job.key, "settings": dict(job.settings)} for job in jobs]
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / RUNS).mkdir(exist_ok=True)
        write_json(self.folder / SWEEP_FILE, {"format": FORMAT, "work": work, "runs": rows})

    def read_plan(self) -> dict[str, Any]:
        """Return the plan.

        Raises:
            InvalidValueError: the folder holds no sweep, or one of another format.
        """
        try:
            plan = json.loads((self.folder / SWEEP_FILE).read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            raise InvalidValueError(
                f"{str(self.folder)!r} holds no sweep: it has no {SWEEP_FILE}. Expected a folder"
                " that `ngym sweep` wrote. Name it with --out."
            ) from None
        except json.JSONDecodeError as error:
            raise InvalidValueError(
                f"{str(self.folder / SWEEP_FILE)!r} is not JSON: {error}. Expected the file that"
                " `ngym sweep` wrote. Start the sweep again; its finished runs are kept."
            ) from error
        if plan.get("format") != FORMAT:
            raise InvalidValueError(
                f"{str(self.folder)!r} has the format {plan.get('format')!r}. Expected {FORMAT}."
                " Use the version that wrote it."
            )
        for run in plan["runs"]:
            # The folder of a run has the name of its key: another one could lead out of the sweep.
            if not re.fullmatch(r"[0-9a-f]{16}", str(run["key"])):
                raise InvalidValueError(
                    f"{str(self.folder / SWEEP_FILE)!r} has a run with the key {run['key']!r}."
                    " Expected 16 hexadecimal digits, as `ngym sweep` writes them. Do not use"
                    " results of this folder that you did not compute."
                )
        return plan

    # ------------------------------------------------------------------ results

    def is_done(self, key: str) -> bool:
        """Return whether the run has a result, which may be an error."""
        return (self.run_folder(key) / RESULT_FILE).exists()

    def result(self, key: str) -> dict[str, Any] | None:
        """Return the result of a run, or None if it has none."""
        try:
            text = (self.run_folder(key) / RESULT_FILE).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        return json.loads(text)

    def write_result(self, key: str, result: Mapping[str, Any]) -> None:
        """Write the result of a run, completely or not at all."""
        write_json(self.run_folder(key) / RESULT_FILE, result)

    def forget(self, key: str) -> None:
        """Remove the result of a run, so that it is done again."""
        (self.run_folder(key) / RESULT_FILE).unlink(missing_ok=True)

    # ------------------------------------------------------------------ claims

    def claim(self, job: Job) -> Claim | None:
        """Return a claim of the run, or None if another live process holds it."""
        folder = self.run_folder(job.key)
        folder.mkdir(parents=True, exist_ok=True)
        number = _highest(folder)
        if number and not is_dead(folder / f"{CLAIM}{number}"):
            return None
        path = folder / f"{CLAIM}{number + 1}"
        try:
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        except FileExistsError:
            return None
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(_this_process(), file)
            if not (folder / JOB_FILE).exists():
                described = {"settings": dict(job.settings), "what": dict(job.what)}
                write_json(folder / JOB_FILE, described)
        except OSError:  # a full disk: the claim must not hold the run
            path.unlink(missing_ok=True)
            raise
        return Claim(path, number + 1)

    def is_claimed(self, key: str) -> bool:
        """Return whether a process works on the run, or ended while it did."""
        return _highest(self.run_folder(key)) > 0

    def release(self, key: str) -> None:
        """Remove the claims of a run that is done."""
        folder = self.run_folder(key)
        with contextlib.suppress(FileNotFoundError):
            for name in os.listdir(folder):
                if name.startswith(CLAIM):
                    (folder / name).unlink(missing_ok=True)


@dataclass(frozen=True)
class Claim:
    """The right of this process to do a run."""

    path: Path
    number: int

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """Touch the claim while the block runs."""
        _BEATS.add(self.path)
        try:
            yield
        finally:
            _BEATS.remove(self.path)

    @property
    def holds(self) -> bool:
        """Whether no other process has taken the run over."""
        return self.path.exists() and _highest(self.path.parent) == self.number

    def withdraw(self) -> None:
        """Give the run back, for example after Ctrl-C."""
        self.path.unlink(missing_ok=True)


def is_dead(path: Path) -> bool:
    """Return whether the process of a claim has ended, as far as this machine can see."""
    try:
        owner = json.loads(path.read_text(encoding="utf-8") or "null")
        touched = path.stat().st_mtime
    except FileNotFoundError:
        return False  # given back, or done, at this moment
    except json.JSONDecodeError:
        owner = None
    here = _this_process()
    if owner and owner["machine"] == here["machine"]:
        return _started(owner["process"]) != owner["started"]
    return _now(path.parent) - touched > LEASE


def _canonical(value: Any) -> Any:
    """Return plain data in which whole numbers are integers: 1.0 and 1 give the same run."""
    if isinstance(value, Mapping):
        return {str(key): _canonical(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def write_json(path: Path, value: Any) -> None:
    """Write JSON, completely or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(value, default=repr) + "\n", encoding="utf-8")


def _highest(folder: Path) -> int:
    """Return the highest number of a claim in a folder, or 0."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return 0
    ends = (name[len(CLAIM) :] for name in names if name.startswith(CLAIM))
    return max((int(end) for end in ends if end.isdecimal()), default=0)


def _now(folder: Path) -> float:
    """Return the time of the file system, whose clock may differ from that of this machine."""
    probe = folder / f".now.{uuid.uuid4().hex}"
    try:
        probe.touch()
        return probe.stat().st_mtime
    finally:
        probe.unlink(missing_ok=True)


def _this_process() -> dict[str, Any]:
    global _HERE
    if _HERE is None or _HERE["process"] != os.getpid():  # a fork has another process
        _HERE = {
            "machine": _machine(),
            "host": socket.gethostname(),
            "process": os.getpid(),
            "started": _started(os.getpid()),
        }
    return _HERE


_HERE: dict[str, Any] | None = None


def _machine() -> str:
    """Return a name of the set of processes that this process can see.

    Containers on one machine may share its name, and number their processes separately.
    """
    parts = [socket.gethostname(), f"{uuid.getnode():x}"]
    with contextlib.suppress(OSError):
        parts = [Path("/proc/sys/kernel/random/boot_id").read_text().strip()]
        parts.append(os.readlink("/proc/self/ns/pid"))
    if os.name != "posix":
        # There, a process cannot be looked up safely; claims of all other processes are leases.
        parts.append(str(os.getpid()))
    return " ".join(parts)


def _started(process: int) -> str | None:
    """Return when a process of this machine started, or None if it has ended.

    The time distinguishes it from a later process of the same number.
    """
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return None if fields[0] in "ZX" else fields[19]
    except OSError:
        if Path("/proc/self/stat").exists():
            return None
    if os.name == "posix":
        with contextlib.suppress(PermissionError):
            try:
                os.kill(process, 0)
            except ProcessLookupError:
                return None
    return "running"


class _Beats:
    """A thread that touches the claims of this process."""

    def __init__(self) -> None:
        self._paths: set[Path] = set()
        self._lock = threading.Lock()
        self._process: int | None = None

    def add(self, path: Path) -> None:
        with self._lock:
            self._paths.add(path)
            if self._process != os.getpid():  # threads do not survive a fork
                self._process = os.getpid()
                threading.Thread(target=self._beat, name="neurogym-sweep", daemon=True).start()

    def remove(self, path: Path) -> None:
        with self._lock:
            self._paths.discard(path)

    def _beat(self) -> None:
        while True:
            time.sleep(BEAT)
            with self._lock:
                paths = list(self._paths)
            for path in paths:
                with contextlib.suppress(OSError):
                    os.utime(path)


_BEATS = _Beats()
