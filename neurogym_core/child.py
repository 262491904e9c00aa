"""Foreign code runs in a child process: with a time limit, its output kept apart, and no way to end
this process.

The parent calls `run_child`; the child's side begins with `claim_stdout` and ends with `leave`.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TextIO

SECONDS = 20.0
MAX_OUTPUT = 4_000_000  # bytes that are read back; a description is some thousands


@dataclass(frozen=True, kw_only=True)
class Child:
    """How a child ended, and the JSON values it wrote, one a line; lines that are none are left
    out.
    """

    code: int | None
    timed_out: bool
    values: tuple[Any, ...]
    errors: str

    @property
    def ending(self) -> str:
        """How it ended, in words, for a child that did not say so itself."""
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
) -> Child:
    """Run ``python -m module arguments`` with this process's import path.

    Args:
        module: the module to run; its ``main`` answers with JSON lines.
        arguments: its arguments.
        seconds: how long it may stay without an answer before it is stopped.
        variables: environment variables that it has besides this process's.
    """
    # Files, not pipes: a grandchild that outlives the child would keep a pipe open, and this
    # process waiting.
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", module, *arguments],
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
        timed_out = _wait(process, seconds, output)
        return Child(
            code=process.returncode,
            timed_out=timed_out,
            values=tuple(_json_lines(_content(output))),
            errors=_content(errors),
        )


def claim_stdout() -> tuple[TextIO, int]:
    """In the child: the stream for its answer, and the descriptor of a file that takes what else is
    printed.
    """
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    printed = tempfile.TemporaryFile()  # noqa: SIM115
    descriptor = os.dup(printed.fileno())
    os.dup2(descriptor, 1)
    return answer, descriptor


def printed_bytes(descriptor: int) -> int:
    """In the child: how much was printed so far that should not have been."""
    with contextlib.suppress(Exception):  # whoever replaced or closed stdout printed nothing more
        sys.stdout.flush()
    return os.fstat(descriptor).st_size


def answer_with(answer: TextIO, value: Any) -> None:
    """In the child: one JSON value for the parent, at once."""
    answer.write(json.dumps(value, default=str) + "\n")
    answer.flush()


def leave() -> None:
    """In the child: end without waiting for threads or exit handlers that foreign code left
    behind.
    """
    os._exit(0)


def _wait(process: subprocess.Popen, seconds: float, output: Any) -> bool:
    """Whether the time ran out; the child and its own children are gone then. An answer starts the
    time again.
    """
    try:
        while True:
            before = os.fstat(output.fileno()).st_size
            if _ended(process, seconds):
                return False
            if os.fstat(output.fileno()).st_size == before:
                return True
    finally:  # Ctrl-C here must not leave it running
        _kill(process)


def _ended(process: subprocess.Popen, seconds: float) -> bool:
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _kill(process: subprocess.Popen) -> None:
    """End the child and what it started, some of which may outlive it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def _content(stream: Any) -> str:
    stream.seek(0)
    return stream.read(MAX_OUTPUT).decode("utf-8", "replace")


def _json_lines(text: str) -> list[Any]:
    found = []
    for line in text.splitlines():
        with contextlib.suppress(ValueError, RecursionError):
            found.append(json.loads(line))
    return found
