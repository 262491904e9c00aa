"""Jupyter notebooks of the tutorials, written from their Markdown when the site is built.

Text becomes cells of text, Python code cells; a file that a reader has to save is written by
``%%writefile``, and commands run with ``!``. Outputs on the page are left out: the reader makes them."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
from markdown_parts import below_title
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

PAGES = (
    "analyse-behaviour",
    "assemble-a-task",
    "beside-two-monkeys",
    "from-a-labs-file",
    "recipes",
    "reproduce-a-figure",
    "to-nwb-and-back",
    "tour",
    "train-an-agent",
    "trial",
    "write-a-closed-loop-task",
    "write-a-task",
    "write-a-wrapper",
)
"""Pages in ``docs`` whose code runs from top to bottom."""
NEEDS = (
    "*This notebook was made from a page of the documentation of neurogym-core. It needs the packages that the page names,"
    " installed in the environment of its kernel.*"
)
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```\n?", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"# ([\w./-]+\.\w+)\n")
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:)[^)]*\)")
_PICTURE = re.compile(r"!\[([^\]]*)\]\((?!https?:)[^)]*\)")


def notebook_of(page: str) -> nbformat.NotebookNode:
    """Return the notebook of a page in Markdown."""
    cells, at, after = [new_markdown_cell(NEEDS)], 0, ""
    for fence in _FENCE.finditer(page):
        between = page[at : fence.start()]
        cells += _text(between)
        kind, body = fence.groups()
        is_output = kind == "text" and after == "python" and not between.strip()
        if not is_output:
            cells += _cell(kind, body)
        at, after = fence.end(), kind
    cells += _text(page[at:])
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # not random, so that a page makes the same file again
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def _text(markdown: str) -> list[nbformat.NotebookNode]:
    """Return the cell of a text, without links into the documentation."""
    plain = _LINK.sub(r"\1", _PICTURE.sub(r"*\1*", markdown)).strip()
    return [new_markdown_cell(plain)] if plain else []


def _cell(kind: str, body: str) -> list[nbformat.NotebookNode]:
    """Return the cells of a fenced block."""
    file = _FILE.match(body)
    if file and kind in ("python", "toml"):
        parent = str(Path(file[1]).parent)
        code = f'from pathlib import Path\n\nPath("{parent}").mkdir(parents=True, exist_ok=True)'
        folder = [new_code_cell(code)] if parent != "." else []
        return [*folder, new_code_cell(f"%%writefile {file[1]}\n{body.rstrip()}")]
    if kind == "python":
        return [new_code_cell(body.rstrip())]
    commands = [line[2:] for line in body.splitlines() if line.startswith("$ ngym ")]
    if kind == "console" and commands:
        return [new_code_cell("\n".join(f"!{line}" for line in commands))]
    return [new_markdown_cell(f"```{kind}\n{body}```")]


def write(folder: Path, notebooks: Path) -> None:
    """Write the notebooks of the pages, and link them below the titles of the pages.

    Args:
        folder: the pages of the site, with those of ``docs``.
        notebooks: folder of the notebooks.
    """
    notebooks.mkdir(parents=True)
    for name in PAGES:
        page = folder / "docs" / f"{name}.md"
        made = notebook_of(page.read_text("utf-8"))
        nbformat.validate(made)
        (notebooks / f"{name}.ipynb").write_text(nbformat.writes(made), "utf-8")
        link = f'<p><a class="notebook" href="../notebooks/{name}.ipynb" download>Download as a notebook</a></p>'
        below_title(page, f"```{{raw}} html\n{link}\n```")
