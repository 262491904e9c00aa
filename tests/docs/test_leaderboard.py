"""The leaderboard shows stored scores in benchmarks, each with the command that reproduces it."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scripts import loaded


@pytest.fixture(scope="module")
def maker():
    return loaded("leaderboard")


def test_the_page_is_what_was_measured_last(maker):
    assert maker.PAGE.read_text("utf-8") == maker.page(maker.scores()), (
        "run `python docs/_make/leaderboard.py --write`, and commit docs/leaderboard.md"
    )


def test_all_commands_of_the_script_have_scores_of_the_benchmarks_of_today(maker):
    """Keys have the digest of the benchmark: scores of an older version do not count."""
    assert {entry.key for entry in maker.entries()} == maker.scores().keys()


def test_each_table_has_animals_an_ideal_cheats_and_subjects_with_intervals(maker):
    sections = maker.page(maker.scores()).split("\n## ")[1:]
    assert [one.partition("\n")[0] for one in sections] == list(maker.SUBJECTS)
    for section in sections:
        rows = [line for line in section.splitlines() if line.startswith("| ")][1:]
        kinds = [row.split(" | ")[1] for row in rows]
        assert kinds.count("held out") >= 5
        assert kinds.count("ideal") == 1
        assert kinds.count("cheat") >= 5
        assert "reference subject" in kinds
        assert all("[" in row.split(" | ")[2] for row in rows)
        bits = [row.split(" | ")[3:6] for row in rows]
        assert all(np.isfinite([float(one) for one in row[:2]]).all() for row in bits)
        timed = section.startswith(("durations-people", "heading-people"))
        assert {row[2] != "–" for row in bits} == {timed}
        order = [float(row.split(" | ")[2].partition(" ")[0]) for row in rows]
        assert order == sorted(order, reverse=True)
        commands = {line.partition(".")[0] for line in section.splitlines() if ". `ngym" in line}
        assert {row.split(" | ")[7].strip(" |") for row in rows} == commands


def test_no_cheat_passes_and_every_ideal_does(maker):
    rows = [row for found in maker.scores().values() for row in found["rows"]]
    assert {row["verdict"] for row in rows if row["kind"] == "cheat"} == {"does not pass"}
    assert {row["verdict"] for row in rows if row["kind"] == "ideal"} == {"passes"}
    guesses = [row for row in rows if row["who"] in ("guess", "random")]
    assert len(guesses) == 5
    assert all(row["score"] < 0.2 and not row["verdict"].startswith("5 ") for row in guesses)


@pytest.mark.slow
def test_only_commands_without_a_score_are_run(maker, tmp_path, monkeypatch):
    monkeypatch.setattr(maker, "SUBJECTS", {"durations-people": ()})
    monkeypatch.setattr(maker, "NETWORKS", {})
    files = ["--measured", tmp_path / "scores.json", "--page", tmp_path / "page.md"]
    arguments = [str(part) for part in ("--runs", tmp_path / "runs", *files)]
    first = CliRunner().invoke(maker.main, arguments)
    assert first.exit_code == 0, first.output
    assert "1 commands remain" in first.output
    (found,) = maker.scores(tmp_path / "scores.json").values()
    assert found["commands"] == ["ngym benchmark check durations-people"]
    assert len(found["rows"]) == 6 + 1 + 7
    again = CliRunner().invoke(maker.main, arguments)
    assert "0 commands remain" in again.output
    assert "## durations-people" in (tmp_path / "page.md").read_text("utf-8")


def test_a_network_is_trained_where_its_folders_are_missing(maker, tmp_path, monkeypatch):
    calls = []

    def ngym(words, folder):
        calls.append(words)
        if words[0] == "train":
            run = Path(folder) / words[words.index("--out") + 1]
            run.mkdir()
            (run / "curve.csv").write_text("", "utf-8")
            return "trained"
        return (
            '{"score": {"score": 0.5, "low": 0.4, "high": 0.6, "doubts": [], "seeds":'
            ' [{"score": 0.5, "choice": 0.2, "added": 0.1, "reverse": null, "verdict": "unlike"},'
            ' {"score": 0.5, "choice": 0.4, "added": 0.1, "reverse": null, "verdict": "unlike"}]}}'
        )

    monkeypatch.setattr(maker, "ngym", ngym)
    entry = next(one for one in maker.entries(("clicks-rats",)) if one.training)
    found = maker.measure(entry, tmp_path)
    assert [words[0] for words in calls] == ["train"] * 3 + ["likeness"]
    assert calls[-1][1:4] == entry.folders
    (row,) = found["rows"]
    assert row["who"] == "rnn, 300 updates"
    assert (row["choice"], row["added"], row["reverse"]) == (0.3, 0.1, None)
    assert shlex.split(found["commands"][0])[:2] == ["ngym", "train"]
    maker.measure(entry, tmp_path)
    assert [words[0] for words in calls[4:]] == ["likeness"]
