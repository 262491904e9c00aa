"""Writing files: in one piece where there is a file or none, straight on into pipes and devices."""

from __future__ import annotations

import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from neurogym_core.errors import FileNotWrittenError

if TYPE_CHECKING:
    from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path; what the block writes there becomes the content of `path` when the
    block succeeds.

    A reader of a regular file sees the old content or the new one. Symbolic links are followed.
    What exists and is no regular file (a pipe, a device such as ``/dev/stdout``) is written into,
    never replaced. A block that raises leaves an earlier file as it was, and no temporary file
    behind.

    Raises:
        FileNotWrittenError: no room, no permission, no such folder; also where the block raises an
            `OSError`.
    """
    from pathlib import Path  # not needed to play

    try:
        status = _status(path)
        if status is None or (stat.S_ISREG(status.st_mode) and not _is_open(status)):
            target = Path(os.path.realpath(path))
            # Beside the target, since a rename is atomic only within one file system; not by
            # `tempfile`, whose files only their owner may read.
            temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}.tmp")
            try:
                yield temporary
                os.replace(temporary, target)
            finally:
                temporary.unlink(missing_ok=True)
        else:
            import tempfile

            with tempfile.TemporaryDirectory() as folder:
                temporary = Path(folder) / "content"
                yield temporary
                _write_into(path, status, temporary.read_bytes())
    except FileNotWrittenError:
        raise
    except OSError as error:
        raise FileNotWrittenError(
            f"{os.fspath(path)} cannot be written: {error.strerror or error}. Expected a name in a"
            " folder that exists, has room and may be written to. Choose another place, or make"
            " room; a file that was there is as it was."
        ) from error


def _status(path: str | os.PathLike[str]) -> os.stat_result | None:
    """The status of what `path` leads to; None: nothing is there yet."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _is_open(status: os.stat_result) -> bool:
    """Whether this is what stdout leads to: ``/dev/stdout`` may well be a regular file."""
    try:
        return os.path.samestat(os.fstat(1), status)
    except OSError:  # stdout is closed
        return False


def _write_into(path: str | os.PathLike[str], status: os.stat_result, data: bytes) -> None:
    """Write into a pipe or a device; into stdout at its place, where a second opening would begin
    at its first byte.
    """
    if not _is_open(status):
        with open(path, "wb") as file:
            file.write(data)
        return
    if sys.stdout is not None:
        sys.stdout.flush()
    with open(1, "wb", closefd=False) as file:
        file.write(data)
