"""Links between the pages lead to pages and headings that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATTERNS = ("*.md", "docs/*.md", "docs/decisions/*.md", "docs/wrappers/*.md", "plugins/*/README.md")
PAGES = [page for pattern in PATTERNS for page in sorted(ROOT.glob(pattern))]

_LINK = re.compile(r"\]\((?!\w+:)(?P<file>[^)#\s]*)(?:#(?P<anchor>[^)\s]+))?\)")


def headings(page: Path) -> set[str]:
    """The anchors of a page, as GitHub makes them of its headings."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken(page: Path) -> list[str]:
    """The links of a page that lead nowhere."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    found = []
    for link in _LINK.finditer(text):
        target = (page.parent / link["file"]).resolve() if link["file"] else page
        wanted = link["anchor"] if target.suffix == ".md" else None
        if not target.exists() or (wanted and wanted not in headings(target)):
            found.append(link[0])
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page):
    assert not broken(page)


def test_links_that_lead_nowhere_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A heading\n\n[one](#a-heading) [two](#another) [three](missing.md) [four](https://x.org)\n",
        "utf-8",
    )
    assert broken(page) == ["](#another)", "](missing.md)"]
