"""The scripts of others that were moved here run, in a shortened form."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import loaded

SCRIPTS = Path(__file__).resolve().parents[2] / "docs" / "scripts"
SHORT = {
    "supervised_torch": {"updates": 3, "trials": 5},
    "supervised_keras": {"updates": 2, "trials": 5},
    "reinforcement_learning": {"steps": 100, "trials": 5, "n_steps": 8},
    "excitatory_inhibitory": {"updates": 2, "repeats": 2},
    "fixed_points": {"updates": 2, "iterations": 3, "repeats": 1},
}
WRITTEN = {
    "supervised_keras": {"model.png"},
    "reinforcement_learning": {"random.png", "agent.png", "agent.gif"},
}
NEEDS = {"supervised_keras": ("keras",), "reinforcement_learning": ("sb3_contrib",)}


def test_every_script_is_tested():
    others = {"task_clusters"}  # tested in test_task_clusters.py
    assert {path.stem for path in SCRIPTS.glob("*.py")} == set(SHORT) | others


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORT)
def test_a_moved_script_runs(name, tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    for library in NEEDS.get(name, ()):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # several threads wait for each other on a loaded machine
    try:
        found = loaded(SCRIPTS / f"{name}.py").main(**SHORT[name])
    finally:
        torch.set_num_threads(threads)
    performance = found["performance"] if isinstance(found, dict) else found
    assert 0 <= performance <= 1
    assert {path.name for path in tmp_path.iterdir()} == WRITTEN.get(name, set())
