"""docs/scripts/task_clusters.py finds planted groups, none in noise, and opens a run."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "scripts" / "task_clusters.py"


@pytest.fixture(scope="module")
def script():
    for module in ("torch", "neurogym_torch", "matplotlib"):
        pytest.importorskip(module)
    return runpy.run_path(str(SCRIPT))


def test_planted_groups_are_found_and_silent_units_belong_to_none(script):
    rng = np.random.default_rng(0)
    centres = np.eye(4).repeat(2, axis=1)  # four groups, eight tasks
    planted = np.arange(60) % 4
    variance = centres[planted] + 0.05 * rng.random((2, 60, 8))
    variance[:, 50:] = 1e-6
    groups, scores, _ = script["grouped"](variance)
    assert groups.max() == 3
    assert (groups[50:] == -1).all()
    for group in range(4):
        assert len(set(planted[:50][groups[:50] == group])) == 1
    assert scores[4] > 0.8


def test_noise_has_no_groups_in_other_trials(script):
    variance = np.random.default_rng(0).random((2, 60, 8))
    _, scores, _ = script["grouped"](variance)
    assert max(scores.values()) < 0.1


@pytest.mark.slow
def test_it_opens_a_run_and_lesions_each_group(script, tmp_path, monkeypatch):
    from neurogym_torch.trainers import LeakyTrainer

    tasks = ["yang19/Go-v0", "yang19/Anti-v0"]
    trainer = LeakyTrainer(
        tasks, hidden=16, loss="mse", answers="last", batch=4, test_trials=10,
        activation="softplus", output="sigmoid", initial="diagonal", gain=0.5,
    )  # fmt: skip
    trainer.train(2, out=tmp_path / "run")
    out = tmp_path / "figure.png"
    given = [str(SCRIPT), str(tmp_path / "run"), "--trials", "16", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", given)
    script["main"]()
    said = json.loads(out.with_suffix(".json").read_text())
    assert out.stat().st_size > 5000
    assert sum(said["sizes"]) == said["active"]
    assert len(said["lesions"]) == said["groups"]
    assert set(said["accuracy"]) == {"Go", "Anti"}
