"""Parts of the commands that read a registry: its options, its notes, and unknown names."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from neurogym_core.ecosystem.names import clean
from neurogym_core.errors import UnknownTaskError, did_you_mean
from neurogym_registry.client import Catalogue, Listing, catalogue

_FunctionT = TypeVar("_FunctionT", bound=Callable[..., Any])


def registry_options(function: _FunctionT) -> _FunctionT:
    """``--offline`` and ``--refresh``."""
    refresh = click.option(
        "--refresh", is_flag=True, help="Ask the registry even if its list is kept from today."
    )
    return offline_option(refresh(function))


def offline_option(function: _FunctionT) -> _FunctionT:
    """``--offline``."""
    return click.option(
        "--offline", is_flag=True, help="Do not use the network for the list of packages."
    )(function)


def read_catalogue(*, offline: bool, refresh: bool = False, quiet: bool = False) -> Catalogue:
    """The catalogue; its notes go to stderr, unless `quiet`."""
    with busy("Asking the registry ..."):
        found = catalogue(offline=offline, refresh=refresh)
    if not quiet:
        show_notes(found)
    return found


def show_notes(found: Catalogue) -> None:
    """The notes on stderr."""
    for note in found.notes:
        click.echo(f"Note: {clean(note)}", err=True)


def required(found: Catalogue, name: str) -> Listing:
    """The listing of this name.

    Raises:
        UnknownTaskError: there is none; says what is nearest.
    """
    listing = found.find(name)
    if listing is None:
        known = [one.name for one in found.listings] + [
            one.row["namespace"] for one in found.listings
        ]
        raise UnknownTaskError(
            f"No package {clean(name)!r} is in the registry.{did_you_mean(name, known)} `ngym"
            " search` finds what is."
        )
    return listing


@contextmanager
def busy(text: str) -> Iterator[None]:
    """A sign of life on the terminal's stderr while something goes on whose length nobody knows."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield
