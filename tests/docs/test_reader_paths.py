"""The readers' paths through the pages: no page is left out, and none is a dead end."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

import pytest
from scripts import loaded

ROOT = Path(__file__).resolve().parents[2]
INDEX = (ROOT / "docs" / "index.md").read_text("utf-8")
IN_MENU = tuple(f"docs/{name}.md" for name in ("index", "api", "api-players", "api-tools", "why"))
"""Pages that the introduction of the list links."""


@pytest.fixture(scope="module")
def maker() -> Any:
    return loaded("reader_paths")


def test_every_page_is_on_a_path(maker: Any) -> None:
    listed = {page for _, stops in maker.paths(INDEX) for stop in stops for page in stop.pages}
    pages = {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")}
    assert pages - listed - set(IN_MENU) == set()
    for page in IN_MENU[1:]:
        assert f"]({page.removeprefix('docs/')})" in INDEX


def test_every_page_of_a_path_leads_to_the_next_one(maker: Any) -> None:
    for heading, stops in maker.paths(INDEX):
        page, seen = stops[0].pages[0], []
        while page != maker.INDEX:
            assert page not in seen, f"{heading}: {page} leads back"
            assert (ROOT / page).is_file(), page
            seen.append(page)
            text = maker.way_on(page, INDEX)
            (row,) = [line for line in text.splitlines() if line.startswith(f"- [{heading}]")]
            target = re.findall(r"\]\(([^)]+)\)", row)[-1]
            page = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
        assert seen == list(dict.fromkeys(stop.pages[0] for stop in stops)), heading


def test_a_page_beside_a_path_leads_to_the_item_after_it(maker: Any) -> None:
    index = "# D\n\n## I do it\n\n1. [A](a.md): x; [B](b.md#c),\n   y.\n2. [C](../C.md#d): z.\n"
    assert maker.way_on("docs/b.md", index) == (
        "\n## Next on your path\n\n- [I do it](index.md#i-do-it): [C](../C.md)\n"
    )
    assert "(docs/index.md#i-do-it): [all paths](docs/index.md)" in maker.way_on("C.md", index)
    assert maker.way_on("docs/other.md", index) == ""


def test_the_doors_of_the_front_page_are_paths(maker: Any) -> None:
    text = (ROOT / "docs" / "_pages" / "index.md").read_text("utf-8")
    anchors = re.findall(r":link: docs/index.html#(i-[a-z-]+)", text)
    headings = [heading.lower().replace(" ", "-") for heading, _ in maker.paths(INDEX)]
    assert anchors == headings
