"""Build the site: ``python docs/_make/build_site.py [--only TASK …]`` writes the folder ``site``.

Pages are the Markdown files of the repository, and pages that are generated from the installed
tasks and wrappers, and from the tasks that a registry (``--registry``) lists. All are put into ``docs/_build/source``, in the folders of the repository, from
where Sphinx builds them. A warning of Sphinx, or a snippet that fails, stops the build.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import api
import lighten
import listed_pages
import notebooks
import page_parts
import reader_paths
import search_words
import task_pages
import wrapper_pages
from markdown_parts import below_title

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "docs" / "_build" / "source"
EXTRA = ROOT / "docs" / "_build" / "extra"
"""Files that are copied to the root of the site."""
FILES = (
    "README.md",
    "CITATION.cff",
    "LICENSE",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "CODE_OF_CONDUCT.md",
    "SECURITY.md",
    "docs/*.md",
    "docs/decisions/*.md",
    "docs/wrappers/*.md",
    "docs/images/**/*.*",
    "plugins/*/README.md",
    "registry/*.md",
)
PAGES = ROOT / "docs" / "_pages"
"""Pages that only the site has, in its folders; `filled` puts values into them."""
PICTURES = ("demo.png", "demo-narrow.png")
"""Pictures in ``docs/images`` of the demo on the front page, for wide and narrow screens."""
SHOWN = (
    "perceptual/RoitmanShadlen-v0", "perceptual/PoissonClicks-v1", "ibl/IBLBlocks-v0",
    "value/DawTwoStep-v0", "timing/ReadySetGo-v0", "memory/ColourWheel-v0", "yang19/Go-v0",
    "control/StopSignal-v1",
)  # fmt: skip
"""Tasks on the front page."""


def copy_files() -> None:
    """Copy the Markdown files and pictures of the repository to the pages' folder."""
    for pattern in FILES:
        for path in sorted(ROOT.glob(pattern)):
            target = SOURCE / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)
    notebooks.write(SOURCE, EXTRA / "notebooks")
    reader_paths.write(SOURCE)
    glossary = SOURCE / "docs" / "glossary.md"
    public = (SOURCE / "docs" / "api.md").read_text("utf-8")
    glossary.write_text(page_parts.linked(glossary.read_text("utf-8"), public), "utf-8")
    (SOURCE / "packages").mkdir()
    maker = [sys.executable, api.__file__, str(SOURCE / "packages")]
    subprocess.run(maker, check=True)  # another process, which gets the stand-ins
    shutil.copy2(PAGES / "packages" / "index.md", SOURCE / "packages")
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    fields = dict(re.findall(r'^[ -]*([\w-]+): "?([^"\n]+)"?$', citation, re.MULTILINE))
    year = fields["date-released"][:4]
    given = {"title": fields["title"], "version": fields["version"], "authors": fields["name"]}
    (SOURCE / "cite.md").write_text(filled("cite.md", year=year, **given), "utf-8")


def filled(page: str, **values: str) -> str:
    """Return a page of `PAGES`, with values in place of ``{{name}}``."""
    text = (PAGES / page).read_text("utf-8")
    for name, value in values.items():
        text = text.replace(f"{{{{{name}}}}}", value)
    return text


def link_tasks(page: Path, pages: Sequence[task_pages.TaskPage]) -> None:
    """Link the ids of tasks in a page of ``docs`` to their pages."""
    known = {one.id for one in pages}
    text = re.sub(
        r"`(\w+/\w+-v\d+)`(?!\])",
        lambda found: f"[{found[0]}](../tasks/{found[1]}.md)" if found[1] in known else found[0],
        page.read_text("utf-8"),
    )
    page.write_text(text, "utf-8")


def main(arguments: Sequence[str]) -> int:
    """Build the site, and return the exit status of Sphinx."""
    parser = argparse.ArgumentParser(description="Build the site.")
    parser.add_argument("--only", nargs="*", metavar="TASK", help="ids of the tasks with pages")
    text = "folder of a registry, whose tasks have pages, too, where they are not installed"
    parser.add_argument(
        "--registry", type=Path, default=ROOT / "registry", metavar="FOLDER", help=text
    )
    text = "folder to write the site to"
    parser.add_argument("--to", type=Path, default=ROOT / "site", metavar="FOLDER", help=text)
    text = "public address of the site, which the heads of the pages name; default: none is named"
    parser.add_argument("--address", default="", metavar="URL", help=text)
    given = parser.parse_args(arguments)
    address = given.address and given.address.rstrip("/") + "/"
    started = time.perf_counter()
    registry = listed_pages.read(given.registry.resolve())
    for folder in (SOURCE, EXTRA):
        shutil.rmtree(folder, ignore_errors=True)
    SOURCE.mkdir(parents=True)
    copy_files()
    page_parts.add_data(SOURCE, EXTRA / "data")
    performance = SOURCE / "docs" / "performance.md"
    below_title(performance, page_parts.summary(performance.read_text("utf-8")))
    wrapper_pages.write(SOURCE)
    search_words.write(SOURCE)
    pages = task_pages.write(SOURCE, EXTRA, given.only)
    for name in ("teach", "faq"):
        link_tasks(SOURCE / "docs" / f"{name}.md", pages)
    listed = listed_pages.write(SOURCE, EXTRA / "thumbnails", registry)
    print(f"{len(listed)} tasks are listed in {given.registry.name}, and not installed.")
    task_pages.write_lists(SOURCE / "tasks", [*pages, *listed])
    wall = task_pages.wall([one for one in (*pages, *listed) if one.id in SHOWN])
    front = filled("index.md", n=str(len(pages) + len(listed)), wall=wall)
    (SOURCE / "index.md").write_text(front, "utf-8")
    for name in PICTURES:
        shutil.copy2(ROOT / "docs" / "images" / name, EXTRA / name)
    shutil.rmtree(given.to, ignore_errors=True)
    command = ["-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", "-E", "-j", "auto"]
    command += ["-D", f"html_baseurl={address}"]
    doctrees = str(SOURCE.parent / "doctrees")
    folders = ["-c", str(ROOT / "docs"), "-d", doctrees, str(SOURCE), str(given.to)]
    status = subprocess.run([sys.executable, *command, *folders], check=False).returncode
    if status == 0:
        lighten.write(given.to)
        print(f"Wrote {given.to}/index.html in {time.perf_counter() - started:.0f} s.")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
