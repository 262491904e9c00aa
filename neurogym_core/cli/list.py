"""``ngym list``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, TypeAlias

import click

from neurogym_core.ecosystem.discovery import installed
from neurogym_core.ecosystem.manifest import vocabulary
from neurogym_core.ecosystem.names import clean, tag_key
from neurogym_core.ecosystem.records import PackageInfo, TaskInfo, WrapperInfo
from neurogym_core.errors import did_you_mean
from neurogym_core.terminal.output import Page, print_json

Entry: TypeAlias = TaskInfo | WrapperInfo


def _complete_word(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    kind = "tags" if param.name == "tags" else "species"
    return [word for word in vocabulary().words[kind] if word.startswith(incomplete)]


@click.command()
@click.option(
    "--tag",
    "tags",
    multiple=True,
    metavar="TAG",
    shell_complete=_complete_word,
    help="Only tasks with this tag. Repeat it for tasks with all of the tags.",
)
@click.option(
    "--species",
    multiple=True,
    metavar="NAME",
    shell_complete=_complete_word,
    help="Only tasks for this species. Repeat it for tasks of any of the species.",
)
@click.option("--wrappers", is_flag=True, help="List wrappers, which modify tasks, instead.")
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="List tasks, wrappers and other offers, also those that NGYM_BLOCK blocks.",
)
@click.option("--broken", is_flag=True, help="Only tasks and wrappers with a problem.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array, for programs.")
def command(
    tags: tuple[str, ...],
    species: tuple[str, ...],
    wrappers: bool,
    everything: bool,
    broken: bool,
    as_json: bool,
) -> None:
    """List the installed tasks.

    \b
      ngym list
      ngym list --tag working-memory --species monkey

    Tasks are grouped by package. An exclamation mark (!) marks a problem found in a package's
    metadata. No package is imported; `ngym doctor` imports them and finds more."""
    filters = _Filters(
        tags=frozenset(_word("tags", tag) for tag in tags),
        species=frozenset(_word("species", one) for one in species),
        kinds=(
            (TaskInfo, WrapperInfo)
            if everything or (broken and not wrappers)
            else (WrapperInfo,)
            if wrappers
            else (TaskInfo,)
        ),
        blocked=everything,
        broken=broken,
    )
    found = [(package, filters.entries(package)) for package in installed().packages]
    if as_json:
        print_json([_row(entry) for _, entries in found for entry in entries])
    else:
        _show(
            [(package, entries) for package, entries in found if entries or filters.wants(package)],
            wrappers,
            everything,
        )


class _Filters:
    """The packages and entries to show."""

    def __init__(
        self,
        *,
        tags: frozenset[str],
        species: frozenset[str],
        kinds: tuple,
        blocked: bool,
        broken: bool,
    ):
        self.tags, self.species, self.kinds = tags, species, kinds
        self.blocked, self.broken = blocked, broken

    def entries(self, package: PackageInfo) -> list[Entry]:
        entries: tuple[Entry, ...] = (*package.tasks, *package.wrappers)
        return [entry for entry in entries if self.passes(entry)]

    def passes(self, entry: Entry) -> bool:
        if not isinstance(entry, self.kinds) or (entry.has("blocked") and not self.blocked):
            return False
        if self.broken and entry.status == "ok":
            return False
        return self.tags <= set(entry.tags) and (
            not self.species or bool(self.species & set(entry.species))
        )

    def wants(self, package: PackageInfo) -> bool:
        """Return whether to show a package without entries: it is broken, or has other offers."""
        if self.blocked and package.offers and not self.tags and not self.species:
            return not self.broken
        return (
            not self.tags
            and not self.species
            and TaskInfo in self.kinds
            and bool(_mark(package.problems))
        )


def _word(kind: str, text: str) -> str:
    """Return the word of the vocabulary, or of an installed manifest, for this spelling.

    Raises:
        click.BadParameter: neither has it.
    """
    word = vocabulary().resolve(kind, text)
    used = {
        word
        for entry in (*installed().tasks, *installed().wrappers)
        for word in getattr(entry, kind)
    }
    if word is not None or tag_key(text) in used:
        return word or tag_key(text)
    known = sorted({*vocabulary().words[kind], *used})
    option = "--tag" if kind == "tags" else "--species"
    message = (
        f"{clean(text)!r} is unknown.{did_you_mean(text, known)} Expected one of:"
        f" {', '.join(known)}."
    )
    raise click.BadParameter(message, param_hint=option)


def _row(entry: Entry) -> dict[str, Any]:
    return {
        "id": clean(entry.id),
        "kind": "task" if isinstance(entry, TaskInfo) else "wrapper",
        "name": clean(entry.name),
        "title": entry.title,
        "summary": entry.summary,
        "tags": list(entry.tags),
        "species": list(entry.species),
        "references": [reference.doi for reference in entry.references],
        "package": entry.distribution,
        "version": entry.version,
        "status": entry.status,
        "problems": [clean(str(problem)) for problem in entry.problems],
    }


def _mark(problems: Iterable[Any]) -> str:
    """Return ``! CODE`` of the worst problem, e.g. ``! incompatible``; "" for warnings only."""
    codes = {
        problem.level: problem.code
        for problem in reversed(list(problems))
        if problem.level != "warning"
    }
    code = codes.get("fatal") or codes.get("note") or codes.get("error")
    return f"! {code}" if code else ""


def _show(found: list[tuple[PackageInfo, list[Entry]]], wrappers: bool, everything: bool) -> None:
    if not found:
        what = "wrapper" if wrappers else "task"
        click.echo(
            f"No installed {what} matches. To install the {what}s of this project, run `make"
            " install` in its checkout."
        )
        return
    page = Page()
    often = Counter(entry.name for entry in (*installed().tasks, *installed().wrappers))
    for package, entries in found:
        page.heading(
            f"{package.distribution} {package.version} ({package.namespace})",
            mark=_mark(package.problems),
        )
        page.table(("name", "!", "title", "tags"), [_cells(entry, often) for entry in entries])
        for text in _other_offers(package) if everything else ():
            page.text(text, indent=2)
    if any(
        _mark(package.problems) or any(offer.status != "ok" for offer in package.offers)
        for package, _ in found
    ):
        page.text("")
        page.text("!: a problem. `ngym doctor` describes it and its remedy.")
    page.show()


def _other_offers(package: PackageInfo) -> list[str]:
    """Return lines about the commands, subjects, trainers and hooks of a package."""
    kinds = {
        "commands": "commands",
        "subjects": "subjects",
        "trainers": "trainers",
        "plugins": "hooks, which run in every make",
        "registries": "registry hooks",
    }
    return [
        f"{text}: {', '.join(offer.name for offer in getattr(package, kind))}"
        for kind, text in kinds.items()
        if getattr(package, kind)
    ]


def _cells(entry: Entry, often: Counter[str]) -> tuple[str, str, str, str]:
    name = entry.name if often[entry.name] == 1 and not entry.has("name") else entry.id
    return name, _mark(entry.problems), entry.title or entry.summary, ", ".join(entry.tags)
