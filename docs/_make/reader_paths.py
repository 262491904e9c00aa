"""The readers' paths: ``docs/index.md`` lists the pages for each reader, in order.

On the site, each of these pages ends with a link to the next one, so that no path has a dead end.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

INDEX = "docs/index.md"
_ITEM = re.compile(r"^\d+\. .*?(?=^\d+\. |\Z)", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\[(?P<title>[^\]]+)\]\((?P<file>[^)#]+\.md)(?:#[^)]*)?\)")


@dataclass(frozen=True)
class Stop:
    """A numbered item of a path.

    Attributes:
        title: text of its first link.
        pages: files that it links, relative to the root of the repository; the first one is the
            page of the item.
    """

    title: str
    pages: tuple[str, ...]


def paths(index: str) -> Iterator[tuple[str, list[Stop]]]:
    """Yield heading and items of each path in the text of the list of pages."""
    for part in index.split("\n## ")[1:]:
        heading, _, listed = part.partition("\n")
        stops = []
        for item in _ITEM.findall(listed):
            links = [(one["title"], _from_root(one["file"])) for one in _LINK.finditer(item)]
            if links:
                stops.append(Stop(links[0][0], tuple(file for _, file in links)))
        yield heading, stops


def _from_root(file: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(INDEX), file))


def way_on(page: str, index: str) -> str:
    """Return a section with the next page of each path that the page is on; "" if it is on none.

    The last page of a path leads back to the list of all paths. A page that a path names twice, for
    two of its sections, counts where it is named first.

    Args:
        page: file of the page, relative to the root of the repository.
        index: text of the list of pages.
    """
    here = posixpath.dirname(page)
    home = posixpath.relpath(INDEX, here)
    rows = []
    for heading, stops in paths(index):
        place = next((k for k, stop in enumerate(stops) if page in stop.pages), None)
        if place is not None:
            seen = {one.pages[0] for one in stops[: place + 1]} | {page}
            after = next((one for one in stops[place + 1 :] if one.pages[0] not in seen), None)
            anchor = re.sub(r"\W+", "-", heading.lower()).strip("-")
            target = posixpath.relpath(after.pages[0], here) if after else home
            title = after.title if after else "all paths"
            rows.append(f"- [{heading}]({home}#{anchor}): [{title}]({target})")
    return "\n## Next on your path\n\n" + "\n".join(rows) + "\n" if rows else ""


def write(folder: Path) -> None:
    """Append the section to the pages in a folder that has the files of the repository."""
    index = (folder / INDEX).read_text("utf-8")
    for page in {page for _, stops in paths(index) for stop in stops for page in stop.pages}:
        with (folder / page).open("a", encoding="utf-8") as file:
            file.write(way_on(page, index))
