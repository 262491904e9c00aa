"""Make the pages of the built site load less: no script before the text, no index but in the search,
and of the theme's icons those that are shown.

The theme loads the index of the search, 130 kB compressed, on every page, before it shows anything. It
has 2,000 icons, of which some twenty are shown: 250 kB of fonts, 66 kB of rules, and a script that
draws them again."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from fontTools import subset

OF_SEARCH = re.compile(
    r'[ \t]*<script src="(?:\.\./)*(?:_static/(?:searchtools|language_data)|searchindex)\.js[^>]*></script>\n?'
)
LATER = re.compile(
    r'<script (?=[^>]*src="[^"]*_static/(?:sphinx_highlight|clipboard\.min|copybutton|design-tabs|site)\.js)'
)
"""Scripts that run when the page is there; the others define names for scripts in the page."""


OF_ICONS = re.compile(
    r'[ \t]*<script [^>]*src="[^"]*_static/scripts/fontawesome\.js[^>]*></script>\n?'
)
"""The script that replaces icons of the font by drawings."""
ICON = re.compile(r'(?P<names>(?:\.fa-[\w-]+,?)+)\{--fa:"(?:[^"\\]|\\.)+"\}')
"""The rule of an icon in the theme's style."""
PRIVATE = re.compile(r"\\([ef][0-9a-f]{3})|([\ue000-\uf8ff])")
"""A character of the icons' fonts, as it is or as an escape."""
STYLE = "_static/styles/pydata-sphinx-theme.css"
FIGURE = re.compile(r'<img (?![^>]*loading=)(?=[^>]*src="[^"]*_images/)')


def lighter(page: str) -> str:
    """Return the HTML of a page other than that of the search; figures but the first load late."""
    page = LATER.sub("<script defer ", OF_SEARCH.sub("", without_drawn_icons(page)))
    first, mark, rest = page.partition("_images/")
    return first + mark + FIGURE.sub('<img loading="lazy" ', rest)


def without_drawn_icons(page: str) -> str:
    """Return the HTML of a page without the script that draws icons."""
    return OF_ICONS.sub("", page)


def shown_icons(style: str, names: Iterable[str]) -> tuple[str, set[int]]:
    """Return the theme's style with the rules of some icons alone, and the characters in it.

    Args:
        style: the style.
        names: classes of icons that pages and scripts have, such as "fa-moon".
    """
    wanted = {f".{name}" for name in names}
    style = ICON.sub(lambda rule: rule[0] if wanted & set(rule["names"].split(",")) else "", style)
    found = PRIVATE.finditer(style)
    return style, {int(one[1], 16) if one[1] else ord(one[2]) for one in found}


def subset_font(path: Path, characters: Iterable[int]) -> None:
    """Leave some characters in the file of a font (WOFF2), and its names and licence."""
    options = subset.Options(flavor="woff2", name_IDs=["*"])
    font = subset.load_font(path, options)
    chosen = subset.Subsetter(options)
    chosen.populate(unicodes=characters)
    chosen.subset(font)
    subset.save_font(font, path, options)


def write(site: Path) -> None:
    """Change the pages of a site, and remove source maps, and icons that no page shows."""
    for path in site.rglob("*.map"):
        path.unlink()
    names: set[str] = set()
    for path in [*site.rglob("*.html"), *site.glob("_static/scripts/pydata*.js")]:
        names.update(re.findall(r"fa-[\w-]+", path.read_text("utf-8")))
    style, characters = shown_icons((site / STYLE).read_text("utf-8"), names)
    (site / STYLE).write_text(style, "utf-8")
    for path in site.glob("_static/vendor/fontawesome/webfonts/*.woff2"):
        subset_font(path, characters)
    for path in site.glob("_static/scripts/fontawesome.js*"):
        path.unlink()
    for path in site.rglob("*.html"):
        relative = path.relative_to(site).as_posix()
        if relative.startswith(("_static/", "play/")):
            continue
        change = without_drawn_icons if relative == "search.html" else lighter
        path.write_text(change(path.read_text("utf-8")), "utf-8")
