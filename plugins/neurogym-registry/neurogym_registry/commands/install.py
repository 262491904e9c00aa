"""``ngym install``."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from neurogym_core.tools import Page, canonical, clean, installed, refresh
from neurogym_registry import pip
from neurogym_registry.attestations import said_of
from neurogym_registry.client import Catalogue, Listing
from neurogym_registry.closure import closure
from neurogym_registry.commands.shared import busy, complete_listed, look_for, registry_options
from neurogym_registry.effects import effects
from neurogym_registry.errors import InstallError, RegistryError
from neurogym_registry.examination import examine_installed
from neurogym_registry.kit import MISSING, has_kit
from neurogym_registry.places import Place
from neurogym_registry.resolve import resolve
from neurogym_registry.sources import remember
from neurogym_registry.stated import stated_by
from neurogym_registry.wheels import (
    PREFIX,
    Wheel,
    WheelError,
    kinds_of,
    module_of,
    read_wheel,
)

MOST_SHOWN = 40


@click.command(short_help="Install a package of the registry.")
@click.argument("package", metavar="PACKAGE[==VERSION]", shell_complete=complete_listed)
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--dry-run", is_flag=True, help="Show the plan, and stop.")
@click.option(
    "--print",
    "as_lock",
    is_flag=True,
    help="Print the plan as a requirements file with hashes, for another installer, and stop.",
)
@click.option("--yanked", is_flag=True, help="Install the given version even if it is yanked.")
@click.option(
    "--upgrade-core",
    is_flag=True,
    help="Let pip change packages that ngym needs, e.g. the core or numpy.",
)
@registry_options
def command(
    package: str,
    yes: bool,
    dry_run: bool,
    as_lock: bool,
    yanked: bool,
    upgrade_core: bool,
    offline: bool,
    refresh: bool,
) -> None:
    """Install a package of the registry, with the exact wheel of its release.

    Downloads the wheel with the hash in the registry, reads it, follows its requirements, and
    downloads missing packages, from wheels only: no code of them runs before you agree. The plan
    shows each file with its source, hash and size, and its additions beside its own package. pip
    then installs exactly these files, and the quick checks run on the package's tasks, for
    information. If pip fails, everything is as before. pip's configuration sets where wheels come
    from; its other settings are not used. Without pip, the requirements for another installer are
    printed.

    Installing a package lets its authors run code as you, from the first import on.
    """
    name, _, version = package.partition("==")
    if any(mark in name for mark in "<>=!~[;,"):
        raise InstallError(
            f"{clean(package)!r} was given. Expected PACKAGE or PACKAGE==VERSION; without a"
            " version, the newest that fits is installed. Remove the rest. Nothing was installed."
        )
    found, listing = look_for(name.strip(), offline=offline, refresh=refresh)
    core = installed().core_version
    release = resolve(listing, version.strip() or None, core, yanked=yanked)
    if pip.installed_version(listing.name) == release["version"]:
        click.echo(f"{listing.name} {release['version']} is already installed.")
        return
    if not pip.can_download():
        _print_without_pip(listing, release)
    with TemporaryDirectory(prefix="ngym-") as folder:
        with busy("Downloading and reading the wheels ..."):
            facts, steps = _planned(found, listing, release, core, Path(folder))
        pip.refuse_changes(steps, upgrade_core=upgrade_core)
        pip.refuse_conflicts(steps)
        if as_lock:
            click.echo(pip.lock(steps), nl=False)
            return
        if not pip.available() and not dry_run:
            _print_for_uv(listing, steps)
        _show_plan(listing, release, facts, steps)
        if dry_run:
            return
        if not yes:
            click.confirm("Install this?", abort=True)
        _install(listing.name, release["version"], steps)
    remember(listing.name, listing.address)
    _check(listing.name)


def _planned(
    found: Catalogue, listing: Listing, release: Mapping[str, Any], core: str, folder: Path
) -> tuple[dict[str, Any], list[pip.Step]]:
    """Return the facts of the package's wheel, and the downloaded wheels to install.

    None of their code has run.

    Raises:
        InstallError: a file is missing, damaged or another one than listed, states other facts
            than the registry, or has content or requirements that are not allowed.
    """
    hashes = [file["sha256"] for file in release["files"]]
    version = release["version"]
    root = _read(pip.download(f"{listing.name}=={version}", folder / "root", *hashes))
    facts = stated_by(root, listing, release)
    own = pip.Candidate(
        name=root.name,
        version=root.version,
        sha256=root.sha256,
        filename=root.path.name,
        host=pip.look_up([f"{listing.name}=={version}"])[0].host,
        requires=root.requires,
    )
    steps = pip.fetch([own, *closure(root, found, core)], folder)
    for one in steps[1:]:
        if found.named(one.name) is not None:
            _read(one.path)
    return facts, steps


def _read(path: Path) -> Wheel:
    try:
        return read_wheel(path)
    except WheelError as error:
        raise InstallError(
            f"{clean(path.name)}, which a registry lists, is not installed: {error.reason}."
            " Expected a wheel with one package of tasks and nothing beside it. Choose another"
            " version, and report this to the keepers of the registry. Nothing was installed."
        ) from error


def _print_for_uv(listing: Listing, steps: Sequence[pip.Step]) -> None:
    """Print the plan as a requirements file, with the command of uv that installs it, and stop.

    Raises:
        click.exceptions.Exit: always.
    """
    remember(listing.name, listing.address)
    click.echo(pip.lock(steps), nl=False)
    click.echo(
        f"Nothing was installed: the environment of {sys.executable} has no pip. Look at the plan"
        f" (`ngym install {listing.name} --dry-run`), write the lines above into a file"
        " requirements.txt, and install exactly these files: `uv pip install --python"
        f" {sys.executable} --no-deps --no-build --require-hashes -r requirements.txt`.",
        err=True,
    )
    raise click.exceptions.Exit(1)


def _print_without_pip(listing: Listing, release: Mapping[str, Any]) -> None:
    """Print the requirement of the package with its hashes, and stop.

    Raises:
        click.exceptions.Exit: always.
    """
    hashes = " ".join(f"--hash=sha256:{file['sha256']}" for file in release["files"])
    click.echo(f"{listing.name}=={release['version']} {hashes}")
    click.echo(
        f"Nothing was installed: {sys.executable} has neither pip nor ensurepip. Write the line"
        " above into a file requirements.txt, and install it from wheels only: `uv pip install"
        f" --python {sys.executable} --no-build -r requirements.txt`. uv compares the hash; the"
        " requirements of the package are not compared with the registry.",
        err=True,
    )
    raise click.exceptions.Exit(1)


def _install(name: str, version: str, steps: Sequence[pip.Step]) -> None:
    """Install the steps, and verify that the package is installed.

    Raises:
        InstallError: pip failed, or the package is missing; says if anything was changed.
        KeyboardInterrupt: Ctrl-C was pressed; says the same.
    """
    try:
        pip.install(steps, show=sys.stderr.isatty())
    except (InstallError, KeyboardInterrupt) as error:
        refresh()
        left = _version_of(name)
        before = next((step.before for step in steps if canonical(step.name) == name), None)
        state = (
            "Nothing was changed."
            if left == before
            else f"{name} {left} is installed; remove it: `python -m pip uninstall {name}`."
        )
        if isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt(state) from error
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
        (one.version for one in installed().packages if canonical(one.distribution) == name), None
    )


def _show_plan(
    listing: Listing,
    release: Mapping[str, Any],
    facts: Mapping[str, Any],
    steps: Sequence[pip.Step],
) -> None:
    """Show the facts of the wheel, the keepers' words about the release, and the files."""
    maintainers = listing.package["maintainers"]
    page = Page()
    page.heading(
        f"{listing.name} {release['version']}",
        mark="! yanked" if release["yanked"] is not None else "",
    )
    page.facts(
        (
            ("about", _quoted(listing.row["summary"], 200)),
            ("by", ", ".join(_quoted(one["name"], 60) for one in maintainers)),
            ("sources", listing.package.get("repository", listing.package.get("folder"))),
            ("licence", facts["license"]),
            ("tasks", ", ".join(task["name"] for task in facts["tasks"])),
            _checks(release),
            ("attestation", said_of(release["attestation"])),
            ("listed in", listing.registry),
        )
    )
    for text in effects(facts["offers"]):
        page.text(f"  ! {text}", style="bold")
    for text in _ambiguous(listing, facts):
        page.text(f"  ! {text}", style="bold")
    page.heading("pip will install")
    rows = [
        (
            one.name,
            one.version,
            one.before or "",
            one.host or "this machine",
            f"{one.size:,} bytes",
            f"sha256 {one.sha256[:12]}…",
            one.filename,
        )
        for one in steps
    ]
    page.table(("package", "version", "instead of", "from", "size", "hash", "file"), rows)
    place = Place()
    for one in steps:
        adds = place.effects(one.name, one.contents)
        for what, names in (("runs whenever Python starts", adds.at_start),
                            ("adds the commands", adds.commands)):  # fmt: skip
            if names:
                page.text(f"  ! {one.name} {what}: {', '.join(names)}", style="bold")
        if one.name != listing.name:
            for text in _effects_of_points(one.contents.points):
                page.text(f"  ! {one.name}: {text}", style="bold")
        modules = [name for name in adds.modules if name != module_of(one.name)]
        for what, names in (("modules", modules), ("files", _by_folder(adds.others))):
            if names:
                page.text(f"  {one.name} adds the {what}: {', '.join(names)}")
    page.show()


def _quoted(text: str, most: int) -> str:
    """Return the words of maintainers between quotation marks: none reads as a row of the plan."""
    shown = text if len(text) <= most else f"{text[: most - 1]}…"
    return f'"{shown.replace(chr(34), chr(39))}"'


def _ambiguous(listing: Listing, facts: Mapping[str, Any]) -> list[str]:
    """Return sentences about names that mean two tasks once the package is installed."""
    names = {task["name"] for task in facts["tasks"]}
    owners = {
        task.id.rpartition("/")[2]: task.id
        for task in installed().tasks
        if task.usable and canonical(task.distribution) != listing.name
    }
    return [
        f"the name {clean(name)} alone will mean two tasks and be refused: {clean(owners[name])} is"
        " installed"
        for name in sorted(names & owners.keys())
    ]


def _by_folder(files: Sequence[str]) -> list[str]:
    """Return files, or the folders with their numbers of files if there are many; none is left out:
    decoys could come first.
    """
    if len(files) <= MOST_SHOWN:
        return list(files)
    folders = Counter(file.rpartition("/")[0] for file in files)
    return [f"{folder or '.'}/ ({number} files)" for folder, number in sorted(folders.items())]


def _effects_of_points(points: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return sentences about the offers of an unlisted package to other programs."""
    of_ngym = {group: rows for group, rows in points.items() if group.startswith(PREFIX)}
    others = {
        f"parts for other programs ({clean(group)})": rows
        for group, rows in points.items()
        if group not in of_ngym and group not in ("console_scripts", "gui_scripts")
    }
    tasks = of_ngym.get("neurogym.tasks", {})
    return effects({**kinds_of(of_ngym), "tasks": tasks, **others})


def _checks(release: Mapping[str, Any]) -> tuple[str, str]:
    """Return the label and the text about the checks of a release.

    The keepers ran them, but in the process of the package, which reported a result for each check
    of their kit: code that knows the kit can forge one, in a sandbox, too. Without a sandbox, it
    could also change the keepers' machine, and the counts with it."""
    said = release["conformance"]
    if said is None:
        return "checks", "none"
    excused = f", {len(said['expected_failures'])} excused" if said["expected_failures"] else ""
    counts = f"{said['passed']} passed, {said['failed']} failed{excused}"
    setting = f"core {said['core']}, {said['level']} level"
    if said["isolated"]:
        return (
            "checks",
            f"{counts} ({setting}; reported by its process, in a sandbox of the keepers)",
        )
    return "claimed checks", f"{counts} ({setting}; run without a sandbox)"


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
