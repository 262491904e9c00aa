"""Configuration of Sphinx for the site, which `docs/_make/build_site.py` builds.

Sphinx reads a copy of the repository's Markdown files, in their folders, and the generated pages
between them. Relative links of the files therefore lead to the same places as in the repository.
"""

from __future__ import annotations

import html
import posixpath
import re
import sys
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

import neurogym_core

sys.path.insert(0, str(Path(__file__).with_name("_make")))
import reader_paths

REPOSITORY = next(
    (line.partition(", ")[2] for line in metadata("neurogym-core").get_all("Project-URL") or ()),
    "",
)
"""The public address of the sources, the first one of the metadata; "" while there is none."""

project = "neurogym-core"
author = "The neurogym-core authors"
project_copyright = author
version = release = neurogym_core.__version__

extensions = ["myst_parser", "sphinx_design", "sphinx_copybutton"]
myst_enable_extensions = ["colon_fence", "attrs_block", "attrs_inline"]
myst_heading_anchors = 4
source_suffix = {".md": "markdown"}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

# Pages without a list of their sections: their tables need the width.
WIDE = ("index", "tasks/index", "docs/gallery-results", "docs/performance", "docs/agent-results")
TABLES = (
    "docs/leaderboard",
    "docs/neurons",
    "docs/coverage",
    "docs/results",
    "docs/data-not-shipped",
)
"""Pages with the menu on the left alone, whose tables have more columns than text is wide."""

html_theme = "pydata_sphinx_theme"
html_title = "neurogym-core"
html_context = {
    "default_mode": "auto",
    "edit_page_url_template": f"{REPOSITORY}/edit/main/{{{{ file_name }}}}",
    "edit_page_provider_name": "the repository",
}
html_static_path = ["_static"]
html_favicon = "_static/favicon.svg"
html_extra_path = ["_build/extra"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": f"neurogym-core {version}"},
    "navbar_end": ["theme-switcher", "navbar-icon-links"],
    # Without a public repository, there is nothing to link to.
    "use_edit_page_button": bool(REPOSITORY),
    "icon_links": [{"name": "Repository", "url": REPOSITORY, "icon": "fa-solid fa-code-branch"}]
    if REPOSITORY
    else [],
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": {
        "**": ["page-toc", "edit-this-page"],
        **{page: [] for page in (*WIDE, *TABLES)},
    },
    "article_footer_items": [],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": False,
    "navigation_depth": 2,
}
_ALONE = ("index", "CHANGELOG", "cite", "docs/api", "docs/glossary")
html_sidebars = {page: [] for page in (*_ALONE, *WIDE) if page != "tasks/index"}

# Words of questions, which say nothing about the page that answers them.
SearchEnglish.stopwords = frozenset(SearchEnglish.stopwords) | {
    "can", "do", "does", "how", "i", "is", "my", "what", "where", "which", "with", "you", "your",
}  # fmt: skip
html_search_scorer = str(Path(__file__).with_name("_static") / "search.js")

# Folders whose pages are listed in the menu below their first page.
MENUS = {
    "docs/index": ("docs", ("index", "api", "glossary")),
    "docs/decisions/README": ("docs/decisions", ("README",)),
}
OTHERS = "More"
"""Heading of the pages in the menu that no reader's path has."""
_FOLDER_LINK = re.compile(r"\]\(((?:[\w.-]+/)*[\w.-]+)/?\)")


def _read(app: Sphinx, page: str, source: list[str]) -> None:
    """Let links to folders lead to their README, and list the pages of a folder in the menu."""
    root, here = Path(app.srcdir), posixpath.dirname(page)

    def readme(link: re.Match[str]) -> str:
        if (root / here / link[1] / "README.md").is_file():
            return f"]({link[1]}/README.md)"
        return link[0]

    source[0] = _FOLDER_LINK.sub(readme, source[0])
    if page in MENUS:
        folder, left_out = MENUS[page]
        names = sorted(path.stem for path in (root / folder).glob("*.md"))
        listed = [name for name in names if name not in left_out]
        groups = _by_reader(source[0], listed) if page == "docs/index" else {"": listed}
        for heading, pages in groups.items():
            caption = f":caption: {heading}\n" if heading else ""
            menu = "\n".join(pages)
            source[0] += f"\n\n```{{toctree}}\n:hidden:\n{caption}\n{menu}\n```\n"


def _by_reader(index: str, names: list[str]) -> dict[str, list[str]]:
    """Return the pages of ``docs`` by the first reader's path that has them, in its order."""
    groups: dict[str, list[str]] = {}
    left = dict.fromkeys([*names, "decisions/README"])
    for heading, stops in reader_paths.paths(index):
        pages = [posixpath.relpath(page, "docs")[:-3] for stop in stops for page in stop.pages]
        groups[heading] = [page for page in dict.fromkeys(pages) if page in left]
        for page in groups[heading]:
            del left[page]
    return {heading: pages for heading, pages in {**groups, OTHERS: list(left)}.items() if pages}


LONGEST = 200
"""Characters of a description."""


def _head(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Describe the page in its head, and link its file in the repository if it has one."""
    if doctree is not None:
        written = (Path(__file__).parents[1] / f"{page}.md").is_file()
        context["theme_use_edit_page_button"] = bool(REPOSITORY) and written
        given = re.search(
            r'name="description"|content="([^"]*)" name="description"', _tags(context)
        )
        said = html.unescape(given[1] or "") if given else _first_words(doctree)
        title = html.unescape(re.sub("<[^>]+>", "", context.get("title", "")))
        rows = {"og:title": title, "og:type": "article", "og:site_name": project}
        rows |= {"og:description": said} if said else {}
        if address := app.config.html_baseurl:
            rows |= {"og:url": context["pageurl"], "og:image": address + _picture(page)}
        tags = [
            f'<meta property="{key}" content="{html.escape(text)}">' for key, text in rows.items()
        ]
        if said and not given:
            tags.append(f'<meta name="description" content="{html.escape(said)}">')
        context["metatags"] = _tags(context) + "\n".join(tags)


def _picture(page: str) -> str:
    """Return the address of the picture that a link to a page is shown with."""
    thumbnail = f"thumbnails/{page.removeprefix('tasks/').replace('/', '-')}.png"
    extra = Path(__file__).parent / "_build" / "extra"
    return thumbnail if (extra / thumbnail).is_file() else "demo.png"


def _tags(context: dict[str, Any]) -> str:
    return context.get("metatags") or ""


def _first_words(doctree: nodes.document) -> str:
    """Return the beginning of the first paragraph of a page that is a sentence."""
    texts = (" ".join(one.astext().split()) for one in doctree.findall(nodes.paragraph))
    text = next((one for one in texts if len(one) > 40 and "ritten by" not in one), "")
    if len(text) <= LONGEST:
        return text
    return text[:LONGEST].rsplit(" ", 1)[0] + " …"


def setup(app: Sphinx) -> None:
    """Connect the changes that the files need to be pages."""
    app.connect("source-read", _read)
    app.connect("html-page-context", _head)
