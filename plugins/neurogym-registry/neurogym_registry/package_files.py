"""Read the file of a package that its line in an index names by hash: ``index/NAME.json.gz``."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from neurogym_core.tools import clean, said_by
from neurogym_registry import cache
from neurogym_registry.errors import RegistryError
from neurogym_registry.index import package_file
from neurogym_registry.index_text import read_row
from neurogym_registry.packed import unpacked

MOST = 20_000_000  # bytes, unpacked; a release needs about four hundred


@lru_cache(maxsize=256)  # a plan looks up each package several times
def read_package_file(base: str, name: str, digest: str, *, offline: bool) -> Mapping[str, Any]:
    """Return the complete row of a package, from the cache, a folder or a server.

    Args:
        base: address or folder of the registry.
        name: the package.
        digest: SHA-256 of the file's text, as the index names it.
        offline: do not use the network.

    Raises:
        RegistryError: the file is missing, is another one than the index names, or cannot be read.
    """
    where = f"{base}/{package_file(name)}"
    on_web = urlsplit(base).scheme in ("http", "https")
    data = cache.read_file(where) if on_web else None
    if data is None or hashlib.sha256(data).hexdigest() != digest:
        data = _fetched(where, offline) if on_web else _from_folder(Path(where))
        if hashlib.sha256(data).hexdigest() != digest:
            raise RegistryError(
                f"{clean(where)} is another file than the index names, with SHA-256"
                f" {clean(digest)}. Expected equal hashes. {_remedy(on_web)}"
            )
        if on_web:
            cache.write_file(where, data)
    row = read_row(data.decode("utf-8", "replace"), complete=True)
    if row is None or row["name"] != name:
        raise RegistryError(
            f"{clean(where)} is no file of {name} that this version can read. Expected one made by"
            " `ngym registry build`. Use a newer neurogym-registry, or report this to the"
            " registry's maintainers."
        )
    return row


def _fetched(url: str, offline: bool) -> bytes:
    if offline:
        raise RegistryError(
            f"There is no copy of {clean(url)}, and the network is not used (--offline). Expected"
            " the file that the index names. Repeat the command once without --offline."
        )
    from neurogym_registry.fetch import fetch  # urllib takes long to import

    return fetch(url, accept="application/gzip", most=MOST).body or b""


def _from_folder(path: Path) -> bytes:
    try:
        return unpacked(path.read_bytes(), MOST)
    except (OSError, ValueError) as error:
        raise RegistryError(
            f"{path} cannot be read ({clean(said_by(error))}). Expected the file that the index"
            f" names. {_remedy(on_web=False)}"
        ) from error


def _remedy(on_web: bool) -> str:
    if on_web:
        return "Try again with --refresh, in some minutes if a new index is being published."
    return "Build the index again with `ngym registry build`."
