"""Write files atomically, and pipes and devices directly."""

from __future__ import annotations

import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from neurogym_core.errors import FileNotWrittenError

if TYPE_CHECKING:
    from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path; when the block succeeds, its file replaces the file at `path`.

    A reader sees the complete old content or the complete new one. Symbolic links are followed.
    Pipes and devices, such as ``/dev/stdout``, are written to and never replaced. If the block
    raises, an existing file is unchanged, and the temporary file is removed.

    Raises:
        FileNotWrittenError: there is no room, no permission or no such folder, or the block raised
            an `OSError`.
    """
    from pathlib import Path  # imported late: importing the core must stay fast

    try:
        status = None  # of the target of `path`, unless it does not exist
        with suppress(FileNotFoundError):
            status = os.stat(path)
        if status is None or (stat.S_ISREG(status.st_mode) and not _is_open(status)):
            target = Path(os.path.realpath(path))
            # In the folder of the target, since a rename is atomic only within one file system. Not
            # by `tempfile`, whose files can be read by their owner only.
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
                # For stdout its own descriptor is used: a file that stdout is redirected to would
                # be overwritten from its first byte if it were opened again.
                out = _is_open(status)
                if out and sys.stdout is not None:
                    sys.stdout.flush()
                with open(1 if out else path, "wb", closefd=not out) as file:
                    file.write(temporary.read_bytes())
    except FileNotWrittenError:
        raise
    except OSError as error:
        raise FileNotWrittenError(
            f"{os.fspath(path)} cannot be written: {error.strerror or error}. Expected a name in an"
            " existing folder with room and write permission. Choose another place, or make room."
            " An existing file is unchanged."
        ) from error


def _is_open(status: os.stat_result) -> bool:
    """Return whether this is the target of stdout, which can also be a regular file."""
    try:
        return os.path.samestat(os.fstat(1), status)
    except OSError:  # stdout is closed
        return False
