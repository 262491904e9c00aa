"""Parts that the build of the site adds to pages: links from the glossary, data of results, speeds."""

from __future__ import annotations

import re
import shutil
from math import log10
from pathlib import Path

from markdown_parts import below_title

HERE = Path(__file__).resolve().parent

# ---- the glossary ----


def linked(glossary: str, api_page: str) -> str:
    """Return the glossary with links from the classes and functions that have a section in the API.

    Args:
        glossary, api_page: text of the two pages, which are in one folder.
    """
    sections = set(re.findall(r"^### (\w+)$", api_page, re.MULTILINE))

    def link(code: re.Match[str]) -> str:
        name = code["name"]
        return f"[{code[0]}](api.md#{name.lower()})" if name in sections else code[0]

    return re.sub(r"`[\w/]+\.py: (?P<name>\w+)[\w.]*`", link, glossary)


# ---- data of results ----

DATA = {
    "gallery-results": "gallery-results.json",
    "leaderboard": "leaderboard.json",
    "agent-results": "agents.json",
    "results": "results.json",
    "neurons": "neurons.json",
    "coverage": "coverage.json",
}
"""Page in ``docs`` -> its data, in this folder."""


def add_data(folder: Path, target: Path) -> None:
    """Copy the data, and link them below the title of the pages.

    Args:
        folder: the pages of the site, with those of ``docs``.
        target: folder of the data.
    """
    target.mkdir(parents=True)
    for name, file in DATA.items():
        shutil.copy2(HERE / file, target / file)
        link = f'<p><a href="../data/{file}" download>The data of this page (JSON)</a></p>'
        below_title(folder / "docs" / f"{name}.md", f"```{{raw}} html\n{link}\n```")


# ---- speeds ----

SPEEDS = {
    "single env, PerceptualDecisionMaking": "an env",
    "vector env of 64, PerceptualDecisionMaking": "a vector env of 64",
    "dataset 256 x 100, PerceptualDecisionMaking": "a dataset",
}
"""Row of the table -> its name in the sentence and in the chart."""
WIDTH, LEFT, ROW = 640, 150, 34


def summary(page: str) -> str:
    """Return the sentence and the chart, in Markdown.

    Raises:
        ValueError: the page has no such row.
    """
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines()]
    known = {row[0]: row for row in rows if len(row) > 5}
    missing = SPEEDS.keys() - known.keys()
    if missing:
        raise ValueError(f"performance.md has no row {sorted(missing)[0]!r}. Name another one.")
    found = [
        (name, float(known[row][5]), float(known[row][3].rstrip("x")))
        for row, name in SPEEDS.items()
    ]
    said = ", ".join(f"{name} {_number(speed)}" for name, speed, _ in found)
    return (
        f"Steps per second of one thread, in `PerceptualDecisionMaking`: {said}. Bars: steps per"
        " second here, and of the same kind of player in NeuroGym 2.3.1, on a logarithmic scale.\n\n"
        f"```{{raw}} html\n{_chart(found)}\n```\n"
    )


def _number(value: float) -> str:
    return f"{value / 1e6:.1f} million" if value < 1e7 else f"{value / 1e6:.0f} million"


def _chart(rows: list[tuple[str, float, float]]) -> str:
    """Return bars: speed here, and speed divided by the ratio to the peer."""
    low, high = 1e5, 1e8
    scale = (WIDTH - LEFT - 90) / (log10(high) - log10(low))
    parts, y = [], 6
    for name, speed, ratio in rows:
        parts.append(f'<text x="{LEFT - 8}" y="{y + 19}" text-anchor="end">{name}</text>')
        for value, kind in ((speed, "here"), (speed / ratio, "peer")):
            wide = max(scale * (log10(value) - log10(low)), 1)
            parts.append(
                f'<rect x="{LEFT}" y="{y}" width="{wide:.0f}" height="13" class="{kind}"/>'
                f'<text x="{LEFT + wide + 6:.0f}" y="{y + 11}">{_number(value)}'
                f"{' (NeuroGym)' if kind == 'peer' else ''}</text>"
            )
            y += 14
        y += ROW - 22
    said = "; ".join(f"{name}: {_number(a)}, NeuroGym {_number(a / r)}" for name, a, r in rows)
    return (
        f'<svg class="speed" viewBox="0 0 {WIDTH} {y}" role="img" aria-label="Steps per second. {said}">'
        f"{''.join(parts)}</svg>"
    )
