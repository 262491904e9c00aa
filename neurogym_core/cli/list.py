"""``ngym list``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, TypeAlias

import click

from neurogym_core.ecosystem.discovery import installed
from neurogym_core.ecosystem.manifest import vocabulary
from neurogym_core.ecosystem.names import clean, tag_key
from neurogym_core.ecosystem.records import Offer, PackageInfo, TaskInfo, WrapperInfo
from neurogym_core.errors import did_you_mean

Entry: TypeAlias = TaskInfo | WrapperInfo


def _complete_word(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    kind = "tags" if param.name == "tags" else "species"
    return [word for word in vocabulary().words[kind] if word.startswith(incomplete)]


@click.command(short_help="List the tasks that are installed.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", shell_complete=_complete_word,
              help="Only with this tag; several: with all of them.")  # fmt: skip
@click.option("--species", multiple=True, metavar="NAME", shell_complete=_complete_word,
              help="Only with this species; several: with any of them.")  # fmt: skip
@click.option("--wrappers", is_flag=True, help="List wrappers instead of tasks.")
@click.option(
    "--all", "everything", is_flag=True, help="Tasks and wrappers, and what NGYM_BLOCK blocks."
)
@click.option("--broken", is_flag=True, help="Only what has a problem.")
@click.option("--json", "as_json", is_flag=True, help="An array of rows, for programs.")
def command(
    tags: tuple[str, ...],
    species: tuple[str, ...],
    wrappers: bool,
    everything: bool,
    broken: bool,
    as_json: bool,
) -> None:
    """List the tasks that are installed, by package.

    Nothing of the packages is imported, so what a mark (!) shows is known from their metadata
    alone; `ngym doctor` looks closer."""
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
        from neurogym_core.terminal.output import print_json

        print_json([_row(entry) for _, entries in found for entry in entries])
    else:
        _show(
            [(package, entries) for package, entries in found if entries or filters.wants(package)],
            wrappers,
        )


class _Filters:
    """Which packages and which of their entries are shown."""

    def __init__(
        self,
        *,
        tags: frozenset[str],
        species: frozenset[str],
        kinds: tuple,
        blocked: bool,
        broken: bool,
    ):
        self.tags, self.species, self.kinds, self.blocked, self.broken = (
            tags,
            species,
            kinds,
            blocked,
            broken,
        )

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
        """Whether a package is shown for its own sake, with nothing to list under it: it is broken
        as a whole.
        """
        return (
            not self.tags
            and not self.species
            and TaskInfo in self.kinds
            and bool(_mark(package.problems))
        )


def _word(kind: str, text: str) -> str:
    """The controlled word, or one that an installed manifest uses; anything else is a wrong
    option.
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
        f"nothing is called {clean(text)!r}.{did_you_mean(text, known)} Known: {', '.join(known)}."
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
    """``! incompatible``: the code of the worst problem that is more than a warning."""
    codes = {
        problem.level: problem.code
        for problem in reversed(list(problems))
        if problem.level != "warning"
    }
    code = codes.get("fatal") or codes.get("note") or codes.get("error")
    return f"! {code}" if code else ""


def _show(found: list[tuple[PackageInfo, list[Entry]]], wrappers: bool) -> None:
    from neurogym_core.terminal.output import Page

    if not found:
        what = "wrapper" if wrappers else "task"
        click.echo(
            f"No installed {what} matches. A checkout of this project has some: `make install`"
            " installs them."
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
    if any(_mark(package.problems) or any(map(_is_marked, package.offers)) for package, _ in found):
        page.text("")
        page.text("!: a problem. `ngym doctor` says which, and what to do.")
    page.show()


def _is_marked(offer: Offer) -> bool:
    return offer.status != "ok"


def _cells(entry: Entry, often: Counter[str]) -> tuple[str, str, str, str]:
    name = entry.name if often[entry.name] == 1 and not entry.has("name") else entry.id
    return name, _mark(entry.problems), entry.title or entry.summary, ", ".join(entry.tags)
