"""``ngym list``."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any

import click

from neurogym_core.ecosystem.discovery import installed
from neurogym_core.ecosystem.manifest import vocabulary
from neurogym_core.ecosystem.names import brought, clean, comes_with, plain, tag_key, tasks
from neurogym_core.ecosystem.published import how_to_install
from neurogym_core.ecosystem.records import Described, PackageInfo, mark_of, worst_of
from neurogym_core.errors import did_you_mean
from neurogym_core.terminal import complete
from neurogym_core.terminal.output import Page, print_json

MANY = 40  # tasks; more than fit on two screens are counted, not listed


@click.command()
@click.argument("groups", metavar="[GROUP]...", nargs=-1,
                shell_complete=partial(complete, ("groups",)))  # fmt: skip
@click.option("--tag", "tags", multiple=True, metavar="TAG",
              shell_complete=partial(complete, ("tags",)),
              help="Only tasks with this tag, such as working-memory, across-trials (trials depend"
              " on earlier ones), continuous-action or closed-loop. Repeat it for tasks with all of"
              " the tags. An unknown tag lists all tags.")  # fmt: skip
@click.option("--species", multiple=True, metavar="NAME",
              shell_complete=partial(complete, ("species",)),
              help="Only tasks for this species. Repeat it for tasks of any of the"
              " species.")  # fmt: skip
@click.option("--paper", metavar="TEXT",
              help="Only tasks with a reference that has all words of TEXT: authors, year, title,"
              " journal or DOI.")  # fmt: skip
@click.option("--tasks", "each", is_flag=True,
              help=f"List each task, also where there are more than {MANY}.")  # fmt: skip
@click.option("--wrappers", is_flag=True, help="List wrappers, which modify tasks, instead.")
@click.option("--all", "everything", is_flag=True,
              help="List tasks, wrappers and other offers, also those that NGYM_BLOCK"
              " blocks.")  # fmt: skip
@click.option("--broken", is_flag=True, help="Only tasks and wrappers with a problem.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array, for programs.")
def command(
    groups: tuple[str, ...],
    tags: tuple[str, ...],
    species: tuple[str, ...],
    paper: str | None,
    each: bool,
    wrappers: bool,
    everything: bool,
    broken: bool,
    as_json: bool,
) -> None:
    """List the installed tasks.

    \b
      ngym list
      ngym list memory value
      ngym list --tag working-memory --species monkey
      ngym list --paper "mante 2013"

    A group is a package, under its name or its short name in ids of tasks. Where more than 40 tasks
    are installed and nothing selects some, the groups are counted. An exclamation mark (!) marks a
    problem found in a package's metadata. No package is imported; `ngym doctor` imports them and
    finds more."""
    tags = tuple(map(partial(_word, "tags"), tags))
    species = tuple(map(partial(_word, "species"), species))
    kinds: tuple[str, ...] = ("wrappers",) if wrappers else ("tasks",)
    if everything or (broken and not wrappers):
        kinds = ("tasks", "wrappers")
    found = installed()
    selected = set(map(partial(_package, packages=found.packages), groups))
    words = plain(paper).split() if paper else []
    shown: dict[PackageInfo, list[Described]] = {}
    for package in found.packages:
        if selected and package not in selected:
            continue
        entries = []
        for kind in kinds:
            for one in getattr(package, kind):
                if (
                    (everything or not one.has("blocked"))
                    and not (broken and one.status == "ok")
                    and set(tags).issubset(one.tags)
                    and not (species and set(species).isdisjoint(one.species))
                    and (not words or _cites(one, words))
                ):
                    entries.append(one)
        # A broken package is shown even if it has no entries, and all packages with --all.
        too = mark_of(package.problems) or (everything and not broken)
        if entries or (too and "tasks" in kinds and not (tags or species or words)):
            shown[package] = entries
    if as_json:
        print_json([_row(entry) for entries in shown.values() for entry in entries])
        return
    if not shown:
        click.echo(_nothing("wrappers" if wrappers else "tasks"))
        return
    page, problem = Page(), False
    filtered = groups or tags or species or words or each or wrappers or everything or broken
    if not filtered and sum(map(len, shown.values())) > MANY:
        _counts(page, shown)
        shown = {}
    often = Counter(map(attrgetter("name"), (*found.tasks, *found.wrappers)))
    for package, entries in shown.items():
        title = f"{package.distribution} {package.version} ({package.namespace})"
        page.heading(title, mark=mark_of(package.problems))
        rows = []
        for one in entries:
            name = one.name if often[one.name] == 1 and not one.has("name") else one.id
            title, tagged = one.title or one.summary, ", ".join(one.tags)
            rows.append((name, mark_of(one.problems), title, tagged))
        page.table(("name", "!", "title", "tags"), rows)
        for kind, names in package.names().items() if everything else ():
            if names and kind not in ("tasks", "wrappers"):
                page.text(f"{clean(kind)}: {', '.join(map(clean, names))}", indent=2)
        problem = problem or bool(worst_of(package.all_problems))
    all_of = map(attrgetter("all_problems"), found.packages)
    if problem or (not shown and any(map(worst_of, all_of))):
        page.text("")
        page.text("!: a problem. `ngym doctor` describes it and its remedy.")
    page.show()


def _counts(page: Page, shown: dict[PackageInfo, list[Described]]) -> None:
    """Add a row for each package, with its number of tasks and their most frequent tags."""
    rows = []
    for package, entries in shown.items():
        often = Counter(chain.from_iterable(map(attrgetter("tags"), entries)))
        about = ", ".join(map(itemgetter(0), often.most_common(4)))
        mark = mark_of(package.all_problems)
        rows.append((package.namespace, mark, package.distribution, len(entries), about))
    page.table(("group", "!", "package", "tasks", "most frequent tags"), rows)
    total, first = sum(map(len, shown.values())), next(iter(shown)).namespace
    page.text("")
    page.text(
        f"{total} tasks in {len(shown)} packages. `ngym list {clean(first)}` lists those of a"
        " group, `ngym list --tag`, `--species` and `--paper` those that match, `ngym list --tasks`"
        " all, and `ngym search TEXT` those with a word."
    )


def _package(group: str, packages: tuple[PackageInfo, ...]) -> PackageInfo:
    """Return the package of a namespace or distribution; a usage error if there is none."""
    known = {name: one for one in packages for name in (one.distribution, one.namespace)}
    if group in known:
        return known[group]
    with_tasks = sorted(one.namespace for one in packages if one.tasks or one.wrappers)
    task = next((one for one in installed().tasks if group in (one.name, one.id)), None)
    means = f" `ngym info {clean(group)}` describes this task." if task else ""
    message = (
        f"{clean(group)!r} is no group of tasks.{means or did_you_mean(group, sorted(known))}"
        f" Expected one of: {', '.join(map(clean, with_tasks))}."
    )
    raise click.BadParameter(message, param_hint="GROUP")


def _cites(entry: Described, words: list[str]) -> bool:
    """Return whether one reference of an entry has all words, which are `plain`."""
    texts = [plain(f"{one.authors} {one.year or ''} {one.title} {one.journal} {one.doi}")
             for one in entry.references]  # fmt: skip
    return any(all(word in text for word in words) for text in texts)


def _nothing(kind: str) -> str:
    """Return what to say instead of an empty list."""
    if any(getattr(package, kind) for package in installed().packages):
        return f"No installed {kind[:-1]} matches. `ngym list --all` shows all."
    search = any(offer.name == "search" for offer in installed().commands)
    where = "" if search else f" {comes_with('ngym search', brought('commands').get('search'))}"
    return f"No {kind} are installed. `ngym search` finds packages that have some.{where}"


def _word(kind: str, text: str) -> str:
    """Return the word of the vocabulary, or of an installed manifest, for this spelling."""
    word = vocabulary().resolve(kind, text) or tag_key(text)
    entries = (*installed().tasks, *installed().wrappers)
    known = {*vocabulary().words[kind], *(one for entry in entries for one in getattr(entry, kind))}
    if word in known:
        return word
    message = (
        f"{clean(text)!r} is unknown.{did_you_mean(text, sorted(known))} Expected one of:"
        f" {', '.join(sorted(known))}."
    )
    raise click.BadParameter(message, param_hint="--tag" if kind == "tags" else "--species")


def _row(entry: Described) -> dict[str, Any]:
    same = ("id", "kind", "name", "title", "summary", "tags", "species")
    return {
        **{key: getattr(entry, key) for key in same},
        "references": [reference.doi for reference in entry.references],
        "package": entry.distribution,
        "version": entry.version,
        "status": entry.status,
        "problems": entry.problems,
    }


@click.command(name="search", short_help="Search the tasks of this project's packages.")
@click.argument("words", metavar="[TEXT]...", nargs=-1)
def search(words: tuple[str, ...]) -> None:
    """Search the tasks of this project's packages, installed or not.

    A task matches if all words are in its name, title, summary, tags, species or package. With
    neurogym-registry, this command searches the registries of other authors too, and has options.
    """
    wanted = plain(" ".join(words)).split()
    found = [task for task in tasks() if all(word in task.words for word in wanted)]
    page = Page()
    if not found:
        page.text("No task of this project's packages matches. Try fewer words.")
    for package in dict.fromkeys(task.package for task in found):
        page.heading(package)
        rows = [(task.id, task.title) for task in found if task.package == package]
        page.table(("task", "title"), rows)
        page.text(f"To install it: {how_to_install(package)}.", indent=2)
    page.text("")
    registry = comes_with("ngym registry", brought("commands").get("registry"))
    page.text(f"Only the list shipped with neurogym-core: {registry}")
    page.show()
