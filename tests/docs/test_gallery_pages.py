"""The pages of pictures and of trained networks: sheets are small, numbers are those measured."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAIR = ("control/GoNogo-v0", "value/ProbabilisticReversal-v0")


def load(name):
    path = DOCS / "_make" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"docs_{name}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_sheets_are_on_the_page_and_not_too_large():
    page = (DOCS / "gallery.md").read_text("utf-8")
    for name in ("gallery-1.png", "gallery-2.png"):
        assert f"images/{name}" in page
        assert (DOCS / "images" / name).stat().st_size < 600_000


def test_the_page_of_trained_networks_is_what_was_measured_last():
    maker = load("train_gallery")
    assert maker.PAGE.read_text("utf-8") == maker.page(maker.read()), (
        "run `python docs/_make/train_gallery.py --write`, and commit docs/gallery-results.md"
    )


def test_the_page_of_agents_is_what_was_measured_last():
    maker = load("agents")
    assert maker.PAGE.read_text("utf-8") == maker.page(maker.read()), (
        "run `python docs/_make/agents.py --write`, and commit docs/agent-results.md"
    )


def test_a_finished_training_of_an_agent_is_not_repeated(tmp_path):
    maker = load("agents")
    path = tmp_path / "agents.json"
    run = {"met": True, "steps": 100, "cpu": 1.0, "fresh": 0.8}
    maker.keep(run, "bandit", "ppo", 0, path)
    left = list(maker.missing(("bandit",), ("ppo",), 2, path))
    assert left == [("bandit", "ppo", 1)]
    assert "| ppo | 1 of 1 | 0 | 0.80 (0.80 to 0.80) | 1 |" in maker.page(maker.read(path))


def test_halfway_is_between_the_best_shortcut_that_counts_and_the_oracle():
    maker = load("train_gallery")
    known = {"oracle": 1.0, "all": 0.9, "constant": 0.5, "channel.a": 0.89, "channel.b": 0.6}
    entry = type("Entry", (), {"shortcuts": known, "expected": {"chance": 0.4}})
    found = maker.levels(entry)
    # Channel a leaves out nothing that counts: it does as well as everything together.
    assert found["shortcut"] == 0.6
    assert found["halfway"] == 0.8
    assert maker.first_above([[0, 0.5], [100, 0.8], [200, 0.81], [300, 0.7]], 0.8) == 200
    assert maker.first_above([[0, 0.5]], 0.8) is None


@pytest.mark.slow
def test_two_tasks_are_trained_and_an_interrupted_training_continues(tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("sb3_contrib")
    maker = load("train_gallery")
    out, measured, page = tmp_path / "out", tmp_path / "runs.json", tmp_path / "page.md"

    class StopError(Exception):
        """Ends a training as a killed process would."""

    job = maker.Job(PAIR[0], "gru", 0, 20)
    trainer = maker.trainer_named("gru")
    learned = trainer.update

    def update(self):
        if self.done == 12:
            raise StopError
        return learned(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trainer, "update", update)
        with pytest.raises(StopError):
            maker.train(job, out)
    words = [*(f"--only={task}" for task in PAIR), "--updates=20", "--steps=1024", "--seeds=1"]
    words += [f"--out={out}", f"--measured={measured}", f"--page={page}", "--jobs=1"]
    # In a separate process, whose workers import the script by its path.
    command = [sys.executable, str(DOCS / "_make" / "train_gallery.py"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    runs = maker.read(measured)["runs"]
    assert {run["trainer"]: run["resumed"] for run in runs.values()} == {
        "gru": True,
        "rnn": False,
        "recurrent-ppo": False,
    }
    assert all(run["done"] >= run["until"] for run in runs.values())
    assert all(f"| `{task}` |" in page.read_text("utf-8") for task in PAIR)
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "0 trainings" in again.stdout
