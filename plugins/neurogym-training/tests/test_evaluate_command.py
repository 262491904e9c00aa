"""``ngym evaluate``: from a run or a task to a record and a report."""

from __future__ import annotations

import csv
import html
import json
import re
from pathlib import Path

import numpy as np
import pytest
from neurogym_behaviour.behaviour import Behaviour
from neurogym_records import read_csv, read_record
from neurogym_training.playing import design_of, play_task

from neurogym_core import Choice, InvalidValueError, NotSupportedError, Task, make_task


def rows(path):
    with Path(path).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_csv_file_has_no_name_of_another_format(sides, ngym):
    code, said = ngym("evaluate", sides, "--subject", "oracle", "--csv", "trials.parquet")
    assert code == 2
    assert "'trials.parquet', the name of another format" in said
    assert not Path("trials.parquet").exists()
    assert not Path("evaluation").exists()


def test_a_trained_run_is_played_and_reported(toys, sides, ngym):
    ngym("train", sides, "--model", "toy", "--updates", 40, "--out", "run", "--option", "rate=0.02")
    code, said = ngym("evaluate", "run", "--n-trials", 200, "--csv", "trials.csv")
    assert code == 0, said
    record = read_csv("trials.csv")
    assert len(record) == 200
    counts = np.unique(np.stack([record["side"], record["strength"]]), axis=1, return_counts=True)[
        1
    ]
    # Faster envs played a few of the design's trials that are not in the record.
    assert counts.sum() == 200
    assert counts.min() > 35
    page = Path("run/evaluation/report.html").read_text("utf-8")
    assert "toy after 40 updates" in page
    assert page.count("<h2") == 18
    assert "data:image/png;base64," in page
    assert {row["condition"] for row in rows("run/evaluation/accuracy.csv")} == {
        "all trials",
        "side",
        "strength",
    }


def test_a_subject_plays_a_task_with_settings(sides, ngym):
    words = (
        "--subject",
        "oracle",
        "--n-trials",
        80,
        "--set",
        "strengths=0.5,1,2",
        "--condition",
        "side=1",
        "--out",
        "ev",
    )
    code, said = ngym("evaluate", sides, *words, "--csv", "t.csv")
    assert code == 0, said
    record = read_csv("t.csv")
    assert set(record["side"]) == {1}
    assert set(record["strength"]) == {0.5, 1, 2}
    assert "Accuracy per condition" in said
    assert float(rows("ev/accuracy.csv")[0]["accuracy"]) == 1


def test_wrappers_of_tasks_are_applied(sides, ngym):
    words = ("--subject", "premature", "--n-trials", 100, "--csv", "t.csv")
    assert ngym("evaluate", sides, *words)[0] == 0
    plain = read_csv("t.csv")
    code, said = ngym("evaluate", sides, *words, "--wrap", "TrialHistory")
    assert code == 0, said
    assert plain != read_csv("t.csv")
    assert "TrialHistory" in Path("evaluation/report.html").read_text("utf-8")


def test_every_analysis_that_cannot_be_done_gives_the_reason(sides, ngym):
    words = ("--subject", "guess", "--n-trials", 100, "--design", "drawn")
    code, said = ngym("evaluate", sides, *words, "--out", "ev")
    assert code == 0
    page = html.unescape(Path("ev/report.html").read_text("utf-8"))
    reasons = re.findall(r'<p class="not">Skipped: (.*?)</p>', page)
    assert any("block shift" in note for note in re.findall(r"<p>(.*?)</p>", page))
    assert any("sure bet" in reason for reason in reasons)
    assert all(reason.endswith(".") for reason in reasons)
    assert said.count("Skipped: ") == 1
    words = " ".join(said.split())
    assert all(" ".join(reason.rstrip(".").split()) in words for reason in reasons)


REFUSED = {
    "no such run or task": (("evaluate", "nowhere"), "nowhere"),
    "settings with a run": (
        ("evaluate", "run", "--set", "strengths=1"),
        "A run keeps its settings",
    ),
    "no such task in the run": (("evaluate", "run", "--which", 3), "counted from 0"),
    "unknown column": (("evaluate", "run", "--strength", "strenght"), "strength"),
    "unknown condition": (("evaluate", "run", "--condition", "sied=1"), "side"),
}


@pytest.mark.parametrize("command", ["train", "evaluate", "compare"])
def test_help_shows_each_example_on_a_line(command, ngym):
    code, said = ngym(command, "--help")
    assert code == 0
    examples = [line for line in said.splitlines() if line.strip().startswith("ngym ")]
    assert len(examples) >= 2
    assert all(line.count(f"ngym {command}") == 1 for line in examples)


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_usage_is_refused(case, toys, sides, ngym):
    words, hint = REFUSED[case]
    ngym("train", sides, "--model", "toy", "--updates", 10, "--out", "run")
    code, said = ngym(*words)
    assert code in (1, 2)
    assert hint in said


def test_copies_of_a_network_are_one_subject(toys, sides, ngym):
    ngym("train", sides, "--model", "toy", "--updates", 10, "--out", "run")
    code, said = ngym("evaluate", "run", "--n-trials", 200, "--csv", "run.csv")
    assert code == 0, said
    assert "between subjects" not in said
    record = read_record(Path("run.csv"))
    assert len(np.unique(record["env"])) > 1
    assert list(Behaviour(record).per_subject()) == ["record"]


def test_a_run_without_a_checkpoint_is_refused(toys, sides, ngym):
    from neurogym_training import Experiment, Run

    Run.create("run", Experiment(tasks=({"task": sides},), kind="model", trainer="toy", amount=10))
    code, said = ngym("evaluate", "run")
    assert code == 2
    assert "no checkpoint" in said


def test_a_folder_without_a_run_is_refused(ngym):
    Path("empty").mkdir()
    code, said = ngym("evaluate", "empty")
    assert code == 2
    assert "holds no run" in said


def test_a_missing_folder_is_said(ngym):
    code, said = ngym("evaluate", "nofolder")
    assert code == 1
    assert "'nofolder' is no folder of a run, no file of trials and no task." in said


# ---- the design ----


def test_a_design_is_complete_and_shuffled_differently_each_time(sides):
    design = design_of(make_task(sides), 40, 1)
    assert design.name == "balanced"
    pairs = np.stack([design.conditions["side"], design.conditions["strength"]], axis=1)
    assert len(pairs) == 40
    passes = [tuple(map(tuple, pairs[begin : begin + 4])) for begin in range(0, 40, 4)]
    assert all(len(set(one)) == 4 for one in passes)
    assert len(set(passes)) > 1


def test_imposed_conditions_are_not_in_the_design(sides):
    assert set(design_of(make_task(sides), 40, 1, {"side": 1}).conditions) == {"strength"}
    everything = design_of(make_task(sides), 40, 1, {"side": 1, "strength": 1.0})
    assert (everything.name, everything.reason) == ("drawn", "no condition can be enumerated")


class Alternating(Task):
    """Decides which trial comes next."""

    timing = {"decision": 200}

    def define(self):
        self.observe(cue=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_session(self, session, rng):
        session.last = rng.integers(0, 2, len(session.trial))

    def draw(self, session, rng):
        session.last = 1 - session.last
        return {"side": session.last}

    def new_trial(self, trial):
        trial.periods("decision")
        trial.show("cue", np.eye(2)[trial["side"]], during="decision")
        trial.answer("choose", trial["side"], during="decision")


def test_tasks_that_decide_which_trial_comes_next_have_no_design():
    assert design_of(Alternating(), 40).name == "drawn"
    with pytest.raises(NotSupportedError, match="the task decides which trial comes next"):
        design_of(Alternating(), 40, wanted="balanced")


def test_more_combinations_than_trials_are_drawn_and_it_is_said(sides):
    design = design_of(make_task(sides), 3)
    assert (design.name, design.conditions) == ("drawn", {})
    assert design.reason == "4 combinations of conditions need as many trials"
    with pytest.raises(InvalidValueError, match="Give --n-trials 4"):
        design_of(make_task(sides), 3, wanted="balanced")


def test_a_design_is_drawn_or_balanced(sides):
    with pytest.raises(InvalidValueError, match="'drawn' or 'balanced'"):
        design_of(make_task(sides), 40, wanted="factorial")


class Rare(Task):
    """One side is right in nine of ten trials."""

    timing = {"decision": 200}
    p: tuple[float, ...] = (0.1, 0.9)

    def define(self):
        self.observe(cue=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2, p=self.p), strength=Choice((0.5, 1.0)))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("decision")
        trial.show("cue", np.eye(2)[trial["side"]] * trial["strength"][:, None], during="decision")
        trial.answer("choose", trial["side"], during="decision")


@pytest.mark.parametrize("n_trials", [3, 400, 4000])
def test_unequal_probabilities_are_those_of_the_trials(n_trials):
    """The share of rare trials is that of the task, whatever the number of trials: 4 s.e."""
    played = play_task(Rare(), "guess", n_trials, seed=1)
    assert played.record.meta["design"] == "drawn"
    share = np.mean(played.record["side"] == 0)
    assert abs(share - 0.1) < 4 * np.sqrt(0.09 / n_trials)
    assert "'side' with unequal probabilities" in played.facts["design"]


def test_a_balanced_design_is_asked_for_and_said():
    played = play_task(Rare(), "guess", 400, seed=1, design="balanced")
    assert played.record.meta["design"] == "balanced"
    assert abs(np.mean(played.record["side"] == 0) - 0.5) < 0.05
    assert "the task draws 'side' with other probabilities" in played.facts["design"]
    assert "4 combinations of 'side', 'strength'" in played.facts["design"]


def test_equal_weights_are_equal_probabilities():
    assert design_of(Rare(p=(3, 3)), 40).name == "balanced"


def test_imposing_the_unequal_condition_leaves_the_others_balanced():
    assert design_of(Rare(), 40, imposed={"side": 1}).name == "balanced"


def test_the_design_is_said_in_the_terminal_and_the_report(sides, ngym):
    for words, said in (
        ((), "balanced: 4 combinations of 'side', 'strength', shuffled"),
        (("--design", "drawn"), "drawn: the trials that the task draws, as asked"),
        (("--n-trials", 3), "drawn: 4 combinations of conditions need as many trials"),
    ):
        code, text = ngym("evaluate", sides, "--n-trials", 80, *words, "--csv", "t.csv")
        assert code == 0, text
        assert said in text.splitlines()[0]
        assert said in html.unescape(Path("evaluation/report.html").read_text("utf-8"))
        assert ("History effects (the trials are a balanced" in text) or "drawn" in said


def test_a_file_keeps_its_design(ngym, tmp_path):
    lab_file("mice.csv")
    code, said = ngym("evaluate", "mice.csv", "--design", "drawn")
    assert code == 2
    assert "--design was given with the file" in said


# ---- for programs ----


def no_constant(name):
    raise AssertionError(f"{name} is no JSON")


def test_json_has_every_finding(sides, ngym):
    code, said = ngym("evaluate", sides, "--n-trials", 100, "--csv", "t.csv", "--figure", "f.svg",
                      "--json")  # fmt: skip
    assert code == 0, said
    data = json.loads(said, parse_constant=no_constant)
    assert list(data) == [
        "schema", "command", "title", "facts", "slot", "findings", "report", "trials", "figures",
    ]  # fmt: skip
    assert (data["schema"], data["command"], data["slot"]) == (1, "evaluate", None)
    assert data["facts"]["design"].startswith("balanced: 4 combinations")
    assert data["report"] == str(Path("evaluation/report.html"))
    assert data["trials"] == "t.csv"
    assert data["figures"] == ["f-accuracy.svg", "f-psychometric.svg"]
    findings = {one["name"]: one for one in data["findings"]}
    assert all(list(one) == ["name", "title", "skipped", "notes", "table"]
               for one in data["findings"])  # fmt: skip
    whole = findings["accuracy"]["table"][0]
    assert float(rows("evaluation/accuracy.csv")[0]["accuracy"]) == whole["accuracy"]
    assert "--design drawn" in findings["history"]["skipped"]
    assert findings["history"]["table"] is None


def test_json_of_a_file_without_some_numbers(ngym):
    lab_file("mice.csv")
    code, said = ngym("evaluate", "mice.csv", "--by", "p_left", "--json")
    assert code == 0, said
    data = json.loads(said, parse_constant=no_constant)
    assert data["facts"]["file"] == "mice.csv"
    assert {one["name"] for one in data["findings"]} >= {"accuracy", "psychometric-by"}


def lab_file(path, n=600):
    """Write trials of two mice that detect contrast, with a block and a column `correct`."""
    rng = np.random.default_rng(1)
    contrast, side = rng.choice([6.25, 12.5, 25.0, 100.0], n), rng.choice(["left", "right"], n)
    p_left = np.where(np.arange(n) // 50 % 2, 0.2, 0.8)
    drive = np.where(side == "right", contrast, -contrast) / 10 + 4 * (0.5 - p_left)
    right = rng.random(n) < 0.05 + 0.9 / (1 + np.exp(-drive))
    times = 250 + rng.gamma(4, 60, n)
    hit = right == (side == "right")
    lines = [
        f"{'AB'[2 * k // n]},{contrast[k]},{side[k]},{p_left[k]},{right[k]:d},{hit[k]:d},"
        f"{times[k]:.0f},{hit[k]:d}"
        for k in range(n)
    ]
    head = "subject,contrast,side,p_left,choice,correct,reaction_time,reward"
    Path(path).write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")


def test_every_section_says_a_number_or_why_there_is_none(ngym):
    lab_file("mice.csv")
    code, said = ngym("evaluate", "mice.csv", "--by", "p_left", "--out", "ev")
    assert code == 0, said
    sections = [line for line in said.splitlines() if ": " in line]
    assert not [line for line in sections if line.endswith(": done")]
    assert re.search(r"Psychometric function by condition: p_left 0\.2: bias -?\d", said)
    assert re.search(r"Stay probabilities: Last choice repeated: 0\.\d+ after rewarded", said)
    assert re.search(r"Distributions of reaction times: Medians: correct [\d.]+ ms, error", said)
    assert ".;" not in said


def test_a_labs_column_of_correct_answers_is_no_condition(ngym):
    lab_file("mice.csv")
    code, said = ngym("evaluate", "mice.csv", "--out", "ev")
    assert code == 0, said
    assert {row["condition"] for row in rows("ev/accuracy.csv")} == {
        "all trials",
        "contrast",
        "side",
        "p_left",
    }


def test_a_labs_trials_are_not_scored_on_tasks_that_they_may_not_be_of(ngym):
    """Mice that saw gratings were scored on lapses in clicks, and on a game."""
    lab_file("mice.csv")
    code, said = ngym("likeness", "mice.csv", "--out", "likeness")
    assert code == 0, said
    tested = said.partition("Not tested")[0]
    assert "click" not in tested
    assert "game" not in tested
    assert "Not tested: Lapses in spite of many clicks: the record has no clicks" in said
    assert "the trials do not name their task; if it is that, give --task MatchingPennies" in said
    code, said = ngym("likeness", "mice.csv", "--task", "MatchingPennies", "--out", "game")
    assert code == 0, said
    assert "Hardly predictable in a game: 0." in said
    assert "2 of " in said
