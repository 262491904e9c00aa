"""Make the pages of the built site load less: no script before the text, and no index but in the search.

The theme loads the index of the search, 130 kB compressed, on every page, before it shows anything."""

from __future__ import annotations

import re
from pathlib import Path

OF_SEARCH = re.compile(
    r'[ \t]*<script src="(?:\.\./)*(?:_static/(?:searchtools|language_data)|searchindex)\.js[^>]*></script>\n?'
)
LATER = re.compile(
    r'<script (?=[^>]*src="[^"]*_static/(?:sphinx_highlight|clipboard\.min|copybutton|design-tabs|site)\.js)'
)
"""Scripts that run when the page is there; the others define names for scripts in the page."""


FIGURE = re.compile(r'<img (?![^>]*loading=)(?=[^>]*src="[^"]*_images/)')


def lighter(page: str) -> str:
    """Return the HTML of a page other than that of the search; figures but the first load late."""
    page = LATER.sub("<script defer ", OF_SEARCH.sub("", page))
    first, mark, rest = page.partition("_images/")
    return first + mark + FIGURE.sub('<img loading="lazy" ', rest)


def write(site: Path) -> None:
    """Change the pages of a site, and remove the source maps of the theme."""
    for path in site.rglob("*.map"):
        path.unlink()
    for path in site.rglob("*.html"):
        relative = path.relative_to(site).as_posix()
        if relative != "search.html" and not relative.startswith(("_static/", "play/")):
            path.write_text(lighter(path.read_text("utf-8")), "utf-8")
