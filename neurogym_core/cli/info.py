"""``ngym info``."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any

import click

from neurogym_core.child import run_child
from neurogym_core.ecosystem.discovery import (
    find_task,
    find_wrapper,
    installed,
    missing_package,
    was_called,
)
from neurogym_core.ecosystem.files import is_file_reference
from neurogym_core.ecosystem.names import brought, canonical, clean, comes_with
from neurogym_core.ecosystem.records import (
    Described,
    PackageInfo,
    TaskInfo,
    mark_of,
    remedy,
)
from neurogym_core.errors import PluginError, UnknownTaskError, did_you_mean
from neurogym_core.terminal import complete, description
from neurogym_core.terminal.description import in_words, percent, summary
from neurogym_core.terminal.output import Page, print_json

_EXPECTED = {"guess": "guess, expected", "oracle_min": "oracle, at least"}
"""{key of ``expected`` in a manifest: words for readers}"""


@click.command()
@click.argument("name", metavar="TASK|WRAPPER|PACKAGE",
                shell_complete=partial(complete, ("tasks", "wrappers", "packages")))  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for programs.")
@click.option("--bibtex", "as_bibtex", is_flag=True, help="Print the references as BibTeX.")
@click.option("--offline", is_flag=True, help="Do not look for the name on the network.")
def command(name: str, as_json: bool, as_bibtex: bool, offline: bool) -> None:
    """Describe a task, a wrapper or an installed package.

    \b
      ngym info PerceptualDecisionMaking-v0
      ngym info reaction_time

    For a task: its papers, parameters, channels (inputs), actions (outputs), the timeline of a
    trial, conditions and rewards. Title, papers and tags come from the package's manifest; the
    rest comes from the class, which is imported in a separate process within 20 s. A package is
    described without importing it.

    A name that is not installed is looked up in the registry; see `ngym search`.
    """
    try:
        target = _find(name)
    except UnknownTaskError as error:
        # Imports pluggy, which a name that is installed does not need.
        from neurogym_core.ecosystem.hooks import ask_plugins

        form, asked = "bibtex" if as_bibtex else "json" if as_json else "page", False
        for _, said in ask_plugins("ngym_listed", name=name, offline=offline, form=form):
            asked = True
            if isinstance(said, PluginError):
                click.echo(f"Note: {said}", err=True)
            elif any(said):
                return
        if asked or missing_package("wrapper", name) or missing_package("task", name):
            raise
        registry = comes_with("ngym registry", brought("commands").get("registry"))
        raise UnknownTaskError(f"{error} No registry was searched: {registry}") from None
    if as_bibtex:
        if target is None:
            raise click.UsageError(
                f"--bibtex was given with the file {name}. Expected a task, wrapper or package,"
                " whose manifest has the references. Leave out --bibtex."
            )
        entries = [target] if isinstance(target, Described) else [*target.tasks, *target.wrappers]
        references = [reference for entry in entries for reference in entry.references]
        if not references:
            raise click.ClickException(f"The manifest lists no reference for {name}.")
        page = Page()
        page.text("\n\n".join(one.bibtex for one in dict.fromkeys(references)), keep_lines=True)
        page.show()
    elif isinstance(target, PackageInfo):
        _print_package(target, as_json)
    else:
        _print_class(name, target, as_json)


def _find(name: str) -> PackageInfo | Described | None:
    """Return the package, wrapper or task of this name; None for a file, which has no manifest."""
    if is_file_reference(name):
        return None
    for package in installed().packages:
        if name == package.namespace or canonical(name) == canonical(package.distribution):
            return package
    try:
        return find_wrapper(name)
    except UnknownTaskError:
        if missing_package("wrapper", name):
            raise
    for wrapper in installed().wrappers:
        if wrapper.usable and was_called(wrapper, name):
            return wrapper
    try:
        return find_task(name)
    except UnknownTaskError as error:
        others = [package.distribution for package in installed().packages]
        hint = did_you_mean(name, [*others, *(wrapper.name for wrapper in installed().wrappers)])
        other = f" Or is it a package or a wrapper?{hint}" if hint else ""
        raise UnknownTaskError(f"{error}{other}") from error


def _print_package(package: PackageInfo, as_json: bool) -> None:
    problems = [(problem.level, str(problem)) for problem in package.all_problems]
    if as_json:
        same = ("version", "namespace", "requires_core", "compatible", "blocked", "location",
                "editable")  # fmt: skip
        print_json({
            "package": package.distribution,
            **{key: getattr(package, key) for key in same},
            "offers": package.names(),
            "problems": [{"level": level, "message": text} for level, text in problems],
        })  # fmt: skip
        return
    page = Page()
    page.heading(f"{package.distribution} {package.version}")
    page.facts((
        ("namespace", package.namespace),
        ("needs core", package.requires_core),
        ("installed in", package.location),
        ("sources in", package.editable),
        ("remove it with", package.removal),
    ))  # fmt: skip
    for title, offers in (("tasks", package.tasks), ("wrappers", package.wrappers)):
        rows = [(one.name, one.title, mark_of(one.problems)) for one in offers]
        page.table(("name", "title", "problem"), rows, heading=title)
    others = (offer for offer in package.offers if not isinstance(offer, Described))
    rows = [(one.group.removeprefix("neurogym."), one.name, one.value) for one in others]
    page.table(("", "name", "object"), rows, heading="also")
    page.table(("", ""), problems, heading="problems")
    page.show()


def _print_class(name: str, entry: Described | None, as_json: bool) -> None:
    """Print the manifest's part and the class's part; exit with code 1 if the class fails."""
    described, failure = _describe(name, entry)
    if as_json:
        row: dict[str, Any] = {"id": name}
        if entry is not None:
            left_out = ("distribution", "group", "value", "problems")
            row = {
                "id": entry.id,
                "kind": entry.kind,
                **{key: one for key, one in asdict(entry).items() if key not in left_out},
                "package": entry.distribution,
                "status": entry.status,
                "problems": entry.problems,
            }
        print_json({**row, "description": described, "failure": failure})
    else:
        page = Page()
        if entry is None:
            page.heading(name)
        else:
            _add_manifest(page, name, entry)
        if failure is not None:
            page.heading("cannot be imported", mark="!")
            page.text(failure, indent=2)
        description.add_description(page, described or {})
        page.show()
    if failure is not None:
        raise click.exceptions.Exit(1)


def _describe(name: str, entry: Described | None) -> tuple[dict[str, Any] | None, str | None]:
    """Return (description of the class, None), or (None, reason of the failure)."""
    if entry is not None and entry.obstacle is not None:
        return None, str(entry.obstacle)
    what = ["task", name] if entry is None else [entry.kind, entry.id]
    child = run_child(description.__name__, what)
    value = child.values[-1] if child.values and isinstance(child.values[-1], dict) else {}
    if isinstance(value.get("description"), dict):
        return value["description"], None
    if "failure" in value:
        return None, clean(str(value["failure"]))
    hint = " Correct the file." if entry is None else f" {remedy(entry.distribution)}"
    return None, f"Importing it {child.ending}.{hint}"


def _add_manifest(page: Page, name: str, entry: Described) -> None:
    """Add the manifest's part, with the best possible performance and that of shortcuts."""
    page.heading(entry.id, mark=mark_of(entry.problems))
    for text in filter(None, (entry.title, entry.summary)):
        page.text(text, indent=2)
    levels = []
    if isinstance(entry, TaskInfo):
        best, blind = entry.ideal, entry.best_blind
        possible = f"{100 * best['value']:.1f} % ({best['by']}: {best['how']})" if best else ""
        levels.append(("ideal", possible or "not known"))
        if blind is not None:
            level = percent(entry.shortcuts[blind], entry.intervals.get(blind))
            levels.append(("chance", f"{in_words(blind)}: {level}"))
        levels.append(("shortcuts", summary(entry.shortcuts, entry.intervals)))
    page.facts((
        ("instructions", entry.instructions),
        ("package", f"{entry.distribution} {entry.version}"),
        ("tags", ", ".join(entry.tags)),
        ("species", ", ".join(entry.species)),
        ("formerly", ", ".join(entry.aliases)),
        *((_EXPECTED.get(key, key), value) for key, value in entry.expected.items()),
        *levels,
        *((one.kind, one.citation) for one in entry.references),
    ))  # fmt: skip
    problems = [(problem.level, str(problem)) for problem in entry.problems]
    page.table(("", ""), problems, heading="problems")
    if name in entry.presets:
        page.text(f"{name} is now {entry.id}, with {entry.presets[name]}", indent=2)
