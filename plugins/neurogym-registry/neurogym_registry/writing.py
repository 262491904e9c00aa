"""Write files atomically."""

from __future__ import annotations

from pathlib import Path

from neurogym_core.files import replacing


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically, and its folder; line ends stay, so that hashes are equal."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file atomically, and its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_bytes(data)
