"""``ngym search`` of a core without neurogym-registry, whose command takes its place."""

from __future__ import annotations

import click

from neurogym_core.ecosystem.companions import REGISTRY, comes_with
from neurogym_core.ecosystem.published import how_to_install
from neurogym_core.ecosystem.shipped import searched
from neurogym_core.terminal.output import Page


@click.command(name="search", short_help="Search the tasks of this project's packages.")
@click.argument("words", metavar="[TEXT]...", nargs=-1)
def command(words: tuple[str, ...]) -> None:
    """Search the tasks of this project's packages, installed or not.

    A task matches if all words are in its name, title, summary, tags, species or package. With
    neurogym-registry, this command searches the registries of other authors too, and has options.
    """
    found = searched(" ".join(words))
    page = Page()
    if not found:
        page.text("No task of this project's packages matches. Try fewer words.")
    for package in dict.fromkeys(task.package for task in found):
        page.heading(package)
        rows = [(task.id, task.title) for task in found if task.package == package]
        page.table(("task", "title"), rows)
        page.text(f"To install it: {how_to_install(package)}.", indent=2)
    page.text("")
    page.text(f"Only the list shipped with neurogym-core: {comes_with('ngym registry', REGISTRY)}")
    page.show()
