"""`Store`: the folder of a sweep, in which several machines work without doing a run twice.

::

    sweep/
      sweep.json            the plan of the newest command: the work, and the keys in order
      table.parquet         one row per run and test
      results/PROCESS.log   the results of a process, a line each: rows, or an error
      claims/KEY.N          the N-th process that works on a run; the highest N holds the run
      runs/KEY/             the files of a run, where its work writes any

Only its own process adds to a log, so that none waits for another, on network file systems too. A
line without an end is of a process that was killed, and counts as none. Of several results of a
run, the one with the highest turn counts; one without a content means that the run is to be done
again.

A claim is created with ``O_CREAT | O_EXCL``, which one process wins, on network file systems too. A
thread touches the claims of its process. A claim is dead if its process has ended on this machine,
or if it was not touched for `LEASE` seconds by the clock of the file system. Then the run is taken
over with the next N, which again one process wins: the dead claim is never removed, so that no
process can remove a live one by mistake. A process that was only paused sees a higher N when it
ends, and leaves the result to the new holder.
"""

from __future__ import annotations

import contextlib
import errno
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
from typing import Any, NamedTuple

from neurogym_core import InvalidValueError
from neurogym_core.tools import replacing, trusted

FORMAT = 1
SWEEP_FILE, TABLE_FILE = "sweep.json", "table.parquet"
RUNS, RESULTS, CLAIMS = "runs", "results", "claims"
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
        # Of all stores of the folder in this process: a worker makes one for each run.
        self._logs = _LOGS.setdefault(os.path.abspath(self.folder / RESULTS), _Logs())

    def run_folder(self, key: str) -> Path:
        """Return the folder of a run, which exists if its work has written files."""
        return self.folder / RUNS / key

    # ------------------------------------------------------------------ the plan

    def write_plan(self, work: str, jobs: Sequence[Job]) -> None:
        """Write the plan of the newest command."""
        rows = [{"key": job.key, "settings": dict(job.settings)} for job in jobs]
        self.folder.mkdir(parents=True, exist_ok=True)
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

    def done(self) -> set[str]:
        """Return the keys of the runs that have a result, which may be an error."""
        found = self._logs.look(self.folder / RESULTS)
        return {key for key, line in found.items() if line.content}

    def is_done(self, key: str) -> bool:
        """Return whether the run has a result, which may be an error."""
        line = self._logs.look(self.folder / RESULTS).get(key)
        return line is not None and line.content

    def result(self, key: str) -> dict[str, Any] | None:
        """Return the result of a run, or None if it has none."""
        line = self._logs.look(self.folder / RESULTS).get(key)
        if line is None or not line.content:
            return None
        with (self.folder / RESULTS / line.log).open("rb") as file:
            file.seek(line.start)
            text = file.read(line.length)
        try:
            return json.loads(text)
        except ValueError as error:
            raise InvalidValueError(
                f"{str(self.folder / RESULTS / line.log)!r} has a line for {key} that is not JSON:"
                f" {error}. Expected a line that `ngym sweep` wrote. Remove it: the run is done"
                " again."
            ) from error

    def write_result(self, job: Job, result: Mapping[str, Any]) -> None:
        """Write the result of a run, with its description, completely or not at all."""
        said = {"settings": dict(job.settings), "what": dict(job.what), **result}
        self._logs.add(self.folder / RESULTS, job.key, json.dumps(said, default=repr))

    def forget(self, key: str) -> None:
        """Take the result of a run back, so that it is done again."""
        self._logs.add(self.folder / RESULTS, key, "")

    # ------------------------------------------------------------------ claims

    def claim(self, job: Job) -> Claim | None:
        """Return a claim of the run, or None if another live process holds it."""
        folder = self.folder / CLAIMS
        folder.mkdir(parents=True, exist_ok=True)
        number = _highest(folder, job.key)
        if number and not is_dead(folder / f"{job.key}.{number}"):
            return None
        path = folder / f"{job.key}.{number + 1}"
        try:
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        except FileExistsError:
            return None
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(_this_process(), file)
        except OSError:  # a full disk: the claim must not hold the run
            path.unlink(missing_ok=True)
            raise
        return Claim(path, job.key, number + 1)

    def is_claimed(self, key: str) -> bool:
        """Return whether a process works on the run, or ended while it did."""
        return _highest(self.folder / CLAIMS, key) > 0

    def release(self, key: str) -> None:
        """Remove the claims of a run that is done."""
        for number in _claims(self.folder / CLAIMS, key):
            (self.folder / CLAIMS / f"{key}.{number}").unlink(missing_ok=True)


_LINE = re.compile(rb"([0-9a-f]{16}) (\d+) (.*)\n")


class _Line(NamedTuple):
    """Where the result of a run is: bytes of a log. It has a content unless it was taken back."""

    turn: int
    log: str
    start: int
    length: int

    @property
    def content(self) -> bool:
        return self.length > 0


class _Logs:
    """The logs in a folder, as far as this process has read them."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._forget()

    def _forget(self) -> None:
        self._read: dict[str, tuple[int, int]] = {}  # log -> its inode, and the bytes read
        self._lines: dict[str, _Line] = {}
        self._own = ""

    def look(self, folder: Path) -> Mapping[str, _Line]:
        """Return the lines that count, by key, after a look for new ones."""
        with self._lock:
            try:
                now = {entry.name: entry.stat() for entry in os.scandir(folder)}
            except FileNotFoundError:
                now = {}
            for name, (inode, size) in self._read.items():
                if name not in now or now[name].st_ino != inode or now[name].st_size < size:
                    self._forget()  # another sweep has the folder by now
                    break
            for name, state in sorted(now.items()):
                _, size = self._read.get(name, (0, 0))
                if state.st_size > size:
                    end = size + self._add(folder, name, size)
                    self._read[name] = (state.st_ino, end)
            return self._lines

    def _add(self, folder: Path, name: str, start: int) -> int:
        """Read the complete lines of a log from byte `start`; return their length."""
        with (folder / name).open("rb") as file:
            file.seek(start)
            lines = file.read()
        lines = lines[: lines.rfind(b"\n") + 1]
        at = start
        for line in lines.splitlines(keepends=True):
            if parts := _LINE.fullmatch(line):
                key, begin = parts[1].decode(), parts.start(3)
                found = _Line(int(parts[2]), name, at + begin, len(line) - 1 - begin)
                if key not in self._lines or found.turn > self._lines[key].turn:
                    self._lines[key] = found
            at += len(line)
        return len(lines)

    def add(self, folder: Path, key: str, content: str) -> None:
        """Add a line to the log of this process, completely or not at all."""
        with self._lock:
            known = self.look(folder).get(key)
            process = f"{os.getpid()}-"
            if not self._own.startswith(process):  # a fork has another process
                self._own = f"{process}{uuid.uuid4().hex}.log"
            folder.mkdir(parents=True, exist_ok=True)
            line = f"{key} {known.turn + 1 if known else 1} {content}\n".encode()
            path = folder / self._own
            descriptor = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o666)
            try:
                before = os.fstat(descriptor).st_size
                try:
                    written = os.write(descriptor, line)
                    if written < len(line):
                        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                except OSError:
                    os.ftruncate(descriptor, before)
                    raise
            finally:
                os.close(descriptor)


_LOGS: dict[str, _Logs] = {}


@dataclass(frozen=True)
class Claim:
    """The right of this process to do a run."""

    path: Path
    key: str
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
        return self.path.exists() and _highest(self.path.parent, self.key) == self.number

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


def _claims(folder: Path, key: str) -> list[int]:
    """Return the numbers of the claims of a run."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    ends = (name.removeprefix(f"{key}.") for name in names if name.startswith(f"{key}."))
    return [int(end) for end in ends if end.isdecimal()]


def _highest(folder: Path, key: str) -> int:
    """Return the highest number of a claim of a run, or 0."""
    return max(_claims(folder, key), default=0)


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
