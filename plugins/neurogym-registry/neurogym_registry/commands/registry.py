"""``ngym registry``: commands for maintainers of a registry."""

from __future__ import annotations

import random
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

import click

from neurogym_core import NeurogymError
from neurogym_core.tools import Page, clean, print_json, said_by
from neurogym_registry.addresses import VARIABLE, fragment
from neurogym_registry.attestations import attested, said_of
from neurogym_registry.change import validate_change
from neurogym_registry.commands.releasing import (
    download_release,
    excuse_option,
    name_and_version,
    read_excuses,
)
from neurogym_registry.commands.shared import busy
from neurogym_registry.errors import RegistryError
from neurogym_registry.examination import PACKAGE_SECONDS, unpacked
from neurogym_registry.folder import Violation, entry_file, read_package, read_registry
from neurogym_registry.keeping import new, revoke, transfer, yank
from neurogym_registry.kit import require_kit
from neurogym_registry.page import page as catalogue_page
from neurogym_registry.releases import write_index
from neurogym_registry.rules import RULES, errors
from neurogym_registry.rules import validate as find
from neurogym_registry.sandbox import OPTION
from neurogym_registry.signatures import sign
from neurogym_registry.submission import accept, asked_for, is_listed, refuse_early, summary
from neurogym_registry.versions import version_key
from neurogym_registry.writing import write_text

_FOLDER = click.argument(
    "folder",
    metavar="[FOLDER]",
    default="registry",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
)


@click.group(short_help="Check and build a registry of packages.")
def command() -> None:
    """Check and build a registry: a folder of entries and releases, from which index.json is built.

    FOLDER is the registry, by default `registry` in the current folder. To list a package in a
    registry, use `ngym submit`."""


@command.command()
@_FOLDER
@click.option(
    "--against",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The previous registry, to which FOLDER may only add.",
)
@click.option(
    "--wheels",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Compare releases with the wheels in this folder.",
)
@click.option(
    "--base", metavar="COMMIT", help="Check only the changes of a merge of HEAD into this commit."
)
@click.option(
    "--actor", type=int, metavar="ID", help="With --base: number of the account that made it."
)
@click.option("--json", "as_json", is_flag=True, help="Print the violations as a JSON array.")
def validate(
    folder: Path,
    against: Path | None,
    wheels: Path | None,
    base: str | None,
    actor: int | None,
    as_json: bool,
) -> None:
    """Check all files of a registry against its rules, without running code of packages.

    With --base, only the files of changed packages are read, and compared with the earlier ones.
    With --actor, only maintainers of a package may change it, and only keepers other files, also
    those of the repository outside of the folder.

    Each violation names the file, the field and the rule. The exit code is 1 if there are errors;
    warnings do not count."""
    if actor is not None and base is None:
        raise click.UsageError("--actor was given without --base. Expected both. Add --base.")
    found = find(folder, against, wheels) if base is None else validate_change(folder, base, actor)
    if as_json:
        print_json([{**asdict(one), "about": RULES[one.rule]} for one in found])
    else:
        _show(found)
    if errors(found):
        raise click.exceptions.Exit(1)


@command.command()
@_FOLDER
@click.option(
    "-o",
    "--output",
    default="catalogue.html",
    show_default=True,
    help="File to write.",
    type=click.Path(dir_okay=False, path_type=Path),
)
def site(folder: Path, output: Path) -> None:
    """Build the catalogue page of a registry: one file that works without a server or network."""
    wrong = errors(find(folder))
    if wrong:
        raise RegistryError(
            f"The registry breaks {len(wrong)} rules, the first: {wrong[0]} Expected none. Correct"
            " the files; `ngym registry validate` lists all violations."
        )
    write_text(output, catalogue_page(read_registry(folder)))
    click.echo(f"Wrote {output}.")


@command.command(name="accept")
@click.argument("releases", nargs=-1, metavar="[NAME==VERSION]...")
@click.option("--registry", "folder", default="registry", show_default=True, metavar="DIR",
              type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="The registry's folder.")  # fmt: skip
@excuse_option
@click.option(
    OPTION,
    "boxed",
    flag_value=False,
    default=True,
    help="Run code that you trust without a sandbox; the plan of `ngym install` then calls the"
    " checks claimed.",
)
def accept_releases(
    releases: tuple[str, ...], folder: Path, excuses: tuple[str, ...], boxed: bool
) -> None:
    """Write the release files of versions that maintainers ask for, from their wheels.

    Without arguments, these are all versions in the entries of the registry that have no release.
    For each, the wheel is downloaded from where pip finds it, its attestation is verified, its
    facts are read, and its tasks are described, drawn and checked at the full level in a sandbox
    without network, secrets and files (bubblewrap, on Linux). The release is written if no check
    fails and no rule is broken; the others are said, and the exit code is 1.
    """
    with _ended_by_sigterm():
        _accept_all(releases, folder, read_excuses(excuses), boxed=boxed)


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Exit at SIGTERM as at Ctrl-C, so that temporary folders and child processes end, too.

    ``timeout`` of the workflow sends it."""

    def end(*_: Any) -> NoReturn:
        sys.exit(128 + signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _accept_all(
    releases: tuple[str, ...], folder: Path, reasons: Mapping[str, str], *, boxed: bool
) -> None:
    require_kit()
    refused, ends = 0, dict[str, float]()
    pending = list(releases) or [
        f"{name}=={version}"
        for name in read_registry(folder).entries
        for version in asked_for(folder, name)
    ]
    if not releases:  # a package that takes all the time does not keep the same others waiting
        random.shuffle(pending)
    if not pending:
        click.echo("No maintainer asks for a version that is not released.")
    for text in pending:
        try:
            name, version = name_and_version(text)
            end = ends.setdefault(name, time.monotonic() + PACKAGE_SECONDS)
            _accept(name, version, folder, reasons, boxed=boxed, deadline=end)
        except Exception as error:  # of one package: it never stops the others
            refused += 1
            said = str(error) if isinstance(error, NeurogymError) else _unexpected(error)
            click.echo(f"Refused {clean(text)}: {clean(said, keep_lines=True)}", err=True)
    if refused:
        raise click.exceptions.Exit(1)


def _unexpected(error: Exception) -> str:
    return (
        f"{said_by(error)} ended its acceptance. Expected a release, or a refusal with a reason."
        " The package may have been made to cause this: look at it, and report the error to the"
        " developers of neurogym-registry. Nothing was written."
    )


def _accept(
    name: str,
    version: str,
    folder: Path,
    excuses: Mapping[str, str],
    *,
    boxed: bool,
    deadline: float,
) -> None:
    if not is_listed(folder, name):
        raise RegistryError(
            f"{name} has no entry in {folder}. Expected a package whose maintainers ask for the"
            " version in its entry. They use `ngym submit`. Nothing was written."
        )
    asked = asked_for(folder, name)
    if version_key(version) not in {version_key(one) for one in asked}:
        raise RegistryError(
            f"{name} {version} is released, or its maintainers did not ask for it. Expected one of"
            f" the versions in {entry_file(name)} that have no release:"
            f" {', '.join(asked) or 'none'}. They use `ngym submit`. Nothing was written."
        )
    with TemporaryDirectory(prefix="ngym-") as place:
        wheel = download_release(f"{name}=={version}", Path(place), deadline=deadline)
        refuse_early(folder, wheel)
        entry = read_package(folder, name).entries[name]
        with busy("Verifying the attestation of the wheel ..."):
            attestation = attested(wheel, str(entry.get("repository", "")))
        with (
            busy("Describing and checking its tasks ..."),
            unpacked(wheel, boxed=boxed, deadline=deadline) as bench,
        ):
            examination = bench.examine(excuses)
        change = accept(folder, wheel, examination, attestation)
    for violation in change.warnings:
        click.echo(str(violation), err=True)
    page = Page()
    page.heading(f"Accepted {wheel.name} {wheel.version}")
    page.text(summary(change.release))
    page.text(f"- attestation: {said_of(attestation)}")
    page.text("\n".join(f"Wrote {folder / file}." for file in change.files))
    page.show()


@command.command(name="new")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--keeper", required=True, metavar="NAME", help="Your name.")
@click.option("--github-id", type=int, required=True, metavar="ID",
              help="Number of your account, see https://api.github.com/users/NAME.")  # fmt: skip
def new_registry(folder: Path, keeper: str, github_id: int) -> None:
    """Write an empty registry with its workflows, to be the root of a git repository."""
    for path in new(folder, keeper, github_id):
        click.echo(f"Wrote {path}.")
    click.echo(f"Run `git init` in {folder}. Its README.md describes the work of a keeper.")


_REASON = click.option(
    "--reason", required=True, metavar="TEXT", help="One line for the users of the package."
)


@command.command(name="yank")
@click.argument("name")
@click.argument("version")
@_FOLDER
@_REASON
def yank_release(name: str, version: str, folder: Path, reason: str) -> None:
    """Mark a bad release: it is only installed if its version is given with --yanked."""
    click.echo(f"Wrote {yank(folder, name, version, reason)}.")


@command.command(name="revoke")
@click.argument("name")
@click.argument("versions", nargs=-1, required=True, metavar="VERSION...")
@click.option("--registry", "folder", default="registry", show_default=True, metavar="DIR",
              type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="The registry's folder.")  # fmt: skip
@_REASON
@click.option("--advisory", default="", metavar="URL", help="Address with details.")
def revoke_versions(
    name: str, versions: tuple[str, ...], folder: Path, reason: str, advisory: str
) -> None:
    """Mark dangerous versions: they are never installed; "*" stands for all, also later ones."""
    click.echo(f"Wrote {revoke(folder, name, list(versions), reason, advisory)}.")


@command.command(name="transfer")
@click.argument("name")
@_FOLDER
@click.option("--to", required=True, metavar="NAME", help="The new maintainer.")
@click.option("--github", default="", metavar="NAME", help="Their account.")
@click.option("--github-id", type=int, required=True, metavar="ID",
              help="Its number, see https://api.github.com/users/NAME.")  # fmt: skip
@_REASON
def transfer_package(
    name: str, folder: Path, to: str, github: str, github_id: int, reason: str
) -> None:
    """Give a package to a new maintainer, and record the transfer in its entry."""
    row = {"name": to, **({"github": github} if github else {}), "github_id": github_id}
    click.echo(f"Wrote {transfer(folder, name, row, reason)}.")


@command.command()
@_FOLDER
def build(folder: Path) -> None:
    """Build index.json from the files of a registry; equal files give equal bytes."""
    click.echo(f"Wrote {write_index(folder)}.")


@command.command(name="sign")
@_FOLDER
@click.option(
    "--identity-token",
    envvar="SIGSTORE_IDENTITY_TOKEN",
    metavar="TOKEN",
    help="OpenID Connect token of the signer; by default that of the workflow in which this runs."
    " Other users of the machine see arguments: set SIGSTORE_IDENTITY_TOKEN instead.",
)
@click.option(
    "--trust-config",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="Addresses and roots of trust of a sigstore instance, by default the public one.",
)
def sign_index(folder: Path, identity_token: str | None, trust_config: str | None) -> None:
    """Sign index.json with sigstore, and write the signature beside it.

    The signature is by the account or workflow of an OpenID Connect token, without a key that has
    to be kept, and is recorded in a public log. Clients verify it if their NGYM_REGISTRY names the
    signer, in the form that this command prints."""
    signed = sign(folder, identity_token, trust_config or "")
    click.echo(f"Wrote {signed.bundle}.")
    click.echo(f"Signed by {signed.signer}. Clients that verify it set:")
    click.echo(f"export {VARIABLE}='ADDRESS{fragment(signed.signer)}'")


def _show(found: list[Violation]) -> None:
    page = Page()
    for one in found:
        page.text(str(one))
    for rule in dict.fromkeys(one.rule for one in found):
        page.text(f"[{rule}] {RULES[rule]}", style="dim")
    wrong = len(errors(found))
    warned = len(found) - wrong
    counts = ((wrong, "error"), (warned, "warning"))
    said = [f"{n or 'no'} {what}{'s' if n != 1 else ''}" for n, what in counts]
    page.heading(f"{', '.join(said).capitalize()}.")
    page.show()
