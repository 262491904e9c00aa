"""``ngym install``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from neurogym_core.ecosystem.discovery import declared, installed, refresh
from neurogym_core.ecosystem.names import canonical, clean
from neurogym_core.ecosystem.records import removal
from neurogym_core.errors import InstallError, RegistryError
from neurogym_core.terminal.output import Page
from neurogym_registry import pip
from neurogym_registry.client import Listing
from neurogym_registry.commands.shared import busy, read_catalogue, registry_options, required
from neurogym_registry.kit import MISSING, has_kit
from neurogym_registry.releases import examine_installed
from neurogym_registry.resolve import resolve


@click.command(short_help="Install a package of the registry.")
@click.argument("package", metavar="PACKAGE[==VERSION]")
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--dry-run", is_flag=True, help="Show the plan, and stop.")
@click.option("--yanked", is_flag=True, help="Install the given version even if it is yanked.")
@click.option(
    "--upgrade-core", is_flag=True, help="Let pip change the installed core, gymnasium or numpy."
)
@registry_options
def command(
    package: str,
    yes: bool,
    dry_run: bool,
    yanked: bool,
    upgrade_core: bool,
    offline: bool,
    refresh: bool,
) -> None:
    """Install a package of the registry with pip, with the exact wheel of its release.

    pip first makes a plan, from wheels only and without changing anything. The SHA-256 of the
    package's wheel must be the one in the registry. After the plan is shown, pip installs exactly
    these files, by hash, and the quick checks run on the package's tasks, for information. pip's
    configuration sets where wheels come from.

    Installing a package lets its authors run code as you, from the first import on.
    """
    name, _, version = package.partition("==")
    listing = required(read_catalogue(offline=offline, refresh=refresh), name.strip())
    release = resolve(listing, version.strip() or None, installed().core_version, yanked=yanked)
    with busy("Asking pip for a plan ..."):
        steps = pip.plan(listing.name, release["version"])
    if not steps:
        click.echo(f"{listing.name} {release['version']} is already installed.")
        return
    pip.refuse_other_wheels(
        steps, listing.name, {file["filename"]: file["sha256"] for file in release["files"]}
    )
    pip.refuse_changes(steps, upgrade_core=upgrade_core)
    _show_plan(listing, release, steps)
    if dry_run:
        return
    if not yes:
        click.confirm("Install this?", abort=True)
    _install(listing.name, release["version"], steps)
    _check(listing.name)


def _install(name: str, version: str, steps: Sequence[pip.Step]) -> None:
    """Install the steps, and verify that the package is installed.

    Raises:
        InstallError: pip failed, or the package is missing; says if anything was changed.
    """
    try:
        pip.install(steps, show=sys.stderr.isatty())
    except InstallError as error:
        refresh()
        left = _version_of(name)
        before = next((step.before for step in steps if canonical(step.name) == name), None)
        state = (
            "Nothing was changed."
            if left == before
            else f"{name} {left} is installed; remove it: `{removal(name)}`."
        )
        raise InstallError(f"{error} {state}") from error
    refresh()
    if _version_of(name) != version:
        raise InstallError(
            f"pip reports that it installed {name} {version}, but this Python does not find it."
            f" Expected it in {sys.prefix}. Look for a target folder in `python -m pip config"
            f" list`, and for the files with `python -m pip show -f {name}`."
        )
    click.echo(f"Installed {name} {version}.")


def _version_of(name: str) -> str | None:
    return next(
        (one.version for one in declared().packages if canonical(one.distribution) == name), None
    )


def _show_plan(listing: Listing, release: Mapping[str, Any], steps: Sequence[pip.Step]) -> None:
    page = Page()
    page.heading(
        f"{listing.name} {release['version']}",
        mark="! yanked" if release["yanked"] is not None else "",
    )
    page.facts(
        (
            ("about", listing.row["summary"]),
            ("by", ", ".join(one["name"] for one in listing.row["maintainers"])),
            ("sources", listing.row.get("repository", listing.row.get("folder"))),
            ("licence", release["license"]),
            ("checks", _checks(release)),
            ("tasks", ", ".join(task["name"] for task in listing.row["tasks"])),
            ("listed in", listing.registry),
        )
    )
    page.heading("pip will install")
    rows = [
        (one.name, one.version, one.before or "", f"sha256 {one.sha256[:12]}…", one.filename)
        for one in steps
    ]
    page.table(("package", "version", "instead of", "hash", "file"), rows)
    page.show()


def _checks(release: Mapping[str, Any]) -> str:
    said = release["conformance"]
    if said is None:
        return "none"
    excused = f", {len(said['expected_failures'])} excused" if said["expected_failures"] else ""
    return (
        f"{said['passed']} passed, {said['failed']} failed{excused} (core {said['core']},"
        f" {said['level']} level)"
    )


def _check(name: str) -> None:
    """Run the quick checks on the installed tasks, each in a child process, for information."""
    if not has_kit():
        click.echo(f"Its tasks were not checked: {MISSING}")
        return
    tasks = [
        task.name
        for package in installed().packages
        if canonical(package.distribution) == name
        for task in package.tasks
        if task.usable
    ]
    passed, failures = 0, list[str]()
    for task in tasks:
        try:
            with busy(f"Checking {task} ..."):
                said = examine_installed(name, task, "quick")
            passed, failures = passed + said["passed"], failures + said["failures"]
        except RegistryError as error:
            failures.append(str(error))
    for failure in failures:
        click.echo(clean(failure, keep_lines=True), err=True)
    if tasks:
        verdict = (
            f"{len(failures)} failed; run `ngym check {name}` for details"
            if failures
            else "none failed"
        )
        count = f"{len(tasks)} task{'s' if len(tasks) != 1 else ''}"
        click.echo(f"Quick checks of {count}: {passed} passed, {verdict}.")
