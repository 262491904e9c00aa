"""Options that a command would ignore are refused; missing packages and runs are named."""

from __future__ import annotations

import pytest
from neurogym_training import trainers

TASK = "perceptual/PerceptualDecisionMaking-v0"


@pytest.fixture
def trials(ngym):
    code, said = ngym("run", TASK, "--subject", "integrator", "--n-trials", 30, "--csv", "t.csv")
    assert code == 0, said
    return "t.csv"


@pytest.mark.parametrize("option", ["--n-trials", "--seed", "--which"])
@pytest.mark.parametrize("command", ["evaluate", "likeness"])
def test_a_file_is_not_played_so_options_of_playing_are_refused(command, option, trials, ngym):
    code, said = ngym(command, trials, option, 1)
    assert code == 2
    assert f"{option} was given with the file" in said


def test_a_run_that_does_not_exist_is_named(ngym):
    code, said = ngym("likeness", "rnn-0", "rnn-1")
    assert code == 2
    assert "'rnn-0' is not the folder of a run" in said


def test_a_trainer_of_a_package_that_is_not_installed_names_the_package(ngym, monkeypatch):
    monkeypatch.setattr(trainers, "offers_of", lambda group: [])
    code, said = ngym("train", TASK, "--model", "rnn", "--out", "x")
    assert code != 0
    assert "'rnn' comes with neurogym-torch" in said
    code, said = ngym("train", TASK, "--model", "nobody", "--out", "x")
    assert code != 0
    assert "Unknown trainer 'nobody'" in said
