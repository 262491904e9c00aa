"""Shared parts of the commands that read registries: options, notes, unknown names."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from neurogym_core import UnknownTaskError
from neurogym_core.tools import clean, did_you_mean, namespace_of
from neurogym_registry.client import Catalogue, Listing, catalogue
from neurogym_registry.errors import RegistryError

_FunctionT = TypeVar("_FunctionT", bound=Callable[..., Any])


def registry_options(function: _FunctionT) -> _FunctionT:
    """Add the options ``--offline`` and ``--refresh`` to a command."""
    refresh = click.option(
        "--refresh", is_flag=True, help="Ask the registry even if the copy is less than a day old."
    )
    return offline_option(refresh(function))


def offline_option(function: _FunctionT) -> _FunctionT:
    """Add the option ``--offline`` to a command."""
    return click.option(
        "--offline", is_flag=True, help="Do not use the network for the list of packages."
    )(function)


def read_catalogue(*, offline: bool, refresh: bool = False, quiet: bool = False) -> Catalogue:
    """Return the catalogue; print its notes on stderr unless `quiet`."""
    with busy("Asking the registry ..."):
        found = catalogue(offline=offline, refresh=refresh)
    if not quiet:
        show_notes(found)
    return found


def show_notes(found: Catalogue) -> None:
    """Print the notes of a catalogue on stderr."""
    for note in found.notes:
        click.echo(f"Note: {clean(note)}", err=True)


def required(found: Catalogue, name: str) -> Listing:
    """Return the listing of this name.

    Raises:
        UnknownTaskError: there is none; suggests the nearest name.
    """
    listing = found.find(name)
    if listing is None and (owners := sorted({one.name for one, _ in found.find_task(name)})):
        raise UnknownTaskError(
            f"{clean(name)!r} is a task of {' and of '.join(owners)}. Expected the name or"
            f" namespace of a package. Install it: `ngym install {owners[0]}`."
        )
    if listing is None:
        names = found.names
        known = [*names, *map(namespace_of, names)]
        raise UnknownTaskError(
            f"No package {clean(name)!r} is in the registry.{did_you_mean(name, known)} Expected"
            " the name or namespace of a package. `ngym search` lists them."
        )
    return listing


def look_for(name: str, *, offline: bool, refresh: bool) -> tuple[Catalogue, Listing]:
    """Return the catalogue and the listing of this name; on a miss, ask the servers again.

    A copy of an index can be a day old, while the package was listed or released an hour ago.

    Raises:
        UnknownTaskError: there is none.
    """
    found = read_catalogue(offline=offline, refresh=refresh)
    if not offline and not refresh and found.from_copies:
        listing = found.find(name)
        if listing is None or listing.outdated:
            found = read_catalogue(offline=False, refresh=True)
    return found, required(found, name)


def complete_listed(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """Complete the names of listed packages, without using the network."""
    try:
        found = catalogue(offline=True)
    except RegistryError:
        return []
    names = [name for name in found.names if name.startswith(incomplete)]
    return [CompletionItem(name) for name in names]


@contextmanager
def busy(text: str) -> Iterator[None]:
    """Show a spinner on stderr during the block, if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield
