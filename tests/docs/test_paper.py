"""Every number in the notes for a paper is read from a file of measurements or from the sources."""

from __future__ import annotations

import re
from importlib.metadata import entry_points
from pathlib import Path

from scripts import loaded

maker = loaded("paper")
WRITTEN = maker.TARGET.read_text("utf-8")
ROOT = Path(__file__).resolve().parents[2]


def test_the_tables_are_fresh() -> None:
    assert maker.page() == WRITTEN, "run `python docs/_make/paper.py`, and commit docs/paper"


def test_the_part_written_by_hand_has_years_of_papers_alone_as_numbers() -> None:
    by_hand, _, below = WRITTEN.partition("<!-- Written below")
    assert set(re.findall(r"\d+", by_hand)) <= {"2013", "2016", "2019", "2022"}
    assert len(re.findall(r"\d+", below)) > 100


def test_every_table_names_a_source_that_exists() -> None:
    sections = WRITTEN.partition("## The numbers")[2].split("\n### ")[1:]
    assert len(sections) == 5
    for section in sections:
        sources = re.findall(r"`(docs/[\w./-]+)`", section)
        assert sources or "Source: the entry points" in section, section
        assert all((ROOT / one).is_file() for one in sources)


def test_speeds_are_all_rows_that_compare_with_neurogym_the_slow_ones_too() -> None:
    page = (ROOT / "docs" / "performance.md").read_text("utf-8")
    rows = maker.speeds()
    assert len(rows) == 22
    assert min(one.ratio for one in rows) < 0.1 < 100 < max(one.ratio for one in rows)
    for one in rows:
        assert one.low <= one.ratio <= one.high
        assert f"| {one.row} |" in page
        assert f"| {one.ratio:g}x |" in page
    assert "with the former kernel" in WRITTEN  # while performance.md says so


def test_scores_are_those_of_the_leaderboard_the_cheats_too() -> None:
    page = (ROOT / "docs" / "leaderboard.md").read_text("utf-8")
    rows = maker.scores(maker.BENCHMARK)
    assert {row["kind"] for row in rows} >= {"held out", "ideal", "cheat", "network"}
    for row in rows:
        assert f"{row['score']:.2f} [{row['low']:.2f}, {row['high']:.2f}]" in page


def test_counts_are_those_of_the_installed_packages() -> None:
    counted = dict(maker.counts())
    assert counted["packages"] == 1 + len(list(ROOT.glob("plugins/*/pyproject.toml")))
    assert counted["tasks"] == len(entry_points(group="neurogym.tasks"))
    assert counted["benchmarks"] == len(entry_points(group="neurogym.benchmarks"))


def test_the_figures_are_drawn_and_on_the_page(tmp_path: Path) -> None:
    maker.draw(tmp_path)
    drawn = {path.name for path in tmp_path.iterdir()}
    assert drawn == set(re.findall(r"\]\((\w+\.png)\)", WRITTEN))
    for name in drawn:
        assert (maker.FOLDER / name).read_bytes()[:4] == b"\x89PNG"
        assert (tmp_path / name).stat().st_size > 20_000
