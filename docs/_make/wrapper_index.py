"""The list of the wrappers, with pictures of a trial before and after each."""

from __future__ import annotations

from pathlib import Path

from wrapper_pages import EXAMPLES, stem_of

from neurogym_core.ecosystem.discovery import find_wrapper

HEAD = """# Wrappers

A wrapper changes the trials of a task, or an env of it. The picture of each page has a trial before
and after it. [Assemble a task](../docs/assemble-a-task.md) shows how wrappers are combined.
"""


def write(folder: Path) -> None:
    """Write ``wrappers/index.md`` into a folder."""
    cards, pages = [], []
    for name in sorted(EXAMPLES):
        info, stem = find_wrapper(name), stem_of(name)
        picture = f"../docs/images/wrappers/{stem}.svg"
        cards.append(
            f":::{{grid-item-card}} {info.title}\n:link: ../docs/wrappers/{stem}.html\n"
            f":img-bottom: {picture}\n:img-alt: a trial before and after {info.title}\n\n"
            f"{info.summary}\n:::"
        )
        pages.append(f"../docs/wrappers/{stem}")
    grid = "::::{grid} 1 1 2 2\n:gutter: 3\n\n" + "\n\n".join(cards) + "\n::::"
    menu = "```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```"
    (folder / "wrappers").mkdir()
    text = "\n".join((HEAD, grid, "", menu, ""))
    (folder / "wrappers" / "index.md").write_text(text, "utf-8")
