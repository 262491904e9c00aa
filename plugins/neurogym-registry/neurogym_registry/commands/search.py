"""``ngym search``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any

import click

from neurogym_core.tools import (
    Page,
    canonical,
    complete,
    did_you_mean,
    how_to_install,
    installed,
    print_json,
    vocabulary,
)
from neurogym_registry.client import Catalogue, Listing
from neurogym_registry.commands.shared import read_catalogue, registry_options
from neurogym_registry.effects import effects

Found = tuple[Listing, Mapping[str, Any] | None]

MOST_PACKAGES = 50


@click.command(short_help="Search the registry for tasks and packages.")
@click.argument("words", metavar="[TEXT]...", nargs=-1)
@click.option(
    "--tag",
    "tags",
    shell_complete=partial(complete, ("tags",)),
    multiple=True,
    metavar="TAG",
    help="Only tasks with this tag; if repeated, with all of them.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the rows as a JSON array.")
@registry_options
def command(
    words: tuple[str, ...], tags: tuple[str, ...], as_json: bool, offline: bool, refresh: bool
) -> None:
    """Search the registry for tasks and packages, installed or not.

    A task matches if all words are in its name, title, summary, tags, species or references, or in
    the name and summary of its package. No package is downloaded or run. NGYM_REGISTRY names the
    registries: https addresses, file:// addresses or folders, separated by commas. Without it, the
    list bundled with neurogym-registry is searched."""
    found = read_catalogue(offline=offline, refresh=refresh)
    wanted = [word.casefold() for text in words for word in text.split()]
    kinds = {vocabulary().resolve("tags", tag) or _hyphened(tag) for tag in tags}
    near = found.with_words([*wanted, *kinds])
    packages = (some for one in near if (some := list(_matches(one, wanted, kinds))))
    if as_json:
        print_json([_row(*match) for some in packages for match in some])
        return
    shown = list(islice(packages, MOST_PACKAGES + 1))
    matches = [match for some in shown[:MOST_PACKAGES] for match in some]
    _show(
        matches,
        "" if matches else _hint(found, [*wanted, *sorted(kinds)]),
        len(shown) > MOST_PACKAGES,
    )


def _hint(found: Catalogue, wanted: list[str]) -> str:
    """Return the nearest tags and words of titles for words that occur nowhere."""
    if found.large:
        return ""
    tasks = [task for listing in found.listings for task in listing.row["tasks"]]
    known = {word for task in tasks for word in (*task["tags"], *task["title"].casefold().split())}
    return "".join(
        dict.fromkeys(did_you_mean(word, sorted(known)) for word in wanted if word not in known)
    )


def _hyphened(tag: str) -> str:
    """Return ``two-photon`` for ``Two photon``."""
    return re.sub(r"[\s_/-]+", "-", tag.strip().casefold())


def _matches(listing: Listing, words: list[str], tags: set[str]) -> Iterator[Found]:
    """Yield the matching tasks of a package, or the package if only that matches."""
    about = f"{listing.name} {listing.row['summary']}".casefold()
    any_task = False
    for task in listing.row["tasks"]:
        text = f"{about} {_text(task)}"
        if all(word in text for word in words) and tags <= set(task["tags"]):
            any_task = True
            yield listing, task
    if not any_task and not tags and all(word in about for word in words):
        yield listing, None


def _without_release(listing: Listing) -> str:
    return "(from its sources)" if "folder" in listing.row else "(no release)"


def _text(task: Mapping[str, Any]) -> str:
    references = (str(value) for reference in task["references"] for value in reference.values())
    parts = (
        task["name"],
        task["title"],
        task["summary"],
        *task["tags"],
        *task["species"],
        *task.get("aliases", ()),
    )
    return " ".join((*parts, *references)).casefold()


def _installed() -> dict[str, str]:
    return {canonical(package.distribution): package.version for package in installed().packages}


def _row(listing: Listing, task: Mapping[str, Any] | None) -> dict[str, Any]:
    described = task or {
        "title": "",
        "summary": listing.row["summary"],
        "tags": [],
        "species": [],
        "references": [],
    }
    return {
        "id": listing.task_id(task) if task else None,
        "kind": "task" if task else "package",
        "title": described["title"],
        "summary": described["summary"],
        "tags": described["tags"],
        "species": described["species"],
        "references": [reference["doi"] for reference in described["references"]],
        "package": listing.name,
        "version": listing.latest,
        "status": listing.row["status"],
        "offers": listing.row.get("offers", {}),
        "installed": _installed().get(listing.name),
        "registry": listing.registry,
    }


def _show(matches: list[Found], hint: str, more: bool) -> None:
    page = Page()
    if not matches:
        page.text("No task or package in the registry matches. Try fewer words." + hint)
    have = _installed()
    for listing in dict.fromkeys(listing for listing, _ in matches):
        status = listing.row["status"]
        if listing.latest is None and listing.revoked:
            status = "revoked"
        page.heading(
            f"{listing.name} {listing.latest or _without_release(listing)}",
            mark="" if status == "active" else f"! {status}",
        )
        page.text(listing.row["summary"], indent=2)
        if version := have.get(listing.name):
            page.text(f"{version} is installed", indent=2, style="dim")
        for text in effects(listing.row.get("offers", {})):
            page.text(f"! {text}", indent=2, style="bold")
        tasks = [task for owner, task in matches if owner is listing and task is not None]
        page.table(
            ("task", "title", "tags"),
            [(one["name"], one["title"], ", ".join(one["tags"])) for one in tasks],
        )
    if more:
        page.text("")
        page.text(f"The first {MOST_PACKAGES} packages. Others match too: add words, or --json.")
    missing = {one.name: one for one, _ in matches if one.name not in have}
    for one in missing.values():
        if one.latest is None and "folder" in one.row:
            page.text("")
            page.text(f"To install {one.name} from its sources: {how_to_install(one.name)}")
    if any(one.latest for one in missing.values()):
        page.text("")
        page.text("`ngym info NAME` shows the details, `ngym install PACKAGE` installs it.")
    page.show()
