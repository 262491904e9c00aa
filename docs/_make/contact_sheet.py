"""Draw the contact sheets of ``docs/gallery.md``: the picture of every task, small.

``python docs/_make/contact_sheet.py`` draws all tasks of the catalogue as ``ngym plot --all`` does,
and writes ``docs/images/gallery-1.png`` and ``gallery-2.png``. The pictures have few colours, so
that a sheet stays below 600 kB.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import click
from PIL import Image

from neurogym_core.cli import _drawing
from neurogym_core.ecosystem.discovery import installed

IMAGES = Path(__file__).resolve().parents[1] / "images"
SHEETS = {
    "gallery-1": ("control", "ibl", "memory", "motor", "timing", "value"),
    "gallery-2": ("perceptual", "visual", "yang19"),
}
"""File -> the packages whose tasks it shows."""
COLUMNS, WIDTH, GAP = 6, 380, 8
"""Pictures in a row, and width and distance of pictures, pixels."""
COLOURS = 160
MOST = 600_000
"""Largest size of a sheet, bytes."""


def sheet(pictures: list[Path]) -> Image.Image:
    """Return the pictures in columns of one width, each under the shortest column so far."""
    columns: list[list[Image.Image]] = [[] for _ in range(COLUMNS)]
    heights = [0] * COLUMNS
    for path in pictures:
        with Image.open(path) as opened:
            whole = opened.convert("RGB")
        small = whole.resize((WIDTH, round(whole.height * WIDTH / whole.width)), Image.LANCZOS)
        shortest = heights.index(min(heights))
        columns[shortest].append(small)
        heights[shortest] += small.height + GAP
    page = Image.new("RGB", (COLUMNS * (WIDTH + GAP), max(heights)), "white")
    for number, column in enumerate(columns):
        top = 0
        for small in column:
            page.paste(small, (number * (WIDTH + GAP), top))
            top += small.height + GAP
    return page


@click.command()
def main() -> None:
    """Draw all tasks, and write the contact sheets."""
    with tempfile.TemporaryDirectory() as folder:
        for name, packages in SHEETS.items():
            pictures = []
            tasks = [task for task in installed().tasks if task.id.split("/")[0] in packages]
            for number, task in enumerate(tasks, 1):
                click.echo(f"{name} {number}/{len(tasks)} {task.id}", err=True)
                pictures.append(Path(folder) / f"{task.id.replace('/', '-')}.png")
                _drawing.draw(task.id, pictures[-1], "late_oracle", 0)
            target = IMAGES / f"{name}.png"
            few = sheet(pictures).quantize(
                COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE
            )
            few.save(target, optimize=True)
            size = target.stat().st_size
            click.echo(f"Written: {target}, {size / 1000:.0f} kB")
            if size > MOST:
                raise click.ClickException(
                    f"{target.name} has {size} bytes. Expected at most {MOST}. Lower WIDTH or"
                    " COLOURS."
                )


if __name__ == "__main__":
    main()
