"""``ngym uninstall``."""

from __future__ import annotations

from functools import partial

import click

from neurogym_core import UnknownTaskError
from neurogym_core.tools import (
    PackageInfo,
    canonical,
    clean,
    complete,
    did_you_mean,
    installed,
    refresh,
)
from neurogym_registry.commands.shared import busy
from neurogym_registry.errors import InstallError
from neurogym_registry.requirements import CORE
from neurogym_registry.sources import forget
from neurogym_registry.transaction import remove

MOST_SHOWN = 5


@click.command(short_help="Remove an installed package.")
@click.argument("package", metavar="PACKAGE", shell_complete=partial(complete, ("other packages",)))
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
def command(package: str, yes: bool) -> None:
    """Remove an installed package, without running its code.

    PACKAGE is the name of a distribution, or its namespace. Only files that belong to it are
    removed; its dependencies stay installed. Broken packages can be removed, too.
    """
    found = _find(package)
    if canonical(found.distribution) == CORE:
        raise InstallError(
            f"{CORE} was given, but runs this command. Expected another package. To remove the core"
            f" itself, use `{found.removal}`."
        )
    if found.unreadable:
        raise InstallError(
            f"ngym cannot remove {found.distribution}: its metadata cannot be read. Expected"
            f" metadata with the list of its files. Delete the folder {found.unreadable}; the"
            " modules that stay beside it are offered by no package."
        )
    click.echo(f"{found.distribution} {found.version}, in {clean(found.location)}")
    for kind, names in found.names().items():
        if names:
            click.echo(f"  {clean(kind)}: {', '.join(map(clean, names))}")
    if not yes:
        click.confirm("Remove this?", abort=True)
    with busy("Removing its files ..."):
        kept = remove(found.distribution)
    _require_gone(found)
    forget(canonical(found.distribution))
    click.echo(f"Removed {found.distribution} {found.version}.")
    if kept:
        shown = ", ".join(map(clean, kept[:MOST_SHOWN])) + (", ..." if kept[MOST_SHOWN:] else "")
        click.echo(f"It listed files that do not belong to it; they stay: {shown}.")


def _find(name: str) -> PackageInfo:
    packages = installed().packages
    for package in packages:
        if canonical(name) == canonical(package.distribution) or name == package.namespace:
            return package
    known = [package.distribution for package in packages]
    raise UnknownTaskError(
        f"No installed package of tasks is named {clean(name)!r}.{did_you_mean(name, known)}"
        " Expected a package that `ngym list` shows. Remove other packages with pip."
    )


def _require_gone(found: PackageInfo) -> None:
    refresh()
    for package in installed().packages:
        if package.distribution == found.distribution and package.location == found.location:
            raise InstallError(
                f"{found.distribution} is still in {clean(found.location)}. Expected it to be gone."
                " It may belong to another environment: run ngym there, or remove the copy in"
                " that folder by hand."
            )
