"""The client: the packages of all registries, from servers, folders, copies or the bundled list.

For a registry on the web, the client uses the first that is available: a copy less than a day old;
the server's index, with a conditional request; an older copy, with a note; the list bundled with
neurogym-registry, with a note. Without `NGYM_REGISTRY` it uses the bundled list: there is no
default address. Where an address names the signer of the index, an index is used only if its
signature was verified."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from neurogym_core.tools import canonical, clean, namespace_of, said_by
from neurogym_registry import cache
from neurogym_registry.addresses import NOWHERE, VARIABLE, Address, Signer, registries
from neurogym_registry.data import data
from neurogym_registry.errors import RegistryError
from neurogym_registry.index import is_revoked
from neurogym_registry.index_text import DIGEST, SCHEMA, IndexText
from neurogym_registry.package_files import read_package_file

MAX_TEXT = 200_000_000  # the index of a hundred thousand packages has 110 MB


@dataclass(frozen=True, kw_only=True, eq=False)
class Listing:
    """A package as a registry lists it.

    Attributes:
        row: the package's object in ``index.json``, with the fields for searches.
        revoked: the revocations of the registry that name the package.
        registry: address of the registry, for display.
        base: address or folder of the registry's files.
        address: address of the registry as in `NGYM_REGISTRY`, with its signer.
        offline: whether `package` may not use the network.
    """

    row: Mapping[str, Any]
    revoked: tuple[Mapping[str, Any], ...] = ()
    registry: str = ""
    base: str = ""
    address: Address = NOWHERE
    offline: bool = False

    @cached_property
    def package(self) -> Mapping[str, Any]:
        """All fields of the package, with its releases; read from the package file if there is one.

        Raises:
            RegistryError: the file is missing, or is another one than the index names.
        """
        if DIGEST not in self.row:
            return self.row
        return read_package_file(self.base, self.name, self.row[DIGEST], offline=self.offline)

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
        """Version -> object of the release; see `package`."""
        return {release["version"]: release for release in self.package["releases"]}

    @property
    def outdated(self) -> bool:
        """Whether the package file cannot be read, or is another one than the index names."""
        try:
            return not self.package
        except RegistryError:
            return True

    def revocation(self, version: str) -> str | None:
        """Return why a version is revoked, or None if it is not."""
        return is_revoked(self.revoked, self.name, version)

    def task_id(self, task: Mapping[str, Any]) -> str:
        """Return ``namespace/Name-vN``."""
        return f"{self.namespace}/{task['name']}"


class Index:
    """One registry's index, whose rows become listings when they are needed."""

    def __init__(
        self, text: IndexText, where: str, base: str, address: Address, *, offline: bool = False
    ) -> None:
        self.text, self.where, self.base, self.address = text, where, base, address
        self.offline = offline
        self.serial: int = text.header["serial"]
        self.revoked: tuple[Mapping[str, Any], ...] = tuple(text.header["revoked"])

    def listing(self, row: Mapping[str, Any]) -> Listing:
        """Return the listing of a row."""
        mine = tuple(one for one in self.revoked if one["name"] == row["name"])
        return Listing(
            row=row, revoked=mine, registry=self.where, base=self.base, address=self.address,
            offline=self.offline,
        )  # fmt: skip


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
        for wanted in (name, f"neurogym-task-{name}", name.removeprefix("x-"), f"neurogym-{name}"):
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


def one_registry(address: Address) -> Catalogue:
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
        RegistryError: an address is invalid, a folder or file is not a registry or not signed as
            its address says, or the bundled list cannot be read.
    """
    addresses = registries()
    if not addresses:
        loaded = snapshot()
        note = f"No registry is set ({VARIABLE}). This is the list bundled with neurogym-registry."
        return Catalogue(indexes=(loaded.index,), notes=(note, *loaded.notes))
    found = [_load(address, offline=offline, refresh=refresh) for address in addresses]
    for one in found:
        one.index.offline = offline
    return Catalogue(
        indexes=tuple(one.index for one in found),
        notes=tuple(note for one in found for note in one.notes),
        from_copies=any(one.is_copy for one in found),
    )


def snapshot() -> _Loaded:
    """Return the list bundled with neurogym-registry."""
    path = data("index.json")
    where = "the list bundled with neurogym-registry"
    return _parse(_read(path).decode(), where, str(path.parent), NOWHERE)


# -- one registry --------------------------------------------------


def _load(address: Address, *, offline: bool, refresh: bool) -> _Loaded:
    place = address.place
    scheme = urlsplit(place).scheme
    if scheme in ("http", "https"):
        from neurogym_registry.fetch import allowed  # see `_ask`

        is_file = place.endswith((".json", ".json.gz"))
        url = place if is_file else f"{place.rstrip('/')}/index.json.gz"
        if "@" in urlsplit(url).netloc:
            raise RegistryError(
                f"{VARIABLE} has an address with a user name or password (the host is"
                f" {clean(urlsplit(url).hostname or '')}). Expected an address without them, since"
                " they are not sent. Remove them."
            )
        if not allowed(url):
            raise RegistryError(
                f"{VARIABLE} was given {clean(place)!r}. Expected an https address, or http on"
                " this machine. Correct the address."
            )
        return _load_url(url, address, offline=offline, refresh=refresh)
    path = Path(place)
    if scheme == "file":
        from urllib.request import url2pathname  # see `_ask`

        path = Path(url2pathname(urlsplit(place).path))
    if path.is_dir():
        path /= "index.json"
    if not path.is_file():
        raise RegistryError(
            f"{VARIABLE} was given {clean(place)!r}, which has no index.json. Expected the folder"
            " of a registry, its index.json, or an https address. Correct the address, or build"
            " the index with `ngym registry build`."
        )
    raw = _read(path)
    notes: tuple[str, ...] = ()
    if address.signer is not None:
        from neurogym_registry.signatures import SUFFIX, verify  # see `_ask`

        bundle = path.with_name(path.name + SUFFIX)
        if not bundle.is_file():
            raise _unsigned(clean(place), address.signer, f"there is no {bundle.name}")
        signed = verify(raw, _read(bundle), address.signer, clean(place), offline=offline)
        notes = _old_signature(clean(place), signed)
    loaded = _parse(_decoded(raw, path), clean(place), str(path.parent), address)
    return loaded._replace(notes=(*notes, *loaded.notes))


def _load_url(url: str, address: Address, *, offline: bool, refresh: bool) -> _Loaded:
    known = cache.read(url)
    if known is not None and known.signer != _key(address.signer):
        known = None  # this copy was never verified, or for another signer
    copy = _parsed_copy(known, url, address)
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
        return _ask(url, address, known if copy is not None else None, known)
    except RegistryError as error:
        if known is not None and copy is not None:
            return _noted(copy, _aged(url, known, str(error)))
        return _noted(snapshot(), f"{error} This is the list bundled with neurogym-registry.")


def _key(signer: Signer | None) -> str:
    """Return the text that a copy stores of the signer for whom it was verified."""
    return "" if signer is None else " ".join(signer)


def _ask(
    url: str, address: Address, known: cache.Cached | None, seen: cache.Cached | None
) -> _Loaded:
    """Return the server's index, and store it in the cache.

    Args:
        url: address of the index.
        address: the registry.
        known: the copy, if it can be used.
        seen: the copy, even if its text cannot be read.

    Raises:
        RegistryError: the server's index cannot be used, is not signed as the address says, or is
            older than a previous one.
    """
    from neurogym_registry.fetch import fetch  # urllib doubles the time of a search

    fetched = fetch(url, known.etag if known else "")
    unchanged = fetched.body is None and known is not None
    raw = known.text.encode() if unchanged and known is not None else fetched.body or b""
    # Again for an unchanged index: the workflow of a registry renews the signature every week.
    signed = _verified(url, raw, address.signer, seen)
    if unchanged and known is not None:
        cache.write(url, known._replace(fetched=time.time(), signed=signed))
        loaded = _parse(known.text, clean(url), url.rpartition("/")[0], address)
        return loaded._replace(notes=(*_old_signature(clean(url), signed), *loaded.notes))
    text = raw.decode("utf-8", "replace")
    loaded = _parse(text, clean(url), url.rpartition("/")[0], address)
    index = loaded.index
    if seen is not None and index.serial < seen.serial:
        raise RegistryError(
            f"The registry {clean(url)} sent an index with serial {index.serial}, after one with"
            f" {seen.serial}. Expected the serial to grow: an older index hides revocations. Report"
            f" this to the registry's maintainers; to accept it, remove {cache.cache_folder()}."
        )
    _refuse_lost_revocations(url, known, index)
    signer = _key(address.signer)
    cache.write(url, cache.Cached(text, fetched.etag, index.serial, time.time(), signer, signed))
    return loaded._replace(notes=(*_old_signature(clean(url), signed), *loaded.notes))


def _verified(url: str, raw: bytes, signer: Signer | None, seen: cache.Cached | None) -> float:
    """Return the time of the signature of a server's index; 0 if no signer is expected.

    Raises:
        RegistryError: it is unsigned, not signed by the signer, or signed before the copy.
    """
    if signer is None:
        return 0.0
    from neurogym_registry.fetch import fetch  # see `_ask`
    from neurogym_registry.signatures import SUFFIX, verify

    try:
        bundle = fetch(f"{url.removesuffix('.gz')}{SUFFIX}").body or b""
    except RegistryError as error:
        raise _unsigned(clean(url), signer, str(error)) from error
    signed = verify(raw, bundle, signer, clean(url), offline=False)
    if seen is not None and signed < seen.signed:
        raise RegistryError(
            f"The registry {clean(url)} sent an index signed on {_day(signed)}, after one signed on"
            f" {_day(seen.signed)}. Expected signatures to become newer: an older index hides"
            " changes. Report this to the registry's maintainers; to accept it, remove"
            f" {cache.cache_folder()}."
        )
    return signed


def _unsigned(where: str, signer: Signer, reason: str) -> RegistryError:
    return RegistryError(
        f"The registry {where} has no signature of its index ({reason.rstrip('.')}). Expected one"
        f" by {signer}, as {VARIABLE} says. Ask the registry's maintainers to sign it with `ngym"
        " registry sign`."
    )


def _old_signature(where: str, signed: float) -> tuple[str, ...]:
    """Return a note if a signature is old, since a newer index may be withheld."""
    from neurogym_registry.signatures import FRESH_DAYS

    days = (time.time() - signed) / 86400
    if not signed or days <= FRESH_DAYS:
        return ()
    return (
        f"The index of {where} was signed {days:.0f} days ago, expected at most {FRESH_DAYS}. A"
        " newer one may be withheld: ask the registry's maintainers.",
    )


def _day(seconds: float) -> str:
    return f"{time.strftime('%Y-%m-%d %H:%M', time.gmtime(seconds))} UTC"


def _refuse_lost_revocations(url: str, known: cache.Cached | None, index: Index) -> None:
    """Raise an error if a revocation of the copy is missing in the server's index.

    Raises:
        RegistryError: it is.
    """
    if known is None:
        return
    before = _parse(known.text, clean(url), "", index.address).index
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


def _parsed_copy(known: cache.Cached | None, url: str, address: Address) -> _Loaded | None:
    """Return the index in a cached copy, or None if it cannot be read."""
    if known is None:
        return None
    try:
        loaded = _parse(known.text, clean(url), url.rpartition("/")[0], address)
    except RegistryError:
        return None
    return loaded._replace(notes=(*_old_signature(clean(url), known.signed), *loaded.notes))


def _noted(loaded: _Loaded, note: str) -> _Loaded:
    return loaded._replace(notes=(note, *loaded.notes))


def _aged(url: str, known: cache.Cached, why: str) -> str:
    days = max(known.age, 0) / 86400
    return (
        f"{why} This is the index of {clean(url)} from {days:.0f} days ago."
        if days >= 1
        else f"{why} A recent copy is used."
    )


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_TEXT:
            raise RegistryError(
                f"{path} has more than {MAX_TEXT:,} bytes. Expected the index of a registry."
                f" Correct {VARIABLE}."
            )
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from error


def _decoded(raw: bytes, path: Path) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> RegistryError:
    return RegistryError(
        f"{path} cannot be read ({clean(said_by(error))}). Expected the index of a registry."
        " Build it again with `ngym registry build`."
    )


def _parse(text: str, where: str, base: str, address: Address) -> _Loaded:
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
    return _Loaded(Index(read, where, base, address), notes)
