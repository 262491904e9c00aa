"""The catalogue page as text: complete without the script, and no text of a package is markup."""

from __future__ import annotations

import base64
import hashlib
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import environments
import pytest
from click.testing import CliRunner
from neurogym_registry.folder import Registry, read_registry
from neurogym_registry.page import Html, element, page
from neurogym_registry.writing import write_text

from neurogym_core.tools import main

makers = sys.modules["ngym_test_registry_makers"]
NAME = "neurogym-task-dots"
EVIL = '"><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x1b[31m'


class Reader(HTMLParser):
    """Collects the tags with their attributes, and the text outside style and script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "input", "img", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] not in (["style"], ["script"]):
            self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def evil_registry(tmp_path: Path) -> Registry:
    """A registry that was not validated."""
    reference = {
        "doi": '10.1000/"onmouseover="x',
        "kind": EVIL,
        "title": EVIL,
        "authors": EVIL,
        "year": 1999,
    }
    named = [
        {"name": EVIL, "type": EVIL, "doc": EVIL, "default": {"uniform": [EVIL]}, "duration": EVIL}
    ]
    task = makers.task_row(
        "x",
        title=EVIL,
        summary=EVIL,
        tags=[EVIL],
        species=[EVIL],
        references=[reference],
        docstring=EVIL,
        parameters=named,
        channels=named,
        actions=named,
        periods=named,
        figure={"file": "../../../etc/passwd", "sha256": "0" * 64},
    )
    entry = {
        "schema": 1,
        "name": NAME,
        "summary": EVIL,
        "added": "2026-11-21",
        "maintainers": [{"name": EVIL}],
        "repository": "javascript:alert(3)",
    }
    release = makers.release(NAME, license=EVIL, tasks=[task])
    return Registry(folder=tmp_path, entries={NAME: entry}, releases={NAME: {"1.0.0": release}})


def test_no_text_of_a_package_becomes_markup(tmp_path: Path) -> None:
    text = page(evil_registry(tmp_path))
    found = Reader(text)
    assert len(found.all("script")) == 1
    assert found.all("img") == []
    assert not any(key.startswith("on") for _, attributes in found.tags for key in attributes)
    links = [one["href"] for one in found.all("a")] + [one["href"] for one in found.all("link")]
    assert all(
        re.match(r"https://doi\.org/10\.[^\"<> ]*$|#tasks$|data:,$", href) for href in links
    ), links
    assert "<script>alert(1)</script>" in found.text
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert found.open == []


def test_elements_escape_what_is_not_made_by_them() -> None:
    assert (
        element("p", "<b>", Html("<i></i>"), None, 3, title='"')
        == '<p title="&quot;">&lt;b&gt;<i></i>3</p>'
    )
    assert element("input", hidden=True, disabled=None) == "<input hidden>"


def test_the_policy_allows_its_own_style_and_script_and_nothing_else(tmp_path: Path) -> None:
    text = page(evil_registry(tmp_path))
    found = Reader(text)
    (policy,) = [
        one["content"]
        for one in found.all("meta")
        if one.get("http-equiv") == "Content-Security-Policy"
    ]
    for tag in ("style", "script"):
        body = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy
    assert "unsafe" not in policy


@pytest.fixture
def registry(keeper):
    drawing = (
        "<svg xmlns='http://www.w3.org/2000/svg' width='40' height='20'><rect width='40'"
        " height='20'/></svg>"
    )
    figure = {"file": "1.0.0/Dots-v0.svg", "sha256": hashlib.sha256(drawing.encode()).hexdigest()}
    periods = [
        {"name": "fixation", "duration": 300},
        {"name": "go", "duration": {"uniform": [1, 2]}},
    ]
    keeper.package(
        NAME, "1.0.0", tasks=[makers.task_row("neurogym_task_dots", figure=figure, periods=periods)]
    )
    write_text(keeper.folder / "releases" / NAME / "1.0.0" / "Dots-v0.svg", drawing)
    keeper.entry("neurogym-task-empty")
    keeper.build()
    return keeper


def test_the_page_is_complete_without_a_script(registry) -> None:
    found = Reader(page(read_registry(registry.folder)))
    for part in (
        "dots/Dots-v0",
        "Report the net direction of dots.",
        "ngym install neurogym-task-dots",
        "conformance: 30 passed, 0 failed",
        "uniform(1, 2) ms",
        "doi:10.1038/nature12742",
        "@article",
        "neurogym-task-empty (no release yet)",
    ):
        assert part in found.text, part
    (picture,) = found.all("img")
    assert picture["src"].startswith("data:image/svg+xml;base64,")
    assert "fixation, go" in picture["alt"]
    assert [one["hidden"] for one in found.all("button") if "hidden" in one] == [
        None
    ] * 2  # shown by the script


def test_the_same_files_give_the_same_page(registry) -> None:
    assert page(read_registry(registry.folder)) == page(read_registry(registry.folder))


def test_the_command_writes_the_page_of_a_valid_registry_only(registry, tmp_path: Path) -> None:
    call = ["registry", "site", str(registry.folder), "-o", str(tmp_path / "out" / "page.html")]
    assert CliRunner().invoke(main, call, prog_name="ngym").exit_code == 0
    assert (tmp_path / "out" / "page.html").read_text("utf-8").startswith("<!doctype html>")
    registry.release(NAME, "2.0.0", license="Mine")
    refused = CliRunner().invoke(main, call, prog_name="ngym")
    assert refused.exit_code == 1
    assert "[licence]" in refused.stderr


def test_a_picture_that_was_changed_is_left_out(registry) -> None:
    write_text(registry.folder / "releases" / NAME / "1.0.0" / "Dots-v0.svg", "<svg/>")
    assert Reader(page(read_registry(registry.folder))).all("img") == []


def test_the_page_of_the_registry_of_this_repository_has_all_of_its_tasks() -> None:
    """Its packages have no release: tasks are listed from their sources, without a badge."""
    registry = read_registry(environments.REPOSITORY / "registry")
    found = Reader(page(registry))
    listed = {
        f"{name.removeprefix('neurogym-task-')}/{task['name']}"
        for name, sources in registry.sources.items()
        for task in sources["tasks"]
    }
    shown = {one["id"] for one in found.all("details")}
    assert shown == listed
    assert len(listed) >= 101
    assert "None" not in found.text
    assert "conformance" not in found.text
    for part in (
        "neurogym-task-visual, from its sources",
        "pip install -e plugins/neurogym-task-visual",
        "neurogym-task-visual (no release yet)",
        "Britten, Kenneth H. and Shadlen, Michael N.",
    ):
        assert part in found.text, part


def test_the_command_writes_the_page_of_the_registry_of_this_repository(tmp_path: Path) -> None:
    target = tmp_path / "catalogue.html"
    folder = environments.REPOSITORY / "registry"
    done = CliRunner().invoke(
        main, ["registry", "site", str(folder), "-o", str(target)], prog_name="ngym"
    )
    assert done.exit_code == 0, done.output
    assert "visual/RandomDotMotion-v0" in target.read_text("utf-8")
