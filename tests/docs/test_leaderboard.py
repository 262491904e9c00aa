"""The leaderboard shows stored scores beside the animals, without a total."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from neurogym_study.experiment import Experiment
from neurogym_study.runs import FORMAT, SETTINGS_FILE
from neurogym_study.signatures import signatures
from scripts import loaded

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "_make" / "leaderboard.py"


@pytest.fixture
def maker():
    return loaded("leaderboard")


def run_folder(path, task, trainer, amount, tested=None):
    """Write the files of a run that the script reads: the settings and the learning curve."""
    path.mkdir(parents=True)
    tasks = ({"task": task},)
    experiment = Experiment(tasks=tasks, kind="model", trainer=trainer, amount=amount)
    said = {"format": FORMAT, "experiment": experiment.to_plain()}
    (path / SETTINGS_FILE).write_text(json.dumps(said), "utf-8")
    if tested is not None:
        (path / "curve.csv").write_text(f"updates,accuracy\n0,0.5\n{tested},0.8\n", "utf-8")


def test_the_page_is_what_was_measured_last(maker):
    assert maker.PAGE.read_text("utf-8") == maker.page(maker.scores()), (
        "run `python docs/_make/leaderboard.py --write`, and commit docs/leaderboard.md"
    )


def test_networks_and_subjects_stand_beside_every_animal_and_nothing_is_summed(maker):
    stored, page = maker.scores(), maker.page(maker.scores())
    networks = [row for row in stored.values() if row["network"]]
    assert len(networks) >= 3
    assert any(row["seeds"] >= 3 for row in networks)
    assert len(stored) > len(networks)
    for one in signatures():
        if any(one.name in row["tested"] for row in stored.values()):
            section = page.split(f"## {one.title}\n")[1].split("\n## ")[0]
            assert all(f"| {animal.name} | animal |" in section for animal in one.animals)
        else:
            assert f"- {one.title} (" in page.split("## Not tested")[1]
    assert "no total" in page
    assert not any(word in page.lower() for word in ("| total", "| mean", "| score", "| rank"))


def test_a_subject_that_guesses_is_like_no_animal(maker):
    guesses = [row for row in maker.scores().values() if row["who"] == "guess"]
    found = {name: one for row in guesses for name, one in row["tested"].items()}
    assert found["better-when-strong"]["within"] == "no"
    assert all(one["within"] != "yes" for one in found.values())


def test_scores_are_kept_and_only_new_ones_are_measured(maker, tmp_path, monkeypatch):
    monkeypatch.setattr(maker, "TRIALS", 200)
    monkeypatch.setattr(maker, "SEEDS", 2)
    monkeypatch.setattr(maker, "REFERENCES", (("MatchingPennies-v0", "guess"),))
    files = ["--measured", tmp_path / "scores.json", "--page", tmp_path / "page.md"]
    nothing = ["--gallery", tmp_path / "gallery", "--finished", tmp_path / "none.json"]
    arguments = [str(part) for part in (*nothing, *files)]
    first = CliRunner().invoke(maker.main, arguments)
    assert first.exit_code == 0, first.output
    assert "1 networks and subjects remain" in first.output
    (row,) = maker.scores(tmp_path / "scores.json").values()
    assert row["seeds"] == 2
    assert set(row["tested"]) == {"both-options-in-a-game", "unpredictable-in-a-game"}
    again = CliRunner().invoke(maker.main, arguments)
    assert "0 networks and subjects remain" in again.output
    assert "`guess`" in (tmp_path / "page.md").read_text("utf-8")


def test_finished_runs_of_one_task_and_trainer_are_seeds_of_one_network(maker, tmp_path):
    for seed in range(2):
        run_folder(tmp_path / f"a-{seed}", "perceptual/PoissonClicks-v0", "rnn", 100, tested=100)
    run_folder(tmp_path / "other", "PoissonClicks-v0", "gru", 100, tested=120)
    run_folder(tmp_path / "unfinished", "PoissonClicks-v0", "rnn", 100, tested=50)
    run_folder(tmp_path / "untested", "PoissonClicks-v0", "rnn", 100)
    (tmp_path / "no-run").mkdir()
    (tmp_path / "note.txt").write_text("", "utf-8")
    nothing = (tmp_path / "gallery", tmp_path / "none.json")
    found = [entry for entry in maker.entries(tmp_path, *nothing) if entry.networks]
    assert [(one.task, one.who, len(one.networks)) for one in found] == [
        ("PoissonClicks-v0", "rnn", 2),
        ("PoissonClicks-v0", "gru", 1),
    ]
    assert found[0].key != found[1].key


def gallery_of(maker, folder, task, trainer, seeds):
    """Write the files of finished trainings of the gallery; return the file of their results."""
    runs = {}
    for seed in seeds:
        job = maker.train_gallery.Job(task, trainer, (seed,), 50)
        (path,) = job.folders(folder)
        path.mkdir(parents=True)
        (path / "curve.csv").write_text("updates,accuracy\n0,0.5\n50,0.8\n", "utf-8")
        runs[job.keys[0]] = {"task": task, "trainer": trainer, "seed": seed, "until": 50}
    file = folder / "results.json"
    known = json.loads(file.read_text("utf-8"))["runs"] if file.exists() else {}
    file.write_text(json.dumps({"runs": known | runs}), "utf-8")
    return file


def test_finished_trainings_of_the_gallery_are_networks_if_their_task_has_a_signature(
    maker, tmp_path
):
    gallery_of(maker, tmp_path, "perceptual/PoissonClicks-v0", "gru", (0, 1))
    file = gallery_of(maker, tmp_path, "yang19/Go-v0", "gru", (0,))
    unfinished = maker.train_gallery.Job("perceptual/PoissonClicks-v0", "rnn", (0,), 50)
    unfinished.folders(tmp_path)[0].mkdir()
    found = [entry for entry in maker.entries(None, tmp_path, file) if entry.networks]
    assert [(one.task, one.who, len(one.networks)) for one in found] == [
        ("PoissonClicks-v0", "gru", 2)
    ]


def test_a_network_of_the_gallery_plays_from_its_checkpoint(maker, tmp_path, monkeypatch):
    pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.setattr(maker, "TRIALS", 100)
    job = maker.train_gallery.Job("perceptual/PoissonClicks-v0", "gru", (0,), 2)
    maker.train_gallery.train(job, tmp_path)
    (folder,) = job.folders(tmp_path)
    played = maker.Network(folder, job).play(seed=1)
    assert played.subject == "gru after 2 updates"
    assert len(played.record) >= 100
