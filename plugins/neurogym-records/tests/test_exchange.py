"""Records go out as NWB, BIDS, CSV and Parquet, and come back the same."""

from __future__ import annotations

import csv
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from neurogym_records import read_record, record_steps, to_bids, to_nwb
from neurogym_records.exchange import export, trial_times, write_csv

from neurogym_core import Choice, InvalidValueError, Task, TrialRecord, run
from neurogym_core.players import kernel_in_use


class Dots(Task):
    """Which side is stronger? The answer ends the trial."""

    timing = {"fixation": 100, "dots": 400, "choice": 200}

    def define(self):
        self.observe(fixation=1, sides=2)
        self.act(rest=1, choose=2)
        self.vary(
            side=Choice(("left", "right")),
            coherence=Choice((0.0, 6.4, 51.2)),
            pair=Choice([(1, 2), (3, 4)]),
            fair=Choice((True, False)),
        )

    def new_trial(self, trial):
        trial.periods("fixation", "dots", "choice")
        trial.record(noted=trial["pair"][:, 0] * 1.0, is_fair=trial["fair"])
        trial.show("fixation", 1, during="fixation")
        trial.show("sides", trial["coherence"][:, None] * np.ones(2), during="dots", noise=0.1)
        trial.answer("choose", (trial["side"] == "right").astype(int), during=("dots", "choice"))


@pytest.fixture(scope="module")
def steps():
    """Return 25 trials of a subject that guesses, with their steps."""
    return record_steps(Dots(), "guess", 25, seed=3)


def needs(package):
    return pytest.mark.skipif(
        importlib.util.find_spec(package) is None, reason=f"{package} is not installed"
    )


VARIED = (
    "perceptual/RoitmanShadlen-v0",  # the subject answers when it wants
    "value/PatchLeaving-v0",  # loops
    "control/StopSignal-v0",  # a condition is called stop
    "value/DawTwoStep-v0",  # several slots, wide conditions, periods that are not visited
    "timing/ReadySetGo-v0",  # aborts
    "memory/DelayEstimation-v0",  # continuous answers
)

# ---- facts and times ----


@pytest.mark.parametrize("kernel", ["plain", "compiled"])
@pytest.mark.parametrize("task", VARIED)
def test_times_of_records_are_those_of_the_steps(task, kernel, monkeypatch):
    if kernel == "compiled" and kernel_in_use().module is None:
        pytest.skip("no compiled kernel")
    monkeypatch.setenv("NGYM_KERNEL", kernel)
    steps = record_steps(task, "guess", 60, seed=4)
    record, step = steps.record, steps.dt
    for k in range(len(record)):
        mine = steps.of(k)
        period, time = steps.period[mine], steps.time[mine]
        assert record["trial_start"][k] == time[0]
        assert record["trial_stop"][k] == time[-1] + step
        for name in (c.removeprefix("onset.") for c in record.columns if c.startswith("onset.")):
            when = time[period == name]
            expected = [when[0], when[-1] + step] if len(when) else [np.nan, np.nan]
            found = [record[f"onset.{name}"][k], record[f"offset.{name}"][k]]
            assert found == pytest.approx(expected, nan_ok=True)
    for name in (c for c in record.columns if c.endswith("answer_time")):
        given = ~np.isnan(record[name])
        assert (given == ~np.isnan(record[name.replace("answer", "reaction")])).all()
        assert (record[name] > record["trial_start"])[given].all()
        assert (record[name] <= record["trial_stop"])[given].all()


def test_trials_of_each_subject_follow_one_another():
    record = run("perceptual/RoitmanShadlen-v0", "guess", 90, num_envs=3, seed=1)
    for subject in range(3):
        mine = record[record["subject"] == subject]
        assert mine["trial_start"][0] == 0
        assert mine["trial_start"][1:].tolist() == mine["trial_stop"][:-1].tolist()
    alone = run("perceptual/RoitmanShadlen-v0", "guess", 90, seed=1)
    assert len(np.unique(alone["env"])) > 1
    assert alone["trial_start"][1:].tolist() == alone["trial_stop"][:-1].tolist()


def test_a_record_of_run_says_where_it_comes_from():
    record = run("perceptual/RoitmanShadlen-v0", "oracle", 5, seed=4, sigma=2.0)
    assert record.meta["task"] == "perceptual/RoitmanShadlen-v0"
    assert record.meta["parameters"] == {"sigma": 2.0}
    assert (record.meta["seed"], record.meta["subject"], record.meta["schema"]) == (4, "oracle", 1)
    assert record.meta["dt"] > 0
    assert "neurogym-task-perceptual" in record.meta["versions"]
    json.dumps(dict(record.meta))


def test_periods_have_their_onsets_as_played(steps):
    record = steps.record
    start, stop = trial_times(record)
    assert (np.diff(start) > 0).all()
    assert start[1:] == pytest.approx(stop[:-1])
    assert (record["onset.fixation"] == record["trial_start"]).all()
    early = np.isnan(record["onset.choice"])
    assert early.any(), "an answer in the dots ends the trial before the period choice"
    visited = ~np.isnan(record["onset.dots"])
    assert (record["offset.fixation"] == record["onset.dots"])[visited].all()
    # Laid-out durations do not tell that the trial was shorter.
    assert (record["trial_stop"] - record["trial_start"])[early].max() < 700


def test_answers_have_absolute_times(steps):
    record = steps.record
    answered = ~np.isnan(record["reaction_time"])
    expected = record["onset.dots"] + record["reaction_time"]
    assert (record["answer_time"] == expected)[answered].all()
    assert np.isnan(record["answer_time"][~answered]).all()


def test_every_step_is_recorded(steps):
    record = steps.record
    assert np.bincount(steps.trial).tolist() == record["steps"].tolist()
    assert len(steps.observations) == len(steps.actions) == len(steps.time) == len(steps.trial)
    one = steps.of(3)
    assert steps.time[one][0] == record["trial_start"][3]
    assert set(steps.period[one]) <= {"fixation", "dots", "choice"}
    total = np.bincount(steps.trial, weights=steps.rewards)
    assert total == pytest.approx(record["reward"])


def test_the_same_seed_gives_the_same_trials():
    again = record_steps(Dots(), "guess", 25, seed=3)
    first = record_steps(Dots(), "guess", 25, seed=3)
    assert again.record == first.record
    assert (again.observations == first.observations).all()


def test_a_record_without_times_has_those_of_its_steps():
    record = run(Dots(), "oracle", 10, seed=1)
    _, stop = trial_times(record)
    assert stop[-1] == pytest.approx(record["steps"].sum() * record.meta["dt"] / 1000)
    with pytest.raises(InvalidValueError, match="Play it with run"):
        trial_times(TrialRecord({"outcome": ["correct"]}))


# ---- there and back ----


def test_csv_keeps_the_facts(steps, tmp_path):
    write_csv(steps.record, tmp_path / "t.csv")
    back = read_record(tmp_path / "t.csv")
    assert back == steps.record
    assert dict(back.meta) == dict(steps.record.meta)


def test_bids_comes_back_the_same(steps, tmp_path):
    target = to_bids(steps.record, tmp_path, sub="net1")
    assert target.name == "sub-net1_task-Dots_events.tsv"
    back = read_record(target)
    assert back == steps.record
    assert dict(back.meta) == dict(steps.record.meta)


@pytest.mark.parametrize("of", ["record", "steps"])
@pytest.mark.parametrize("task", VARIED)
def test_bids_of_varied_tasks_comes_back_the_same(task, of, tmp_path):
    steps = record_steps(task, "guess", 30, seed=2)
    back = read_record(to_bids(steps if of == "steps" else steps.record, tmp_path))
    assert back == steps.record


def test_columns_keep_their_names_and_texts_in_bids(tmp_path):
    record = TrialRecord(
        {
            "outcome": ["correct", "miss", "error"],
            "duration": [1.0, 2.0, np.nan],
            "first_choice": [1, 2, 3],
            "first.choice": [0, 1, -1],
            "text": ["NA", "None", " padded"],
            "trial_start": [0.0, 500.0, 900.0],
            "trial_stop": [500.0, 900.0, 1000.0],
        }
    )
    assert read_record(to_bids(record, tmp_path)) == record


def test_the_text_of_a_missing_value_comes_back_from_bids(tmp_path):
    """BIDS writes n/a for a missing value; a condition may have that name, or an empty one."""
    played = run("control/GoNogo-v0", "guess", 4, seed=0)
    record = TrialRecord(
        {**played, "cue": ["n/a", "", "a", "NA"], "all": ["n/a"] * 4, "none": [""] * 4},
        meta=played.meta,
    )
    assert read_record(to_bids(record, tmp_path)) == record


def test_bids_has_what_the_standard_asks_for(steps, tmp_path):
    target = to_bids(steps.record, tmp_path, sub="net1")
    with target.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert list(rows[0])[:3] == ["onset", "duration", "trial_type"]
    onsets = [float(row["onset"]) for row in rows]
    assert onsets == sorted(onsets)
    assert {row["trial_type"] for row in rows} == {
        "trial", "period/fixation", "period/dots", "answer"
    }  # fmt: skip
    assert any(row["response_time"] == "n/a" for row in rows)
    sidecar = json.loads(target.with_suffix(".json").read_text("utf-8"))
    assert sidecar["response_time"]["Units"] == "s"
    assert set(sidecar["side"]["Levels"]) == {"left", "right"}
    assert "HED" in sidecar["trial_type"]
    for name in rows[0]:
        assert name in sidecar or name in ("onset", "duration")
    to_bids(steps.record, tmp_path, sub="net2")
    people = (tmp_path / "participants.tsv").read_text("utf-8").split()
    assert people == ["participant_id", "sub-net1", "sub-net2"]
    with pytest.raises(InvalidValueError, match="letters and digits"):
        to_bids(steps.record, tmp_path, sub="net-2")


@pytest.mark.slow
@needs("bids_validator_deno")
@pytest.mark.parametrize("task", VARIED)
def test_the_bids_validator_accepts_it(task, tmp_path):
    to_bids(record_steps(task, "guess", 20, seed=1), tmp_path)
    done = subprocess.run(
        [str(Path(sys.executable).with_name("bids-validator-deno")), "--json", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    issues = json.loads(done.stdout)["issues"]["issues"]
    # Recommended keys that a simulation cannot have: an institution, terms of ontologies.
    missing = {one["subCode"] for one in issues if one["code"].endswith("_KEY_RECOMMENDED")}
    assert missing <= {
        "SourceDatasets", "CogAtlasID", "CogPOID",
        "InstitutionName", "InstitutionAddress", "InstitutionalDepartmentName",
    }  # fmt: skip
    others = [one for one in issues if not one["code"].endswith("_KEY_RECOMMENDED")]
    assert [f"{one['code']}: {one['location']}" for one in others] == []


@pytest.mark.slow
@needs("hed")
def test_the_tags_are_those_of_hed(steps, tmp_path):
    from hed import HedString, load_schema_version
    from hed.validator import HedValidator

    target = to_bids(steps, tmp_path)
    schema = load_schema_version(
        json.loads((tmp_path / "dataset_description.json").read_text("utf-8"))["HEDVersion"]
    )
    tags = json.loads(target.with_suffix(".json").read_text("utf-8"))["trial_type"]["HED"]
    for text in tags.values():
        issues = HedValidator(schema).validate(HedString(text, schema), allow_placeholders=False)
        assert issues == [], text


@needs("pynwb")
@pytest.mark.parametrize("task", VARIED)
def test_nwb_comes_back_the_same(task, tmp_path):
    steps = record_steps(task, "guess", 30, seed=2)
    to_nwb(steps, tmp_path / "s.nwb")
    back = read_record(tmp_path / "s.nwb")
    assert back == steps.record
    assert dict(back.meta) == dict(steps.record.meta)


@needs("pynwb")
def test_nwb_has_every_visit_of_a_period(tmp_path):
    import pynwb

    steps = record_steps("PatchLeaving-v0", "guess", 20, seed=2)
    to_nwb(steps, tmp_path / "s.nwb")
    with pynwb.NWBHDF5IO(str(tmp_path / "s.nwb"), "r") as io:
        periods = io.read().intervals["periods"].to_dataframe()
    harvests = (periods["period"] == "harvest").groupby(periods["trial_row"]).sum()
    assert harvests.to_numpy().tolist() == steps.record["harvests"].tolist()
    assert (np.diff(periods["start_time"]) > 0).all()


def test_several_subjects_have_a_file_each(tmp_path):
    record = run(Dots(), "guess", 20, num_envs=2, seed=1)
    with pytest.raises(InvalidValueError, match="2 subjects"):
        to_bids(record, tmp_path)
    files = export(record, tmp_path / "data", "bids")
    back = [read_record(file) for file in files]
    assert TrialRecord.concatenate(back) == record


def test_sessions_whose_clock_restarts_have_a_file_each(tmp_path):
    begins = np.array([0.0, 500.0, 0.0, 600.0, 10.0])
    record = TrialRecord(
        {
            "subject": ["m-1", "m-1", "m-1", "m-1", "m-2"],
            "session": ["a", "a", "b", "b", "a"],
            "choice": [0, 1, -1, 1, 0],
            "outcome": ["correct", "error", "miss", "correct", "correct"],
            "trial_start": begins,
            "trial_stop": begins + 400.3,
        }
    )
    files = export(record, tmp_path / "data", "bids")
    assert [file.name for file in files] == [
        "sub-m1_ses-a_task-task_events.tsv",
        "sub-m1_ses-b_task-task_events.tsv",
        "sub-m2_task-task_events.tsv",
    ]
    assert TrialRecord.concatenate([read_record(file) for file in files]) == record
    assert "no animal" not in (tmp_path / "data" / "README").read_text("utf-8")
    levels = json.loads(files[1].with_suffix(".json").read_text("utf-8"))["choice"]["Levels"]
    assert levels == {"-1": "no answer", "1": "1"}


COLUMNS = st.dictionaries(
    st.text(
        st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=8
    ).filter(
        lambda name: not name.endswith("]") and name not in ("outcome", "correct")
    ),
    st.sampled_from(
        [
            arrays(np.float64, (6,), elements=st.floats(width=64)),
            arrays(np.float64, (6, 2), elements=st.floats(allow_nan=False)),
            arrays(np.int64, (6,)),
            arrays(np.bool_, (6,)),
            st.lists(
                st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0")),
                min_size=6, max_size=6,
            ),
        ]
    ).flatmap(lambda values: values),
    max_size=4,
)  # fmt: skip


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    columns=COLUMNS, outcome=st.lists(st.sampled_from(["correct", "miss"]), min_size=6, max_size=6)
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_any_record_comes_back_the_same(kind, columns, outcome, tmp_path_factory):
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    record = TrialRecord(
        {**columns, "outcome": outcome, "steps": np.ones(6, int)}, meta={"schema": 1, "dt": 10.0}
    )
    path = tmp_path_factory.mktemp("there") / f"t.{kind}"
    export(record, path, kind)
    back = read_record(path)
    assert back == record
    assert dict(back.meta) == dict(record.meta)


@needs("pynwb")
def test_nwb_of_another_lab_is_read_by_a_recipe(tmp_path):
    import datetime

    import pynwb

    file = pynwb.NWBFile(
        session_description="x",
        identifier="x",
        session_start_time=datetime.datetime.now(datetime.UTC),
    )
    file.add_trial_column("coh", "coherence")
    file.add_trial_column("hit", "correct")
    for k in range(4):
        file.add_trial(start_time=float(k), stop_time=k + 0.5, coh=0.1 * k, hit=k % 2 == 0)
    with pynwb.NWBHDF5IO(str(tmp_path / "lab.nwb"), "w") as io:
        io.write(file)
    record = read_record(tmp_path / "lab.nwb", {"coherence": "100 * coh", "correct": "hit"})
    assert record["outcome"].tolist() == ["correct", "error"] * 2
    assert record["coherence"] == pytest.approx([0, 10, 20, 30])


@pytest.mark.slow
@needs("pynwb")
@needs("nwbinspector")
@pytest.mark.parametrize("task", [*VARIED, "value/Bandit-v0"])  # bandits pay 0 or 1
def test_nwbinspector_has_nothing_to_say(task, tmp_path):
    from nwbinspector import Importance, inspect_nwbfile

    to_nwb(record_steps(task, "oracle", 30, seed=3), tmp_path / "s.nwb")
    found = list(
        inspect_nwbfile(
            nwbfile_path=str(tmp_path / "s.nwb"),
            importance_threshold=Importance.BEST_PRACTICE_SUGGESTION,
        )
    )
    assert [f"{one.check_function_name}: {one.message}" for one in found] == []


@needs("pyarrow")
def test_parquet_comes_back_the_same(steps, tmp_path):
    export(steps.record, tmp_path / "t.parquet", "parquet")
    back = read_record(tmp_path / "t.parquet")
    assert back == steps.record
    assert dict(back.meta) == dict(steps.record.meta)


def test_trials_are_exported_from_the_command_line(sides, ngym):
    code, said = ngym(
        "export", sides, "--subject", "oracle", "--n-trials", 8, "--to", "bids", "--out", "d"
    )
    assert code == 0, said
    (target,) = Path("d").rglob("*_events.tsv")
    code, said = ngym("export", target, "--to", "csv", "--out", "t.csv")
    assert code == 0, said
    assert len(read_record("t.csv")) == 8
    code, said = ngym("export", "t.csv", "--to", "matlab")
    assert code == 2


@needs("pynwb")
def test_nwb_keeps_times_of_0_and_1_s_and_columns_without_values(tmp_path):
    # Seconds that are all 0 or 1 were stored as int8, and overflowed when they were read.
    columns = {
        "trial_start": [0.0, 3000.0],
        "trial_stop": [3000.0, 6000.0],
        "duration.cue": [0.0, 1000.0],
        "reaction_time": [np.nan, np.nan],
        "outcome": ["miss", "miss"],
    }
    record = TrialRecord({name: np.array(values) for name, values in columns.items()})
    to_nwb(record, tmp_path / "session.nwb", subject_id="A")
    assert read_record(tmp_path / "session.nwb") == record
    from pynwb import NWBHDF5IO

    with NWBHDF5IO(tmp_path / "session.nwb", "r") as file:
        assert "reaction_time" not in file.read().trials.colnames  # best practices


# ---- facts about animals ----


@pytest.fixture
def mice(tmp_path):
    """A laboratory's file with two mice of different ages."""
    rows = ["subject,sex,age,trial,trial_start,trial_stop,contrast,side,correct"]
    for name, sex, age in (("m1", "F", "P90D"), ("m2", "M", "P12W")):
        rows += [
            f"{name},{sex},{age},{k},{3000 * k},{3000 * k + 900},{25 * (k % 2)},right,{k % 2}"
            for k in range(12)
        ]
    path = tmp_path / "mice.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


FACTS = ("--species", "Mus musculus", "--session-start", "2026-05-01T10:30+02:00")


@needs("pynwb")
def test_nwb_has_the_facts_of_each_animal(mice, ngym):
    import pynwb

    words = ("--date-of-birth", "2026-01-31", "--session-id", "first")
    code, said = ngym("export", mice, "--to", "nwb", "--out", "mice.nwb", *FACTS, *words)
    assert code == 0, said
    for name, sex, age in (("m1", "F", "P90D"), ("m2", "M", "P12W")):
        with pynwb.NWBHDF5IO(f"mice-{name}.nwb", "r") as io:
            file = io.read()
            assert file.session_id == "first"
            assert file.session_start_time.isoformat() == "2026-05-01T10:30:00+02:00"
            found = file.subject
            assert (found.subject_id, found.species) == (name, "Mus musculus")
            assert (found.sex, found.age) == (sex, age)
            assert found.date_of_birth.date().isoformat() == "2026-01-31"
        back = read_record(f"mice-{name}.nwb")
        assert len(back) == 12


@pytest.mark.slow
@needs("pynwb")
@needs("nwbinspector")
def test_nwbinspector_has_nothing_critical_to_say_of_animals(mice, ngym):
    from nwbinspector import Importance, inspect_nwbfile

    code, said = ngym("export", mice, "--to", "nwb", "--out", "mice.nwb", *FACTS)
    assert code == 0, said
    found = inspect_nwbfile(
        nwbfile_path="mice-m1.nwb", importance_threshold=Importance.BEST_PRACTICE_VIOLATION
    )
    assert [f"{one.check_function_name}: {one.message}" for one in found] == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--age", "90 days"), "The age '90 days' was given. Expected an ISO 8601 duration"),
        (("--species", "mouse"), "Expected a Latin name"),
        (("--date-of-birth", "31.1.2026"), "Expected a date"),
        (("--session-start", "2026-05-01"), "Expected a time zone"),
        (("--session-start", "May"), "Expected a moment"),
    ],
)
def test_facts_that_are_not_of_their_form_are_refused(words, message, mice, ngym):
    code, said = ngym("export", mice, "--to", "nwb", *words)
    assert code == 2
    assert message in said


def test_facts_about_animals_are_for_nwb(mice, ngym):
    code, said = ngym("export", mice, "--to", "bids", "--sex", "F")
    assert code == 2
    assert "--sex was given with --to bids" in said


def test_subjects_whose_files_would_have_one_name_are_refused(tmp_path):
    columns = {"trial": [0, 1], "choice": [0, 1], "outcome": ["correct", "error"],
               "trial_start": [0.0, 0.0], "trial_stop": [900.0, 900.0]}  # fmt: skip
    for names in (["m-1", "m_1"], ["M1", "m1"]):
        record = TrialRecord({**columns, "subject": names})
        with pytest.raises(InvalidValueError, match="would be the same file"):
            export(record, tmp_path / "data", "bids")
        assert not (tmp_path / "data").exists()


def test_trials_are_not_written_over_their_own_file(ngym):
    run("PerceptualDecisionMaking-v0", "guess", 5, seed=1).to_csv("trials.csv")
    before = Path("trials.csv").read_bytes()
    for words in (("--out", "trials.csv"), (), ("--out", "./trials.csv")):
        code, said = ngym("export", "trials.csv", "--to", "csv", *words)
        assert code == 2
        assert "were to be written over it" in said
    assert Path("trials.csv").read_bytes() == before
