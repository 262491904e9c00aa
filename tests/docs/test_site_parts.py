"""Parts that the build of the site adds to pages: entries of the search, data, speed, links."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scripts import loaded

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def words() -> Any:
    return loaded("search_words")


def test_entries_of_the_search_are_below_the_title_and_a_comment(words: Any) -> None:
    page = words.with_entries(
        "---\nx: 1\n---\n\n# Title\n\nText.\n\n# Other\n", ["a b", "a b", "c"]
    )
    assert page.startswith("---\nx: 1\n---\n\n# Title\n\n```{index} ! a b\n```\n\n```{index} ! c\n")
    assert page.count("{index}") == 2
    for swallows in ("<!-- by -->", "```{raw} html\n<p>x</p>\n```"):
        page = words.with_entries(f"# T\n\n{swallows}\n\nText", ["a"])
        assert page.startswith(f"# T\n\n{swallows}\n\n```{{index}} ! a\n```\n")


def test_the_pages_with_entries_exist_and_tasks_have_theirs(words: Any) -> None:
    root = DOCS.parent
    assert [
        name for name in words.WORDS if name != "cite" and not (root / f"{name}.md").is_file()
    ] == []
    from neurogym_core.ecosystem.discovery import installed

    known = {task.name for task in installed().tasks}
    assert {name for names in words.TASKS.values() for name in names} - known == set()
    assert words.of_task("DawTwoStep-v0") == ["DawTwoStep", "two-step"]


def test_decisions_and_the_changelog_are_left_out_of_the_search(words: Any, tmp_path: Path) -> None:
    for name in (
        *words.WORDS,
        "docs/glossary",
        "docs/decisions/0001-x",
        "docs/wrappers/noise",
        "CHANGELOG",
    ):
        path = tmp_path / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("# Noise\n\n| dt | Length of a step |\n", "utf-8")
    words.write(tmp_path)
    left_out = [
        path for path in tmp_path.rglob("*.md") if "nosearch: true" in path.read_text("utf-8")
    ]
    assert {path.name for path in left_out} == {"0001-x.md", "CHANGELOG.md"}
    assert "{index} ! noise wrapper" in (tmp_path / "docs/wrappers/noise.md").read_text("utf-8")
    assert "{index} ! dt\n" in (tmp_path / "docs/glossary.md").read_text("utf-8")


def test_the_speed_is_that_of_the_table() -> None:
    maker = loaded("page_parts")
    rows = [
        f"| {row} | – | – | 10x | – | {number} | | | ok |"
        for row, number in zip(maker.SPEEDS, ("2e+06", "1.4e+07", "4.9e+07"), strict=True)
    ]
    text = maker.summary("# Performance\n\n" + "\n".join(rows) + "\n")
    assert "an env 2.0 million, a vector env of 64 14 million, a dataset 49 million." in text
    assert "a dataset: 49 million, NeuroGym 4.9 million" in text
    with pytest.raises(ValueError, match=r"has no row 'dataset 256 x 100"):
        maker.summary("\n".join(rows[:2]))


def test_the_real_page_has_the_rows() -> None:
    assert "million" in loaded("page_parts").summary((DOCS / "performance.md").read_text("utf-8"))


def test_pages_of_results_link_their_data(tmp_path: Path) -> None:
    maker = loaded("page_parts")
    (tmp_path / "docs").mkdir()
    for name in maker.DATA:
        (tmp_path / "docs" / f"{name}.md").write_text("# Title\n\nText.\n", "utf-8")
    maker.add_data(tmp_path, tmp_path / "data")
    for name, file in maker.DATA.items():
        text = (tmp_path / "docs" / f"{name}.md").read_text("utf-8")
        assert f'href="../data/{file}"' in text
        assert text.endswith("\n\nText.\n")
        assert (tmp_path / "data" / file).is_file()
    (tmp_path / "docs" / "results.md").write_text("Text\n\nwithout a title", "utf-8")
    with pytest.raises(ValueError, match="Expected its title"):
        maker.add_data(tmp_path, tmp_path / "again")


def test_pages_load_the_index_of_the_search_in_the_search_only(tmp_path: Path) -> None:
    maker = loaded("lighten")
    (tmp_path / maker.STYLE).parent.mkdir(parents=True)
    (tmp_path / maker.STYLE).write_text("", "utf-8")
    page = (
        '<script src="../_static/doctools.js?v=1"></script>\n'
        '<script src="../_static/copybutton.js?v=1"></script>\n'
        '<script data-x="y" src="../_static/design-tabs.js?v=1"></script>\n'
        '    <script src="../_static/searchtools.js"></script>\n'
        '    <script src="../searchindex.js"></script>\n'
        '<img alt="a" src="../_images/a.png" /><img alt="b" src="../_images/b.png" />'
    )
    for name in ("docs/tour.html", "search.html", "play/index.html", "_static/x.js.map"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(page, "utf-8")
    maker.write(tmp_path)
    assert (tmp_path / "search.html").read_text("utf-8") == page
    assert (tmp_path / "play" / "index.html").read_text("utf-8") == page
    assert not (tmp_path / "_static" / "x.js.map").exists()
    assert (tmp_path / "docs" / "tour.html").read_text("utf-8") == (
        '<script src="../_static/doctools.js?v=1"></script>\n'
        '<script defer src="../_static/copybutton.js?v=1"></script>\n'
        '<script defer data-x="y" src="../_static/design-tabs.js?v=1"></script>\n'
        '<img alt="a" src="../_images/a.png" />'
        '<img loading="lazy" alt="b" src="../_images/b.png" />'
    )


STYLE = "".join(
    [
        '.fa-moon{--fa:"\\f186"}', '.fa-mug,.fa-cup{--fa:"\\f0f4"}', '.fa-quote{--fa:"\\""}',
        ".fa-lg{font-size:1.25em}", ':root{--pst-icon-bell:"\uf0f3"}',
    ]
)  # fmt: skip


def test_icons_that_pages_show_are_left_with_their_characters() -> None:
    maker = loaded("lighten")
    style, characters = maker.shown_icons(STYLE, {"fa-moon", "fa-solid"})
    others = ('.fa-mug,.fa-cup{--fa:"\\f0f4"}', '.fa-quote{--fa:"\\""}')
    assert style == STYLE.replace(others[0], "").replace(others[1], "")
    assert characters == {0xF186, 0xF0F3}
    assert maker.shown_icons(STYLE, {"fa-cup", "fa-moon", "fa-quote"})[0] == STYLE
