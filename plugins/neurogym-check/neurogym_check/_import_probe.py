"""Import each named task, record the side effects, and play it.

``python -m neurogym_check._import_probe NAME…`` runs in a child process, because it imports foreign
code. It prints one line of JSON per task, in order:
``{"name", "effects": [words], "trajectory": [fingerprints], "failure": message or null}``."""

from __future__ import annotations

import contextlib
import os
import random
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from neurogym_check.candidate import Candidate
from neurogym_check.checks.determinism import reference_trajectory
from neurogym_check.trajectories import fingerprint
from neurogym_core.child import answer_with, claim_stdout, leave, printed_bytes
from neurogym_core.ecosystem.discovery import load_task
from neurogym_core.ecosystem.names import clean, said_by

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC
_FILE_EVENTS = frozenset(
    [
        "os.mkdir",
        "os.remove",
        "os.rename",
        "os.rmdir",
        "os.link",
        "os.symlink",
        "os.truncate",
        "shutil.rmtree",
    ]
)
_PROCESS_EVENTS = frozenset(
    [
        "subprocess.Popen",
        "os.system",
        "os.fork",
        "os.forkpty",
        "os.exec",
        "os.posix_spawn",
        "os.spawn",
    ]
)
_NETWORK_EVENTS = frozenset(
    ["socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"]
)


class Watch:
    """Records the interpreter's audit events about files, processes and the network."""

    def __init__(self) -> None:
        self.effects: list[str] | None = None
        sys.addaudithook(self.hear)

    def hear(self, event: str, arguments: tuple) -> None:
        if self.effects is None:
            return
        if event == "open" and _writes(arguments):
            self.note(f"opened {os.path.basename(str(arguments[0]))!r} for writing")
        elif event in ("os.putenv", "os.unsetenv"):
            self.note("changed environment variables")
        elif event in _FILE_EVENTS:
            self.note(f"changed files ({event})")
        elif event in _PROCESS_EVENTS:
            self.note(f"started a process ({event})")
        elif event in _NETWORK_EVENTS:
            self.note(f"used the network ({event})")

    def note(self, effect: str) -> None:
        if self.effects is not None and effect not in self.effects:
            self.effects.append(effect)

    @contextlib.contextmanager
    def listening(self, printed: int) -> Iterator[list[str]]:
        """Yield a list of the side effects of the block; it is complete when the block ends."""
        effects: list[str] = []
        before = _state()
        bytes_before = printed_bytes(printed)
        self.effects = effects
        try:
            yield effects
        finally:
            self.effects = None
            after = _state()
            if (more := printed_bytes(printed) - bytes_before) > 0:
                effects.append(f"printed {more} bytes")
            effects += [_EFFECTS[name] for name in before if before[name] != after[name]]


_EFFECTS = {
    "random": "changed the state of Python's global random numbers",
    "numpy": "changed the state of NumPy's global random numbers",
    "threads": "started a thread",
    "folder": "changed the working directory",
}


def _state() -> dict[str, Any]:
    return {
        "random": random.getstate(),
        "numpy": fingerprint(np.random.get_state(legacy=False)["state"]),  # noqa: NPY002
        "threads": threading.active_count(),
        "folder": os.getcwd(),
    }


def _writes(arguments: tuple) -> bool:
    _, mode, flags = arguments
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return isinstance(flags, int) and bool(flags & _WRITING)


def main(names: list[str]) -> None:
    """Import and play the named tasks, and exit."""
    # Python's bytecode cache would count as files written by the task.
    sys.dont_write_bytecode = True
    answer, printed = claim_stdout()
    os.dup2(printed, 2)
    watch = Watch()
    for name in names:
        answer_with(answer, {"name": name, **examine(name, watch, printed)})
    leave()


def examine(name: str, watch: Watch, printed: int) -> dict[str, Any]:
    """Return the side effects of importing a task, and its trajectory."""
    row: dict[str, Any] = {"effects": [], "failure": None}
    try:
        with watch.listening(printed) as row["effects"]:
            load_task(name)
        row["trajectory"] = None
        row["trajectory"] = reference_trajectory(Candidate(name))
    except BaseException as error:
        row["failure"] = clean(said_by(error))
    return row


if __name__ == "__main__":
    main(sys.argv[1:])
