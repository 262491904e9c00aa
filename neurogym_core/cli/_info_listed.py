"""What `info` says of tasks and packages that are listed in a registry and not installed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from neurogym_core.cli._catalogue import read_catalogue, show_notes
from neurogym_core.ecosystem.records import Reference
from neurogym_core.ecosystem.registry.client import Listing
from neurogym_core.ecosystem.registry.versions import version_key
from neurogym_core.errors import AmbiguousTaskError, RegistryError


def print_listed(name: str, *, as_json: bool, as_bibtex: bool, offline: bool) -> bool:
    """Print what the registry knows of a task or package; False when it knows none of this name."""
    try:
        found = read_catalogue(offline=offline, quiet=True)
    except RegistryError as error:
        click.echo(f"Note: {error}", err=True)
        return False
    listing, task = found.find(name), None
    if listing is None:
        tasks = found.find_task(name)
        if not tasks:
            return False
        if len(tasks) > 1:
            ids = ", ".join(owner.task_id(row) for owner, row in tasks)
            raise AmbiguousTaskError(
                f"{name!r} is in {len(tasks)} packages of the registry: {ids}. Write the whole id."
            )
        listing, task = tasks[0]
    show_notes(found)
    if as_bibtex:
        _print_bibtex(name, [task] if task else listing.row["tasks"])
    elif as_json:
        from neurogym_core.terminal.output import print_json

        print_json(
            {"package": listing.row, "task": task, "registry": listing.registry, "installed": None}
        )
    else:
        _show(listing, task)
    return True


def _print_bibtex(name: str, tasks: list[Mapping[str, Any]]) -> None:
    from neurogym_core.terminal.bibtex import bibtex
    from neurogym_core.terminal.output import print_text

    references = [Reference(**reference) for task in tasks for reference in task["references"]]
    if not references:
        raise click.ClickException(f"The registry gives no reference for {name}.")
    print_text(bibtex(list(dict.fromkeys(references))))


def _show(listing: Listing, task: Mapping[str, Any] | None) -> None:
    from neurogym_core.terminal.output import Page

    page = Page()
    if task is None:
        _add_package(page, listing)
    else:
        _add_task(page, listing, task)
    page.text("")
    if listing.latest is not None:
        page.text(f"Not installed. To install it: `ngym install {listing.name}`.", style="bold")
    elif "folder" in listing.row:
        page.text(
            "Not installed. It has no release; `make install` in a checkout installs"
            f" {listing.row['folder']}."
        )
    else:
        page.text("Not installed, and there is no release that could be.")
    page.show()


def _add_package(page: Any, listing: Listing) -> None:
    row = listing.row
    page.heading(
        f"{listing.name} {listing.latest or ''}",
        mark="" if row["status"] == "active" else f"! {row['status']}",
    )
    page.facts(
        (
            ("about", row["summary"]),
            ("namespace", row["namespace"]),
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


def _add_task(page: Any, listing: Listing, task: Mapping[str, Any]) -> None:
    from neurogym_core.cli.info import _citation, _show_description

    page.heading(listing.task_id(task))
    page.text(task["title"], indent=2)
    page.text(task["summary"], indent=2)
    page.facts(
        (
            ("package", f"{listing.name} {listing.latest}"),
            ("tags", ", ".join(task["tags"])),
            ("species", ", ".join(task["species"])),
            *((one["kind"], _citation(Reference(**one))) for one in task["references"]),
        )
    )
    _show_description(page, task)
