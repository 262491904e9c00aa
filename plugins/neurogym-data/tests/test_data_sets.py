"""The tables are those of their manifests, and agree with the numbers of their papers' sources."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from neurogym_data import Table, data, data_names, data_set

from neurogym_core import TrialRecord, UnknownNameError, make

PACKAGE = Path(__file__).parents[1]
MOST = 5_000_000
"""Bytes of all tables together."""
every = pytest.mark.parametrize("name", data_names())


@pytest.fixture(params=[False, True], ids=["shown", "held out"])
def held_out(request: pytest.FixtureRequest) -> bool:
    return request.param


def table_of(name: str, held_out: bool) -> Table:
    facts = data_set(name)
    return facts.held_out_table if held_out else facts.table


def is_intact(table: Table) -> bool:
    """Whether a file has the digest of its manifest."""
    return hashlib.sha256(table.path.read_bytes()).hexdigest() == table.sha256


@every
def test_a_table_has_the_digest_and_the_counts_of_its_manifest(name: str, held_out: bool) -> None:
    table, record = table_of(name, held_out), data(name, held_out=held_out)
    assert is_intact(table)
    assert len(record) == table.trials
    assert len(np.unique(record["subject"])) == table.subjects


def test_a_table_with_one_other_byte_is_not_intact(tmp_path: Path) -> None:
    table = data_set("luo-2025").table
    changed = bytearray(table.path.read_bytes())
    changed[len(changed) // 2] ^= 1
    (tmp_path / "changed").write_bytes(changed)
    assert not is_intact(Table(tmp_path / "changed", table.subjects, table.trials, table.sha256))


@every
def test_a_table_has_the_columns_of_its_manifest(name: str, held_out: bool) -> None:
    facts, record = data_set(name), data(name, held_out=held_out)
    header = tomllib.loads((PACKAGE / f"neurogym_data/tables/{name}.toml").read_text())["columns"]
    assert record.columns == tuple(header) == tuple(one.name for one in facts.columns)
    for column in facts.columns:
        values = record[column.name]
        if column.values:
            assert set(values.tolist()) <= set(column.values)
        else:
            assert values.dtype.kind == ("f" if column.fraction else "i")
            assert np.isfinite(values).all()
            assert values.shape[1:] == ((column.steps,) if column.steps else ())
        if column.unit == "ms":
            assert 20 < np.median(values) < 10_000, "looks like another unit"
    assert {"subject", "outcome"} <= set(record.columns)
    assert {facts.roles[one] for one in facts.roles if one != "right"} <= set(record.columns)


@every
def test_a_manifest_names_source_licence_and_changes(name: str) -> None:
    facts = data_set(name)
    assert len(facts.source["commit"]) == 40
    assert facts.source["repository"].startswith("https://github.com/")
    assert (PACKAGE / "sources" / facts.source["script"]).is_file()
    for text in (facts.citation, facts.changes, facts.licence_text, facts.task["differences"]):
        assert text.strip()
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    assert facts.licence in project["license"].split(" AND ")
    words = {
        "Apache-2.0": "Apache License",
        "BSD-3-Clause": "BSD 3-Clause",
        "MIT": "free of charge",
    }
    assert words[facts.licence] in facts.licence_text


def test_there_are_five_data_sets_with_five_or_more_subjects_to_fit() -> None:
    assert sum(data_set(name).table.subjects >= 5 for name in data_names()) >= 5


def test_the_tables_are_small() -> None:
    sizes = [
        table_of(name, held).path.stat().st_size for name in data_names() for held in (False, True)
    ]
    assert sum(sizes) < MOST


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"luo-2024.*luo-2025"):
        data("luo-2024")


@pytest.mark.parametrize("name", [one for one in data_names() if one != "qu-2026"])
def test_an_outcome_says_whether_the_choice_was_right(name: str, held_out: bool) -> None:
    record = data(name, held_out=held_out)
    right = next(
        record[one] for one in ("answer", "direction", "better", "category") if one in record
    )
    assert ((record["choice"] == right) == (record["outcome"] == "correct")).all()


# ---- numbers that were computed from the files of the sources, over all subjects ----


def everyone(name: str) -> TrialRecord:
    """The trials of all subjects: these tests check the tables, and fit nothing."""
    parts = [data(name, held_out=held) for held in (False, True)]
    return TrialRecord({key: np.concatenate([one[key] for one in parts]) for key in parts[0]})


def test_rats_count_clicks_with_lapses() -> None:
    rats = everyone("luo-2025")
    chose_right = rats["choice"] == "right"
    for gamma, share in ((-4, 0.03), (4, 0.98)):
        assert chose_right[rats["gamma"] == gamma].mean() == pytest.approx(share, abs=0.03)
    apart = rats["evidence"] != 0
    assert (chose_right == (rats["evidence"] > 0))[apart].mean() == pytest.approx(0.83, abs=0.005)
    assert (rats["evidence"] == rats["right_clicks"] - rats["left_clicks"]).all()
    # 840 ms with the trials under laser light, which are left out.
    assert np.median(rats["movement_time"]) == pytest.approx(840, rel=0.03)


def test_clicks_lie_on_steps_and_begin_on_both_sides() -> None:
    rats = everyone("luo-2025")
    for side in ("left", "right"):
        assert (rats[side].sum(axis=1) == rats[f"{side}_clicks"]).all()
        assert (rats[side][:, 0] >= 1).all()
    heard = (rats["left"] + rats["right"]) > 0
    last = heard.shape[1] - 1 - heard[:, ::-1].argmax(axis=1)
    assert (10 * (last + 1) == rats["length"]).all()
    # Rats waited for the end of the clicks.
    assert (rats["length"] - 10 < rats["movement_time"]).all()


def test_the_trials_of_a_rat_are_those_of_the_task() -> None:
    pytest.importorskip("neurogym_task_perceptual")
    task, rats = data_set("luo-2025").task, data("luo-2025")[:25]
    conditions = {name: rats[name] for name in task["conditions"]}
    env = make(task["name"], **task["parameters"])
    env.reset(seed=0, options={"conditions": conditions})
    for rat in rats.rows():
        info: dict[str, Any] = {}
        while "trial" not in info:
            *_, info = env.step(env.unwrapped.target)
        played = info["trial"]
        assert played["choice"] == rat["answer"], "the same side is right"
        for name in ("left_clicks", "right_clicks", *task["conditions"]):
            assert np.array_equal(played[name], rat[name])


def test_trials_under_another_name_are_not_those_of_the_task() -> None:
    """The check above fails where left and right are exchanged."""
    pytest.importorskip("neurogym_task_perceptual")
    task, rat = data_set("luo-2025").task, data("luo-2025").row(0)
    exchanged = {**rat, "left": rat["right"], "right": rat["left"]}
    conditions = {name: exchanged[name] for name in task["conditions"]}
    env = make(task["name"], **task["parameters"])
    env.reset(seed=0, options={"conditions": conditions})
    info: dict[str, Any] = {}
    while "trial" not in info:
        *_, info = env.step(env.unwrapped.target)
    assert info["trial"]["choice"] != rat["answer"]


def test_a_trial_of_a_rat_is_named_once() -> None:
    rats = everyone("luo-2025")
    names = {*zip(*(rats[key].tolist() for key in ("subject", "session", "trial")), strict=True)}
    assert len(names) == len(rats)


def test_heading_is_seen_better_with_coherent_dots_or_a_second_sense() -> None:
    people = everyone("drugowitsch-2014")
    assert len(people) == 44_059
    small = np.abs(people["heading"]) < 6
    correct = people["outcome"] == "correct"

    def share(modality: str, coherence: int) -> float:
        of = (people["modality"] == modality) & (people["visual_coherence"] == coherence)
        return float(correct[of & small].mean())

    assert share("visual", 25) < share("visual", 37) < share("visual", 70)
    assert share("vestibular", 0) > share("visual", 25)
    # With better vision the combination is answered earlier, and not more accurately.
    assert share("both", 25) > share("visual", 25)
    assert share("both", 70) > share("vestibular", 0)


def test_options_pay_in_80_and_20_percent_and_reward_makes_people_stay() -> None:
    people = everyone("zorowitz-2023")
    correct = people["outcome"] == "correct"
    assert people["reward"][correct].mean() == pytest.approx(0.8, abs=0.01)
    assert people["reward"][~correct].mean() == pytest.approx(0.2, abs=0.015)
    follows = (np.diff(people["trial"]) == 1) & (np.diff(people["subject"]) == 0)
    stays = (people["choice"][1:] == people["choice"][:-1])[follows]
    paid = people["reward"][:-1][follows] == 1
    assert stays[paid].mean() == pytest.approx(0.87, abs=0.01)
    assert stays[~paid].mean() == pytest.approx(0.35, abs=0.01)


def test_people_are_right_more_often_when_confident_and_when_it_is_easy() -> None:
    people = everyone("adler-2018")
    correct = people["outcome"] == "correct"
    by_confidence = [correct[people["confidence"] == k].mean() for k in range(1, 5)]
    assert by_confidence[0] == pytest.approx(0.55, abs=0.01)
    assert by_confidence[3] == pytest.approx(0.78, abs=0.01)
    by_difficulty = [correct[people["difficulty"] == k].mean() for k in (1, 6)]
    assert by_difficulty == pytest.approx([0.71, 0.54], abs=0.02)


def test_categories_differ_in_mean_or_in_spread() -> None:
    people = everyone("adler-2018")

    def orientations(rule: str, category: str) -> np.ndarray:
        return people["orientation"][(people["rule"] == rule) & (people["category"] == category)]

    assert [orientations("mean", one).mean() for one in "12"] == pytest.approx([-4, 4], abs=0.2)
    assert [orientations("mean", one).std() for one in "12"] == pytest.approx([5, 5], abs=0.1)
    assert [orientations("spread", one).std() for one in "12"] == pytest.approx([3, 12], abs=0.2)


def test_reproduced_durations_tend_to_their_mean() -> None:
    people = everyone("qu-2026")
    assert len(people) == 5_280 + 5_104
    assert (people["outlier"] == 1).mean() == pytest.approx(0.10, abs=0.01)
    first = (people["experiment"] == "ramped") & (people["outlier"] == 0)
    for wanted, reproduced in ((800, 1070), (1600, 1490)):
        made = people["reported"][first & (people["wanted"] == wanted)].mean()
        assert made == pytest.approx(reproduced, abs=70)
