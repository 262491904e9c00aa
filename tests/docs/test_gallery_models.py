"""The gallery's networks as a collection: those of the page, each with its hash."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from neurogym_training import Experiment, Run, zoo
from scripts import loaded
from trainer_fixtures import toys

__all__ = ["toys"]
TASK = "perceptual/PerceptualDecisionMaking-v0"


@pytest.fixture
def maker():
    return loaded("gallery_models")


@pytest.fixture
def gallery(toys, tmp_path, monkeypatch):
    """Three trainings in the folders of the gallery's script, and their stored numbers."""
    monkeypatch.chdir(tmp_path)
    runs = {}
    for seed in range(3):
        experiment = Experiment(
            tasks=({"task": TASK},), kind="model", trainer="toy", amount=20, seed=seed
        )
        folder = Path("gallery", f"perceptual-PerceptualDecisionMaking-v0-toy-{seed}")
        experiment.make_trainer().train(20, out=folder)
        (folder / "checkpoint.json").touch()  # as the checkpoints of networks are named
        runs[f"{TASK} toy {seed}"] = {
            "task": TASK, "trainer": "toy", "seed": seed, "until": 20, "unit": "updates",
            "done": 20,
        }  # fmt: skip
    Path("measured.json").write_text(json.dumps({"machine": {}, "runs": runs}))
    return runs


def packed(maker, *more):
    words = ["--from", "gallery", "--out", "models", "--measured", "measured.json", *more]
    return CliRunner().invoke(maker.main, words)


def test_all_networks_of_the_page_are_packed_and_come_back(maker, gallery):
    result = packed(maker)
    assert result.exit_code == 0, result.output
    assert "models: 3 of 3 trainings" in result.output
    names = [one.name for one in zoo.models("models")]
    assert names == [f"perceptual-PerceptualDecisionMaking-v0-toy-{seed}" for seed in range(3)]
    for one in zoo.models("models"):
        content = Path("models", one.file).read_bytes()
        assert hashlib.sha256(content).hexdigest() == one.sha256
        got = zoo.get(one.name, Path("models").resolve().as_uri(), one.name)
        assert Run.open(got).trainer().done == 20
    again = packed(maker)
    assert again.exit_code == 2
    assert "holds a collection" in again.output


def test_trainings_that_are_not_those_of_the_page_stay_out(maker, gallery):
    first, second, third = sorted(Path("gallery").iterdir())
    (first / "checkpoint.json").unlink()
    with (second / "curve.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    rows[-1]["updates"] = "40"  # it went on after its numbers were stored
    with (second / "curve.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    result = packed(maker)
    assert result.exit_code == 0, result.output
    assert [one.name for one in zoo.models("models")] == [third.name]
    assert f"{second.name}: the curve ends at 40, the stored numbers at 20" in result.output
    assert "1 have no checkpoint in gallery" in result.output


def test_a_refused_training_is_named_and_the_others_are_packed(maker, gallery):
    first = min(Path("gallery").iterdir())
    (first / "notes.txt").symlink_to("nowhere")
    result = packed(maker)
    assert result.exit_code == 0, result.output
    assert len(zoo.models("models")) == 2
    assert f"{first.name}: The run" in result.output
    assert "has the link" in result.output


def test_an_empty_gallery_is_an_error(maker, gallery):
    result = packed(maker, "--from", "nowhere")
    assert result.exit_code == 1
    assert "make train-gallery" in result.output
    assert not Path("models").exists()
