"""Data of the pages of results, as files of the site, with a link on each page."""

from __future__ import annotations

import shutil
from pathlib import Path

HERE = Path(__file__).resolve().parent
DATA = {
    "gallery-results": "gallery-results.json",
    "leaderboard": "leaderboard.json",
    "agent-results": "agents.json",
    "results": "results.json",
    "neurons": "neurons.json",
    "coverage": "coverage.json",
}
"""Page in ``docs`` -> its data, in this folder."""


def write(folder: Path, data: Path) -> None:
    """Copy the data, and link them below the title of the pages.

    Args:
        folder: the pages of the site, with those of ``docs``.
        data: folder of the data.

    Raises:
        ValueError: a page has no title.
    """
    data.mkdir(parents=True)
    for name, file in DATA.items():
        shutil.copy2(HERE / file, data / file)
        page = folder / "docs" / f"{name}.md"
        title, mark, rest = page.read_text("utf-8").partition("\n\n")
        if not title.startswith("# ") or not mark:
            raise ValueError(f"{name}.md begins with {title!r}. Expected its title.")
        link = f'<p><a href="../data/{file}" download>The data of this page (JSON)</a></p>'
        page.write_text(f"{title}\n\n```{{raw}} html\n{link}\n```\n\n{rest}", "utf-8")
