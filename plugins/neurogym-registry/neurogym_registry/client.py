"""The client: the packages of all registries, from servers, folders, copies or the bundled list.

For a registry on the web, the client uses the first that is available: a copy less than a day old;
the server's index, with a conditional request; an older copy, with a note; the list bundled with
neurogym-registry, with a note. Without `NGYM_REGISTRY` it uses the bundled list: there is no
default address."""

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

from neurogym_core.ecosystem.names import canonical, clean, namespace_of, said_by
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
        row: the package's object in ``index.json``, valid by its schema.
        revoked: the revocations of the registry that name the package.
        registry: address of the registry, for display.
    """

    row: Mapping[str, Any]
    revoked: tuple[Mapping[str, Any], ...] = ()
    registry: str = ""

    @property
    def name(self) -> str:
        """Name of the distribution."""
        return str(self.row["name"])

    @property
    def namespace(self) -> str:
        """Namespace of its tasks; it follows from the name, whatever the registry says."""
        return namespace_of(self.name)

    @property
    def latest(self) -> str | None:
        """The newest release that may be installed."""
        latest = self.row["latest"]
        return None if latest is None else str(latest)

    @property
    def releases(self) -> dict[str, Mapping[str, Any]]:
        """Version -> object of the release."""
        return {release["version"]: release for release in self.row["releases"]}

    def revocation(self, version: str) -> str | None:
        """Return why a version is revoked, or None if it is not."""
        return is_revoked(self.revoked, self.name, version)

    def task_id(self, task: Mapping[str, Any]) -> str:
        """Return ``namespace/Name-vN``."""
        return f"{self.namespace}/{task['name']}"


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """The listings of all registries, with notes about stale or omitted data.

    If several registries list a name, the first one counts.

    Attributes:
        revoked: the revocations of all registries.
        from_copies: whether a server was not asked, because there is a copy of its index.
    """

    listings: tuple[Listing, ...] = ()
    notes: tuple[str, ...] = ()
    revoked: tuple[Mapping[str, Any], ...] = ()
    from_copies: bool = False

    def named(self, name: str) -> Listing | None:
        """Return the package of this name, or None."""
        return next((one for one in self.listings if one.name == name), None)

    def revocation(self, name: str, version: str) -> str | None:
        """Return why any of the registries revokes a version, or None; it need not be listed."""
        return is_revoked(self.revoked, name, version)

    def find(self, name: str) -> Listing | None:
        """Return the package of this name or namespace, or None."""
        wanted = canonical(name)
        return next(
            (one for one in self.listings if wanted == one.name or name == one.namespace),
            None,
        )

    def find_task(self, name: str) -> list[tuple[Listing, Mapping[str, Any]]]:
        """Return the tasks of this id or bare name, with their packages."""
        rows = [(one, task) for one in self.listings for task in one.row["tasks"]]
        return [(one, task) for one, task in rows if name in (one.task_id(task), task["name"])]


class _Index(NamedTuple):
    serial: int
    listings: tuple[Listing, ...]
    notes: tuple[str, ...]
    revoked: tuple[Mapping[str, Any], ...]
    is_copy: bool = False


def one_registry(address: str) -> Catalogue:
    """Return the listings of one registry; ask its server if the copy is older than a day.

    Raises:
        RegistryError: as `catalogue`.
    """
    index = _load(address, offline=False, refresh=False)
    return Catalogue(listings=index.listings, notes=index.notes, revoked=index.revoked)


def catalogue(*, offline: bool = False, refresh: bool = False) -> Catalogue:
    """Return the listings of all registries in `NGYM_REGISTRY`, or of the bundled list.

    Args:
        offline: do not use the network.
        refresh: ask the servers even if a copy is less than a day old.

    Raises:
        RegistryError: an address is invalid, a folder or file is not a registry, or the bundled
            list cannot be read.
    """
    addresses = registries()
    if not addresses:
        index = snapshot()
        note = f"No registry is set ({VARIABLE}). This is the list bundled with neurogym-registry."
        return Catalogue(listings=index.listings, notes=(note, *index.notes), revoked=index.revoked)
    found: dict[str, Listing] = {}
    notes: list[str] = []
    revoked: list[Mapping[str, Any]] = []
    from_copies = False
    for address in addresses:
        index = _load(address, offline=offline, refresh=refresh)
        notes += index.notes
        revoked += index.revoked
        from_copies |= index.is_copy
        for listing in index.listings:
            found.setdefault(listing.name, listing)
    return Catalogue(
        listings=tuple(found[name] for name in sorted(found)),
        notes=tuple(notes),
        revoked=tuple(revoked),
        from_copies=from_copies,
    )


def registries() -> list[str]:
    """Return the https addresses, ``file://`` addresses and folders in `NGYM_REGISTRY`."""
    return [part.strip() for part in os.environ.get(VARIABLE, "").split(",") if part.strip()]


def snapshot() -> _Index:
    """Return the list bundled with neurogym-registry."""
    return _parse(_read(data("index.json")), "the list bundled with neurogym-registry")


# -- one registry --------------------------------------------------


def _load(address: str, *, offline: bool, refresh: bool) -> _Index:
    scheme = urlsplit(address).scheme
    if scheme in ("http", "https"):
        url = address if address.endswith(".json") else f"{address.rstrip('/')}/index.json"
        if "@" in urlsplit(url).netloc:
            raise RegistryError(
                f"{VARIABLE} has an address with a user name or password (the host is"
                f" {clean(urlsplit(url).hostname or '')}). Expected an address without them, since"
                " they are not sent. Remove them."
            )
        if not allowed(url):
            raise RegistryError(
                f"{VARIABLE} was given {clean(address)!r}. Expected an https address, or http on"
                " this machine. Correct the address."
            )
        return _load_url(url, offline=offline, refresh=refresh)
    path = Path(url2pathname(urlsplit(address).path) if scheme == "file" else address)
    if path.is_dir():
        path /= "index.json"
    if not path.is_file():
        raise RegistryError(
            f"{VARIABLE} was given {clean(address)!r}, which has no index.json. Expected the folder"
            " of a registry, its index.json, or an https address. Correct the address, or build"
            " the index with `ngym registry build`."
        )
    return _parse(_read(path), clean(address))


def _load_url(url: str, *, offline: bool, refresh: bool) -> _Index:
    known = cache.read(url)
    copy = _parsed_copy(known, url)
    if known is not None and copy is not None and (offline or (known.fresh and not refresh)):
        return (
            copy._replace(is_copy=True)
            if known.fresh
            else _noted(copy, _aged(url, known, "The network is not used (--offline)."))
        )
    if offline:
        return _noted(
            snapshot(),
            f"There is no copy of {clean(url)}. This is the list bundled with neurogym-registry.",
        )
    try:
        return _ask(url, known if copy is not None else None, known.serial if known else 0)
    except RegistryError as error:
        if known is not None and copy is not None:
            return _noted(copy, _aged(url, known, str(error)))
        return _noted(snapshot(), f"{error} This is the list bundled with neurogym-registry.")


def _ask(url: str, known: cache.Cached | None, seen: int) -> _Index:
    """Return the server's index, and store it in the cache.

    Raises:
        RegistryError: the server's index cannot be used, or is older than a previous one.
    """
    fetched = fetch(url, known.etag if known else "")
    if fetched.body is None and known is not None:
        cache.write(url, known._replace(fetched=time.time()))
        return _parse(known.text, clean(url))
    text = (fetched.body or b"").decode("utf-8", "replace")
    index = _parse(text, clean(url))
    if index.serial < seen:
        raise RegistryError(
            f"The registry {clean(url)} sent an index with serial {index.serial}, after one with"
            f" {seen}. Expected the serial to grow: an older index hides revocations. Report this"
            f" to the registry's maintainers; to accept it, remove {cache.cache_folder()}."
        )
    _refuse_lost_revocations(url, known, index)
    cache.write(url, cache.Cached(text, fetched.etag, index.serial, time.time()))
    return index


def _refuse_lost_revocations(url: str, known: cache.Cached | None, index: _Index) -> None:
    """Raise an error if a revocation of the copy is missing in the server's index.

    Raises:
        RegistryError: it is.
    """
    if known is None:
        return
    lost = _revocations(_parse(known.text, clean(url))) - _revocations(index)
    if lost:
        name, version = min(lost)
        raise RegistryError(
            f"The registry {clean(url)} sent an index without the revocation of {clean(name)}"
            f" {clean(version)}, which an earlier one had. Expected revocations to stay. Report"
            f" this to the registry's maintainers; to accept it, remove {cache.cache_folder()}."
        )


def _revocations(index: _Index) -> set[tuple[str, str]]:
    return {(row["name"], version) for row in index.revoked for version in row["versions"]}


def _parsed_copy(known: cache.Cached | None, url: str) -> _Index | None:
    """Return the index in a cached copy, or None if it cannot be read."""
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
        f"{why} This is the index of {clean(url)} from {days:.0f} days ago."
        if days >= 1
        else f"{why} A recent copy is used."
    )


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise RegistryError(
                f"{path} has more than {MAX_BYTES:,} bytes. Expected the index of a registry."
                f" Correct {VARIABLE}."
            )
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RegistryError(
            f"{path} cannot be read ({clean(said_by(error))}). Expected the index of a registry."
            " Build it again with `ngym registry build`."
        ) from error


def _parse(text: str, where: str) -> _Index:
    """Return the index in a text; packages that this version cannot read are left out and counted.

    Raises:
        RegistryError: the text is not an index, or has a newer schema.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RegistryError(
            f"{where} gave no JSON ({clean(said_by(error))}). Expected the index of a registry. Try"
            " again later, or correct the address."
        ) from error
    if (
        isinstance(value, dict)
        and isinstance(value.get("schema"), int)
        and value["schema"] > SCHEMA
    ):
        raise RegistryError(
            f"{where} gave an index of schema {value['schema']}. Expected schema {SCHEMA} or older."
            " Use a newer neurogym-registry."
        )
    rows = value.get("packages") if isinstance(value, dict) else None
    # Rows are checked one by one, so that an invalid row does not hide the others.
    found = breaches({**value, "packages": []} if isinstance(rows, list) else value, "index")
    if found or not isinstance(rows, list):
        where_in = (
            f"{found[0].field or 'the value'} {found[0].message}"
            if found
            else "packages is not a list"
        )
        raise RegistryError(
            f"{where} gave no index ({where_in}). Expected one made by `ngym registry build`."
            " Build it again, or correct the address."
        )
    understood = [row for row in rows if not part_breaches(row, "index.schema.json#/$defs/package")]
    left = len(rows) - len(understood)
    notes = (
        (f"{left} packages of {where} are left out: this version cannot read their rows.",)
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
    return _Index(value["serial"], listings, notes, tuple(revoked))
