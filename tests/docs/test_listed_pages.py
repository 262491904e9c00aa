"""Pages of tasks that only a registry lists: texts of packages are text, and figures drawings."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from neurogym_registry.folder import Registry
from scripts import loaded

NAME, TASK = "neurogym-task-hostile", "Dots-v0"
EVIL = (
    '"><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x1b[31m\n\n'
    "```{raw} html\n<script>alert(3)</script>\n```\n\n"
    ":::{raw} html\n<script>alert(4)</script>\n:::\n"
    "# Heading\n\n[link](javascript:alert(5)) ![i](https://evil.example/i.png) {raw-html}`x` |\n"
    "- item\n1. one\n(target)=\n&lt;b&gt; {{x}} $y$ <https://evil.example> % note\n+++\n===\n"
)
DRAWING = (
    "<svg xmlns='http://www.w3.org/2000/svg' width='40' height='20'>"
    "<rect width='40' height='20' fill='#ff0000'/></svg>"
)


@pytest.fixture(scope="module")
def maker() -> Any:
    return loaded("listed_pages")


def registry(folder: Path, drawing: str = "", **fields: Any) -> Registry:
    """A registry of one package with one task, not validated; texts are EVIL unless given."""
    rows = [{"name": EVIL, "type": EVIL, "doc": EVIL, "default": {"uniform": [EVIL]}}]
    paper = {"doi": '10.1000/"x><script>', "kind": EVIL, "title": EVIL, "authors": EVIL}
    other = {"doi": "javascript:alert(6)", "kind": "original"}
    task = {
        "name": TASK,
        "title": EVIL,
        "summary": EVIL,
        "tags": [EVIL],
        "species": [EVIL],
        "references": [{**paper, "year": 1999}, other],
        "docstring": EVIL,
        "parameters": rows,
        "channels": rows,
        "actions": rows,
        "periods": [{"name": EVIL, "duration": EVIL}],
        **fields,
    }
    if drawing:
        path = folder / "releases" / NAME / "1.0.0" / "Dots-v0.svg"
        path.parent.mkdir(parents=True)
        path.write_text(drawing, "utf-8")
        found = hashlib.sha256(drawing.encode()).hexdigest()
        task["figure"] = {"file": "1.0.0/Dots-v0.svg", "sha256": found}
    counted = {"core": EVIL, "passed": 30, "failed": 0, "expected_failures": [], "level": "full"}
    release = {
        "version": "1.0.0",
        "requires_core": ">=1.0,<2",
        "requires_python": ">=3.11",
        "license": EVIL,
        "files": [],
        "conformance": counted,
        "yanked": None,
        "offers": {},
        "tasks": [task],
        "wrappers": [],
    }
    entry = {
        "schema": 1,
        "name": NAME,
        "summary": EVIL,
        "added": "2026-11-22",
        "maintainers": [{"name": EVIL}],
        "repository": "https://example.org/x) <script>",
    }
    return Registry(folder=folder, entries={NAME: entry}, releases={NAME: {"1.0.0": release}})


def write(maker: Any, folder: Path, listed: Registry) -> tuple[Any, str]:
    (folder / "thumbnails").mkdir()
    (page,) = maker.write(folder / "source", folder / "thumbnails", listed)
    return page, (folder / "source" / f"{page.page}.md").read_text("utf-8")


class Reader(HTMLParser):
    """Collects the tags of a page with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def assert_harmless(found: Reader, scripts: int = 0) -> None:
    """Assert that the page has no script, handler, foreign picture or address but the paper's."""
    assert sum(tag == "script" for tag, _ in found.tags) == scripts
    for tag, attributes in found.tags:
        assert not any(key.startswith("on") for key in attributes), (tag, attributes)
        assert "evil.example" not in str(attributes.get("src"))
        address = str(attributes.get("href", ""))
        assert "javascript" not in address
        assert "evil.example" not in address


def test_no_text_of_a_listed_package_has_a_meaning_in_markdown(maker: Any, tmp_path: Path) -> None:
    markdown_it = pytest.importorskip("markdown_it")
    page, text = write(maker, tmp_path, registry(tmp_path))
    assert "\u202e" not in text
    assert "\x1b" not in text
    found = Reader(markdown_it.MarkdownIt("commonmark").enable("table").render(text))
    assert_harmless(found)
    kinds = [tag for tag, _ in found.tags]
    assert "img" not in kinds
    assert kinds.count("h1") == 1
    assert "<script>alert(1)</script>" in found.text
    links = [attributes["href"] for tag, attributes in found.tags if tag == "a"]
    assert links == ["https://doi.org/10.1000/%22x%3E%3Cscript%3E"]
    fences = [line for line in text.splitlines() if line.startswith(("```", ":::"))]
    assert fences == [":::{note}", ":::", "```console", "```", "```bibtex", "```"]
    assert not page.installed


def test_the_page_has_what_the_registry_lists(maker: Any, tmp_path: Path) -> None:
    rows = [{"name": "coherence", "type": "float", "default": 0.5, "doc": "of the dots"}]
    said = {"title": "Moving dots", "summary": "Report it.", "tags": ["perceptual"], "species": []}
    doi = {"doi": "10.1038/nature12742", "kind": "original", "authors": "Mante, V.", "year": 2013}
    text = "Report it.\n\nTwo things:\n\n- a *b*;\n- c.\n\nArgs:\n    coherence: of the dots."
    known = {"docstring": text, "references": [doi], "parameters": rows}
    periods = [{"name": "go", "duration": {"uniform": [1, 2]}}]
    listed = registry(tmp_path, **said, **known, periods=periods, channels=[], actions=[])
    page, text = write(maker, tmp_path, listed)
    assert (page.id, page.title, page.paper) == ("hostile/Dots-v0", "Moving dots", "Mante (2013)")
    for part in (
        "# Moving dots",
        "$ ngym install neurogym-task-hostile",
        "`conformance: 30 passed, 0 failed`",
        "- a \\*b\\*\\;\n- c\\.",
        "| coherence | float | 0\\.5 | of the dots |",
        "| go | uniform\\(1\\, 2\\) ms |",
        "[doi:10\\.1038\\/nature12742](<https://doi.org/10.1038/nature12742>)",
        "@article{Mante2013,",
        "is not installed where this site was built",
    ):
        assert part in text, part
    assert "Args" not in text


def test_a_listed_task_is_on_the_wall_as_not_installed(maker: Any, tmp_path: Path) -> None:
    page, _ = write(maker, tmp_path, registry(tmp_path))
    wall = sys.modules[maker.TaskPage.__module__].wall([page])
    found = Reader(wall)
    assert_harmless(found)
    assert "not installed" in found.text
    assert [attributes["href"] for tag, attributes in found.tags if tag == "a"] == [
        "tasks/hostile/Dots-v0.html"
    ]
    assert not any(line.startswith(("```", ":::")) for line in wall.splitlines())


def test_tasks_of_installed_packages_and_names_that_are_none_get_no_page(
    maker: Any, tmp_path: Path
) -> None:
    taken = "neurogym-task-perceptual"
    listed = registry(tmp_path)
    release = listed.releases[NAME]["1.0.0"]
    entries = {taken: {**listed.entries[NAME], "name": taken}}
    again = Registry(folder=tmp_path, entries=entries, releases={taken: {"1.0.0": release}})
    assert maker.write(tmp_path, tmp_path, again) == []
    odd = registry(tmp_path, name="../../Dots-v0")
    assert maker.write(tmp_path, tmp_path, odd) == []


def test_a_figure_is_the_file_of_the_registry(maker: Any, tmp_path: Path) -> None:
    page, text = write(maker, tmp_path, registry(tmp_path, DRAWING))
    assert "](Dots-v0.svg)" in text
    for copy in (tmp_path / "source/tasks/hostile/Dots-v0.svg", tmp_path / page.picture):
        assert copy.read_text("utf-8") == DRAWING


@pytest.mark.parametrize(
    "drawing",
    [
        DRAWING.replace("<rect", "<script>alert(1)</script><rect"),
        DRAWING.replace("<rect", "<image href='/etc/passwd'/><rect"),
        DRAWING.replace("<rect", "<image href='https://evil.example/x.png'/><rect"),
        "<svg",
    ],
    ids=["script", "file", "address", "no picture"],
)
def test_a_figure_that_is_not_only_a_drawing_is_left_out(
    maker: Any, tmp_path: Path, drawing: str
) -> None:
    page, text = write(maker, tmp_path, registry(tmp_path, drawing))
    assert page.picture == ""
    assert "](Dots-v0." not in text


def test_a_figure_outside_of_its_package_or_with_another_hash_is_left_out(
    maker: Any, tmp_path: Path
) -> None:
    (tmp_path / "secret.svg").write_text(DRAWING, "utf-8")
    right = hashlib.sha256(DRAWING.encode()).hexdigest()
    outside = {"file": "../../secret.svg", "sha256": right}
    assert maker.figure_of(registry(tmp_path), NAME, {"figure": outside}) is None
    listed = registry(tmp_path, DRAWING)
    changed = {"file": "1.0.0/Dots-v0.svg", "sha256": "0" * 64}
    assert maker.figure_of(listed, NAME, {"figure": {**changed, "sha256": right}}) is not None
    assert maker.figure_of(listed, NAME, {"figure": changed}) is None


@pytest.mark.slow
def test_sphinx_builds_the_pages_of_a_hostile_package_as_text(maker: Any, tmp_path: Path) -> None:
    for module in ("sphinx", "myst_parser", "sphinx_design"):
        pytest.importorskip(module, reason="the environment of the site is not installed")
    page, _ = write(maker, tmp_path, registry(tmp_path))
    makers = sys.modules[maker.TaskPage.__module__]
    source = tmp_path / "source"
    makers.write_lists(source / "tasks", [page])
    wall = f"# Wall\n\n```{{raw}} html\n{makers.wall([page])}\n```\n\n"
    (source / "index.md").write_text(wall + "```{toctree}\ntasks/index\n```\n", "utf-8")
    settings = (
        'extensions = ["myst_parser", "sphinx_design"]\nhtml_theme = "basic"\n'
        'myst_enable_extensions = ["colon_fence", "attrs_block", "attrs_inline"]\n'
    )
    (source / "conf.py").write_text(settings, "utf-8")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", str(source), str(tmp_path / "o")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    # The search of Sphinx 8 puts titles, which are text in its index, into the page as HTML.
    search = (tmp_path / "o" / "_static" / "searchtools.js").read_text("utf-8")
    assert "linkEl.innerHTML = _escapeHTML(title)" in search
    for name in ("index", "tasks/index", "tasks/hostile/index", "tasks/hostile/Dots-v0"):
        text = (tmp_path / "o" / f"{name}.html").read_text("utf-8")
        assert "<script>alert" not in text, name
        found = Reader(text)
        for tag, attributes in found.tags:
            assert not any(key.startswith("on") for key in attributes), (name, tag)
            for address in (str(attributes.get("href")), str(attributes.get("src"))):
                assert "evil.example" not in address, (name, tag)
                assert "javascript:" not in address, (name, tag)
