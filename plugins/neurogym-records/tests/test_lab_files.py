"""Files of laboratories' programs are read rightly, and mutilated ones give errors of three parts.

The folder files/labs has twelve trials in each format, made by hand; `make_golden.py` there writes
those that are not text.
"""

from __future__ import annotations

import json
import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest
from neurogym_behaviour.behaviour import Behaviour
from neurogym_records import read_csv, read_record
from neurogym_records.reading import with_columns
from neurogym_records.recipes import read_recipe

from neurogym_core import InvalidValueError

LABS = Path(__file__).parent / "files" / "labs"
_MADE = runpy.run_path(str(LABS / "make_golden.py"))
CONTRAST, HIT, LEFT, TIMES = (_MADE[name] for name in ("CONTRAST", "HIT", "LEFT", "TIMES"))
PLAIN = {"correct": "hit", "subject": "animal", "reaction_time": "rt"}
GERMAN = {
    "correct": "Treffer", "subject": "Tier", "trial": "Versuch", "side": "Seite",
    "contrast": "Kontrast", "reaction_time": "Reaktionszeit",
}  # fmt: skip
GOLDEN = {
    "_ibl_trials.table.pqt": ("ibl", {}),
    "jspsych.json": ("jspsych", {"contrast": "coherence", "side": "direction"}),
    "jspsych.csv": ("jspsych", {"contrast": "coherence", "side": "direction"}),
    "psychopy.csv": ("psychopy", {"contrast": "coherence", "side": "direction"}),
    "pycontrol.tsv": ("pycontrol", {}),
    "bpod.mat": ("bpod", {"contrast": "Custom.Contrast",
                          "reaction_time": "1000 * (first(States.Reward, States.Punish) - 0.5)"}),
    "sheet.xlsx": (None, {**PLAIN, "reaction_time": "rt (ms)"}),
    "write_csv.csv": (None, PLAIN),
    "write_csv2.csv": (None, PLAIN),
    "write_table.txt": (None, PLAIN),
    "excel_latin1.csv": (None, GERMAN),
    "excel_unicode.tsv": (None, PLAIN),
    "sub-01_task-dots_events.tsv": ("bids", {}),
}  # fmt: skip


def read(name: str):
    """Read a golden file; Excel files need openpyxl, and Parquet pyarrow."""
    if name.endswith(".xlsx"):
        pytest.importorskip("openpyxl")
    recipe, columns = GOLDEN[name]
    found = None if recipe is None else read_recipe(recipe)
    return read_record(LABS / name, with_columns(found, columns))


@pytest.mark.parametrize("name", GOLDEN)
def test_the_golden_file_of_each_program_gives_the_same_trials(name):
    record = read(name)
    wanted = ["miss" if one is None else "correct" if one else "error" for one in HIT]
    assert record["outcome"].tolist() == wanted
    assert record["contrast"].tolist() == CONTRAST
    times = np.array([np.nan if one is None else 1000 * one for one in TIMES])
    answered = record["outcome"] != "miss"
    assert record["reaction_time"][answered] == pytest.approx(times[answered])
    behaviour = Behaviour(record)
    assert behaviour.right.tolist() == [not one for one in LEFT]
    assert (behaviour.signed[:5]).tolist() == [-100, 25, 12.5, -6.25, 0]
    assert any("1 of 12 trials have no 'correct'" in note for note in record.meta["notes"])


def test_subjects_and_sessions_of_the_programs_are_read():
    assert set(read("jspsych.json")["subject"]) == {"p07"}
    assert set(read("psychopy.csv")["subject"]) == {"p01"}
    assert set(read("pycontrol.tsv")["subject"]) == {"m12"}
    assert set(read("pycontrol.tsv")["session"]) == {"2024-03-01T11:23:45.678"}
    assert set(read("excel_latin1.csv")["subject"]) == {"Mäuschen"}
    assert set(read("excel_unicode.tsv")["subject"]) == {"µ1"}


def test_what_was_left_out_is_said():
    assert "1 rows that are no trials" in read("jspsych.csv").meta["notes"][0]
    said = " ".join(read("excel_latin1.csv").meta["notes"])
    assert "Windows-1252" in said
    assert "1 rows without any value were left out" in said
    assert "percent signs of 'Kontrast'" in said


# ---- experiments of `ngym export --to jspsych` ----


def test_a_participant_who_left_at_the_consent_has_no_trials(tmp_path):
    path = tmp_path / "left.json"
    path.write_text('[{"trial_type": "html-button-response", "rt": 1200, "trial_index": 0}]')
    with pytest.raises(InvalidValueError, match=r"left.json has no trials by its recipe"):
        read_record(path, "neurogym-jspsych")


EXPERIMENT = LABS / "neurogym-jspsych.json"
"""jsPsych 8.3.0 wrote it in Chromium, where a script pressed the keys: a practice trial and twelve
trials, with a check of the screen and attention checks; every fourth answer came too late."""


def test_an_experiment_of_ngym_play_is_read_as_its_record():
    record = read_record(EXPERIMENT, "neurogym-jspsych")
    assert "9 rows that are no trials" in record.meta["notes"][0]
    assert record["trial"].tolist() == list(range(12))
    assert record["choice"][:4].tolist() == ["left", "right", "right", "none"]
    assert record["outcome"][:4].tolist() == ["error", "correct", "error", "miss"]
    np.testing.assert_array_equal(record["reaction_time"][:4], [80, 120, 160, np.nan])
    np.testing.assert_allclose(record["rt"][:4], [77.4, 112.4, 147.4, np.nan], atol=0.1)
    # Types are those of `ngym run`, although pages and checks have none of these columns.
    assert [record[name].dtype.kind for name in ("rest_correct", "steps", "coherence")] == list(
        "bif"
    )
    assert not {"check", "stimulus", "response", "passed"} & set(record.columns)
    assert Behaviour(record).conditions == ["direction", "coherence"]


def test_the_times_of_who_never_answered_are_missing_numbers(tmp_path):
    rows = [one for one in json.loads(EXPERIMENT.read_text("utf-8")) if one.get("rt") is None]
    (tmp_path / "p2.json").write_text(json.dumps(rows), "utf-8")
    record = read_record(tmp_path / "p2.json", "neurogym-jspsych")
    assert record["outcome"].tolist() == ["miss"] * 3
    np.testing.assert_array_equal(record["reaction_time"], [np.nan] * 3)


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate",),
        ("compare", "--with", "roitman-shadlen-2002"),
        pytest.param(("likeness",), marks=pytest.mark.slow),
    ],
)
def test_commands_read_an_experiment_of_ngym_play(words, ngym):
    code, said = ngym(words[0], str(EXPERIMENT), "--recipe", "neurogym-jspsych", *words[1:])
    assert code == 0, said


# ---- columns, units, sides ----


def write(path, text):
    path.write_text(text, "utf-8")
    return path


def test_bools_with_missing_values_are_1_0_and_nan(tmp_path):
    path = write(tmp_path / "a.csv", "k,hit,rt\n1,TRUE,300\n2,FALSE,400\n3,NA,NA\n4,TRUE,500\n")
    record = read_record(path, {"correct": "hit", "reaction_time": "rt"})
    assert record["outcome"].tolist() == ["correct", "error", "miss", "correct"]
    by_hand = read_record(path, {"correct": "where(isnull(hit), nan, hit == 1)"})
    assert by_hand["outcome"].tolist() == record["outcome"].tolist()


def test_columns_that_an_expression_reads_stay_and_are_no_conditions(tmp_path):
    text = "trial,choice,side,contrast,code\n" + "".join(
        f"{k},{'left' if k % 3 else 'right'},{'left' if k % 2 else 'right'},{k % 4},{k % 5}\n"
        for k in range(40)
    )
    path = write(tmp_path / "a.csv", text)
    columns = {"correct": "choice == side", "trial_start": "4000 * trial", "reward": "code > 2"}
    record = read_record(path, columns)
    assert {"choice", "side", "trial", "code"} <= set(record.columns)
    behaviour = Behaviour(record)
    assert behaviour.side == "side"
    assert behaviour.conditions == ["side", "contrast"]


@pytest.mark.parametrize("factor", [1, 1000])
def test_one_long_reaction_time_does_not_make_seconds_ms(factor, tmp_path):
    """One time of 25 s among times near 0.45 s was enough for the file to be taken for ms."""
    times = [0.45 * factor] * 99 + [25.3 * factor]
    rows = "".join(f"1,{one}\n" for one in times)
    path = write(tmp_path / "a.csv", f"correct,reaction_time\n{rows}")
    if factor == 1000:
        assert len(read_record(path)) == 100
        return
    with pytest.raises(InvalidValueError, match=r"median of 0\.45.* look like seconds"):
        read_record(path)


def test_a_subject_in_other_units_is_named(tmp_path):
    rows = "".join(
        f"{who},1,{rt},{c}\n"
        for who in ("m1", "m2", "m3")
        for rt, c in [((0.4 if who == "m2" else 400) * (1 + k / 99), k % 5 * 10) for k in range(50)]
    )
    path = write(tmp_path / "a.csv", f"subject,correct,reaction_time,contrast\n{rows}")
    with pytest.raises(InvalidValueError, match=r"for subject 'm2', and of .* for the others"):
        read_record(path)
    rows = "".join(
        f"{who},1,{c / 100 if who == 'm3' else c}\n"
        for who in ("m1", "m2", "m3")
        for c in (0, 6.25, 12.5, 25, 100)
    )
    path = write(tmp_path / "b.csv", f"subject,correct,contrast\n{rows}")
    with pytest.raises(InvalidValueError, match=r"'contrast' of .* for subject 'm3'"):
        read_record(path)


@pytest.mark.parametrize(
    ("left", "right"),
    [("left", "right"), ("L", "R"), ("l", "R"), ("links", "Rechts"), ("izquierda", "derecha"),
     (0, 1), (-1, 1)],
)  # fmt: skip
def test_the_right_side_is_known_by_its_name_and_said(left, right, tmp_path):
    """'Rechts' sorts before 'links', and "r" after "L"; the bias had the sign of the spelling."""
    path = write(tmp_path / "a.csv", f"side,contrast,correct\n{left},5,1\n{right},10,0\n")
    behaviour = Behaviour(read_record(path))
    assert behaviour.right.tolist() == [False, True]
    assert right == "right" or f"Right is side = {right}" in behaviour.notes[0]


@pytest.mark.parametrize(("one", "other"), [("A", "B"), (1, 2), (0, 180), ("up", "down")])
def test_an_unknown_right_side_is_asked_for(one, other, tmp_path, ngym):
    rows = "".join(
        f"{(one, other)[k % 2]},{k % 3},1\n{(one, other)[k % 2]},{k % 3},0\n" for k in range(30)
    )
    path = write(tmp_path / "a.csv", f"side,contrast,correct\n{rows}")
    behaviour = Behaviour(read_record(path))
    assert "say which of them is right with --right" in behaviour.notes[0]
    code, said = ngym("evaluate", str(path), "--right", str(other), "--out", "ev")
    assert code == 0, said
    assert f"Right is side = {other}" in said
    code, said = ngym("evaluate", str(path), "--right", "left", "--out", "ev")
    assert code != 0
    assert "Unknown side 'left'" in said


def test_row_names_of_r_shift_no_column(tmp_path):
    path = write(
        tmp_path / "a.txt", "correct contrast\n".replace(" ", "\t") + "1\t0\t25\n2\t1\t50\n"
    )
    record = read_record(path)
    assert record["contrast"].tolist() == [25, 50]
    assert record["correct"].tolist() == [0, 1]


def test_a_short_row_of_a_lab_is_named(tmp_path):
    path = write(tmp_path / "a.csv", "correct,contrast\n1,25\n0\n1,50\n")
    with pytest.raises(InvalidValueError, match="row 3: 1 cells under a header of 2"):
        read_record(path)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_read_csv_reads_other_encodings(encoding, tmp_path):
    (tmp_path / "a.csv").write_bytes('"who","n"\r\n"Mäuschen",1\r\n'.encode(encoding))
    assert read_csv(tmp_path / "a.csv")["who"].tolist() == ["Mäuschen"]


# ---- damaged files ----


def damaged(data: bytes, seed: int) -> bytes:
    """Return the bytes of a file with one kind of damage."""
    rng = np.random.default_rng(seed)
    place = int(rng.integers(1, len(data)))
    kinds = [
        lambda: data[:place],
        lambda: data[:place] + bytes(rng.integers(0, 256, 20, dtype=np.uint8)) + data[place:],
        lambda: data[:place] + b"\0\0\0" + data[place + 3 :],
        lambda: data[:place] + b'"' + data[place:],
        lambda: data[:place] + data[place + 25 :],
        lambda: data.replace(b",", b";").replace(b"\t", b","),
        lambda: b"".join(data.splitlines(keepends=True)[1:]),
        lambda: data + data,
        lambda: data.replace(b"1", b"x", 40),
        lambda: data[: data.find(b"\n") + 1],
        lambda: b"",
        lambda: data.decode("latin-1").encode("utf-16"),
        lambda: b"\xff\xfe" + data,
    ]
    return bytes(kinds[seed % len(kinds)]())


@pytest.mark.parametrize("name", GOLDEN)
def test_damaged_files_give_errors_of_three_parts(name, tmp_path, ngym):
    """13 files with 13 kinds of damage each; the harness fails on an exception that gets out."""
    if name.endswith(".xlsx"):
        pytest.importorskip("openpyxl")
    shutil.copy(LABS / name, tmp_path / name)
    data = (LABS / name).read_bytes()
    recipe, columns = GOLDEN[name]
    options = ["--recipe", recipe] if recipe else []
    options += [word for pair in columns.items() for word in ("--map", "=".join(pair))]
    refused = 0
    for seed in range(13):
        (tmp_path / name).write_bytes(damaged(data, seed))
        code, said = ngym("export", str(tmp_path / name), "--to", "csv", "--out", "o.csv", *options)
        assert code in (0, 1, 2), said
        assert "Traceback" not in said, said
        if code:
            refused += 1
            assert "Expected" in said or "Known" in said or "Did you mean" in said, said
    assert refused >= 4
