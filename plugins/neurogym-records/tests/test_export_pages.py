"""`ngym export` of tasks as pages and experiments that people play, and refused requests."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from neurogym_core import make_task, run

DOTS = "perceptual/PerceptualDecisionMaking-v0"


def test_a_page_has_the_trials_and_the_settings_that_were_given(ngym):
    words = ("-n", 4, "--practice", 3, "--feedback", "--condition", "coherence=51.2")
    code, said = ngym("export", DOTS, "--to", "web", "--out", "p", "--seed", 7, *words)
    assert code == 0, said
    assert said == "The page is in p. Serve the folder with any web server.\n"
    page = json.loads(Path("p/task.json").read_text("utf-8"))
    assert page["trials"]["columns"]["coherence"] == [51.2] * 4
    assert (page["practice"]["n_trials"], page["feedback"], page["save"]) == (3, True, None)
    expected = run(DOTS, "oracle", 4, num_envs=1, seed=7, conditions={"coherence": 51.2})
    names = page["trials"]["names"]["direction"]
    sides = [names[side] for side in page["trials"]["columns"]["direction"]]
    assert sides == expected["direction"].tolist()


def test_an_experiment_is_written_with_a_note_on_short_windows(ngym):
    code, said = ngym("export", DOTS, "--to", "jspsych", "-n", 4)
    assert code == 0, said
    assert "The experiment is in study. Run `npm install` in it once" in said
    assert "Note: The shortest time for an answer is 300 ms" in " ".join(said.split())
    assert Path("study/experiment.js").exists()
    words = ("--timing", "decision=1500", "--wrap", "ReactionTime", "--set", "dt=20")
    code, said = ngym("export", DOTS, "--to", "jspsych", "-n", 4, *words)
    assert (code, "Note" in said) == (0, False)
    trials = json.loads(Path("study/task.json").read_text("utf-8"))["trials"]
    assert trials["dt"] == 20
    assert "reaction_time" in run(make_task(DOTS, wrap="ReactionTime"), "oracle", 2, seed=0)


def test_pages_name_the_package_that_writes_them(ngym, monkeypatch):
    monkeypatch.setitem(sys.modules, "neurogym_play", None)
    code, said = ngym("export", DOTS, "--to", "web")
    assert code == 2
    assert "'--to web' comes with neurogym-play: `pip install" in " ".join(said.split())


def test_settings_of_a_task_hold_in_every_format(ngym):
    words = ("--set", "dt=20", "--condition", "coherence=51.2", "--timing", "decision=1500")
    code, said = ngym("export", DOTS, "--to", "csv", "--subject", "oracle", "-n", 4, *words)
    assert code == 0, said
    lines = Path("trials.csv").read_text("utf-8").splitlines()
    rows = [dict(zip(lines[0].split(","), line.split(","), strict=True)) for line in lines[1:]]
    assert [row['"coherence"'] for row in rows] == ["51.2"] * 4
    assert [row['"duration.decision"'] for row in rows] == ["1500.0"] * 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((DOTS, "--to", "psychopy"), "'psychopy' is not one of"),
        (("trials.csv", "--to", "web"), "Expected a TASK, which a person plays"),
        (("trials.csv", "--to", "nwb", "--set", "dt=20"), "--set was given with the file"),
        (("trials.csv", "--to", "nwb", "-n", "5"), "--n-trials was given with the file"),
        ((DOTS, "--to", "csv", "--practice", "3"), "--practice was given with --to csv"),
        ((DOTS, "--to", "web", "--subject", "oracle"), "--subject was given with --to web"),
        ((DOTS, "--to", "web", "--sex", "F"), "--sex was given with --to web"),
        ((DOTS, "--to", "csv", "--recipe", "ibl"), "--recipe was given with the task"),
        ((DOTS, "--to", "web", "--set", "foo=1"), "Unknown parameter 'foo'"),
        (("value/LeverPress-v0", "--to", "web"), "runs code on every step"),
        (("control/StopSignal-v1", "--to", "jspsych"), "after the outcome"),
    ],
)
def test_requests_that_mean_nothing_are_refused(words, message, ngym):
    run(DOTS, "guess", 3, seed=1).to_csv("trials.csv")
    before = sorted(Path().rglob("*"))
    code, said = ngym("export", *words)
    assert code != 0
    assert message in " ".join(said.split())
    assert sorted(Path().rglob("*")) == before
