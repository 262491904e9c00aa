"""Trials of laboratories become records, by recipes whose expressions cannot run code."""

from __future__ import annotations

import builtins
import csv
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from neurogym_behaviour.analyses import ANALYSES
from neurogym_behaviour.behaviour import Behaviour
from neurogym_records import read_csv, read_record
from neurogym_records.exchange import export
from neurogym_records.reading import NOTES
from neurogym_records.recipes import evaluated, read_recipe, recipe_names

from neurogym_core import InvalidValueError, TrialRecord, UnknownNameError, run


def test_a_file_is_read_once(tmp_path, monkeypatch):
    """Large files lie on slow disks; the texts that pandas reads are in memory already."""
    path = tmp_path / "lab.csv"
    path.write_text("correct;contrast\n1;0,5\n0;0,25\n", encoding="utf-8")
    opened = []
    for module in (builtins, io):
        real = module.open
        monkeypatch.setattr(
            module,
            "open",
            lambda file, *a, real=real, **k: opened.append(file) or real(file, *a, **k),
        )
    record = read_record(path)
    assert record["contrast"].tolist() == [0.5, 0.25]
    assert [str(one) for one in opened].count(str(path)) == 1


TABLE = {
    "a": np.array([1.0, np.nan, 3.0]),
    "b": np.array([2, 4, 6]),
    "name": np.array(["x", "", "z"]),
}


def write_ibl(path, mice=("KS014", "DY_010"), sessions=2, n=400, seed=1):
    """Write a trials table as ONE gives it: s, fractions, NaN for the absent side."""
    rng = np.random.default_rng(seed)
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(
            (
                "subject",
                "session",
                "trial",
                "stimOn_times",
                "response_times",
                "contrastLeft",
                "contrastRight",
                "probabilityLeft",
                "choice",
                "feedbackType",
                "rewardVolume",
            )
        )
        for mouse in mice:
            for session in range(sessions):
                for k in range(n):
                    p_left = (0.2, 0.8)[(k // 40) % 2]
                    left, c = rng.random() < p_left, rng.choice([1, 0.25, 0.125, 0.0625, 0])
                    drive = 17 * (-c if left else c) + (1.0 if p_left == 0.2 else -1.0)
                    right = rng.random() < 0.05 + 0.9 / (1 + np.exp(-drive))
                    none, on = rng.random() < 0.02, 5.0 * k
                    correct = right != left and not none
                    writer.writerow(
                        [mouse, f"{mouse}_{session}", k, on, on + rng.gamma(4, 0.1)]
                        + ([c, ""] if left else ["", c])
                        + [p_left, 0 if none else -1 if right else 1, 1 if correct else -1]
                        + [1.5 * correct]
                    )


def test_an_ibl_table_is_read_by_its_recipe(tmp_path):
    write_ibl(tmp_path / "mice.csv")
    record = read_record(tmp_path / "mice.csv", "ibl")
    assert len(record) == 1600
    assert np.unique(record["contrast"]).tolist() == [0, 6.25, 12.5, 25, 100]
    assert set(record["side"]) == {"left", "right"}
    assert set(record["outcome"]) == {"correct", "error", "miss"}
    assert set(record["choice"]) == {-1, 0, 1}
    assert 200 < np.median(record["reaction_time"]) < 600
    answered = record["outcome"] != "miss"
    chose_right = (record["side"] == "right") == (record["outcome"] == "correct")
    assert ((record["choice"] == 1) == chose_right)[answered].all()


def test_several_animals_stay_several(tmp_path):
    write_ibl(tmp_path / "mice.csv", mice=("A", "B", "C"))
    behaviour = Behaviour(read_record(tmp_path / "mice.csv", "ibl"))
    assert list(behaviour.per_subject()) == ["A", "B", "C"]
    assert behaviour.after.sum() == 3 * 2 * 399, "the first trial of a session follows none"
    finding = next(one for one in ANALYSES if one.name == "psychometric")(behaviour)
    assert set(finding.table["subject"]) == {"mean", "A", "B", "C"}
    assert any("SD between subjects" in note for note in finding.notes)
    lines = [line for line in finding.figure.axes[0].lines if line.get_linewidth() == 0.7]
    assert len(lines) >= 3


def test_a_record_of_ours_needs_no_recipe(tmp_path):
    record = TrialRecord({"outcome": ["correct", "miss"], "coherence": [1.5, 2.5]})
    record.to_csv(tmp_path / "ours.csv")
    assert read_record(tmp_path / "ours.csv") == record


def test_bids_events_are_read_with_missing_values(tmp_path):
    (tmp_path / "e.tsv").write_text(
        "onset\tduration\ttrial_type\tcoherence\tresponse_time\tcorrect\n"
        "1.0\t0.5\tdots\t3.2\t0.41\t1\n4.0\t0.5\tdots\t6.4\tn/a\tn/a\n",
        "utf-8",
    )
    record = read_record(tmp_path / "e.tsv", "bids")
    assert record["outcome"].tolist() == ["correct", "miss"]
    assert record["reaction_time"][0] == pytest.approx(410)
    assert np.isnan(record["reaction_time"][1])
    assert record["coherence"].tolist() == [3.2, 6.4]


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_numbers_of_other_programs_are_read_to_the_last_digit(suffix, tmp_path):
    values = np.random.default_rng(0).uniform(0, 30, 300).tolist()
    separator = "," if suffix == "csv" else "\t"
    path = tmp_path / f"trials.{suffix}"
    rows = [f"{value!r}{separator}left" for value in values]
    path.write_text("\n".join([f"reward{separator}chosen", *rows, ""]))
    record = read_record(path, {"performance": "reward", "reward": "reward", "outcome": "chosen"})
    assert record["reward"].tolist() == values


def test_seconds_are_noticed(tmp_path):
    (tmp_path / "lab.csv").write_text("correct,reaction_time\n1,0.4\n0,0.9\n", "utf-8")
    with pytest.raises(InvalidValueError, match="look like seconds"):
        read_record(tmp_path / "lab.csv")
    record = read_record(tmp_path / "lab.csv", scales={"reaction_time": 1000})
    assert record["reaction_time"].tolist() == [400, 900]


def test_every_recipe_is_read():
    assert recipe_names() == [
        "bids", "bpod", "ibl", "jspsych", "neurogym-jspsych", "psychopy", "pycontrol",
    ]  # fmt: skip
    for name in recipe_names():
        assert read_recipe(name).title


def test_a_recipe_in_a_file_converts_units(tmp_path):
    (tmp_path / "r.toml").write_text(
        '[columns]\ncoherence = "coh"\ncorrect = "hit > 0"\n[units]\ncoherence = "fraction"\n',
        "utf-8",
    )
    (tmp_path / "lab.csv").write_text("coh,hit\n0.032,1\n0.512,-1\n", "utf-8")
    record = read_record(tmp_path / "lab.csv", tmp_path / "r.toml")
    assert record["coherence"] == pytest.approx([3.2, 51.2])
    assert record["outcome"].tolist() == ["correct", "error"]


VALUES = {
    "b * 2 - 1": [3, 7, 11],
    "first(a, b)": [1, 4, 3],
    "where(isnull(a), -b, a)": [1, -4, 3],
    "(b > 2) & (b < 6)": [False, True, False],
    "b > 2 and not b == 6": [False, True, False],
    "sign(b - 4)": [-1, 0, 1],
    "where(name == 'x', 'yes', 'no')": ["yes", "no", "no"],
    "isin(name, 'x', 'z')": [True, False, True],
    "5": [5, 5, 5],
    "~(b == 4)": [True, False, True],
    "-b % 4": [2, 0, 2],
}


@pytest.mark.parametrize("expression", VALUES)
def test_expressions_are_computed_over_columns(expression):
    assert evaluated(expression, TABLE, "x").tolist() == VALUES[expression]


HOSTILE = [
    "__import__('os').system('true')",
    "a.__class__",
    "(lambda: 1)()",
    "[x for x in name]",
    "open('/etc/passwd')",
    "name[0]",
    "'x' * 1000000000",
    "b ** 9999999",
    "exec('1')",
    "a if b else name",
    "f'{a}'",
    "where(*a)",
    "round(a, decimals=1)",
    "a := 1",
    "import os",
    "(" * 300 + ")" * 300,
    "1" * 2000,
    "b'x'",
    "...",
]


@pytest.mark.parametrize("expression", HOSTILE)
def test_expressions_cannot_run_code(expression):
    with pytest.raises((InvalidValueError, UnknownNameError)):
        evaluated(expression, TABLE, "x")


WRONG = {
    "unknown recipe": ("mice", "ibl"),
    "no file": ("none.toml", "cannot be read"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_recipe_is_refused(case, tmp_path):
    (tmp_path / "lab.csv").write_text("correct\n1\n", "utf-8")
    name, hint = WRONG[case]
    with pytest.raises((InvalidValueError, UnknownNameError), match=hint):
        read_record(tmp_path / "lab.csv", name)


BAD = {
    "no columns": ("title = 'x'", "Expected an expression"),
    "unknown key": ("[column]\na = 'b'", "columns"),
    "unknown unit": ("[columns]\na = 'coh'\n[units]\na = 'hours'", "unit"),
    "unit of nothing": ("[columns]\na = 'coh'\n[units]\nb = 's'", "Unknown column"),
    "no TOML": ("columns = [", "is not TOML"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_recipe_gives_the_reason(case, tmp_path):
    text, hint = BAD[case]
    (tmp_path / "r.toml").write_text(text, "utf-8")
    with pytest.raises((InvalidValueError, UnknownNameError), match=hint):
        read_recipe(tmp_path / "r.toml")


def test_other_files_are_refused(tmp_path):
    (tmp_path / "x.sav").write_text("", "utf-8")
    with pytest.raises(InvalidValueError, match="Expected trials in a file that ends in"):
        read_record(tmp_path / "x.sav")
    with pytest.raises(InvalidValueError, match="There is no file"):
        read_record(tmp_path / "none.csv")


def test_a_labs_file_is_evaluated_from_the_command_line(ngym):
    write_ibl("mice.csv")
    code, said = ngym("evaluate", "mice.csv", "--recipe", "ibl", "--out", "ev", "--csv", "ours.csv")
    assert code == 0, said
    assert "Block shift: +0." in said
    assert "functions of 2 subjects" in said
    assert len(read_csv("ours.csv")) == 1600
    code, said = ngym("compare", "mice.csv", "--recipe", "ibl", "--with", "ibl-2025")
    assert code == 0, said
    assert "block_shift" in said
    code, said = ngym("evaluate", "mice.csv", "--recipe", "ibl", "--set", "a=1")
    assert code == 2
    assert "--set was given with the file" in said
    code, said = ngym("evaluate", "mice.csv")
    assert code == 2
    assert "--recipe" in said


def test_a_task_is_refused_with_a_recipe(sides, ngym):
    code, said = ngym("evaluate", sides, "--recipe", "ibl")
    assert code == 2
    assert "--recipe was given with the task" in said


def test_optional_columns_of_a_recipe_may_be_absent(tmp_path):
    (tmp_path / "r.toml").write_text(
        '[columns]\ncorrect = "hit"\n[optional]\ntrial_start = "begin"\n'
        '[units]\ntrial_start = "s"\n',
        "utf-8",
    )
    (tmp_path / "with.csv").write_text("hit,begin\n1,0.5\n0,2\n", "utf-8")
    (tmp_path / "without.csv").write_text("hit\n1\n0\n", "utf-8")
    both = read_record(tmp_path / "with.csv", tmp_path / "r.toml")
    assert both["trial_start"].tolist() == [500.0, 2000.0]
    assert "begin" not in both
    assert "trial_start" not in read_record(tmp_path / "without.csv", tmp_path / "r.toml")


# ---- files that cannot be read, or not as they are ----

LAB = "subject,trial,correct,contrast\nm1,0,1,25\nm1,1,0,50\nm2,0,1,25\n"


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_a_damaged_file_with_nul_characters_is_no_record(tmp_path, suffix):
    between = "," if suffix == "csv" else "\t"
    path = tmp_path / f"t.{suffix}"
    path.write_text(f"trial{between}correct\n0{between}1\n\0\0{between}\0\n", "utf-8")
    with pytest.raises(InvalidValueError, match="row 3: a NUL character"):
        read_record(path)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_another_encoding_is_read(encoding, tmp_path):
    path = tmp_path / "lab.csv"
    path.write_bytes(LAB.replace("m1", "Mäuschen").encode(encoding))
    assert set(read_record(path)["subject"]) == {"Mäuschen", "m2"}
    assert set(read_csv(path)["subject"]) == {"Mäuschen", "m2"}


@pytest.mark.parametrize("text", [LAB[: LAB.index("\n") + 1], "outcome,choice\n"])
def test_a_header_alone_is_no_file_of_trials(text, tmp_path):
    (tmp_path / "lab.csv").write_text(text)
    with pytest.raises(InvalidValueError, match="a header and no trials"):
        read_record(tmp_path / "lab.csv")


@pytest.mark.parametrize("decimal", [",", "."])
def test_files_of_europe_are_separated_by_semicolons(decimal, tmp_path):
    text = f"correct;contrast;note\n1;12{decimal}5;a, b\n0;25{decimal}0;c\n"
    (tmp_path / "lab.csv").write_text(text)
    if decimal == ".":
        (tmp_path / "lab.csv").write_text(text.replace("a, b", "a"))
    record = read_record(tmp_path / "lab.csv")
    assert record["contrast"].tolist() == [12.5, 25.0]
    assert record["outcome"].tolist() == ["correct", "error"]


def test_a_trial_occurs_once(tmp_path):
    (tmp_path / "lab.csv").write_text(LAB + "m1,1,0,50\nm2,0,0,50\n")
    with pytest.raises(InvalidValueError, match=r"2 of 5 rows .* have the same subject, trial as"):
        read_record(tmp_path / "lab.csv")
    (tmp_path / "lab.csv").write_text(LAB)
    assert len(read_record(tmp_path / "lab.csv")) == 3


def test_trials_without_a_number_are_no_copies(tmp_path):
    (tmp_path / "lab.csv").write_text("trial,correct\n,1\n,1\n0,1\n1,0\n")
    assert len(read_record(tmp_path / "lab.csv")) == 4


def test_columns_with_dots_are_read_in_expressions(tmp_path):
    (tmp_path / "lab.csv").write_text("key_resp.corr,key_resp.rt\n1,0.5\n0,0.25\n")
    recipe = {"correct": "key_resp.corr", "reaction_time": "1000 * key_resp.rt"}
    record = read_record(tmp_path / "lab.csv", recipe)
    assert record["reaction_time"].tolist() == [500, 250]
    assert "key_resp.corr" not in record, "it was renamed"
    assert "key_resp.rt" in record


@pytest.mark.parametrize("text", ["a.real", "a.b.c", "name.upper"])
def test_no_attribute_of_a_value_is_read(text):
    with pytest.raises(InvalidValueError, match="cannot be computed"):
        evaluated(text, TABLE, "a recipe")


def test_infinite_times_are_refused(tmp_path):
    (tmp_path / "lab.csv").write_text("correct,reaction_time\n1,inf\n0,300\n")
    with pytest.raises(InvalidValueError, match=r"'reaction_time' of .* has infinite times"):
        read_record(tmp_path / "lab.csv")


@pytest.mark.parametrize("separator", [",", ";"])
def test_a_name_of_two_columns_is_refused(separator, tmp_path):
    """pandas would call the second one correct.1, and the first would be read."""
    text = "correct,contrast,correct\n1,12,0\n0,25,0\n"
    (tmp_path / "lab.csv").write_text(text.replace(",", separator))
    with pytest.raises(InvalidValueError, match="the name 'correct' more than once"):
        read_record(tmp_path / "lab.csv")


# ---- cells that cannot be used, or are missing ----


def table_of(tmp_path, **changed):
    """Write a lab's table of 40 trials of two animals, with some cells changed."""
    cells = {
        "subject": ["a"] * 20 + ["b"] * 20, "trial": [*range(20)] * 2,
        "coherence": [3.2, 51.2] * 20, "choice": ["left", "right"] * 20, 
        "correct": [1, 1, 1, 0] * 10,
        "reaction_time": [400 + k for k in range(40)],
    }  # fmt: skip
    for name, cell in changed.items():
        cells[name] = [cell, *cells[name][1:]]
    rows = [
        ",".join(cells),
        *(",".join(map(str, row)) for row in zip(*cells.values(), strict=True)),
    ]
    path = tmp_path / "lab.csv"
    path.write_text("\n".join(rows) + "\n", "utf-8")
    return path


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"reaction_time": "timeout"},
            "'reaction_time' .* has 'timeout' in row 1. Expected numbers",
        ),
        ({"trial": "t0"}, "'trial' .* has 't0' in row 1"),
        ({"trial": "9" * 400}, "'trial' .* has '9999"),
        ({"coherence": "1e308"}, r"'coherence' .* has 1e\+308. Expected numbers below"),
        ({"reaction_time": "1e300"}, r"has 1e\+300. Expected numbers below"),
        ({"subject": ""}, "1 of 40 rows .* have no subject: the first is row 1"),
    ],
)
def test_a_cell_that_cannot_be_used_is_named(tmp_path, changed, said):
    with pytest.raises(InvalidValueError, match=said):
        read_record(table_of(tmp_path, **changed))


def test_an_empty_choice_is_no_answer_and_no_further_choice(tmp_path):
    record = read_record(table_of(tmp_path, choice="", correct=""))
    assert record.coded()["choice"].tolist()[:3] == [-1, 1, 0]
    numbered = table_of(tmp_path, choice="")
    text = numbered.read_text("utf-8").replace("left", "1").replace("right", "2")
    numbered.write_text(text, "utf-8")
    assert read_record(numbered)["choice"].tolist()[:3] == [-1, 2, 1]


def test_spaces_make_no_further_choice(tmp_path):
    assert set(read_record(table_of(tmp_path, choice="left "))["choice"]) == {"left", "right"}


def test_times_before_the_stimulus_are_said(tmp_path):
    (note,) = read_record(table_of(tmp_path, reaction_time="-1")).meta[NOTES]
    assert note.startswith("1 of 40 trials have a reaction_time of 0 ms or less")


def test_events_of_bids_without_their_sidecar_are_refused(tmp_path):
    record = run("RoitmanShadlen-v0", "oracle", 3, seed=1)
    (file,) = export(record, tmp_path / "data", "bids")
    file.with_suffix(".json").unlink()
    with pytest.raises(InvalidValueError, match="have no subject: the first is row 2"):
        read_record(file)


def trials_of(tmp_path, n=200, **changed):
    """A lab's file of one animal, with times in ms; `changed` columns override ours."""
    rng = np.random.default_rng(3)
    side = rng.integers(0, 2, n)
    hit = rng.random(n) < 0.8
    table = {
        "animal": np.full(n, "m1"), "day": np.repeat([1, 2], n // 2), "coherence": np.full(n, 12.8),
        "direction": np.where(side, "right", "left"),
        "choice": np.where(side == hit, "right", "left"), "hit": hit.astype(int),
        "rt": np.round(rng.lognormal(6.2, 0.3, n), 1), **changed,
    }  # fmt: skip
    path = tmp_path / "one.csv"
    pd.DataFrame(table).to_csv(path, index=False)
    return path


OURS = {"correct": "hit", "reaction_time": "rt", "subject": "animal", "session": "day"}


def notes_of(path, recipe=OURS):
    return " ".join(read_record(path, recipe).meta.get("notes", ()))


def test_times_of_one_animal_are_in_one_unit(tmp_path):
    """Half of the trials in s: the median of the animal was in ms, and nothing was said."""
    assert notes_of(trials_of(tmp_path)) == ""
    ms = pd.read_csv(tmp_path / "one.csv")["rt"].to_numpy()
    mixed = np.where(np.arange(200) % 2, ms, ms / 1000)
    with pytest.raises(InvalidValueError, match=r"of m1, and of .* look like seconds"):
        notes_of(trials_of(tmp_path, rt=mixed))
    early = np.where(np.arange(200) % 10, ms, 8.0)  # anticipations are no seconds
    assert notes_of(trials_of(tmp_path, rt=early)) == ""


def test_microseconds_are_refused_and_hundredths_of_a_second_are_doubted(tmp_path):
    ms = np.random.default_rng(3).lognormal(6.2, 0.3, 200)
    with pytest.raises(InvalidValueError, match=r"look like microseconds.*reaction_time=0\.001"):
        notes_of(trials_of(tmp_path, rt=1000 * ms))
    assert "hundredths of a second" in notes_of(trials_of(tmp_path, rt=ms / 10))
    of_days = np.where(np.repeat([True, False], 100), ms, ms / 10)
    assert "sessions of m1 differ in reaction_time" in notes_of(trials_of(tmp_path, rt=of_days))
    names = np.repeat(["m1", "m2"], 100)
    said = notes_of(trials_of(tmp_path, rt=of_days, animal=names))
    assert "subjects differ in reaction_time: the median of m2" in said
    with pytest.raises(InvalidValueError, match="for subject 'm2', and of"):
        notes_of(trials_of(tmp_path, animal=names, rt=np.where(names == "m2", 1000 * ms, ms)))


@pytest.mark.parametrize("coded", [("left", "right"), ("Left", "Right"), ("l", "r"), (1, 2)])
def test_columns_that_contradict_each_other_are_said(tmp_path, coded):
    path = trials_of(tmp_path)
    table = pd.read_csv(path)
    names = np.where(table["choice"] == "right", coded[1], coded[0])
    assert notes_of(trials_of(tmp_path, choice=names)) == ""
    swapped = np.where(np.arange(200) % 5, names, np.where(names == coded[1], *coded))
    said = notes_of(trials_of(tmp_path, choice=swapped))
    assert "WARNING: in 40 of 200 answered trials 'choice' is not 'direction'" in said


def test_choices_that_are_all_on_the_other_side_are_said(tmp_path):
    table = pd.read_csv(trials_of(tmp_path))
    other = np.where(table["choice"] == "right", "left", "right")
    assert "in 200 of 200 answered trials" in notes_of(trials_of(tmp_path, choice=other))
    no_evidence = trials_of(tmp_path, choice=other, coherence=np.zeros(200))
    assert notes_of(no_evidence) == ""


def test_outcomes_in_other_words_are_refused_with_the_expression(tmp_path):
    """`Correct` and `Incorrect` were taken for trials without an answer."""
    table = pd.read_csv(trials_of(tmp_path))
    words = np.where(table["hit"] == 1, "Correct", "Incorrect")
    path = trials_of(tmp_path, outcome=words)
    with pytest.raises(InvalidValueError, match=r"--map correct=\"outcome == 'Correct'\""):
        read_record(path)
    found = read_record(path, {"correct": "outcome == 'Correct'", "reaction_time": "rt"})
    assert (found["outcome"] == "correct").sum() == table["hit"].sum()
