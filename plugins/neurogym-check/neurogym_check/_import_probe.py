"""Import each named task, record the side effects, and play it.

``python -m neurogym_check._import_probe MODULES NAME…`` runs in a child process, because it imports
foreign code. MODULES, separated by commas, are imported before: their side effects do not count.
The child prints one line of JSON per task, in order: ``{"name", "effects": [words], "costs":
[words], "others": [modules], "trajectory": [fingerprints], "failure": message or null}``; "others"
are the modules of other packages that the task imports."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import time
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from neurogym_check.candidate import Candidate
from neurogym_check.checks.determinism import reference_trajectory
from neurogym_check.global_state import NamedObjects, global_state, peak_memory
from neurogym_core.tools import Answers, clean, load_task, said_by

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


MOST_NAMES = 5
SLOW_SECONDS = 2.0
LARGE_BYTES = 500_000_000


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
    def listening(self, answers: Answers) -> Iterator[list[str]]:
        """Yield a list of the side effects of the block; it is complete when the block ends."""
        effects: list[str] = []
        before, names = global_state(), NamedObjects()
        bytes_before = answers.printed
        self.effects = effects
        try:
            yield effects
        finally:
            self.effects = None
            after = global_state()
            if (more := answers.printed - bytes_before) > 0:
                effects.append(f"printed {more} bytes")
            effects += [effect for effect in before if before[effect] != after[effect]]
            if patched := names.changed():
                more_of_them = len(patched) - MOST_NAMES
                rest = f" and {more_of_them} more" if more_of_them > 0 else ""
                effects.append(f"replaced {', '.join(patched[:MOST_NAMES])}{rest}")


def _writes(arguments: tuple) -> bool:
    _, mode, flags = arguments
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return isinstance(flags, int) and bool(flags & _WRITING)


def main(arguments: list[str]) -> None:
    """Import and play the named tasks, and exit."""
    before, *names = arguments
    # Python's bytecode cache would count as files written by the task.
    sys.dont_write_bytecode = True
    with Answers() as answers:
        os.dup2(answers.descriptor, 2)
        for module in filter(None, before.split(",")):
            with contextlib.suppress(Exception):  # a module that only the task can import
                importlib.import_module(module)
        watch = Watch()
        for name in names:
            answers.write({"name": name, **examine(name, watch, answers)})


def examine(name: str, watch: Watch, answers: Answers) -> dict[str, Any]:
    """Return the side effects of importing a task, and its trajectory."""
    row: dict[str, Any] = {"effects": [], "costs": [], "others": [], "failure": None}
    known, bytes_before, started = set(sys.modules), peak_memory(), time.perf_counter()
    try:
        with watch.listening(answers) as row["effects"]:
            found = load_task(name)
            seconds, size = time.perf_counter() - started, peak_memory() - bytes_before
        row["costs"] = [
            *([f"takes {seconds:.1f} s"] if seconds > SLOW_SECONDS else []),
            *([f"takes {size / 1e9:.1f} GB of memory"] if size > LARGE_BYTES else []),
        ]
        own = found.__module__.partition(".")[0]
        row["others"] = sorted(
            module
            for module in set(sys.modules) - known
            if module.partition(".")[0] != own and isinstance(sys.modules[module], ModuleType)
        )
        row["trajectory"] = None
        row["trajectory"] = reference_trajectory(Candidate(name))
    except BaseException as error:
        row["failure"] = clean(said_by(error))
    return row


if __name__ == "__main__":
    main(sys.argv[1:])
