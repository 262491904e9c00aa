"""Hooks for the core: listed packages and tasks, similar names, and revoked versions.

The rest of the package is imported when a hook is called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from neurogym_core import hookimpl
from neurogym_core.tools import PackageInfo, Problem, canonical

if TYPE_CHECKING:
    from neurogym_registry.listed import Listed


@hookimpl
def ngym_checkup(packages: Sequence[PackageInfo]) -> list[tuple[str, str, Problem]]:
    """Return a problem for each installed version that is revoked."""
    from neurogym_registry.checkup import checkup

    return checkup(packages)


@hookimpl
def ngym_listed(name: str, offline: bool, form: str) -> bool:
    """Print the package or the task of this name in the registries."""
    from neurogym_registry.listed import print_listed

    return print_listed(name, offline, form)


@hookimpl
def ngym_unknown_name(kind: str, name: str) -> str | None:
    """Return where a task, or the nearest one, can be had, or which package a name resembles."""
    if kind == "task":
        from neurogym_registry.listed import catalogue_with, listed

        owner = _owner(listed(catalogue_with(name, offline=True), name))
        return owner and (
            f"its package {owner.package} is not installed. Install it: {_how(owner)}."
        )
    if kind == "similar task":
        from neurogym_registry.client import catalogue
        from neurogym_registry.listed import resembling

        owner = _owner(resembling(catalogue(offline=True), name))
        return owner and (
            f"Did you mean {owner.id!r} of {owner.package}, which is not installed? Install it:"
            f" {_how(owner)}."
        )
    if kind == "package":
        from neurogym_registry.listed import looks_like

        other = looks_like(name)
        if other is not None:
            return "which exists" if other == name else f"which looks like {other}"
    return None


def _owner(found: Sequence[Listed]) -> Listed | None:
    """Return the entry of the only package with a task, unless that is installed already."""
    from neurogym_core.tools import installed

    present = {canonical(package.distribution) for package in installed().packages}
    owners = {
        one.package: one
        for one in found
        if (one.how or one.version is not None) and one.id != one.package
    }
    if len(owners) != 1 or owners.keys() & present:
        return None
    return next(iter(owners.values()))


def _how(owner: Listed) -> str:
    return owner.how or f"`ngym install {owner.package}`"
