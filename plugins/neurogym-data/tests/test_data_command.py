"""``ngym data``: the list, the facts of a data set, and files that other commands read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from neurogym_data import data, data_names, data_set


def test_the_list_has_every_data_set(ngym) -> None:
    shown = ngym("data").stdout
    for name in data_names():
        assert f"  {name}: {data_set(name).title}" in shown


def test_a_data_set_is_described(ngym) -> None:
    shown = ngym("data", "drugowitsch-2014").stdout
    facts = data_set("drugowitsch-2014")
    for text in (facts.doi, facts.licence, facts.source["commit"][:7], facts.changes):
        assert text in shown
    assert "reaction_time (ms): time" in shown
    assert "Options of ngym evaluate: --strength heading --side direction" in shown
    assert ngym("data", facts.name, "--licence").stdout.strip() == facts.licence_text.strip()


def test_a_file_has_the_trials_of_the_record(ngym, tmp_path: Path) -> None:
    read_record = pytest.importorskip("neurogym_records").read_record
    target = tmp_path / "people.csv"
    shown = ngym("data", "drugowitsch-2014", "--out", str(target)).stdout
    assert shown.startswith("36,329 trials are in ")
    assert "doi:10.7554/eLife.03005" in shown
    read, record = read_record(target), data("drugowitsch-2014")
    assert read.columns == record.columns
    assert all((read[name] == record[name]).all() for name in record)


def test_held_out_trials_are_written_on_request(ngym, tmp_path: Path) -> None:
    ngym("data", "drugowitsch-2014", "--out", str(tmp_path / "x.csv"), "--held-out")
    first = np.loadtxt(tmp_path / "x.csv", str, delimiter=",", skiprows=1, usecols=0)
    assert {one.strip('"') for one in first} == {"a", "c"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("data", "luo-2024"), "Did you mean 'luo-2025'?"),
        (("data", "--out", "x.csv"), "without a NAME"),
        (("data", "--licence"), "without a NAME"),
        (("data", "luo-2025", "--held-out"), "without --out"),
    ],
)
def test_wrong_words_are_refused(ngym, words: tuple[str, ...], said: str) -> None:
    result = ngym(*words)
    assert result.exit_code == 2
    assert said in result.stderr


def test_the_facts_as_json(ngym) -> None:
    found = json.loads(ngym("data", "luo-2025", "--json").stdout)
    assert found["command"] == "data"
    assert found["data"][0]["table"]["path"] == "luo-2025.csv.gz"
    assert len(json.loads(ngym("data", "--json").stdout)["data"]) == len(data_names())
