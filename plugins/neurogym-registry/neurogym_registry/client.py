"""The client: the packages of all registries, from servers, folders, copies or the bundled list.

For a registry on the web, the client uses the first that is available: a copy less than a day old;
the server's index, with a conditional request; an older copy, with a note; the list bundled with
neurogym-registry, with a note. Without `NGYM_REGISTRY` it uses the bundled list: there is no
default address."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from neurogym_core.ecosystem.names import TASK_PREFIX, canonical, clean, namespace_of, said_by
from neurogym_core.errors import RegistryError
from neurogym_registry import cache
from neurogym_registry.data import data
from neurogym_registry.index import is_revoked
from neurogym_registry.index_text import SCHEMA, IndexText

VARIABLE = "NGYM_REGISTRY"
MAX_TEXT = 300_000_000  # the index of ten thousand packages has 25 MB


@dataclass(frozen=True, kw_only=True, eq=False)
class Listing:
    """A package as a registry lists it.

    Attributes:
        row: the package's object in ``index.json``, valid by its schema.
        revoked: the revocations of the registry that name the package.
        registry: address of the registry, for display.
        base: address or folder of the registry's files; "" for the bundled list.
    """

    row: Mapping[str, Any]
    revoked: tuple[Mapping[str, Any], ...] = ()
    registry: str = ""
    base: str = ""

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


class Index:
    """One registry's index, whose rows become listings when they are needed."""

    def __init__(self, text: IndexText, where: str, base: str) -> None:
        self.text, self.where, self.base = text, where, base
        self.serial: int = text.header["serial"]
        self.revoked: tuple[Mapping[str, Any], ...] = tuple(text.header["revoked"])

    def listing(self, row: Mapping[str, Any]) -> Listing:
        """Return the listing of a row."""
        mine = tuple(one for one in self.revoked if one["name"] == row["name"])
        return Listing(row=row, revoked=mine, registry=self.where, base=self.base)


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """The indexes of all registries, with notes about stale or omitted data.

    If several registries list a name, the first one counts.

    Attributes:
        from_copies: whether a server was not asked, because there is a copy of its index.
    """

    indexes: tuple[Index, ...] = ()
    notes: tuple[str, ...] = ()
    from_copies: bool = False

    @property
    def listings(self) -> tuple[Listing, ...]:
        """All packages by name; slow for a large registry."""
        found: dict[str, Listing] = {}
        for index in self.indexes:
            for row in index.text.rows():
                found.setdefault(row["name"], index.listing(row))
        return tuple(found[name] for name in sorted(found))

    @property
    def large(self) -> bool:
        """Whether reading all rows takes a noticeable time."""
        return any(index.text.size > IndexText.COUNTED for index in self.indexes)

    @property
    def names(self) -> list[str]:
        """The names of all packages."""
        return sorted({name for index in self.indexes for name in index.text.names()})

    def named(self, name: str) -> Listing | None:
        """Return the package of this name, or None."""
        for index in self.indexes:
            if (row := index.text.row(name)) is not None:
                return index.listing(row)
        return None

    def with_words(self, words: Sequence[str]) -> Iterator[Listing]:
        """Yield packages in whose rows all words occur, and perhaps others."""
        for number, index in enumerate(self.indexes):
            for row in index.text.with_words(words):
                earlier = self.indexes[:number]
                if all(one.text.row(row["name"]) is None for one in earlier):
                    yield index.listing(row)

    def revocation(self, name: str, version: str) -> str | None:
        """Return why any of the registries revokes a version, or None; it need not be listed."""
        rows = [row for index in self.indexes for row in index.revoked]
        return is_revoked(rows, name, version)

    def find(self, name: str) -> Listing | None:
        """Return the package of this name or namespace, or None."""
        for wanted in (name, f"{TASK_PREFIX}{name}", name.removeprefix("x-"), f"neurogym-{name}"):
            found = self.named(canonical(wanted))
            if found is not None and (canonical(name) == found.name or name == found.namespace):
                return found
        return None

    def find_task(self, name: str) -> list[tuple[Listing, Mapping[str, Any]]]:
        """Return the tasks of this id or bare name, with their packages."""
        bare = name.rpartition("/")[2].lower()
        rows = [(one, task) for one in self.with_words([bare]) for task in one.row["tasks"]]
        return [(one, task) for one, task in rows if name in (one.task_id(task), task["name"])]


class _Loaded(NamedTuple):
    index: Index
    notes: tuple[str, ...]
    is_copy: bool = False


def one_registry(address: str) -> Catalogue:
    """Return the listings of one registry; ask its server if the copy is older than a day.

    Raises:
        RegistryError: as `catalogue`.
    """
    loaded = _load(address, offline=False, refresh=False)
    return Catalogue(indexes=(loaded.index,), notes=loaded.notes)


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
        loaded = snapshot()
        note = f"No registry is set ({VARIABLE}). This is the list bundled with neurogym-registry."
        return Catalogue(indexes=(loaded.index,), notes=(note, *loaded.notes))
    found = [_load(address, offline=offline, refresh=refresh) for address in addresses]
    return Catalogue(
        indexes=tuple(one.index for one in found),
        notes=tuple(note for one in found for note in one.notes),
        from_copies=any(one.is_copy for one in found),
    )


def registries() -> list[str]:
    """Return the https addresses, ``file://`` addresses and folders in `NGYM_REGISTRY`."""
    return [part.strip() for part in os.environ.get(VARIABLE, "").split(",") if part.strip()]


def snapshot() -> _Loaded:
    """Return the list bundled with neurogym-registry."""
    return _parse(_read(data("index.json")), "the list bundled with neurogym-registry", "")


# -- one registry --------------------------------------------------


def _load(address: str, *, offline: bool, refresh: bool) -> _Loaded:
    scheme = urlsplit(address).scheme
    if scheme in ("http", "https"):
        from neurogym_registry.fetch import allowed  # see `_ask`

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
    path = Path(address)
    if scheme == "file":
        from urllib.request import url2pathname  # see `_ask`

        path = Path(url2pathname(urlsplit(address).path))
    if path.is_dir():
        path /= "index.json"
    if not path.is_file():
        raise RegistryError(
            f"{VARIABLE} was given {clean(address)!r}, which has no index.json. Expected the folder"
            " of a registry, its index.json, or an https address. Correct the address, or build"
            " the index with `ngym registry build`."
        )
    return _parse(_read(path), clean(address), str(path.parent))


def _load_url(url: str, *, offline: bool, refresh: bool) -> _Loaded:
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


def _ask(url: str, known: cache.Cached | None, seen: int) -> _Loaded:
    """Return the server's index, and store it in the cache.

    Raises:
        RegistryError: the server's index cannot be used, or is older than a previous one.
    """
    from neurogym_registry.fetch import fetch  # urllib doubles the time of a search

    fetched = fetch(url, known.etag if known else "")
    if fetched.body is None and known is not None:
        cache.write(url, known._replace(fetched=time.time()))
        return _parse(known.text, clean(url), url.rpartition("/")[0])
    text = (fetched.body or b"").decode("utf-8", "replace")
    loaded = _parse(text, clean(url), url.rpartition("/")[0])
    index = loaded.index
    if index.serial < seen:
        raise RegistryError(
            f"The registry {clean(url)} sent an index with serial {index.serial}, after one with"
            f" {seen}. Expected the serial to grow: an older index hides revocations. Report this"
            f" to the registry's maintainers; to accept it, remove {cache.cache_folder()}."
        )
    _refuse_lost_revocations(url, known, index)
    cache.write(url, cache.Cached(text, fetched.etag, index.serial, time.time()))
    return loaded


def _refuse_lost_revocations(url: str, known: cache.Cached | None, index: Index) -> None:
    """Raise an error if a revocation of the copy is missing in the server's index.

    Raises:
        RegistryError: it is.
    """
    if known is None:
        return
    before = _parse(known.text, clean(url), "").index
    lost = _revocations(before) - _revocations(index)
    if lost:
        name, version = min(lost)
        raise RegistryError(
            f"The registry {clean(url)} sent an index without the revocation of {clean(name)}"
            f" {clean(version)}, which an earlier one had. Expected revocations to stay. Report"
            f" this to the registry's maintainers; to accept it, remove {cache.cache_folder()}."
        )


def _revocations(index: Index) -> set[tuple[str, str]]:
    return {(row["name"], version) for row in index.revoked for version in row["versions"]}


def _parsed_copy(known: cache.Cached | None, url: str) -> _Loaded | None:
    """Return the index in a cached copy, or None if it cannot be read."""
    if known is None:
        return None
    try:
        return _parse(known.text, clean(url), url.rpartition("/")[0])
    except RegistryError:
        return None


def _noted(loaded: _Loaded, note: str) -> _Loaded:
    return loaded._replace(notes=(note, *loaded.notes))


def _aged(url: str, known: cache.Cached, why: str) -> str:
    days = max(known.age, 0) / 86400
    return (
        f"{why} This is the index of {clean(url)} from {days:.0f} days ago."
        if days >= 1
        else f"{why} A recent copy is used."
    )


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_TEXT:
            raise RegistryError(
                f"{path} has more than {MAX_TEXT:,} bytes. Expected the index of a registry."
                f" Correct {VARIABLE}."
            )
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RegistryError(
            f"{path} cannot be read ({clean(said_by(error))}). Expected the index of a registry."
            " Build it again with `ngym registry build`."
        ) from error


def _parse(text: str, where: str, base: str) -> _Loaded:
    """Return the index in a text.

    Raises:
        RegistryError: the text is not an index, or has a newer schema.
    """
    try:
        read = IndexText(text)
    except (ValueError, RecursionError) as error:
        raise RegistryError(
            f"{where} gave no JSON ({clean(said_by(error))}). Expected the index of a registry. Try"
            " again later, or correct the address."
        ) from error
    except TypeError as error:
        raise RegistryError(
            f"{where} gave no index ({error}). Expected one made by `ngym registry build`. Build it"
            " again, or correct the address."
        ) from error
    if read.header["schema"] > SCHEMA:
        raise RegistryError(
            f"{where} gave an index of schema {read.header['schema']}. Expected schema {SCHEMA} or"
            " older. Use a newer neurogym-registry."
        )
    notes = (
        (f"{read.unread} packages of {where} are left out: this version cannot read their rows.",)
        if read.unread
        else ()
    )
    return _Loaded(Index(read, where, base), notes)
