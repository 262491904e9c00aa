"""Pack the networks and agents of the gallery: ``make models`` writes them into ``build/models``.

The folder is the collection that a release has: ``models.json`` with the hashes, and an archive for each training on
the page of the gallery whose checkpoint is in ``build/gallery``, where `train_gallery.py` left it. Trainings without
one (of another machine, or of networks that see images), and those that went on after their numbers were stored, are
listed with the reason and stay out.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from measured import read
from neurogym_training import zoo
from train_gallery import MEASURED, Job

from neurogym_core import InvalidValueError

ABSENT = "no checkpoint"


def folders(runs: Mapping[str, Mapping[str, Any]], out: Path) -> Iterator[tuple[Path, str]]:
    """Yield the folder of each training, and why it is not that of the page, or "".

    Args:
        runs: the stored trainings, key -> record.
        out: folder of the checkpoints.
    """
    for one in runs.values():
        job = Job(one["task"], one["trainer"], (one["seed"],), one["until"])
        [folder] = job.folders(out)
        yield folder, _why_not(folder, one)


def _why_not(folder: Path, one: Mapping[str, Any]) -> str:
    curve = folder / "curve.csv"
    if not curve.is_file() or not any(folder.glob("checkpoint.*")):
        return ABSENT
    with curve.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    done = int(float(rows[-1].get(one["unit"]) or -1)) if rows else -1
    if done != one["done"]:
        return f"the curve ends at {done}, the stored numbers at {one['done']} {one['unit']}."
    return ""


@click.command(help=__doc__.splitlines()[0])
@click.option(
    "--from", "place", type=click.Path(path_type=Path), default=Path("build/gallery"),
    show_default=True, help="Folder of the checkpoints.",
)  # fmt: skip
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("build/models"), show_default=True,
    help="The new collection.",
)  # fmt: skip
@click.option("--measured", type=click.Path(path_type=Path), default=MEASURED, hidden=True)
def main(place: Path, out: Path, measured: Path) -> None:
    """Write the collection, and say what is missing."""
    if (out / zoo.INDEX).exists():
        raise click.UsageError(
            f"{out} holds a collection. Expected a new folder, since a release has the networks of"
            " one gallery. Remove it, or give another: --out."
        )
    made, absent, runs = list[zoo.Model](), 0, read(measured)["runs"]
    for folder, why in folders(runs, place):
        if why == ABSENT:
            absent += 1
            continue
        try:
            # One at a time: a training that is refused stays out, and the others are packed.
            made += [] if why else zoo.pack([folder], out)
        except InvalidValueError as error:
            why = str(error)
        if why:
            click.echo(f"{folder.name}: {why}", err=True)
    size = sum(one.size for one in made) / 1e6
    click.echo(f"{out}: {len(made)} of {len(runs)} trainings, {size:.1f} MB.")
    if absent:
        click.echo(f"{absent} have {ABSENT} in {place}.")
    if not made:
        raise click.ClickException("No network was packed. Train some first: `make train-gallery`.")


if __name__ == "__main__":
    main()
