"""`work_on`: do one run in a worker; and the environment in which it does it."""

from __future__ import annotations

import contextlib
import datetime
import errno
import functools
import os
import platform
import socket
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import threadpoolctl

from neurogym_core.tools import FileNotWrittenError, trusting
from neurogym_sweep.store import Job, Store
from neurogym_sweep.trackers import track
from neurogym_sweep.works import perform

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Outcome:
    """The end of an attempt to do a run.

    Attributes:
        key: key of the job.
        status: "done" or "failed" (it has a result), "busy" (another process holds it), or
            "stopped" (its result cannot be written).
        message: why it failed or stopped.
    """

    key: str
    status: str
    message: str = ""


def work_on(
    job: Job, folder: str, threads: int | None = None, trackers: Sequence[str] = ()
) -> Outcome:
    """Do a run, unless it has a result or another live process holds it.

    Args:
        job: the run.
        folder: folder of the sweep.
        threads: threads of numerical libraries; None: as they are.
        trackers: names of the libraries to which results are also logged.
    """
    store = Store(folder)
    try:
        if store.is_done(job.key):
            return Outcome(job.key, "done")
        claim = store.claim(job)
        if claim is None:
            return Outcome(job.key, "busy")
    except OSError as error:
        return Outcome(job.key, "stopped", _stop_message(error, folder))
    try:
        # The holder before may have ended between the two looks.
        if store.is_done(job.key):
            claim.withdraw()
            return Outcome(job.key, "done")
        with claim.kept(), limited(threads):
            result = _result(job, store.run_folder(job.key), trackers)
        if not claim.holds:
            return Outcome(job.key, "busy")
        store.write_result(job, result)
        store.release(job.key)
    except OSError as error:
        claim.withdraw()
        return Outcome(job.key, "stopped", _stop_message(error, folder))
    except KeyboardInterrupt:
        claim.withdraw()
        raise
    return Outcome(job.key, result["status"], result["error"] or "")


def pull(
    jobs: Sequence[Job], first: int, folder: str, threads: int | None, trackers: Sequence[str]
) -> list[Outcome]:
    """Do all runs that no other process does, beginning with number `first`: a job of a cluster."""
    outcomes = []
    for job in [*jobs[first:], *jobs[:first]]:
        outcomes.append(work_on(job, folder, threads, trackers))
        if outcomes[-1].status == "stopped":
            break
    return outcomes


def failure(message: str) -> dict[str, Any]:
    """Return the result of a run that failed without an answer."""
    return {
        "status": "failed", "error": message, "traceback": "", "rows": [], "run_seconds": None,
        "started": None, "host": socket.gethostname(), "versions": versions(),
    }  # fmt: skip


@contextlib.contextmanager
def limited(threads: int | None) -> Iterator[None]:
    """Limit the threads of numerical libraries, loaded ones and those that are loaded later."""
    if threads is None:
        yield
        return
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
    torch = sys.modules.get("torch")
    torch_before = torch.get_num_threads() if torch is not None else None
    if torch is not None:
        torch.set_num_threads(threads)
    try:
        with threadpoolctl.threadpool_limits(limits=threads):
            yield
    finally:
        if torch is not None:
            torch.set_num_threads(torch_before)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@functools.cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that affect results."""
    found = {"python": platform.python_version()}
    for name in (
        "neurogym-core", "neurogym-training", "neurogym-sweep", "neurogym-torch", "neurogym-sb3",
        "neurogym-jax", "numpy", "torch", "stable-baselines3", "jax",
    ):  # fmt: skip
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def _result(job: Job, folder: Path, trackers: Sequence[str]) -> dict[str, Any]:
    started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    since = time.perf_counter()
    status, error, trace, rows = "done", None, "", []
    try:
        with trusting(job.trust):
            rows = perform(job, folder)
    except KeyboardInterrupt:
        raise
    # A run may also end its process, or its thread: SystemExit and the like are errors of the run.
    except BaseException as raised:
        if _cannot_write(raised):
            raise OSError(errno.ENOSPC, str(raised)) from raised
        status, error = "failed", f"{type(raised).__name__}: {raised}"
        trace = traceback.format_exc()
    seconds = time.perf_counter() - since
    if status == "done":
        error = track(trackers, job, rows, folder)
    return {
        "status": status, "error": error, "traceback": trace, "rows": rows,
        "run_seconds": seconds, "started": started, "host": socket.gethostname(),
        "versions": versions(),
    }  # fmt: skip


def _cannot_write(error: BaseException) -> bool:
    """Return whether there is no room for a file, which would fail all other runs, too."""
    cause = error.__cause__ if isinstance(error, FileNotWrittenError) else error
    return isinstance(cause, OSError) and cause.errno in NO_ROOM


def _stop_message(error: OSError, folder: str) -> str:
    reason = error.strerror or str(error)
    if isinstance(error.__cause__, OSError) and error.__cause__.strerror:
        reason = error.__cause__.strerror
    return (
        f"A result cannot be written into {folder}: {reason.rstrip('.')}. Expected room and write"
        " permission there. Make room, and give the same command again: finished runs are kept."
    )
