"""Trained networks are scored against animals, in processes that see observations only."""

from __future__ import annotations

import pandas as pd
import pytest
import sites

TASK = "perceptual/PerceptualDecisionMaking-v0"


@pytest.mark.slow
def test_runs_are_scored_as_the_seeds_of_one_network(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [f"rnn-{seed}" for seed in range(3)]
    for seed, name in enumerate(names):
        words = ("--model", "rnn", "--updates", 20, "--seed", seed, "--quiet", "--out", name)
        code, said = sites.called("train", TASK, *words)
        assert code == 0, said
    animals = []
    for seed in range(2):
        words = ("--subject", "integrator", "--n-trials", 400, "--seed", seed, "--csv", "one.csv")
        code, said = sites.called("run", TASK, *words, "--set", "sigma=4.0")
        assert code == 0, said
        animals.append(pd.read_csv("one.csv").assign(subject=f"animal {seed}"))
    pd.concat(animals).drop(columns="reaction_time").to_csv("animals.csv", index=False)
    words = ("--name", "two", "--task", TASK, "--kind", "choices", "-n", 300, "--set", "sigma=4.0")
    code, said = sites.called("benchmark", "add", "animals.csv", *words)
    assert code == 0, said
    code, said = sites.called("likeness", *names, "--benchmark", "two")
    assert code == 0, said
    assert "Score of rnn after 20 updates" in said
    assert "No verdict: 2 animals" in said
    assert "likeness/report.html" in said
