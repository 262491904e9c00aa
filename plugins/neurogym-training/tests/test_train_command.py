"""``ngym train``: from the command line to a run that can be resumed."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from neurogym_plot import trace_of
from neurogym_training import Trainer

from neurogym_core import run


def curve(folder):
    with (Path(folder) / "curve.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def without_times(rows):
    return [
        {name: value for name, value in row.items() if name not in ("seconds", "cpu")}
        for row in rows
    ]


def test_a_run_is_a_folder_with_settings_curve_and_checkpoint(toys, sides, ngym):
    code, said = ngym("train", sides, "--model", "toy", "--updates", 30, "--out", "run", "--quiet")
    assert code == 0, said
    assert "30 updates done" in said
    settings = json.loads(Path("run/settings.json").read_text("utf-8"))
    assert settings["experiment"]["trainer"] == "toy"
    assert settings["versions"]["neurogym-core"]
    assert [row["updates"] for row in curve("run")] == ["0", "10", "20", "30"]
    assert float(curve("run")[-1]["accuracy"]) > float(curve("run")[0]["accuracy"])
    assert Path("run/toy.json").exists()


def test_a_pattern_names_several_tasks(toys, ngym):
    code, said = ngym(
        "train", "yang19/DM[12]-v0", "--model", "toy", "--updates", 10, "--out", "run", "--quiet"
    )
    assert code == 0, said
    settings = json.loads(Path("run/settings.json").read_text("utf-8"))
    tasks = [task["task"] for task in settings["experiment"]["tasks"]]
    assert tasks == ["yang19/DM1-v0", "yang19/DM2-v0"]


def test_it_stops_at_the_criterion(toys, sides, ngym):
    code, said = ngym(
        "train", sides, "--model", "toy", "--updates", 500, "--criterion", 0.5, "--out", "run"
    )
    assert code == 0
    assert "the criterion is met" in said
    *before, last = [float(row["accuracy"]) for row in curve("run")]
    assert last >= 0.5 > max(before)


def test_a_criterion_that_is_not_met_is_exit_code_1(toys, sides, ngym):
    code, said = ngym(
        "train", sides, "--model", "toy", "--updates", 10, "--criterion", 0.9, "--out", "run"
    )
    assert code == 1
    assert "criterion of 0.9 was not met" in said


def test_an_interrupted_run_ends_like_an_uninterrupted_one(toys, sides, ngym):
    code, said = ngym(
        "train",
        sides,
        "--model",
        "toy",
        "--updates",
        40,
        "--out",
        "cut",
        "--option",
        "interrupt=26",
    )
    assert code == 1
    assert "ngym train --resume cut" in said
    assert [row["updates"] for row in curve("cut")] == ["0", "10", "20"]
    assert ngym("train", "--resume", "cut")[0] == 0
    assert ngym("train", sides, "--model", "toy", "--updates", 40, "--out", "whole")[0] == 0
    assert without_times(curve("cut")) == without_times(curve("whole"))


def test_a_finished_run_can_be_trained_further(toys, sides, ngym):
    ngym("train", sides, "--model", "toy", "--updates", 20, "--out", "run")
    code, said = ngym("train", "--resume", "run", "--updates", 40)
    assert code == 0
    assert "40 updates done" in said
    assert [row["updates"] for row in curve("run")] == ["0", "10", "20", "30", "40"]
    assert json.loads(Path("run/settings.json").read_text("utf-8"))["experiment"]["amount"] == 40


def test_resuming_keeps_the_settings(toys, sides, ngym):
    ngym("train", sides, "--model", "toy", "--updates", 20, "--out", "run")
    code, said = ngym("train", "--resume", "run", "--seed", 2)
    assert code == 2
    assert "--seed" in said
    assert "--updates" in said


def test_wrappers_have_settings_on_the_command_line(toys, sides, ngym):
    code, said = ngym(
        "train", sides, "--model", "toy", "--updates", 10, "--out", "run", "--quiet",
        "--wrap", "curriculum:stages=[{timing={fixation=200}}],advance_at=0.6,window=50",
    )  # fmt: skip
    assert code == 0, said
    (wrap,) = json.loads(Path("run/settings.json").read_text("utf-8"))["experiment"]["wrap"]
    assert (wrap["name"], wrap["advance_at"], wrap["window"]) == ("curriculum", 0.6, 50)
    assert wrap["stages"] == [{"timing": {"fixation": 200}}]


def test_an_agent_counts_steps_and_takes_wrappers_of_envs(toys, sides, ngym):
    words = ("--algo", "toy-agent", "--steps", 20, "--pass-reward", "--pass-action", "--out", "run")
    code, said = ngym("train", sides, *words)
    assert code == 0, said
    assert "20 steps done" in said
    wrap = json.loads(Path("run/settings.json").read_text("utf-8"))["experiment"]["wrap"]
    assert wrap == [{"name": "PassReward"}, {"name": "PassAction"}]


def test_the_command_line_overrides_the_experiment_file(toys, sides, ngym):
    Path("beside").mkdir()
    Path("beside/sides_task.py").write_text(
        Path(sides.rpartition(":")[0]).read_text("utf-8"), "utf-8"
    )
    Path("beside/experiment.toml").write_text(
        'task = "sides_task.py:Sides"\nseed = 3\n[parameters]\nstrengths ='
        ' [1.0]\n[timing]\nfixation = 400\n[train]\nmodel = "toy"\nupdates = 20\nout = "run"\nbatch'
        ' = 2\nalso = [{ task = "sides_task.py:Sides", timing = { decision = 500 }'
        " }]\n[train.options]\nhidden = 3\n",
        "utf-8",
    )
    code, said = ngym(
        "train", "beside/experiment.toml", "--trust", "--seed", 5, "--option", "rate=0.5"
    )
    assert code == 0, said
    from neurogym_training import Run

    run = Run.open("run")
    assert run.experiment.seed == 5
    assert dict(run.experiment.options) == {"hidden": 3, "rate": 0.5, "batch": 2}
    trainer = run.trainer()
    assert [task.strengths for task in trainer.tasks] == [(1.0,), (1.0,)]
    durations = [
        (task.timing["fixation"].to_plain(), task.timing["decision"].to_plain())
        for task in trainer.tasks
    ]
    assert durations == [(400, 300), (400, 500)]
    assert trainer.done == 20


REFUSED = {
    "no task": (("train", "--model", "toy", "--out", "run"), "No task was given"),
    "no trainer": (("train", "TASK", "--out", "run"), "Neither --model nor --algo"),
    "both": (
        ("train", "TASK", "--model", "toy", "--algo", "toy-agent", "--out", "run"),
        "Both --model and --algo",
    ),
    "unknown trainer": (("train", "TASK", "--model", "tyo", "--out", "run"), "toy"),
    "wrong kind": (("train", "TASK", "--algo", "toy", "--out", "run"), "--model toy"),
    "no class": (("train", "TASK", "--model", "no-trainer", "--out", "run"), "is not a trainer"),
    "unknown option": (
        ("train", "TASK", "--model", "toy", "--option", "hiden=3", "--out", "run"),
        "hidden",
    ),
    "wrong value": (
        ("train", "TASK", "--model", "toy", "--option", "hidden=few", "--out", "run"),
        "hidden='few'",
    ),
    "wrong unit": (
        ("train", "TASK", "--model", "toy", "--steps", "10", "--out", "run"),
        "Use --updates",
    ),
    "no folder": (("train", "TASK", "--model", "toy"), "--out"),
    "criterion": (("train", "TASK", "--model", "toy", "--criterion", "85", "--out", "run"), "0.85"),
    "env wrapper": (
        ("train", "TASK", "--model", "toy", "--pass-reward", "--out", "run"),
        "wraps envs",
    ),
    "unknown parameter": (
        ("train", "TASK", "--model", "toy", "--set", "strenghts=1", "--out", "run"),
        "strengths",
    ),
    "no such file": (("train", "none.toml", "--model", "toy", "--out", "run"), "none.toml"),
    "not a pair": (
        ("train", "TASK", "--model", "toy", "--timing", "fixation", "--out", "run"),
        "--timing name=3",
    ),
    "no pair of an option": (
        ("train", "TASK", "--model", "toy", "--option", "hidden", "--out", "run"),
        "--option name=3",
    ),
    "no run": (("train", "--resume", "nowhere"), "holds no run"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_usage_is_refused_before_anything_is_written(case, toys, sides, ngym):
    words, hint = REFUSED[case]
    code, said = ngym(*(sides if word == "TASK" else word for word in words))
    assert code in (1, 2), said
    assert hint in said
    assert not Path("run").exists()


def test_a_run_is_not_overwritten(toys, sides, ngym):
    ngym("train", sides, "--model", "toy", "--updates", 10, "--out", "run")
    code, said = ngym("train", sides, "--model", "toy", "--updates", 10, "--out", "run")
    assert code == 2
    assert "--resume" in said


GOOD = 'task = "perceptual/PerceptualDecisionMaking-v0"\n'
BAD_FILES = {
    "no TOML": ("task = [", "is not TOML"),
    "unknown key": (GOOD + 'modle = "toy"\n', "line 2"),
    "unknown key of training": (GOOD + '[train]\nmodle = "toy"\n', "Did you mean 'model'"),
    "no task": ('seed = 1\n[train]\nmodel = "toy"\n', "names no task"),
    "not trusted": ('task = "mine.py:Mine"\n[train]\nmodel = "toy"\n', "--trust"),
    "not trusted either": (GOOD + '[train]\nmodel = "toy"\nalso = ["mine.py:Mine"]\n', "--trust"),
    "imposed": (GOOD + '[imposed]\ncoherence = 6.4\n[train]\nmodel = "toy"\n', "[conditions]"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_an_invalid_file_is_refused(case, toys, ngym):
    text, hint = BAD_FILES[case]
    Path("experiment.toml").write_text(text, "utf-8")
    code, said = ngym("train", "experiment.toml", "--out", "run")
    assert code == 2
    assert hint in said


def test_help_imports_neither_numpy_nor_torch():
    program = (
        "import sys; from neurogym_core.tools import main; main(['train', '--help'],"
        " standalone_mode=False); print({'numpy', 'torch', 'gymnasium'} & set(sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert "ngym train experiment.toml" in result.stdout
    assert result.stdout.strip().endswith("set()")


def test_a_subject_that_breaks_every_hold_does_not_meet_a_criterion():
    class Hasty(Trainer):
        def _learn(self, until, watch):
            while self.done < until and not watch.point(self.play(50, seed=3)):
                self.done += 1

        def subject(self, which=0):
            return lambda env, observations: np.where(env.target == 0, 1, env.target)

        def save(self, folder): ...

        def load(self, folder): ...

    trainer = Hasty("perceptual/PerceptualDecisionMaking-v0", seed=0)
    assert trainer.train(3, criterion=0.9) == "updates"
    last = trainer.curve[-1]
    assert last["accuracy"] == 1
    assert last["clean"] == 0
    assert last["aborts"] > 1
    assert last["answered"] == 1


def test_a_trained_network_plays_in_run_plot_and_python(ngym, toys, sides):
    words = ("train", sides, "--model", "toy", "--option", "rate=1.0", "--updates", "10")
    assert ngym(*words, "--out", "runs/x", "--quiet")[0] == 0
    code, said = ngym("run", sides, "--subject", "runs/x", "--n-trials", "50")
    assert code == 0, said
    assert "played by: runs/x" in said
    assert re.search(r"performance\s+1\.000", said)
    assert ngym("plot", sides, "--subject", "runs/x", "-o", "trial.svg")[0] == 0
    assert "runs/x: correct" in Path("trial.svg").read_text("utf-8")
    session = ("plot", sides, "--subject", "trained:run=runs/x", "--n-trials", "20")
    assert ngym(*session, "-o", "session.png")[0] == 0
    assert run(sides, "runs/x", 30, seed=1)["performance"].mean() == 1


def test_a_run_in_this_folder_needs_no_slash_unless_a_subject_has_its_name(ngym, toys, sides):
    for out in ("here", "guess"):
        words = ("train", sides, "--model", "toy", "--option", "rate=1.0", "--updates", "10")
        assert ngym(*words, "--out", out, "--quiet")[0] == 0
    code, said = ngym("run", sides, "--subject", "here", "--n-trials", "50")
    assert code == 0, said
    assert re.search(r"performance\s+1\.000", said)
    assert ngym("plot", sides, "--subject", "here", "-o", "trial.svg")[0] == 0
    assert run(sides, "here", 30, seed=1)["performance"].mean() == 1
    assert run(sides, "guess", 30, seed=1)["performance"].mean() < 1


@pytest.mark.parametrize("said", ["net", "./net:which=0", "trained:run=net"])
def test_a_saved_experiment_finds_its_trained_subject_from_other_folders(
    ngym, toys, sides, said, tmp_path, monkeypatch
):
    words = ("train", sides, "--model", "toy", "--option", "rate=1.0", "--updates", "10")
    assert ngym(*words, "--out", "net", "--quiet")[0] == 0
    Path("saved").mkdir()
    code, text = ngym("run", sides, "--subject", said, "--n-trials", "9", "--save", "saved/e.toml")
    assert code == 0, text
    (tmp_path / "elsewhere").mkdir()
    saved = Path("saved/e.toml").resolve()
    assert 'subject = "../net' in saved.read_text("utf-8")
    monkeypatch.chdir(tmp_path / "elsewhere")
    code, text = ngym("run", str(saved), "--trust")
    assert code == 0, text
    assert "of 9 answers" in text


def test_a_run_plays_new_trials_unless_another_split_is_given(ngym, toys, sides):
    words = ("train", sides, "--model", "toy", "--option", "rate=1.0", "--updates", "10")
    assert ngym(*words, "--out", "here", "--quiet")[0] == 0
    splits = json.loads(Path("here/settings.json").read_text())["splits"]
    assert splits == {"training": "train", "tests": "validation", "play": "test"}
    assert run(sides, "here", 5, seed=0).meta["split"] == "test"
    trials = {
        split: run(sides, "here", 20, seed=0, split=split) for split in (None, "train", "test")
    }
    for name, split in ((None, "test"), ("train", "train"), ("none", None)):
        given = () if name is None else ("--split", name)
        asked = ("run", sides, "--subject", "here", "--n-trials", 20, *given)
        code, said = ngym(*asked, "--csv", "trials.csv", "--save", "again.toml")
        assert code == 0, said
        rows = Path("trials.csv").read_text()
        sides_played = [row["side"] for row in csv.DictReader(rows.splitlines())]
        assert sides_played == [str(side) for side in trials[split]["side"]]
        # The file of the experiment names the split only if the command did.
        line = f'split = "{name}"\n' if name else "split"
        assert (line in Path("again.toml").read_text()) == bool(name)
        assert ngym("run", "again.toml", "--trust", "--csv", "trials.csv")[0] == 0
        assert Path("trials.csv").read_text() == rows
        for command in ("evaluate", "likeness"):
            code, said = ngym(command, "here", "--n-trials", 20, *given, "--out", command)
            assert code == 0, said
            page = Path(command, "report.html").read_text()
            assert f"split {split or 'none'}" in " ".join(re.sub("<[^>]+>", " ", page).split())
    code, said = ngym("run", sides, "--split", "tset")
    assert code == 2
    assert "'tset' is not one of 'none', 'train', 'validation', 'test'" in said


def test_an_agent_plays_with_the_wrappers_of_envs_of_its_training(ngym, toys, sides):
    words = ("train", sides, "--algo", "toy-agent", "--option", "rate=1.0", "--steps", "10")
    assert ngym(*words, "--pass-reward", "--out", "runs/y", "--quiet")[0] == 0
    from neurogym_core.players import Game

    game = Game(sides, "runs/y", 4, params={})
    assert game.env.single_observation_space.shape == (3,)
    assert list(trace_of(sides, "runs/y", seed=0).channels) == ["sides", "PassReward"]
    assert ngym("plot", sides, "--subject", "runs/y", "-o", "trial.png")[0] == 0
    assert ngym("run", sides, "--subject", "runs/y", "--n-trials", "5")[0] == 0


def test_a_run_that_cannot_play_is_one_clear_error(ngym, toys, sides):
    assert "holds no run" in ngym("run", sides, "--subject", "runs/none")[1]
    Path("here").mkdir()
    code, said = ngym("run", sides, "--subject", "here")
    assert code == 2
    assert "'here', which is a folder without settings.json" in " ".join(said.split())
    words = ("train", sides, "--model", "toy", "--updates", "2", "--out", "runs/x", "--quiet")
    assert ngym(*words)[0] == 0
    code, said = ngym("run", "GoNogo-v0", "--subject", "runs/x")
    assert code != 0
    assert "Expected those of the training" in said
    assert "which=3" in ngym("run", sides, "--subject", "runs/x:which=3")[1]


def test_chance_and_the_best_shortcut_stand_beside_the_accuracy(toys, ngym):
    words = ("--model", "toy", "--updates", 10, "--out")
    code, said = ngym("train", "memory/DelayMatchSample-v0", *words, "plain")
    assert code == 0, said
    assert "a classifier that sees everything 1 [" in said
    assert "; ideal " in said
    code, said = ngym("train", "ManteDecisionMaking-v0", "--set", "sigma=1", *words, "changed")
    assert code == 0, said
    assert "(with the default parameters: chance, " in said
    assert "best shortcut, 100 ms in the middle of each stimulus, 0.75" in said
    assert "to the ideal" not in said, "the ideal is that of the default parameters"


def test_the_help_of_train_recommends_the_trainers_that_learn_most_tasks(ngym):
    code, said = ngym("train", "--help")
    said = " ".join(said.split()).replace("- ", "-")  # click breaks lines after hyphens
    assert code == 0
    assert "rnn (try it first)" in said
    assert "recurrent-ppo, which has the memory that most tasks need" in said
