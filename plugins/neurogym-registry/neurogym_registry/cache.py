"""The last index that each registry gave, in the user's cache folder."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

from neurogym_registry.releases import write_text

FRESH_SECONDS = 24 * 3600
VARIABLE = "NGYM_CACHE"


class Cached(NamedTuple):
    """An index as it was got: its text, the server's ETag, its serial, and when (seconds since
    1970).
    """

    text: str
    etag: str
    serial: int
    fetched: float

    @property
    def age(self) -> float:
        """Seconds since it was got."""
        return time.time() - self.fetched

    @property
    def fresh(self) -> bool:
        """Whether it may be used without asking; one from the future may not."""
        return 0 <= self.age < FRESH_SECONDS


def cache_folder() -> Path:
    """`NGYM_CACHE`, or the folder ``ngym`` where the system keeps users' caches."""
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
    """What is kept of a registry; None when there is nothing, or nothing that can be read."""
    try:
        row = json.loads(_path(url).read_text("utf-8"))
        if row["url"] != url:
            return None
        return Cached(str(row["text"]), str(row["etag"]), int(row["serial"]), float(row["fetched"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError, RuntimeError):
        return None


def write(url: str, cached: Cached) -> None:
    """Keep an index; a cache that cannot be written is no reason to fail."""
    with contextlib.suppress(OSError, RuntimeError):
        write_text(_path(url), json.dumps({"url": url, **cached._asdict()}))


def _path(url: str) -> Path:
    return cache_folder() / f"index-{hashlib.sha256(url.encode()).hexdigest()[:16]}.json"
