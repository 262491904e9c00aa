"""What the registries offer, as far as it can be known right now.

Order for a registry on the web: a copy less than a day old; else the server, asked whether its
index has changed; else an older copy, with a note; else the list that came with neurogym-registry, with a
note. Without `NGYM_REGISTRY` only that list is used: there is no default address."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import url2pathname

from neurogym_core.ecosystem.names import canonical, clean, said_by
from neurogym_core.errors import RegistryError
from neurogym_registry import cache
from neurogym_registry.data import data
from neurogym_registry.fetch import MAX_BYTES, allowed, fetch
from neurogym_registry.index import SCHEMA, is_revoked
from neurogym_registry.schemas import breaches, part_breaches

VARIABLE = "NGYM_REGISTRY"


@dataclass(frozen=True, kw_only=True, eq=False)
class Listing:
    """A package as a registry lists it.

    Attributes:
        row: the package's object in ``index.json``, held to its schema.
        revoked: the rows of its registry's revocations that name it.
        registry: where that registry is, for people.
    """

    row: Mapping[str, Any]
    revoked: tuple[Mapping[str, Any], ...] = ()
    registry: str = ""

    @property
    def name(self) -> str:
        """Its distribution."""
        return str(self.row["name"])

    @property
    def latest(self) -> str | None:
        """The newest release that may be installed."""
        latest = self.row["latest"]
        return None if latest is None else str(latest)

    @property
    def releases(self) -> dict[str, Mapping[str, Any]]:
        """Version -> its object."""
        return {release["version"]: release for release in self.row["releases"]}

    def revocation(self, version: str) -> str | None:
        """Why a version is revoked; None when it is not."""
        return is_revoked(self.revoked, self.name, version)

    def task_id(self, task: Mapping[str, Any]) -> str:
        """``namespace/Name-vN``."""
        return f"{self.row['namespace']}/{task['name']}"


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """All listings; a name that several registries list is the first one's. Notes say what is stale
    or left out.
    """

    listings: tuple[Listing, ...] = ()
    notes: tuple[str, ...] = ()

    def find(self, name: str) -> Listing | None:
        """The package of this name or namespace."""
        wanted = canonical(name)
        return next(
            (one for one in self.listings if wanted == one.name or name == one.row["namespace"]),
            None,
        )

    def find_task(self, name: str) -> list[tuple[Listing, Mapping[str, Any]]]:
        """The tasks of this id or bare name, with their packages."""
        rows = [(one, task) for one in self.listings for task in one.row["tasks"]]
        return [(one, task) for one, task in rows if name in (one.task_id(task), task["name"])]


class _Index(NamedTuple):
    serial: int
    listings: tuple[Listing, ...]
    notes: tuple[str, ...]


def catalogue(*, offline: bool = False, refresh: bool = False) -> Catalogue:
    """The listings of all registries that `NGYM_REGISTRY` names, or of the list that came with the
    core.

    Args:
        offline: never use the network.
        refresh: ask the servers even if there is a copy less than a day old.

    Raises:
        RegistryError: an address cannot be one, a folder or file is no registry, or not even its
            own list is readable.
    """
    addresses = registries()
    if not addresses:
        # Nothing to tell while there is no release anywhere that a registry could offer.
        index = snapshot()
        note = (
            f"No registry is set ({VARIABLE}): this is the list that came with neurogym-registry."
        )
        return Catalogue(listings=index.listings, notes=(note, *index.notes))
    found: dict[str, Listing] = {}
    notes: list[str] = []
    for address in addresses:
        index = _load(address, offline=offline, refresh=refresh)
        notes += index.notes
        for listing in index.listings:
            found.setdefault(listing.name, listing)
    return Catalogue(listings=tuple(found[name] for name in sorted(found)), notes=tuple(notes))


def registries() -> list[str]:
    """What `NGYM_REGISTRY` names: https addresses, ``file://`` addresses and folders, with commas
    between them.
    """
    return [part.strip() for part in os.environ.get(VARIABLE, "").split(",") if part.strip()]


def snapshot() -> _Index:
    """The list that came with neurogym-registry."""
    return _parse(_read(data("index.json")), "the list of neurogym-registry")


# -- one registry -----------------------------------------------------------------------------------------------------


def _load(address: str, *, offline: bool, refresh: bool) -> _Index:
    scheme = urlsplit(address).scheme
    if scheme in ("http", "https"):
        url = address if address.endswith(".json") else f"{address.rstrip('/')}/index.json"
        if not allowed(url):
            raise RegistryError(
                f"{VARIABLE} was given {clean(address)!r}. Expected https, or http on this machine."
                " Correct it."
            )
        return _load_url(url, offline=offline, refresh=refresh)
    path = Path(url2pathname(urlsplit(address).path) if scheme == "file" else address)
    if path.is_dir():
        path /= "index.json"
    if not path.is_file():
        raise RegistryError(
            f"{VARIABLE} was given {clean(address)!r}, where no index.json is. Expected a"
            " registry's folder, its index.json, or an https address. Correct it, or build the"
            " index with `ngym registry build`."
        )
    return _parse(_read(path), clean(address))


def _load_url(url: str, *, offline: bool, refresh: bool) -> _Index:
    known = cache.read(url)
    copy = _parsed_copy(known, url)
    if known is not None and copy is not None and (offline or (known.fresh and not refresh)):
        return (
            copy
            if known.fresh
            else _noted(copy, _aged(url, known, "as asked, the network is not used"))
        )
    if offline:
        return _noted(
            snapshot(),
            f"Nothing is kept of {clean(url)}: this is the list that came with neurogym-registry.",
        )
    try:
        return _ask(url, known if copy is not None else None, known.serial if known else 0)
    except RegistryError as error:
        if known is not None and copy is not None:
            return _noted(copy, _aged(url, known, str(error)))
        return _noted(snapshot(), f"{error} This is the list that came with neurogym-registry.")


def _ask(url: str, known: cache.Cached | None, seen: int) -> _Index:
    """The server's index, kept for later.

    Raises:
        RegistryError: it gave none that can be used, or one that is older than one it gave before.
    """
    fetched = fetch(url, known.etag if known else "")
    if fetched.body is None and known is not None:
        cache.write(url, known._replace(fetched=time.time()))
        return _parse(known.text, clean(url))
    text = (fetched.body or b"").decode("utf-8", "replace")
    index = _parse(text, clean(url))
    if index.serial < seen:
        raise RegistryError(
            f"The registry {clean(url)} gave an index with serial {index.serial}, after one with"
            f" {seen}. Expected it to grow: an old copy hides revocations. Tell its keepers; to"
            f" accept it, remove the folder {cache.cache_folder()}."
        )
    cache.write(url, cache.Cached(text, fetched.etag, index.serial, time.time()))
    return index


def _parsed_copy(known: cache.Cached | None, url: str) -> _Index | None:
    """A copy that can no longer be read is no copy."""
    if known is None:
        return None
    try:
        return _parse(known.text, clean(url))
    except RegistryError:
        return None


def _noted(index: _Index, note: str) -> _Index:
    return index._replace(notes=(note, *index.notes))


def _aged(url: str, known: cache.Cached, why: str) -> str:
    days = max(known.age, 0) / 86400
    return (
        f"{why} This is what {clean(url)} said {days:.0f} days ago."
        if days >= 1
        else f"{why} A recent copy is used."
    )


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise RegistryError(
                f"{path} has more than {MAX_BYTES:,} bytes. Expected an index. Use another."
            )
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RegistryError(
            f"{path} cannot be read ({clean(said_by(error))}). Expected an index. Build it again."
        ) from error


def _parse(text: str, where: str) -> _Index:
    """The index in a text; packages that this version does not understand are left out and counted.

    Raises:
        RegistryError: it is no index, or one of a newer schema.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RegistryError(
            f"{where} gave no JSON ({clean(said_by(error))}). Expected an index. Try again later."
        ) from error
    if (
        isinstance(value, dict)
        and isinstance(value.get("schema"), int)
        and value["schema"] > SCHEMA
    ):
        raise RegistryError(
            f"{where} gave an index of schema {value['schema']}, and this version reads schema"
            f" {SCHEMA}. Use a newer neurogym-registry."
        )
    rows = value.get("packages") if isinstance(value, dict) else None
    # The rows are looked at one by one: a single one that is not understood must not hide the
    # others.
    found = breaches({**value, "packages": []} if isinstance(rows, list) else value, "index")
    if found or not isinstance(rows, list):
        where_in = (
            f"{found[0].field or 'the whole'} {found[0].message}"
            if found
            else "packages is no list"
        )
        raise RegistryError(
            f"{where} gave no index ({where_in}). Expected one as `ngym registry build` makes it."
        )
    understood = [row for row in rows if not part_breaches(row, "index.schema.json#/$defs/package")]
    left = len(rows) - len(understood)
    notes = (
        (f"{left} packages of {where} are left out: this version does not understand their rows.",)
        if left
        else ()
    )
    revoked = value["revoked"]
    listings = tuple(
        Listing(
            row=row,
            revoked=tuple(one for one in revoked if one["name"] == row["name"]),
            registry=where,
        )
        for row in understood
    )
    return _Index(value["serial"], listings, notes)
