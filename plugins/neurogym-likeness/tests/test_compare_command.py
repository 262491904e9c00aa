"""``ngym compare``: a record, compared with published summaries and a lab's own trials."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from neurogym_behaviour.behaviour import Behaviour, Roles
from neurogym_behaviour.references import (
    PUBLISHED,
    published,
    published_names,
    read_summary,
    summarised,
)
from neurogym_likeness.comparison import _noise, compare_with, parameters

from neurogym_core import InvalidValueError, TrialRecord, UnknownNameError

COHERENCES = np.array([0, 3.2, 6.4, 12.8, 25.6, 51.2])
THRESHOLD, SLOPE = 8.24, 1.44


def monkey(n=6 * 436, seed=1, threshold=THRESHOLD, extra_ms=0.0):
    """Trials of a subject with the first monkey's Weibull function."""
    rng = np.random.default_rng(seed)
    coherence = np.tile(COHERENCES, n // 6)
    p = 1 - 0.5 * np.exp(-((coherence / threshold) ** SLOPE))
    hit = rng.random(n) < p
    direction = rng.integers(0, 2, n)
    return TrialRecord(
        {
            "trial": np.arange(n),
            "coherence": coherence,
            "direction": direction,
            "choice": np.where(hit, direction, 1 - direction),
            "outcome": np.where(hit, "correct", "error"),
            "reaction_time": 800 - 6 * coherence + extra_ms + rng.normal(0, 5, n),
            "reward": hit.astype(float),
        }
    )


def found(record, reference, name, roles=None):
    findings = {
        one.name: one for one in compare_with(Behaviour(record, roles or Roles()), reference)
    }
    return findings[name]


def rows(path):
    with Path(path).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


# ---- published summaries ----


@pytest.mark.parametrize("name", [file.stem for file in sorted(PUBLISHED.glob("*.toml"))])
def test_every_published_summary_is_read_and_has_its_source(name):
    reference = published(name)
    assert reference.subjects
    assert reference.doi.startswith("10.")
    assert str(name.rpartition("-")[2]) in reference.citation
    assert name in published_names()


def test_the_published_psychometric_functions_fit_the_published_points():
    # Functions and points were both published, so that the test finds a typing error in either.
    for subject in published("roitman-shadlen-2002").subjects:
        a, b = (subject.parameters[f"weibull_{n}"].value for n in ("threshold", "slope"))
        curve = 1 - 0.5 * np.exp(-((subject.strengths / a) ** b))
        assert np.abs(curve - subject.correct).max() < 0.03
        assert (np.diff(subject.reaction_time) < 0).all()


def test_a_subject_like_the_monkey_is_as_near_as_the_monkey_to_itself():
    table = found(monkey(), published("roitman-shadlen-2002"), "accuracy").table.set_index(
        "subject"
    )
    near, far = table.loc["monkey 1"], table.loc["monkey 2"]
    assert near["strengths"] == 6
    # The floor is the difference expected between two samples of one subject. With seeds 0 to
    # 199, the distance was below 2 floors.
    assert near["distance"] < 2 * near["noise floor"]
    assert near["noise floor"] == pytest.approx(0.027, abs=0.004)
    assert far["distance"] > near["distance"]


def test_a_worse_subject_is_further_away():
    table = found(
        monkey(threshold=20), published("roitman-shadlen-2002"), "accuracy"
    ).table.set_index("subject")
    assert table.loc["monkey 1", "distance"] > 4 * table.loc["monkey 1", "noise floor"]
    assert table.loc["monkey 1", "excess"] > 0.08


def test_reaction_times_are_compared_with_and_without_a_constant():
    reference = published("roitman-shadlen-2002")
    plain, later = (
        found(monkey(extra_ms=ms), reference, "reaction-times").table.iloc[0] for ms in (0, 300)
    )
    assert later["added (ms)"] == pytest.approx(plain["added (ms)"] - 300, abs=5)
    assert later["shape (ms)"] == pytest.approx(plain["shape (ms)"], abs=3)
    assert later["distance (ms)"] > plain["distance (ms)"]


def test_reaction_times_that_the_task_fixes_are_not_compared():
    """A network that answers on the first step was 577 ms away from a monkey."""
    record = monkey()
    columns = {name: record[name] for name in record.columns}
    fixed = TrialRecord(columns | {"reaction_time": np.full(len(record), 100.0)})
    why = found(fixed, published("roitman-shadlen-2002"), "reaction-times").why_not
    assert why.startswith("all reaction times are 100 ms")


def test_fitted_and_published_parameters_are_in_one_table():
    table = found(monkey(), published("roitman-shadlen-2002"), "parameters").table.set_index(
        ["subject", "parameter"]
    )
    # 2,600 trials: SE of the threshold about 4 %, of the slope 7 %; four of them.
    assert table.loc[("monkey 1", "weibull_threshold"), "record"] == pytest.approx(
        THRESHOLD, rel=0.16
    )
    assert table.loc[("monkey 1", "weibull_slope"), "record"] == pytest.approx(SLOPE, rel=0.28)


def mouse(n=30_000, seed=2):
    """A mouse with a logistic function of slope 0.17 per %, lapses of 10 % and a block shift."""
    rng = np.random.default_rng(seed)
    signed = rng.choice([-100, -25, -12.5, -6.25, 0, 6.25, 12.5, 25, 100.0], n)
    p_left = np.repeat(rng.choice([0.2, 0.8], n // 50), 50)
    shift = np.where(p_left == 0.2, 1.0, -1.0)
    right = rng.random(n) < 0.1 + 0.8 / (1 + np.exp(-(0.17 * signed + shift)))
    side = np.where(signed == 0, rng.random(n) < 0.5, signed > 0)
    return TrialRecord(
        {
            "trial": np.arange(n),
            "contrast": np.abs(signed),
            "signed_contrast": signed,
            "p_left": p_left,
            "side": np.where(side, "right", "left"),
            "choice": right.astype(int),
            "outcome": np.where(right == side, "correct", "error"),
        }
    )


def test_a_mouse_is_compared_in_deviations_between_mice():
    reference = published("ibl-2021")
    table = found(mouse(), reference, "parameters").table.set_index("parameter")
    assert table.loc["lapses", "record"] == pytest.approx(0.1, abs=0.02)
    # Blocks blur the function that is fitted to both: it is wider than 2.4 / 0.17 = 14.
    assert 13 < table.loc["erf_threshold", "record"] < 20
    z = (table.loc["erf_threshold", "record"] - 14.3) / 3.8
    assert table.loc["erf_threshold", "z"] == pytest.approx(z)


def test_choices_per_block_are_compared_with_both_intervals():
    reference = published("ibl-2025")
    blocks = found(mouse(), reference, "blocks").table.set_index("block")
    assert blocks.loc["0.2", "record"] == pytest.approx(0.1 + 0.8 / (1 + np.exp(-1)), abs=0.05)
    assert blocks.loc["0.2", "theirs"] == pytest.approx(0.6926, abs=1e-4)
    assert blocks.loc["0.2", "their low"] < 0.66 < 0.72 < blocks.loc["0.2", "their high"]
    assert set(blocks.index) == {"0.2", "0.8"}
    shift = found(mouse(), reference, "parameters").table.set_index("parameter").loc["block_shift"]
    # 0.8 * (0.731 - 0.269): 3,300 trials at 0 %, SE 0.016; four of them.
    assert shift["record"] == pytest.approx(0.37, abs=0.065)
    assert shift["low"] < shift["record"] < shift["high"]


def test_a_comparison_that_cannot_be_done_gives_the_reason():
    record = TrialRecord({name: monkey()[name] for name in ("coherence", "outcome")})
    reference = published("roitman-shadlen-2002")
    assert "no reaction times" in found(record, reference, "reaction-times").why_not
    assert "per block" in found(record, reference, "blocks").why_not
    assert "does not report" in found(record, published("song-2016"), "accuracy").why_not
    assert "one criterion per task" in found(record, published("song-2016"), "parameters").why_not
    other = TrialRecord(
        {"coherence": np.tile([1.0, 2.0, 3.0], 50), "outcome": np.tile(["correct", "error"], 75)}
    )
    assert "0 strengths are in both" in found(other, reference, "accuracy").why_not
    bare = TrialRecord({"outcome": np.array(["correct", "error"])})
    assert "--strength" in found(bare, reference, "accuracy").why_not
    named = TrialRecord({"outcome": bare["outcome"]}, meta={"task": "memory/DelayComparison-v0"})
    table = found(named, published("song-2016"), "parameters").table
    assert table["subject"].tolist() == ["parametric working memory"]
    assert table["record"].tolist() == [0.5]
    assert found(named, published("song-2016"), "accuracy").why_not


BAD = {
    "no TOML": ("title = [", "is not TOML"),
    "no subject": ('title = "x"', "no [[subject]]"),
    "lengths": ("[[subject]]\nstrengths = [1, 2]\ncorrect = [0.5]", "lengths"),
    "percent": ("[[subject]]\nstrengths = [1]\ncorrect = [50]", "from 0 to 1"),
}


@pytest.mark.parametrize("case", BAD)
def test_an_invalid_summary_is_refused(case, tmp_path):
    text, hint = BAD[case]
    (tmp_path / "x.toml").write_text(text, "utf-8")
    with pytest.raises(InvalidValueError) as error:
        read_summary(tmp_path / "x.toml")
    assert hint in str(error.value)


def test_an_unknown_key_or_name_is_refused_with_the_nearest_one(tmp_path):
    (tmp_path / "x.toml").write_text("[[subject]]\nstrenghts = [1]\n", "utf-8")
    with pytest.raises(UnknownNameError, match="strengths"):
        read_summary(tmp_path / "x.toml")
    with pytest.raises(UnknownNameError, match="roitman-shadlen-2002"):
        published("roitman-shadlen-2020")


# ---- like with like ----


@pytest.mark.parametrize("name", published_names())
def test_every_published_number_has_its_provenance(name):
    reference = published(name)
    for source in reference.sources.values():
        assert source["licence"]
        assert source["how"]
        assert source.get("figure") or (source["file"] and len(source["commit"]) == 40)
    for subject in reference.subjects:
        numbers = list(subject.parameters.values())
        assert all(number.source in reference.sources for number in numbers)
        assert subject.source in reference.sources
        if reference.kind != "criteria":
            assert reference.axis
            assert reference.unit
            assert reference.tasks
            assert all(number.se is not None and number.n is not None for number in numbers)
        for column in ("correct", "reaction_time"):
            if getattr(subject, column) is not None:
                assert subject.n is not None
        if subject.reaction_time is not None:
            assert subject.reaction_time_se is not None
            assert subject.reaction_time_n is not None


def test_published_reaction_times_are_those_of_correct_trials():
    # Over all trials, the second monkey's mean at 6.4 % is 802 ms; of correct trials, 774.
    monkey_2 = published("roitman-shadlen-2002").subjects[1]
    assert monkey_2.reaction_time[2] == 774.1
    assert monkey_2.reaction_time_n[2] == round(monkey_2.correct[2] * monkey_2.n[2])


def test_training_criteria_are_not_listed_as_subjects(ngym):
    _, said = ngym("compare", "--list")
    subjects, criteria = said.split("Criteria of training")
    assert "song-2016" in criteria
    assert "song" not in subjects


def test_records_of_another_task_or_axis_or_unit_are_not_compared():
    dots = monkey()
    for finding in compare_with(Behaviour(dots), published("ibl-2021")):
        assert finding.why_not
    assert "'coherence'" in found(dots, published("ibl-2021"), "parameters").why_not
    fractions = TrialRecord(
        {name: dots[name] / (100 if name == "coherence" else 1) if name != "outcome" else
         dots[name] for name in dots.columns}
    )  # fmt: skip
    why = found(fractions, published("roitman-shadlen-2002"), "accuracy").why_not
    assert "--scale coherence=100" in why
    other = TrialRecord(
        {name: dots[name] for name in dots.columns}, meta={"task": "memory/DelayComparison-v0"}
    )
    for finding in compare_with(Behaviour(other), published("roitman-shadlen-2002")):
        assert "DelayComparison" in finding.why_not


def test_nothing_is_compared_over_one_strength():
    dots = monkey()
    few = dots[np.isin(dots["coherence"], [0, 3.2])]
    assert "at least 3" in found(few, published("roitman-shadlen-2002"), "accuracy").why_not
    assert "at least 3" in found(few, published("roitman-shadlen-2002"), "reaction-times").why_not


def test_other_strengths_are_compared_by_the_fitted_curve():
    dots = monkey()
    shifted = {name: dots[name] for name in dots.columns}
    shifted["coherence"] = np.where(dots["coherence"] > 0, dots["coherence"] * 1.1, 0)
    table = found(TrialRecord(shifted), published("roitman-shadlen-2002"), "accuracy").table
    assert table["from"].iloc[0] == "fitted curve"
    assert table["distance"].iloc[0] < 0.06


def test_the_p_value_of_a_distance_is_uniform_for_samples_of_the_same_subject():
    """Of 40 records of monkey 1's own curve, at most 7 have p < 0.05: more in 1 of 1,000 runs.

    The published points are one sample, so the records share its error: a few more than 2 are
    expected.
    """
    reference = published("roitman-shadlen-2002")
    rng, (one, _) = np.random.default_rng(4), reference.subjects
    small = 0
    for _ in range(40):
        p = _noise(
            float(np.sqrt(np.mean((rng.binomial(436, one.correct) / 436
                                   - rng.binomial(436, one.correct) / 436) ** 2))),
            one.correct, np.full(6, 436.0), one.correct, np.full(6, 436.0),
        )[1]  # fmt: skip
        small += p < 0.05
    assert small <= 7


def test_animals_are_compared_with_each_other():
    table = found(monkey(), published("roitman-shadlen-2002"), "accuracy").table
    between = table.set_index("subject").loc["monkey 1 and monkey 2"]
    assert between["distance"] == pytest.approx(0.034, abs=0.002)


def test_a_mouse_is_not_a_traceback_without_a_strength(ngym):
    Path("lab.csv").write_text("correct,side\n1,0\n0,1\n", "utf-8")
    code, said = ngym("compare", "lab.csv", "--with", "ibl-2021")
    assert code == 0
    assert (said.count("Skipped: "), said.count("); ")) == (1, 3)


# ---- from the command line ----


def write_lab(path, record, rng):
    """Write a lab's table: other names, seconds, two subjects, and some unanswered trials."""
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["animal", "coh", "dir", "hit", "rt"])
        for row in record.rows():
            hit = "" if rng.random() < 0.05 else int(row["outcome"] == "correct")
            animal = "A" if row["trial"] % 2 else "B"
            writer.writerow(
                [animal, row["coherence"], row["direction"], hit, row["reaction_time"] / 1000]
            )


MAPPED = (
    "--map",
    "coherence=coh",
    "--map",
    "direction=dir",
    "--map",
    "correct=hit",
    "--map",
    "subject=animal",
    "--map",
    "reaction_time=rt",
    "--scale",
    "reaction_time=1000",
)


def test_a_labs_table_is_compared_by_a_mapping_of_its_columns(ngym):
    monkey(seed=1).to_csv("ours.csv")
    lab = monkey(n=4 * 6 * 436, seed=2)
    write_lab("lab.csv", lab, np.random.default_rng(3))
    code, said = ngym("compare", "ours.csv", "--with", "lab.csv", *MAPPED, "--out", "c")
    assert code == 0, said
    table = {row["subject"]: row for row in rows("c/accuracy.csv")}
    assert set(table) == {"A", "B"}
    for row in table.values():
        assert float(row["distance"]) < 3 * float(row["noise floor"])
    assert all(abs(float(row["distance (ms)"])) < 5 for row in rows("c/reaction-times.csv"))
    assert "report.html" in said


def test_the_distance_of_a_record_from_itself_is_zero(ngym):
    monkey().to_csv("ours.csv")
    code, _ = ngym("compare", "ours.csv", "--with", "ours.csv")
    assert code == 0
    assert [float(row["distance"]) for row in rows("comparison/accuracy.csv")] == [0]


def test_the_published_ones_are_listed(ngym):
    code, said = ngym("compare", "--list")
    assert code == 0
    assert "roitman-shadlen-2002: Random-dot motion" in said
    assert "doi:10.7554/eLife.63711" in said


def test_a_record_and_a_published_summary_make_a_page(ngym):
    monkey().to_csv("ours.csv")
    code, said = ngym("compare", "ours.csv", "--with", "roitman-shadlen-2002", "--out", "c")
    assert code == 0
    assert "monkey 1" in said
    page = Path("c/report.html").read_text("utf-8")
    assert "J. Neurosci. 22:9475" in page
    assert page.count("data:image/png") == 2


REFUSED = {
    "nothing": (("compare",), "--list"),
    "no reference": (("compare", "ours.csv"), "--with"),
    "unknown name": (("compare", "ours.csv", "--with", "roitman"), "roitman-shadlen-2002"),
    "no such file": (("compare", "ours.csv", "--with", "none.csv"), "There is no file"),
    "mapping for a record": (
        ("compare", "ours.csv", "--with", "ibl-2021", "--map", "a=b"),
        "Unknown column 'b'",
    ),
    "no such column": (
        ("compare", "ours.csv", "--with", "lab.csv", "--map", "correct=hitt"),
        "hit",
    ),
    "nothing right or wrong": (("compare", "ours.csv", "--with", "lab.csv"), "--map correct="),
    "no number": (
        ("compare", "ours.csv", "--with", "lab.csv", "--scale", "rt=fast"),
        "Expected a number",
    ),
    "wrong values": (
        ("compare", "ours.csv", "--with", "lab.csv", "--map", "correct=rt"),
        "other than 0, 1",
    ),
    "half a pair": (("compare", "ours.csv", "--with", "lab.csv", "--map", "correct"), "two names"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_usage_is_refused(case, ngym):
    monkey(60).to_csv("ours.csv")
    write_lab("lab.csv", monkey(60), np.random.default_rng(1))
    words, hint = REFUSED[case]
    code, said = ngym(*words)
    assert code == 2
    assert hint in said


def test_a_summary_in_the_users_file_is_read(ngym):
    monkey().to_csv("ours.csv")
    Path("mine.toml").write_text(
        '[[subject]]\nname = "S1"\nstrengths = [3.2, 6.4, 12.8]\ncorrect = [0.6, 0.7, 0.9]\n',
        "utf-8",
    )
    code, said = ngym("compare", "ours.csv", "--with", "mine.toml")
    assert code == 0
    assert "S1" in said
    assert "the numbers of trials are unknown" in said


def test_a_summary_of_a_record_has_its_counts():
    record = monkey(600)
    subject = summarised(record, Roles(), "x")
    assert subject.strengths.tolist() == COHERENCES.tolist()
    assert subject.n.tolist() == [100] * 6
    right = (record["outcome"] == "correct")[record["coherence"] == 12.8].mean()
    assert subject.correct[3] == pytest.approx(right)


# ---- for programs ----


def no_constant(name):
    raise AssertionError(f"{name} is no JSON")


def test_json_has_every_comparison(ngym):
    monkey().to_csv("ours.csv")
    words = ("ours.csv", "--with", "roitman-shadlen-2002", "--out", "c")
    code, said = ngym("compare", *words, "--json")
    assert code == 0, said
    data = json.loads(said, parse_constant=no_constant)
    assert list(data) == ["schema", "command", "title", "facts", "findings", "report", "figures"]
    assert (data["schema"], data["command"], data["figures"]) == (1, "compare", [])
    assert data["report"] == str(Path("c/report.html"))
    assert data["facts"]["record"].startswith("ours.csv")
    tables = {one["name"]: one["table"] for one in data["findings"] if one["skipped"] is None}
    assert tables["accuracy"][0].keys() == rows("c/accuracy.csv")[0].keys()


def test_the_list_is_json_too(ngym):
    code, said = ngym("compare", "--list", "--json")
    assert code == 0, said
    found = json.loads(said)["references"]
    assert {"roitman-shadlen-2002"} <= {one["name"] for one in found}
    assert {one["kind"] for one in found} <= {"animals", "people", "criteria"}


def test_a_comparison_has_the_mean_over_mice():
    """Biases of four mice differ: their interval is wider than that of the pooled trials."""
    rng = np.random.default_rng(2)
    names, contrasts = np.repeat(["a", "b", "c", "d"], 400), np.array([0, 6.25, 12.5, 25, 100])
    right, contrast = rng.random(1600) < 0.5, rng.choice(contrasts, 1600)
    bias = np.repeat([-12.0, 0, 3, 12], 400)
    drive = 0.12 * (np.where(right, contrast, -contrast) - bias)
    chose = rng.random(1600) < 0.05 + 0.9 / (1 + np.exp(-drive))
    record = TrialRecord(
        {
            "subject": names,
            "contrast": contrast,
            "side": np.where(right, "right", "left"),
            "choice": np.where(chose, "right", "left"),
            "outcome": np.where(chose == right, "correct", "error"),
        }
    )
    width = {}
    for pool in (False, True):
        rows = parameters(Behaviour(record, Roles(pool=pool)), published("ibl-2021")).table
        one = rows.set_index("parameter").loc["bias"]
        width[pool] = float(one["high"] - one["low"])
    assert width[False] > 2 * width[True]
