"""``ngym run``: played trials, printed tables and summaries, errors of usage."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from neurogym_records import read_csv

import neurogym_core as ngym_core
from neurogym_core import subjects
from neurogym_core.ecosystem import names
from neurogym_core.ecosystem.published import how_to_install
from neurogym_core.tools import SubjectName, comes_with, read_value
from neurogym_core.trials import record_text

DOTS = "PerceptualDecisionMaking-v0"
STUDENT = '''
from neurogym_core import Choice, Task

class Lamp(Task):
    """Press when the lamp is on."""

    brightness: float = 1.0
    colours: tuple[str, ...] = ("red", "green")
    timing = {"wait": 300, "lamp": 300}

    def define(self):
        self.observe(lamp=2)
        self.act(rest=1, press=2)
        self.vary(colour=Choice(self.colours))
        self.correct_choice(self.is_second)

    def is_second(self, conditions):
        return (conditions["colour"] == self.colours[1]).astype(int)

    def new_trial(self, trial):
        trial.periods("wait", "lamp")
        trial.show("lamp", self.brightness, during="lamp")
        trial.answer("press", (trial["colour"] == self.colours[1]).astype(int), during="lamp")
'''


@pytest.fixture
def student(tmp_path):
    """A task in a file, without a package."""
    path = tmp_path / "my_task.py"
    path.write_text(STUDENT)
    return f"{path}:Lamp"


def table_rows(text: str) -> list[list[str]]:
    """Return the cells of the rows of the printed table."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.split()[:1] == ["trial"])
    return [line.split() for line in lines[first + 1 : lines.index("", first)]]


def test_trials_and_a_summary_are_printed(ngym):
    result = ngym("run", DOTS, "--subject", "oracle", "--n-trials", "5")
    assert result.exit_code == 0, result.output
    rows = table_rows(result.stdout)
    assert [row[0] for row in rows] == ["0", "1", "2", "3", "4"]
    assert all("correct" in row for row in rows)
    assert "trials         5, of 120 steps" in result.stdout
    assert "correct 5 (100%)" in result.stdout
    assert "1.000 of 5 answers" in result.stdout


def test_the_number_of_trials_has_a_short_option(ngym):
    short, long = (ngym("run", DOTS, option, "5").stdout for option in ("-n", "--n-trials"))
    assert short == long != ""


def test_steps_are_counted_and_unfinished_trials_left_out(ngym):
    text = ngym("run", DOTS, "--subject", "oracle", "--n-steps", "60").stdout
    assert [row[0] for row in table_rows(text)] == ["0", "1"]
    assert "2, of 48 steps" in text


def test_without_a_number_200_steps_are_played(ngym):
    assert "8, of 192 steps" in ngym("run", DOTS, "--subject", "oracle").stdout


def test_too_few_steps_for_a_trial_are_reported(ngym, tmp_path):
    result = ngym("run", DOTS, "--n-steps", "3", "--csv", str(tmp_path / "x.csv"))
    assert result.exit_code == 0
    assert "No trial ended within 3 steps. Give more with --n-steps." in result.stdout
    assert not (tmp_path / "x.csv").exists()


def test_a_csv_file_has_no_name_of_another_format(ngym, tmp_path):
    result = ngym("run", DOTS, "--n-trials", "2", "--csv", str(tmp_path / "x.parquet"))
    assert result.exit_code == 2
    assert "name of another format. Expected a file name that ends in .csv" in result.stderr
    assert not (tmp_path / "x.parquet").exists()


def test_the_csv_file_holds_what_run_would_give(ngym, tmp_path):
    path = tmp_path / "trials.csv"
    arguments = (
        "run",
        DOTS,
        "--subject",
        "integrator",
        "--n-trials",
        "30",
        "--seed",
        "3",
        "--set",
        "sigma=4",
    )
    assert ngym(*arguments, "--csv", str(path)).exit_code == 0
    assert read_csv(path) == ngym_core.run(DOTS, "integrator", 30, seed=3, sigma=4.0)


def test_many_trials_are_all_there_and_the_table_stays_short(ngym, tmp_path):
    path = tmp_path / "trials.csv"
    text = ngym("run", "Bandit-v0", "--n-trials", "250", "--csv", str(path)).stdout
    record = read_csv(path)
    assert len(record) == 250
    assert not record["subject"].any()
    assert "… and 230 more" in text
    assert len(table_rows(text)) == 21


def test_long_conditions_are_cut_in_the_table_only(ngym, tmp_path, monkeypatch):
    monkeypatch.setattr(record_text, "ITEMS", 2)
    path = tmp_path / "trials.csv"
    text = ngym("run", "PulseDecisionMaking-v0", "--n-trials", "3", "--csv", str(path)).stdout
    assert len(re.findall(r"\(\d, \d, …\)", text)) == 6
    assert len(read_csv(path)["left"][0]) == 6


# ---- answers and rests ----

TWO_ANSWERS = '''
from neurogym_core import Choice, Task

class Two(Task):
    """Report two letters."""

    timing = {"first": 100, "second": 100}

    def define(self):
        self.observe(letter=2)
        self.act(rest=1, report=2)
        self.vary(a=Choice(2), b=Choice(2))

    def new_trial(self, trial):
        trial.periods("first", "second")
        trial.show("letter", trial["a"][:, None] == [0, 1], during="first")
        trial.answer("report", trial["a"], during="first", slot="T1", then="wait")
        trial.answer("report", trial["b"], during="second", slot="T2")
'''


def summary_of(text: str) -> dict[str, str]:
    """Return the lines of the printed summary."""
    lines = text[text.index("\nsummary\n") :].splitlines()[2:]
    lines = [line for line in lines if "All trials are in" not in line]
    return dict(re.split(r"\s{2,}", line.strip(), maxsplit=1) for line in lines)


def test_resting_is_no_answer(ngym):
    found = summary_of(ngym("run", "GoNogo-v0", "--subject", "rest", "--n-trials", "200").stdout)
    assert "accuracy" not in found
    assert found["hit rate"].startswith("0.000 (0.000 to 0.038), 0 of 97 ")
    assert found["false alarm rate"].startswith("0.000 (0.000 to 0.036), 0 of 103 ")


def test_hits_false_alarms_and_the_criterion(ngym):
    found = summary_of(ngym("run", "GoNogo-v0", "--subject", "guess", "--n-trials", "200").stdout)
    assert found["accuracy"] == "0.485 of 200 answers"
    assert found["hit rate"].startswith("1.000 (0.962 to 1.000), 97 of 97 ")
    assert found["false alarm rate"].startswith("1.000 (0.964 to 1.000), 103 of 103 ")
    assert re.match(r"-0\.02\d \(-1\.\d+ to 1\.\d+\)", found["d'"])
    assert float(found["criterion"].split()[0]) < -2


def test_without_the_package_of_analyses_there_are_rates(ngym, monkeypatch):
    monkeypatch.setenv("NGYM_BLOCK", "neurogym-behaviour")
    found = summary_of(ngym("run", "GoNogo-v0", "--subject", "guess", "--n-trials", "200").stdout)
    assert found["hit rate"] == "1.000, 97 of 97 trials to answer"
    assert "d'" not in found


def test_each_answer_of_a_trial_has_its_accuracy(ngym, tmp_path):
    path, csv = tmp_path / "two.py", tmp_path / "two.csv"
    path.write_text(TWO_ANSWERS)
    result = ngym(
        "run", f"{path}:Two", "--subject", "guess", "--n-trials", "400", "--csv", str(csv)
    )
    found, record = summary_of(result.stdout), read_csv(csv)
    first, second = (record[f"{slot}.outcome"] == "correct" for slot in ("T1", "T2"))
    assert found["accuracy, T1"] == f"{first.mean():.3f} of 400 answers"
    assert found["accuracy, T2"] == f"{second.mean():.3f} of 400 answers"
    assert found["accuracy, T2, given T1 correct"] == (
        f"{second[first].mean():.3f} of {first.sum()} answers"
    )
    assert "accuracy" not in found
    assert found["reaction time, T2"].endswith(" ms")


UNTIL_CORRECT = '''
from neurogym_core import Choice, Task

class Keys(Task):
    """Press the key of the light, until it is right."""

    max_duration = 20_000
    timing = {"light": float("inf")}

    def define(self):
        self.observe(light=4)
        self.act(rest=1, press=4)
        self.vary(place=Choice(4))

    def new_trial(self, trial):
        trial.periods("light", repeat="light")
        trial.show("light", trial["place"][:, None] == range(4), during="light")
        then = {"correct": "end", "error": "light"}
        trial.answer("press", trial["place"], during="light", again=True, then=then)
'''


def test_first_answers_tell_a_guesser_who_may_answer_until_it_is_right(ngym, tmp_path):
    path = tmp_path / "keys.py"
    path.write_text(UNTIL_CORRECT)
    words = ("run", f"{path}:Keys", "--n-trials", "400", "--seed", "1", "--subject")
    found = summary_of(ngym(*words, "guess").stdout)
    assert found["accuracy"] == "1.000 of 400 answers"
    share, of = found["accuracy, first answers"].split(maxsplit=1)
    assert of == "of 400 answers"
    assert abs(float(share) - 0.25) < 0.1  # 5 SDs
    assert summary_of(ngym(*words, "oracle").stdout)["accuracy, first answers"].startswith("1.000")
    (answer,) = json.loads(ngym(*words, "guess", "--json").stdout)["summary"]["answers"]
    assert answer["first"]["accuracy"] == pytest.approx(float(share), abs=0.001)


# ---- units and columns ----


def test_times_have_their_unit_and_no_exponent(ngym, student):
    text = ngym("run", student, "--subject", "guess", "--timing", "wait=40000", "--n-trials", "3",
                "--columns", "trial,duration.wait,reaction_time").stdout  # fmt: skip
    assert "duration.wait (ms)  reaction time (ms)" in text
    assert table_rows(text)[0][:2] == ["0", "40000"]


def test_columns_are_chosen(ngym):
    text = ngym("run", "GoNogo-v0", "--n-trials", "3", "--columns", "trial, outcome,steps").stdout
    assert all(len(row) == 3 for row in table_rows(text))


def test_an_unknown_column_names_the_nearest(ngym):
    result = ngym("run", "GoNogo-v0", "--n-trials", "3", "--columns", "outcom")
    assert result.exit_code == 2
    assert "Did you mean 'outcome'?" in result.stderr


# ---- for programs ----


def no_constant(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


def test_json_has_all_trials_and_the_summary(ngym, tmp_path):
    csv = tmp_path / "trials.csv"
    result = ngym("run", "GoNogo-v0", "--subject", "rest", "--n-trials", "30", "--seed", "2",
                  "--csv", str(csv), "--json")  # fmt: skip
    assert result.exit_code == 0
    said = json.loads(result.stdout, parse_constant=no_constant)
    assert list(said) == [
        "schema", "command", "task", "parameters", "wrappers", "versions", "subject", "seed",
        "split", "stopped", "summary", "names", "trials", "csv", "experiment",
    ]  # fmt: skip
    assert (said["schema"], said["command"], said["seed"], said["stopped"]) == (1, "run", 2, False)
    assert said["split"] == "none"  # as in `ngym evaluate --json`
    assert said["csv"] == str(csv)
    record = read_csv(csv)
    assert [row["outcome"] for row in said["trials"]] == record["outcome"].tolist()
    assert said["trials"][0].keys() == set(record.columns)
    assert said["trials"][0]["reaction_time"] is None
    assert said["names"] == {"choice": ["go"]}
    (answer,) = said["summary"]["answers"]
    assert (answer["slot"], answer["answered"], answer["accuracy"]) == (None, 0, None)
    assert answer["detection"]["noises"] == int(record["rest_correct"].sum())
    assert answer["detection"]["hit rate"]["value"] == 0


def test_json_of_some_columns(ngym):
    result = ngym("run", "GoNogo-v0", "--n-trials", "3", "--columns", "trial,outcome", "--json")
    assert [list(row) for row in json.loads(result.stdout)["trials"]] == [["trial", "outcome"]] * 3


def test_json_without_a_trial(ngym):
    said = json.loads(ngym("run", DOTS, "--n-steps", "3", "--json").stdout)
    assert said["summary"] is None
    assert said["trials"] == []


@pytest.mark.parametrize("n_trials", [99, 100])
def test_a_task_with_a_memory_is_lived_by_one_subject(ngym, tmp_path, n_trials):
    path = tmp_path / "trials.csv"
    task = "DriftingBandit-v0"
    result = ngym("run", task, "--n-trials", str(n_trials), "--csv", str(path))
    record = read_csv(path)
    assert np.unique(record["env"]).tolist() == [0]
    assert record["trial"].tolist() == list(range(n_trials))
    assert "subject" not in result.stdout.partition("trial")[0]


def test_several_subjects_are_asked_for_and_have_their_own_rows(ngym, tmp_path):
    path, file = tmp_path / "trials.csv", tmp_path / "experiment.toml"
    asked = ("run", "DriftingBandit-v0", "--n-trials", "15", "--subjects", "3")
    result = ngym(*asked, "--csv", str(path), "--save", str(file))
    assert result.exit_code == 0, result.output
    record = read_csv(path)
    assert record["subject"].tolist() == [0] * 5 + [1] * 5 + [2] * 5
    assert record["trial"].tolist() == [0, 1, 2, 3, 4] * 3
    lines = result.stdout.splitlines()
    head = next(i for i, line in enumerate(lines) if line.split()[:2] == ["subject", "trial"])
    shown = [line.split()[:2] for line in lines[head + 1 : head + 16]]
    assert shown == [[str(k // 5), str(k % 5)] for k in range(15)]
    assert "subjects       3" in result.stdout
    again = tmp_path / "again.csv"
    assert ngym("run", str(file), "--csv", str(again)).exit_code == 0
    assert read_csv(again) == record


@pytest.mark.parametrize("words", [("experiment.toml",), (DOTS, "--save", "experiment.toml")])
def test_without_neurogym_training_one_line_names_the_package_of_experiment_files(
    ngym, monkeypatch, words
):
    monkeypatch.setenv("NGYM_BLOCK", "neurogym-training")
    result = ngym("run", *words)
    assert result.exit_code == 1
    assert f"comes with neurogym-training: {how_to_install('neurogym-training')}" in result.stderr


def test_a_subject_takes_settings(ngym, tmp_path):
    path = tmp_path / "trials.csv"
    arguments = ("--n-trials", "5", "--csv", str(path))
    assert ngym("run", DOTS, "--subject", "late_oracle:wait=0", *arguments).exit_code == 0
    early = read_csv(path)["reaction_time"]
    assert ngym("run", DOTS, "--subject", "late_oracle:wait=200", *arguments).exit_code == 0
    assert (read_csv(path)["reaction_time"] > early).all()


def test_settings_reach_the_task(ngym, tmp_path):
    path = tmp_path / "trials.csv"
    result = ngym(
        "run",
        DOTS,
        "--set",
        "coherences=0,51.2",
        "--set",
        "directions=4",
        "--timing",
        "delay=uniform(500,1000)",
        "--timing",
        "stimulus=700",
        "--condition",
        "direction=3",
        "--n-trials",
        "40",
        "--csv",
        str(path),
    )
    assert result.exit_code == 0, result.output
    record = read_csv(path)
    assert set(record["coherence"]) == {0, 51.2}
    assert set(record["direction"]) == {3}
    assert set(record["duration.stimulus"]) == {700}
    assert {500, 1000} >= {record["duration.delay"].min(), record["duration.delay"].max()}


def test_a_task_in_a_file_needs_no_package(ngym, student):
    result = ngym(
        "run", student, "--subject", "oracle", "--n-trials", "3", "--set", "colours=blue,white"
    )
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Lamp, played by: oracle")
    assert {row[1] for row in table_rows(result.stdout)} <= {"blue", "white"}


@pytest.mark.parametrize(
    "wrappers", [["--pass-reward"], ["--pass-action"], ["--pass-reward", "--pass-action"]]
)
def test_reward_and_action_may_be_passed(ngym, wrappers):
    result = ngym("run", DOTS, *wrappers, "--subject", "integrator", "--n-trials", "3")
    assert result.exit_code == 0, result.output
    assert "trials         3, of 72 steps" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--set", "coherense=3"], "Did you mean 'coherences'?"),
        (["--set", "coherences=0,abc"], "Expected numbers, as in the default"),
        (["--set", "directions=two"], "it needs int"),
        (["--set", "directions=2.5"], "whole number"),
        (["--set", "sigma=nan"], "it needs a number"),
        (["--set", "sigma"], "Expected a name and a value"),
        (["--set", "=3"], "Expected a name and a value"),
        (["--timing", "delay=soon"], "Cannot read 'soon' as a distribution"),
        (["--timing", "dela=100"], "Did you mean 'delay'?"),
        (["--timing", "delay=-100"], "-100"),
        (["--condition", "coherenc=3"], "Did you mean 'coherence'?"),
        (["--subject", "oracel"], "oracel"),
        (["--subject", "oracel:wait=1"], "Did you mean 'oracle'?"),
        (["--subject", "late_oracle:wiat=1"], "Did you mean 'wait'?"),
        (["--subject", "late_oracle:wait=x"], "Expected a number"),
        (["--subject", "late_oracle:wait"], "Expected a name and a value"),
        (["--subject", "integrator:channel=stimulis"], "Did you mean 'stimulus'?"),
        (["--subjects", "0"], "0"),
        (["--n-steps", "0"], "0"),
        (["--seed", "-1"], "-1"),
        (["--n-steps", "3", "--n-trials", "3"], "Leave one out"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_why(ngym, arguments, said):
    result = ngym("run", DOTS, *arguments)
    assert result.exit_code == 2, result.output
    assert said in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


def test_missing_tasks_and_folders_end_with_1(ngym, tmp_path):
    unknown = ngym("run", "PerceptalDecisionMaking-v0")
    assert unknown.exit_code == 1
    assert "Did you mean 'PerceptualDecisionMaking-v0'?" in unknown.stderr
    assert ngym("run", str(tmp_path / "nothing.py:Task")).exit_code == 1
    nowhere = ngym("run", DOTS, "--csv", str(tmp_path / "no" / "folder" / "x.csv"))
    assert (nowhere.exit_code, "cannot be written" in nowhere.stderr) == (1, True)


def test_subjects_that_cannot_play_say_so(ngym):
    result = ngym("run", "Bandit-v0", "--subject", "integrator")
    assert result.exit_code == 2
    said = " ".join(result.stderr.split())
    assert "needs evidence in a channel 'stimulus'. Bandit has the channels 'offer'" in said


def test_it_reads_on_a_narrow_ascii_terminal(ngym):
    result = ngym("run", DOTS, "--n-trials", "2", COLUMNS="40", charset="ascii")
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 40
    assert result.stdout.isascii()


def test_the_bar_of_a_long_run_stays_out_of_pipes(shell):
    done = shell("run", DOTS, "--n-trials", "300")
    assert done.returncode == 0
    assert done.stderr == ""


PLAYER = """
import numpy as np
from neurogym_core import Subject

class Still(Subject):
    def __call__(self, env, observations):
        return np.zeros(env.num_envs, int)
"""


def test_a_subject_of_a_package_plays_by_its_name(ngym, site, tmp_path):
    (tmp_path / "student.py").write_text(STUDENT)
    task, groups = (
        f"{tmp_path / 'student.py'}:Lamp",
        {"neurogym.subjects": {"still": "lab.p:Still"}},
    )
    site.add("lab", groups=groups, files={"p.py": PLAYER})
    result = ngym("run", task, "--subject", "still", "--n-trials", "3")
    assert (result.exit_code, "played by: still" in result.stdout) == (0, True), result.output


def test_a_subject_of_a_package_that_is_missing_names_the_package(ngym, site, tmp_path):
    (tmp_path / "student.py").write_text(STUDENT)
    result = ngym("run", f"{tmp_path / 'student.py'}:Lamp", "--subject", "q_learner")
    assert result.exit_code == 2
    assert comes_with("q_learner", "neurogym-likeness") in result.stderr


def test_the_shell_completes_the_names_of_subjects(site):
    site.add("lab", groups={"neurogym.subjects": {"still": "lab.p:Still"}}, files={"p.py": PLAYER})
    found = SubjectName().shell_complete(None, None, "")
    assert {"oracle", "still"} <= {item.value for item in found}


def test_the_help_describes_every_subject_and_names_the_packages_of_others(ngym, site):
    site.add("lab", groups={"neurogym.subjects": {"still": "lab.p:Still"}}, files={"p.py": PLAYER})
    section = ngym("run", "--help").stdout.partition("SETTING=VALUE,...):\n")[2]
    texts = {**names.SUBJECTS, "still": "from lab"}
    rows = texts.items()
    assert " ".join(section.split()) == " ".join(f"{name} {text}" for name, text in rows)
    assert "lab.p" not in sys.modules


@pytest.mark.parametrize("package", ["neurogym-likeness", "lab"])
def test_the_help_describes_learners_of_this_project_only(ngym, site, package):
    value = f"{package.replace('-', '_')}.p:Still"
    site.add(package, groups={"neurogym.subjects": {"hybrid": value}}, files={"p.py": PLAYER})
    (line,) = [one for one in ngym("run", "--help").stdout.splitlines() if "hybrid" in one]
    own = package == "neurogym-likeness"
    assert line.split(maxsplit=1)[1].startswith("Mixes" if own else "from lab")


@pytest.mark.parametrize(
    ("text", "default", "value"),
    [
        ("0,51.2", (1.0,), (0, 51.2)),
        ("3", (1.0,), (3,)),
        ("(0.2, 0.8)", None, (0.2, 0.8)),
        ("(1,2),(3,4)", (), ((1, 2), (3, 4))),
        ("red,dark green", (), ("red", "dark green")),
        (".5", 1.0, 0.5),
        ("1e-3", 1.0, 1e-3),
        ("+3", 1, 3.0),
        ("True", False, True),
        ("no", True, False),
        ("none", 3, None),
        ("none", "text", "none"),
        ("a=b", "", "a=b"),
        ("1,2", "", "1,2"),
        ("word", None, "word"),
        ("[{timing={delay=0}},{sigma=0.5}]", None, ({"timing": {"delay": 0}}, {"sigma": 0.5})),
        ("{a=1,b=[2,3]}", None, {"a": 1, "b": [2, 3]}),
        ("[1,word]", None, "[1,word]"),  # no end of commas within brackets
    ],
)
def test_values_are_read_as_the_default_suggests(text, default, value):
    assert read_value(text, default) == value


# ---------------------------------------------------------------------- stopped early


class Interrupting:
    """Rests, and interrupts as Ctrl-C does on a given step."""

    def __init__(self, step):
        self.left = step

    def __call__(self, env, observations):
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt
        return np.zeros(env.num_envs, np.int64)


@pytest.fixture
def ctrl_c(monkeypatch):
    """Make every subject interrupt on a given step."""

    def on(step):
        monkeypatch.setattr(subjects, "subject_named", lambda *_, **__: Interrupting(step))

    return on


@pytest.mark.parametrize(
    ("amount", "step", "ended", "said"),
    [
        (("--n-trials", "1000000000"), 60, 2, "Stopped after 2 of 1,000,000,000 trials."),
        (("--n-trials", "50"), 60, 2, "Stopped after 2 of 50 trials."),
        (("--n-steps", "5000"), 60, 2, "Stopped after 59 of 5,000 steps; 2 trials had ended."),
    ],
)
def test_trials_before_ctrl_c_are_kept(ngym, ctrl_c, tmp_path, amount, step, ended, said):
    ctrl_c(step)
    path = tmp_path / "trials.csv"
    result = ngym("run", DOTS, *amount, "--csv", str(path))
    assert result.exit_code == 130, result.output
    assert said in result.stdout
    assert "summary" in result.stdout
    assert len(read_csv(path)) == ended
    assert "Aborted" not in result.stderr


def test_ctrl_c_before_any_trial_ended_writes_nothing(ngym, ctrl_c, tmp_path):
    ctrl_c(1)
    result = ngym("run", DOTS, "--n-trials", "5", "--csv", str(tmp_path / "trials.csv"))
    assert result.exit_code == 130
    assert "Stopped after 0 of 5 trials." in result.stdout
    assert not (tmp_path / "trials.csv").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="limits the size of files as POSIX systems do")
@pytest.mark.parametrize("command", [("run", DOTS), ("list",), ("list", "--json")])
def test_output_without_room_is_one_line(tmp_path, command):
    import resource

    with open(tmp_path / "full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-P", "-B", "-m", "neurogym_core", *command],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=600,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
        )
    assert done.returncode == 1
    assert done.stderr.startswith("Error: The output cannot be written: File too large.")
    assert len(done.stderr.splitlines()) == 1, done.stderr


def test_json_names_the_task_its_parameters_and_versions(ngym):
    result = ngym("run", DOTS, "--set", "sigma=0.5", "--n-trials", "2", "--json")
    said = json.loads(result.stdout)
    assert said["task"] == f"perceptual/{DOTS}"
    assert said["parameters"] == {"sigma": 0.5}
    assert said["wrappers"] == []
    assert {"neurogym-core", "neurogym-task-perceptual", "numpy"} <= set(said["versions"])


def test_a_mistake_in_the_file_of_a_task_is_shown_from_that_file_on(ngym, tmp_path):
    file = tmp_path / "mistaken.py"
    file.write_text(
        STUDENT + "\n\nclass Mistaken(Lamp):\n    def new_trial(self, trial):\n        len(3)\n"
    )
    result = ngym("run", f"{file}:Mistaken")
    assert result.exit_code == 1
    lines = result.stderr.splitlines()
    assert len(lines) < 10
    assert "len(3)" in result.stderr
    assert "has no len()" in lines[-1]


def test_the_subject_trained_without_a_run_says_how_to_give_one(ngym):
    assert "was given no run" in ngym("run", DOTS, "--subject", "trained").stderr
