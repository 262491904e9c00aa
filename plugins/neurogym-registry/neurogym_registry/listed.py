"""Listed packages and tasks that are not installed, as the hooks of the core show them."""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from neurogym_core import DiscoveryError
from neurogym_core.tools import Page, Reference, add_description, clean, how_to_install, print_json
from neurogym_registry.client import Catalogue, Listing, catalogue
from neurogym_registry.commands.shared import read_catalogue
from neurogym_registry.errors import RegistryError
from neurogym_registry.folder import release_file
from neurogym_registry.index_text import DESCRIBED, fits
from neurogym_registry.names import WELL_KNOWN, likeness, might_resemble
from neurogym_registry.versions import version_key


@dataclass(frozen=True, kw_only=True, eq=False)
class Listed:
    """A task or package that is not installed, as a registry lists it.

    Attributes:
        id: ``namespace/Name-vN`` of a task, the distribution of a package.
        package: name of the distribution.
        version: newest release that can be installed; None if there is none.
        references: publications; for a package, those of its tasks.
        row: all fields of the registry, for programs.
        notes: reasons why the entry may be outdated or incomplete, for users.
        show: function that adds a description and the install command to a page.
        how: command that installs the package, for messages; by default `ngym install`.
    """

    id: str
    package: str
    version: str | None
    references: tuple[Reference, ...]
    row: Mapping[str, Any]
    notes: tuple[str, ...]
    show: Callable[[Page], None]
    how: str = ""


def print_listed(name: str, offline: bool, form: str) -> bool:
    """Print the entry of a name for `ngym info`; return whether there is one.

    Raises:
        DiscoveryError: several packages have a task of this name.
    """
    try:
        found = listed(catalogue_with(name, offline), name)
    except RegistryError as error:
        click.echo(f"Note: {clean(str(error))}", err=True)
        return False
    if len(found) > 1:
        ids = ", ".join(one.id for one in found)
        raise DiscoveryError(
            f"{name!r} is in {len(found)} packages of the registry: {ids}. Give the full id."
        )
    for one in found:
        for note in one.notes:
            click.echo(f"Note: {clean(note)}", err=True)
        if form == "bibtex" and not one.references:
            raise click.ClickException(f"The registry lists no reference for {one.id}.")
        page = Page()
        if form == "bibtex":
            entries = [reference.bibtex for reference in dict.fromkeys(one.references)]
            page.text("\n\n".join(entries), keep_lines=True)
        elif form == "page":
            one.show(page)
        if form == "json":
            print_json(one.row)
        else:
            page.show()
    return bool(found)


def catalogue_with(name: str, offline: bool) -> Catalogue:
    """Return the catalogue, read again if the copy may be older than a release of this name."""
    found = read_catalogue(offline=offline, quiet=True)
    if found.from_copies and not offline:
        package = found.find(name)
        owners = [package] if package is not None else [one for one, _ in found.find_task(name)]
        if any(one.outdated for one in owners):
            return read_catalogue(offline=False, refresh=True, quiet=True)
    return found


def listed(found: Catalogue, name: str) -> list[Listed]:
    """Return the package of this name, or else the tasks, as `ngym info` shows them."""
    listing = found.find(name)
    if listing is not None:
        return [_record(found, listing, None)]
    return [_record(found, owner, *_detailed(owner, task)) for owner, task in found.find_task(name)]


def _detailed(
    listing: Listing, task: Mapping[str, Any]
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Return a task with its description from the file of the release, and notes.

    The task is returned as it is if there is no file, or the index does not have its hash."""
    if listing.latest is None:
        return task, ()
    file = release_file(listing.name, listing.latest)
    try:
        expected = listing.releases[listing.latest].get("release_sha256")
        if not isinstance(expected, str):
            return task, ()
        if urlsplit(listing.base).scheme in ("http", "https"):
            if listing.offline:
                return task, ()
            from neurogym_registry.fetch import fetch  # urllib takes long to import

            text = fetch(f"{listing.base}/{file}").body or b""
        else:
            text = Path(listing.base, file).read_bytes()
        if hashlib.sha256(text).hexdigest() != expected:
            note = (
                f"{clean(listing.registry)} has another {file} than its index names, with SHA-256"
                f" {clean(expected)}. Its description of {clean(task['name'])} is not shown. Try"
                " again in some minutes, or report this to the registry's maintainers."
            )
            return task, (note,)
        rows = json.loads(text)["tasks"]
        found = next(row for row in rows if row["name"] == task["name"] and fits(row, DESCRIBED))
    except (RegistryError, OSError, ValueError, KeyError, TypeError, StopIteration):
        return task, ()  # the row of the index is known
    return found, ()


def _record(
    found: Catalogue,
    listing: Listing,
    task: Mapping[str, Any] | None,
    notes: tuple[str, ...] = (),
) -> Listed:
    tasks = listing.row["tasks"] if task is None else [task]
    from_sources = listing.latest is None and "folder" in listing.row
    return Listed(
        id=listing.name if task is None else listing.task_id(task),
        package=listing.name,
        version=listing.latest,
        how=how_to_install(listing.name) if from_sources else "",
        references=tuple(_reference(reference) for row in tasks for reference in row["references"]),
        row={
            "package": listing.package if task is None else listing.row,
            "task": task,
            "registry": listing.registry,
            "installed": None,
        },
        notes=(*found.notes, *notes),
        show=partial(_show, listing, task),
    )


def _show(listing: Listing, task: Mapping[str, Any] | None, page: Page) -> None:
    if task is None:
        _add_package(page, listing)
    else:
        _add_task(page, listing, task)
    page.text("")
    if listing.latest is not None:
        page.text(f"Not installed. To install it: `ngym install {listing.name}`.", style="bold")
    elif "folder" in listing.row:
        page.text(
            f"Not installed. To install it from its sources: {how_to_install(listing.name)}.",
            style="bold",
        )
    else:
        page.text("Not installed, and no release can be installed.")


def _add_package(page: Page, listing: Listing) -> None:
    row = listing.package
    page.heading(
        f"{listing.name} {listing.latest or ''}",
        mark="" if row["status"] == "active" else f"! {row['status']}",
    )
    page.facts(
        (
            ("about", row["summary"]),
            ("namespace", listing.namespace),
            ("by", ", ".join(one["name"] for one in row["maintainers"])),
            ("sources", row.get("repository", row.get("folder"))),
            ("superseded by", row.get("superseded_by")),
            ("listed in", listing.registry),
        )
    )
    for title, kind in (("tasks", "tasks"), ("wrappers", "wrappers")):
        if row[kind]:
            page.heading(title)
            page.table(("name", "title"), [(one["name"], one["title"]) for one in row[kind]])
    if row["releases"]:
        page.heading("releases")
        releases = sorted(
            row["releases"], key=lambda one: version_key(one["version"]), reverse=True
        )
        cells = [
            (one["version"], one["requires_core"], one["license"], _state(listing, one))
            for one in releases
        ]
        page.table(("version", "core", "licence", ""), cells)


def _state(listing: Listing, release: Mapping[str, Any]) -> str:
    revoked = listing.revocation(release["version"])
    if revoked is not None:
        return f"! revoked: {revoked}"
    return "" if release["yanked"] is None else f"! yanked: {release['yanked']}"


def _add_task(page: Page, listing: Listing, task: Mapping[str, Any]) -> None:
    page.heading(listing.task_id(task))
    page.text(task["title"], indent=2)
    page.text(task["summary"], indent=2)
    page.facts(
        (
            ("package", f"{listing.name} {listing.latest or ''}".rstrip()),
            ("tags", ", ".join(task["tags"])),
            ("species", ", ".join(task["species"])),
            *((one["kind"], _reference(one).citation) for one in task["references"]),
        )
    )
    add_description(page, task)


def resembling(found: Catalogue, name: str) -> list[Listed]:
    """Return the tasks with the name nearest to an unknown one, at most three."""
    _, _, bare = name.rpartition("/")
    if found.large:
        return []
    tasks = [(one, task) for one in found.listings for task in one.row["tasks"]]
    names = sorted({task["name"] for _, task in tasks})
    (nearest,) = difflib.get_close_matches(bare, names, 1, 0.8) or [""]
    return [_record(found, one, task) for one, task in tasks if task["name"] == nearest][:3]


def looks_like(distribution: str) -> str | None:
    """Return a listed or well-known package whose name differs by at most one letter, or None."""
    try:
        known = catalogue(offline=True).names
    except RegistryError:  # `ngym search` says why
        known = []
    for other in (*WELL_KNOWN, *known):
        if other != distribution and not might_resemble(distribution, other):
            continue
        apart = 0 if other == distribution else likeness(distribution, other)
        if apart is not None and apart < 2:
            return other
    return None


def _reference(row: Mapping[str, Any]) -> Reference:
    """Return a reference; fields for newer clients are left out."""
    known = {one.name for one in fields(Reference)}
    return Reference(**{key: value for key, value in row.items() if key in known})
