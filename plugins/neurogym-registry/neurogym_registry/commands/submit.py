"""``ngym submit``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from neurogym_core.tools import RegistryError, clean
from neurogym_registry.attestations import provenance_of
from neurogym_registry.commands.registry import examined, excuse_option, read_excuses
from neurogym_registry.commands.shared import busy
from neurogym_registry.kit import require_kit
from neurogym_registry.pip import download
from neurogym_registry.releases import refuse_release
from neurogym_registry.requirements import is_distribution_name
from neurogym_registry.submission import (
    Submission,
    entry_text,
    is_listed,
    refuse_early,
    submit,
)
from neurogym_registry.wheels import read_wheel


@click.command(short_help="Prepare a package for being listed in a registry.")
@click.argument("package", default=".", metavar="[NAME==VERSION|WHEEL|FOLDER]")
@click.option(
    "--registry",
    "folder",
    required=True,
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The registry's folder in a checkout of its repository.",
)
@click.option(
    "--repository",
    default="",
    metavar="URL",
    help="Address of the sources; by default that in pyproject.toml.",
)
@click.option(
    "--maintainer", default="", metavar="NAME", help="The maintainer; by default the authors."
)
@click.option("--github", default="", metavar="NAME", help="GitHub name of the first maintainer.")
@click.option(
    "--github-id",
    type=int,
    metavar="ID",
    help="Number of that account, see https://api.github.com/users/NAME.",
)
@click.option(
    "--dist",
    default=None,
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the built or downloaded wheel.  [default for a folder: FOLDER/dist]",
)
@excuse_option
@click.option(
    "--no-isolation",
    is_flag=True,
    help="Build with the installed build tools, without downloading them.",
)
def command(
    package: str,
    folder: Path,
    repository: str,
    maintainer: str,
    github: str,
    github_id: int | None,
    dist: Path | None,
    excuses: tuple[str, ...],
    no_isolation: bool,
) -> None:
    """Prepare the listing of a package in a registry, or a new release of a listed package.

    Takes the released wheel of NAME==VERSION from where pip finds it, or a wheel, or builds the
    wheel of a folder. Runs all checks on it, writes the entry and the release into a checkout of
    the registry, validates them, and prints the text of the pull request. Nothing is uploaded.

    Release the package first, and submit NAME==VERSION: users can install only the file with the
    hash in the registry, and a wheel that is built again is often another file.

    The code of the package runs in child processes: use this command only on code you trust.
    """
    require_kit()
    reasons = read_excuses(excuses)
    wheel = read_wheel(_wheel_of(package, dist, isolated=not no_isolation))
    entry = None
    if is_listed(folder, wheel.name):
        refuse_release(folder, wheel)
    else:
        entry = entry_text(
            wheel,
            repository=repository,
            maintainer=maintainer,
            github=github,
            github_id=github_id,
        )
    refuse_early(folder, wheel, entry)
    provenance = None
    if not Path(package).is_dir():  # the wheel of a folder is new
        with busy("Looking for attestations of the wheel ..."):
            provenance = provenance_of(wheel.name, wheel.sha256)
    with examined(wheel, reasons) as (inspection, conformance):
        _show(folder, submit(folder, wheel, entry, inspection, conformance, provenance))


def _wheel_of(package: str, dist: Path | None, *, isolated: bool) -> Path:
    """Return the given wheel, the released one, or the one that is built.

    Raises:
        RegistryError: `package` is none of them, or no wheel can be downloaded or built.
    """
    path = Path(package)
    if path.is_file():
        return path
    if path.is_dir():
        return build_wheel(path, dist or path / "dist", isolated=isolated)
    name, equals, version = package.partition("==")
    if not (equals and is_distribution_name(name.strip()) and version.strip()):
        raise RegistryError(
            f"{clean(package)!r} was given to submit. Expected NAME==VERSION of a released package,"
            " a wheel, or a folder with a pyproject.toml. Correct it."
        )
    folder = dist or Path(click.get_current_context().with_resource(TemporaryDirectory()))
    with busy("Downloading the wheel ..."):
        return download(f"{name.strip()}=={version.strip()}", folder)


def build_wheel(folder: Path, dist: Path, *, isolated: bool) -> Path:
    """Build the wheel of a package's sources with pip, and return its path.

    Raises:
        RegistryError: the build failed; the message has the end of pip's output.
    """
    arguments = [
        "--no-deps",
        "--disable-pip-version-check",
        *([] if isolated else ["--no-build-isolation"]),
    ]
    with busy("Building the wheel ..."), TemporaryDirectory(prefix="ngym-") as name:
        command = [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            *arguments,
            "-w",
            name,
            str(folder.resolve()),
        ]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        built = list(Path(name).glob("*.whl"))
        if done.returncode or len(built) != 1:
            raise RegistryError(
                f"No wheel could be built from {folder}: {' '.join(done.stderr.split())[-500:]}"
                " Expected a folder with a pyproject.toml. Build the wheel yourself (python -m"
                " build --wheel), and pass the wheel instead."
            )
        dist.mkdir(parents=True, exist_ok=True)
        target = dist / built[0].name
        target.write_bytes(built[0].read_bytes())
    return target


def _show(folder: Path, submission: Submission) -> None:
    for violation in submission.warnings:
        click.echo(str(violation), err=True)
    click.echo(f"Wrote these valid files to {folder}:")
    for file in submission.files:
        click.echo(f"  {file}")
    if (folder / "keepers.toml").is_file():
        for file in submission.files:
            if file.startswith("packages/") and "github_id" not in (folder / file).read_text(
                "utf-8"
            ):
                click.echo(
                    f"Note: {file} has no github_id. This registry compares accounts by number, and"
                    " accepts the new package from a keeper only. Write github_id = NUMBER below"
                    " your name there; the option --github-id does so.",
                    err=True,
                )
    click.echo("\nOpen a pull request with these files.\n")
    click.echo(f"Title: {submission.title}\n")
    click.echo(submission.text)
