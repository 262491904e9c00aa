"""Write files atomically."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

from neurogym_core.tools import replacing


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically, and its folder; line ends stay, so that hashes are equal."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file atomically, and its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def write_together(files: Mapping[Path, bytes]) -> None:
    """Write several files; if that fails or is interrupted, restore the previous ones."""
    before: dict[Path, bytes | None] = {}
    try:
        for path, data in files.items():
            before[path] = path.read_bytes() if path.is_file() else None
            write_bytes(path, data)
    except BaseException:
        for path, earlier in before.items():
            with contextlib.suppress(OSError):
                if earlier is None:
                    path.unlink(missing_ok=True)
                else:
                    write_bytes(path, earlier)
        raise
