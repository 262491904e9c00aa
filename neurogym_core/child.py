"""Run foreign code in a child process, with a time limit and separate output.

The parent calls `run_child`, the child writes `Answers`.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

SECONDS = 20.0
MAX_OUTPUT = 4_000_000  # bytes to read back; an ordinary description has some thousands


class Child(NamedTuple):
    """The end of a child, and the JSON values that it wrote, one per line."""

    code: int | None
    timed_out: bool
    values: tuple[Any, ...]
    errors: str

    @property
    def ending(self) -> str:
        """A phrase for the end of a child that wrote no answer."""
        if self.timed_out:
            return "did not finish in time"
        if self.code is not None and self.code < 0:
            return f"was killed by signal {-self.code}"
        return f"ended the process with exit code {self.code}"


def run_child(
    module: str,
    arguments: Sequence[str],
    seconds: float = SECONDS,
    variables: Mapping[str, str] = MappingProxyType({}),
    within: Sequence[str] = (),
    *,
    total: float = math.inf,
    most: int = MAX_OUTPUT,
) -> Child:
    """Run ``python -m module arguments`` with this process's import path.

    Args:
        module: the module to run; its ``main`` answers with JSON lines.
        arguments: its arguments.
        seconds: time limit; every answer of the child restarts it.
        variables: environment variables of the child, in addition to those of this process.
        within: the command, with its arguments, that runs Python, e.g. a sandbox.
        total: time limit in seconds that no answer restarts.
        most: number of bytes of the answers to read; later ones are lost.
    """
    end = time.monotonic() + total
    # Files, not pipes: a grandchild that outlives the child would keep a pipe open, and this
    # process would wait for it.
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [*within, sys.executable, "-P", "-m", module, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path),
                **variables,
            },
            start_new_session=True,
        )
        timed_out = False
        try:
            while not timed_out and process.poll() is None:
                before = os.fstat(output.fileno()).st_size
                try:
                    process.wait(timeout=max(0.0, min(seconds, end - time.monotonic())))
                except subprocess.TimeoutExpired:
                    silent = os.fstat(output.fileno()).st_size == before
                    timed_out = silent or time.monotonic() >= end
        finally:  # also on Ctrl-C
            # The processes that the child started can outlive it.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if hasattr(os, "killpg"):
                    os.killpg(process.pid, signal.SIGKILL)
                else:
                    process.kill()
            process.wait()
        values = []
        for line in _content(output, most).splitlines():
            with contextlib.suppress(ValueError, RecursionError):
                values.append(json.loads(line))
        return Child(process.returncode, timed_out, tuple(values), _content(errors, MAX_OUTPUT))


class Answers:
    """The answers of a child to its parent: JSON values, one per line of stdout.

    Everything else that is printed goes to a file: foreign code cannot print into an answer.
    As a context manager, it ends the process without waiting for threads or exit handlers of
    foreign code.

    Attributes:
        descriptor: the descriptor of the file for everything else.
    """

    def __init__(self) -> None:
        self._stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
        printed = tempfile.TemporaryFile()  # noqa: SIM115
        self.descriptor = os.dup(printed.fileno())
        os.dup2(self.descriptor, 1)

    @property
    def printed(self) -> int:
        """Number of bytes that foreign code has printed so far."""
        # Code that has replaced or closed stdout has nothing left to flush.
        with contextlib.suppress(Exception):
            sys.stdout.flush()
        return os.fstat(self.descriptor).st_size

    def write(self, value: Any) -> None:
        """Write a JSON value without a delay; values that JSON lacks become text."""
        self._stream.write(json.dumps(value, default=str) + "\n")
        self._stream.flush()

    def __enter__(self) -> Answers:
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind is None:
            os._exit(0)


def _content(stream: Any, most: int) -> str:
    stream.seek(0)
    return stream.read(most).decode("utf-8", "replace")
