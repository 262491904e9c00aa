"""``ngym models``."""

from __future__ import annotations

from pathlib import Path

import click

from neurogym_core.tools import usage_errors

_place = click.option(
    "--from", "place", required=True, metavar="FOLDER|ADDRESS",
    help="Where the collection is: a folder, or its address (https or file).",
)  # fmt: skip


@click.group("models", short_help="List, get, pack and export trained networks and agents.")
def command() -> None:
    """Trained networks and agents as files, with hashes.

    \b
    ngym models pack runs/a runs/b/best --out zoo
    ngym models list --from zoo
    ngym models get a --from zoo
    ngym models export a a.safetensors
    """


@command.command("list")
@_place
def list_(place: str) -> None:
    """List the models of a collection."""
    from neurogym_training.zoo import models

    with usage_errors():
        found = models(place)
    width = max((len(one.name) for one in found), default=0)
    for one in found:
        tasks = one.tasks[0] if len(one.tasks) == 1 else f"{len(one.tasks)} tasks"
        size = f"{one.size / 1e6:.1f} MB"
        accuracy = "" if one.accuracy is None else f"accuracy {one.accuracy:.3f}, "
        click.echo(f"{one.name:{width}}  {one.trainer:14} {tasks}: {accuracy}{size}")


@command.command("get")
@click.argument("name")
@_place
@click.option("--out", type=click.Path(path_type=Path), help="The new folder.  [default: NAME]")
def get_(name: str, place: str, out: Path | None) -> None:
    """Copy a model into a folder, after a check of its hash."""
    from neurogym_training.zoo import get

    with usage_errors():
        folder = get(name, place, out)
    click.echo(f"{folder}: the hash fits. `ngym evaluate {folder}` opens it.")


@command.command("pack")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The collection.")
def pack_(runs: tuple[Path, ...], out: Path) -> None:
    """Write runs as archives with an index; the files of a release."""
    from neurogym_training.zoo import pack

    with usage_errors():
        made = pack(runs, out)
    for one in made:
        click.echo(f"{out / one.file}: {one.size} bytes, sha256 {one.sha256}")


@command.command("export")
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--trust", is_flag=True, help="Run code in Python files that the run names.")
def export_(run: Path, file: Path, trust: bool) -> None:
    """Write the network of a run as weights (.safetensors) or one step of it (.onnx)."""
    from neurogym_training.runs import Run

    with usage_errors():
        Run.open(run, trust=trust).trainer().export(file)
    click.echo(f"{file} is written.")
