"""``ngym submit``."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import click

from neurogym_registry.commands.releasing import download_release, excuse_option, read_excuses
from neurogym_registry.commands.shared import busy
from neurogym_registry.examination import unpacked
from neurogym_registry.kit import require_kit
from neurogym_registry.submission import (
    Change,
    ask,
    is_listed,
    later_entry,
    new_entry,
    refuse_early,
    summary,
)


@click.command(short_help="Ask for a release in a registry.")
@click.argument("release", metavar="NAME==VERSION")
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
@excuse_option
def command(
    release: str,
    folder: Path,
    repository: str,
    maintainer: str,
    github: str,
    github_id: int | None,
    excuses: tuple[str, ...],
) -> None:
    """Ask the keepers of a registry to list a released version of your package.

    Takes the wheel of NAME==VERSION from where pip finds it, runs all checks on it, writes the
    version into the package's entry in a checkout of the registry, and prints the text of the pull
    request. Nothing is uploaded. The keepers take the wheel themselves, check it again, and write
    the release file (`ngym registry accept`).

    The code of the package runs in child processes: use this command only on code you trust.
    """
    require_kit()
    reasons = read_excuses(excuses)
    with TemporaryDirectory(prefix="ngym-") as name:
        wheel = download_release(release, Path(name))
        first = not is_listed(folder, wheel.name)
        entry = (
            new_entry(
                wheel,
                repository=repository,
                maintainer=maintainer,
                github=github,
                github_id=github_id,
            )
            if first
            else later_entry(folder, wheel)
        )
        refuse_early(folder, wheel, entry)
        with busy("Describing and checking its tasks ..."), unpacked(wheel, boxed=False) as bench:
            examination = bench.examine(reasons)
        change = ask(folder, wheel, entry, examination)
    _show(folder, change, first=first)


def _show(folder: Path, change: Change, *, first: bool) -> None:
    for violation in change.warnings:
        click.echo(str(violation), err=True)
    click.echo(f"Wrote these valid files to {folder}:")
    for file in change.files:
        click.echo(f"  {file}")
    if (folder / "keepers.toml").is_file():
        for file in change.files:
            if file.startswith("packages/") and "github_id" not in (folder / file).read_text(
                "utf-8"
            ):
                click.echo(
                    f"Note: {file} has no github_id. This registry compares accounts by number, and"
                    " accepts the new package from a keeper only. Write github_id = NUMBER below"
                    " your name there; the option --github-id does so.",
                    err=True,
                )
    release = change.release
    title = f"{release['name']} {release['version']}"
    said = release["conformance"] or {"expected_failures": []}
    excuses = "".join(
        f" --expected-failure '{one['check']}={one['reason']}'"
        for one in {one["check"]: one for one in said["expected_failures"]}.values()
    )
    click.echo("\nOpen a pull request with these files.\n")
    click.echo(f"Title: {'List' if first else 'Release'} {title}\n")
    click.echo(f"{'New package' if first else 'New release'}: {title}\n")
    click.echo(summary(release))
    click.echo(
        f"\n- [ ] The wheel is where pip finds it.\n- [ ] I maintain this package, and have read"
        f" POLICY.md.\n\nKeepers: `ngym registry accept {release['name']}=={release['version']}"
        f"{excuses}`"
    )
