"""Writing files so that nobody ever sees half of one."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside `path`; what was written there takes the place of `path` when the block succeeds.

    A block that raises leaves an earlier file at `path` as it was, and no temporary file behind.
    """
    from pathlib import Path  # not needed to play

    target = Path(path)
    # Beside the target, since a rename is atomic only within one file system; not by `tempfile`, whose files nobody
    # but the owner may read.
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}.tmp")
    try:
        yield temporary
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
