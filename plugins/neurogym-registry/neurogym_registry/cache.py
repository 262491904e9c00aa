"""Cache of the latest index of each registry, and of files that it names, in the user's folder."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import sys
import time
from pathlib import Path
from typing import NamedTuple

FRESH_SECONDS = 24 * 3600
VARIABLE = "NGYM_CACHE"


class Cached(NamedTuple):
    """A cached index.

    Attributes:
        text: its text.
        etag: ETag of the server.
        serial: its serial.
        fetched: time of the fetch, in seconds since 1970.
        signer: the signer for whom its signature was verified; "" if it was not.
        signed: time of the signature, in seconds since 1970.
    """

    text: str
    etag: str
    serial: int
    fetched: float
    signer: str = ""
    signed: float = 0.0

    @property
    def age(self) -> float:
        """Seconds since the fetch."""
        return time.time() - self.fetched

    @property
    def fresh(self) -> bool:
        """Whether the copy may be used without asking the server; not if it is from the future."""
        return 0 <= self.age < FRESH_SECONDS


def cache_folder() -> Path:
    """Return `NGYM_CACHE`, or the folder ``ngym`` in the system's folder for user caches."""
    if given := os.environ.get(VARIABLE):
        return Path(given)
    if sys.platform == "win32":
        return (
            Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
            / "ngym"
            / "Cache"
        )
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "ngym"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ngym"


def read(url: str) -> Cached | None:
    """Return the cached index of a registry, or None if there is none that can be read."""
    try:
        head, _, text = _bytes(_path(url)).decode("utf-8").partition("\n")
        row = json.loads(head)
        if row["url"] != url or row["characters"] != len(text):
            return None
        return Cached(
            text, str(row["etag"]), int(row["serial"]), float(row["fetched"]), str(row["signer"]),
            float(row["signed"]),
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError, RecursionError, RuntimeError):
        return None


def write(url: str, cached: Cached) -> None:
    """Store an index; failures to write are ignored."""
    with contextlib.suppress(OSError, RuntimeError):
        # The text follows the first line as it is: as a part of JSON, it would be parsed twice.
        head = {"url": url, "characters": len(cached.text), **cached._asdict()}
        del head["text"]
        _store(_path(url), f"{json.dumps(head)}\n{cached.text}".encode())


def read_file(url: str) -> bytes | None:
    """Return the cached file of an address, or None; the caller compares its hash."""
    try:
        return _bytes(_file_path(url))
    except (OSError, RuntimeError):
        return None


def write_file(url: str, data: bytes) -> None:
    """Store a file; failures to write are ignored."""
    with contextlib.suppress(OSError, RuntimeError):
        _store(_file_path(url), data)


def _bytes(path: Path) -> bytes:
    """Return the contents of a plain file: a pipe that another user has laid would never end."""
    if not path.is_file():
        raise FileNotFoundError(path)
    return path.read_bytes()


def _store(path: Path, data: bytes) -> None:
    """Write a file atomically, in place of a link that another user of a shared cache has laid."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _file_path(url: str) -> Path:
    return cache_folder() / "files" / hashlib.sha256(url.encode()).hexdigest()[:32]


def _path(url: str) -> Path:
    return cache_folder() / f"index-{hashlib.sha256(url.encode()).hexdigest()[:16]}.json"
