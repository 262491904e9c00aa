"""The pages of pictures and of trained networks: sheets are small, numbers are those measured."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scripts import loaded

from neurogym_core import run
from neurogym_core.tools import TaskInfo, find_task

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAIR = ("control/GoNogo-v0", "value/ProbabilisticReversal-v0")


def test_the_sheets_are_on_the_page_and_not_too_large():
    page = (DOCS / "gallery.md").read_text("utf-8")
    for name in ("gallery-1.png", "gallery-2.png"):
        assert f"images/{name}" in page
        assert (DOCS / "images" / name).stat().st_size < 600_000


def test_the_page_of_trained_networks_is_what_was_measured_last():
    maker = loaded("train_gallery")
    assert maker.PAGE.read_text("utf-8") == maker.page(maker.read(maker.MEASURED)), (
        "run `python docs/_make/train_gallery.py --write`, and commit docs/gallery-results.md"
    )


def test_the_page_of_agents_is_what_was_measured_last():
    maker = loaded("agents")
    assert maker.PAGE.read_text("utf-8") == maker.page(maker.read(maker.MEASURED)), (
        "run `python docs/_make/agents.py --write`, and commit docs/agent-results.md"
    )


def test_measurements_are_kept_with_one_training_per_line_and_repeated_ones_are_replaced(tmp_path):
    measured = loaded("measured")
    path = tmp_path / "runs.json"
    assert measured.read(path) == {"runs": {}}
    assert measured.when(measured.read(path)) == ""
    measured.keep(path, {"b": {"seed": 1, "steps": 2}, "a": {"seed": 0}}, ("seed",))
    measured.keep(path, {"c": {"seed": 1, "steps": 3}}, ("seed",))
    measured.keep(path, {"d": [{"seed": 1}]})
    found = measured.read(path)
    assert found["runs"] == {"a": {"seed": 0}, "c": {"seed": 1, "steps": 3}, "d": [{"seed": 1}]}
    # Packages that are not installed, as torch may be here, are left out.
    assert set(found["machine"]["versions"]) <= set(measured.PACKAGES)
    assert len(path.read_text("utf-8").splitlines()) == 2 + 3
    assert measured.when(found).startswith(f"Last measured on {found['machine']['date']}, ")


def test_a_finished_training_of_an_agent_is_not_repeated(tmp_path):
    maker = loaded("agents")
    path = tmp_path / "agents.json"
    run = {"met": True, "steps": 100, "cpu": 1.0, "fresh": 0.8}
    own = {"goal": "bandit", "setting": "ppo", "seed": 0, **run}
    maker.keep(path, {maker.key_of("bandit", "ppo", 0): own})
    left = list(maker.missing(("bandit",), ("ppo",), 2, path))
    assert left == [("bandit", "ppo", 1)]
    assert "| ppo | 1 of 1 | 0 | 0.80 (0.80 to 0.80) | 1 |" in maker.page(maker.read(path))


def test_the_agents_of_the_readme_and_of_a_task_with_a_delay_were_all_trained():
    maker = loaded("agents")
    measured = maker.read(maker.MEASURED)
    for goal, setting in (("readme", "a2c"), ("match", "ppo")):
        runs = maker.found(measured, goal, setting)
        assert len(runs) == maker.SEEDS
        assert all(run["met"] for run in runs)


def test_the_text_of_the_page_has_the_settings_of_the_trainings():
    maker = loaded("train_gallery")
    page = " ".join(maker.PAGE.read_text("utf-8").partition("<!-- Written below")[0].split())
    updates, steps = maker.UPDATES, maker.STEPS
    for said in (
        f"{maker.HIDDEN} units", f"for at most {updates:,} updates", f"for at most {steps:,} steps",
        f"to {maker.LONGER * updates:,} updates or {maker.LONGER * steps:,} steps",
        f"batches of {maker.BATCHES[0]} whole trials ({maker.BATCHES[1]} where",
        f"more than {maker.LONG} steps", f"{maker.PIXELS} pixels", f"{maker.TEST_TRIALS} trials",
        f"{maker.FRESH:,} new trials", f"in {maker.SESSIONS} sessions", f"above {maker.SOLVED},",
        f"earlier two by {maker.GAIN}", f"above {maker.STAGE_LEVEL}, or for {maker.STAGE_STEPS:,}",
        f"at most {maker.IMAGE_UPDATES} updates of {maker.IMAGE_BATCH} trials",
        f"at most {maker.STAGE_UPDATES} updates:", f"or {maker.SAME} below",
        *(f"`{task}`" for task in (*maker.BY_REWARD, *maker.STAGES, *maker.IMAGE_STAGES)),
    ):  # fmt: skip
        assert said in page, said


def described(shortcuts: dict[str, float]) -> TaskInfo:
    """Return a task with these shortcuts in its manifest."""
    return replace(find_task("control/GoNogo-v0"), shortcuts=shortcuts)


def test_halfway_is_between_the_best_shortcut_that_counts_and_the_oracle():
    maker = loaded("train_gallery")
    known = {"oracle": 1.0, "all": 0.9, "constant": 0.5, "channel.a": 0.89, "channel.b": 0.6}
    entry = described(known)
    found = maker.levels(entry)
    # Channel a leaves out nothing that counts: it does as well as everything together.
    assert found["shortcut"] == 0.6
    assert found["halfway"] == 0.8


def test_the_level_of_a_task_that_noise_limits_is_near_the_classifier():
    maker = loaded("train_gallery")
    known = {"oracle": 1.0, "all": 0.82, "constant": 0.5, "channel.a": 0.76}
    entry = described(known)
    found = maker.levels(entry)
    assert found["halfway"] == pytest.approx(0.88)
    assert found["level"] == pytest.approx(0.79)
    reached = [maker.reaches([{"final": final}], found) for final in (0.9, 0.8, 0.78)]
    assert reached == [True, True, False]
    # A classifier no better than guessing shows no limit by noise.
    found = maker.levels(described({**known, "all": 0.52}))
    assert found["level"] == found["halfway"]


def test_no_network_is_better_than_the_ideal_of_its_task():
    """Tests have 200 trials; 4 of their SD hold for 600 networks (false alarms: 2 %)."""
    gallery = loaded("train_gallery")
    stored = json.loads((DOCS / "_make" / "gallery-results.json").read_text("utf-8"))["runs"]
    compared, better = 0, []
    for one in stored.values():
        ideal = find_task(one["task"]).ideal.get("value")
        if ideal is not None and one["final"] is not None:
            compared += 1
            if one["final"] > ideal + 4 * np.sqrt(ideal * (1 - ideal) / gallery.TEST_TRIALS):
                better.append((one["task"], one["trainer"], one["final"], ideal))
    assert compared > 50
    assert better == []


def test_a_training_ends_when_its_performance_has_settled_above_the_level():
    maker = loaded("train_gallery")

    def settled(*tests):
        return maker.settled([{"accuracy": one} for one in (0.0, *tests)], 0.7)

    assert settled(0.5, 0.98, 0.99)
    assert not settled(0.99)  # one test may be luck
    assert settled(0.8, 0.82, 0.81, 0.8)
    assert not settled(0.8, 0.82, 0.84, 0.85)  # still rising
    assert not settled(0.5, 0.5, 0.5, 0.5, 0.5)  # networks may stay at chance before they learn
    assert not settled(0.69, 0.82, 0.81, 0.8)


def test_learners_reach_what_the_page_says_about_the_two_step_task():
    """Determined by the seed; between the shortcut and the halfway point."""
    maker = loaded("train_gallery")
    task = "value/DawTwoStep-v0"
    subject = "hybrid:alpha=0.5,beta=20,weight=0.5,perseveration=0"
    earned = run(task, subject, 2000, seed=1)["performance"].mean()
    known = maker.levels(maker.catalogue()[task])
    assert known["shortcut"] < earned < known["halfway"]
    assert round(earned, 2) == 0.96


def test_waiting_pays_where_targets_ask_for_an_answer_at_once():
    """4 standard errors, which chance exceeds in 6 of 100,000 seeds; the seed is fixed."""
    record = run("perceptual/RoitmanShadlen-v0", "diffusion", 600, seed=0)
    assert record["performance"].mean() == pytest.approx(0.8, abs=4 * (0.16 / 600) ** 0.5)
    trials = loaded("train_gallery").make_task("perceptual/RoitmanShadlen-v0").sample(20, seed=0)
    asked = trials.target > 0  # (trials, periods)
    assert asked.all(axis=0).tolist() == [name == "stimulus" for name in trials.period_names]


def test_the_page_gives_no_verdicts_and_names_its_known_faults():
    maker = loaded("train_gallery")
    page = maker.PAGE.read_text("utf-8")
    table = [line for line in page.splitlines() if line.startswith("| ")]
    assert "learned" not in "".join(table)
    assert not re.search(r"\d+ (tasks )?(are|is) learned", page)
    for name in ("ibl/IBLTraining", "perceptual/CVLearning", "value/PatchLeaving", "control/Null"):
        assert f"- `{name}-v0`" in page or f"`{name}-v0`" in page.partition("## The numbers")[0]


def test_each_trained_task_has_one_row_with_all_of_its_networks():
    maker = loaded("train_gallery")
    runs = list(maker.read(maker.MEASURED)["runs"].values())
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in maker.PAGE.read_text("utf-8").splitlines()
        if line.startswith("| `")
    ]
    assert [row[0] for row in rows] == sorted({f"`{run['task']}`" for run in runs})
    shown = {
        (row[0], name)
        for row in rows
        for name, cell in zip(maker.COLUMNS, row[5:], strict=True)
        if cell
    }
    columns = {one: name for name, trainers in maker.COLUMNS.items() for one in trainers}
    assert shown == {(f"`{run['task']}`", columns[run["trainer"]]) for run in runs}
    own = [one["final"] for one in runs if one["task"] == PAIR[0] and one["trainer"] == "gru"]
    row = next(row for row in rows if row[0] == f"`{PAIR[0]}`")
    assert row[5] == f"{sum(own) / 3:.2f} ({min(own):.2f}–{max(own):.2f})"


def test_limits_are_those_of_the_pages_of_the_tasks():
    maker = loaded("train_gallery")
    for task, (limit, words) in maker.LIMITS.items():
        assert words in " ".join(inspect.getdoc(type(maker.make_task(task))).split()), task
        assert any(f"{number:g}" in words for number in (limit, round(100 * limit, 1))), task


def test_the_psychometric_function_of_a_training_is_that_of_the_report():
    maker = loaded("train_gallery")
    task = maker.make_task("perceptual/PerceptualDecisionMaking-v0")
    record = run(task, "integrator", 600, seed=0)
    found = maker.psychometric(task, record)
    assert (found["kind"], found["strength"]) == ("choice", "coherence")
    x, k, n = (list(column) for column in zip(*found["points"], strict=True))
    assert (x[0], x[-1]) == (-51.2, 51.2)
    assert (k[0], k[-1]) == (0, n[-1])
    assert sum(n) == 600
    without = maker.make_task("control/AntiReach-v0")
    assert maker.psychometric(without, run(without, "oracle", 50, seed=0)) is None


def test_tasks_below_the_level_are_trained_on_from_their_checkpoints(tmp_path):
    maker = loaded("train_gallery")
    names = [("control/GoNogo-v0", 0.6), ("control/AntiReach-v0", 1.0)]
    runs = {
        f"{task} gru 0 20": {"task": task, "trainer": "gru", "seed": 0, "until": 20, "final": final}
        for task, final in names
    }
    assert maker._below([task for task, _ in names], runs) == ["control/GoNogo-v0"]
    job, longer = (maker.Job("control/GoNogo-v0", "gru", (0,), until) for until in (20, 80))
    assert job.is_in(runs)
    assert not longer.is_in(runs)
    assert longer.starts(tmp_path) == [None]
    for one in (job, longer):
        [folder] = one.folders(tmp_path)
        folder.mkdir()
        (folder / "checkpoint.pt").touch()
        assert longer.starts(tmp_path) == [folder]
    runs["control/GoNogo-v0 gru 0 20"]["until"] = 80
    assert job.is_in(runs)


@pytest.mark.slow
def test_a_network_that_sees_images_learns_the_direction_of_a_plaid(tmp_path, monkeypatch):
    """Always the same answer earns 0.32; one seed was always correct after 50 updates."""
    pytest.importorskip("torch")
    monkeypatch.syspath_prepend(DOCS / "_make")  # for imports within functions
    maker = loaded("train_gallery")
    task = "visual/DriftingPlaid-v0"
    assert maker.trainers_of(task) == maker.IMAGES
    [record] = maker.train(maker.Job(task, "cnn", (0,), 80), tmp_path)
    assert record["done"] <= 80
    assert record["curve"][0][1] < 0.6
    assert record["final"] > 0.9
    maker._keep([record], tmp_path / "runs.json")
    written = maker.page(maker.read(tmp_path / "runs.json"))
    assert f"| cnn: {record['final']:.2f} (1 seed) |" in written


@pytest.mark.slow
def test_two_tasks_are_trained_and_an_interrupted_training_continues(tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("sb3_contrib")
    maker = loaded("train_gallery")
    out, measured, page = tmp_path / "out", tmp_path / "runs.json", tmp_path / "page.md"

    class StopError(Exception):
        """Ends a training as a killed process would."""

    job = maker.Job(PAIR[0], "gru", (0, 1), 20)
    trainer = maker.trainer_named("gru")
    learned, restored, continued = trainer.step, trainer.load, []

    def step(self):
        if self.done == 12:
            raise StopError
        return learned(self)

    def load_at(self, folder):
        restored(self, folder)
        continued.append(self.done)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trainer, "step", step)
        patch.setattr(maker, "settled", lambda curve, level: False)
        with pytest.raises(StopError):
            maker.train(job, out)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trainer, "load", load_at)
        patch.setattr(maker, "settled", lambda curve, level: False)
        records = maker.train(job, out)
    assert continued == [12, 12]  # tests, and so checkpoints, are one update apart
    assert [record["seed"] for record in records] == [0, 1]
    assert all(record["done"] == 20 and record["cpu"] > 0 for record in records)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trainer, "load", load_at)
        longer = maker.train(maker.Job(PAIR[0], "gru", (0, 1), 80), out)
    assert continued[2:] == [20, 20]
    assert [row["curve"][:21] for row in longer] == [row["curve"] for row in records]
    words = [*(f"--only={task}" for task in PAIR), "--updates=20", "--steps=1024", "--seeds=2"]
    words += [f"--out={out}", f"--measured={measured}", f"--page={page}", "--jobs=2"]
    # In a separate process, whose workers import the script by its path.
    command = [sys.executable, str(DOCS / "_make" / "train_gallery.py"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    runs = maker.read(measured)["runs"].values()
    assert sorted((run["trainer"], run["seed"]) for run in runs) == [
        ("gru", 0), ("gru", 1), ("recurrent-ppo", 0), ("recurrent-ppo", 1), ("rnn", 0), ("rnn", 1),
    ]  # fmt: skip
    assert all(0 <= run["final"] <= 1 for run in runs)
    assert all(f"| `{task}` |" in page.read_text("utf-8") for task in PAIR)
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "0 trainings" in again.stdout


def test_a_training_in_stages_counts_their_steps_and_not_their_tests(tmp_path, monkeypatch):
    pytest.importorskip("sb3_contrib")
    maker = loaded("train_gallery")
    task, made = "control/GoNogo-v0", []
    monkeypatch.setattr(
        maker, "STAGES", {task: ({"timing": {"delay": 100}}, {"timing": {"delay": 300}})}
    )
    monkeypatch.setattr(maker, "STAGE_STEPS", 2048)  # one rollout
    monkeypatch.setattr(maker, "FRESH", 20)
    monkeypatch.setattr(maker, "TEST_TRIALS", 20)
    original = maker.make_task
    monkeypatch.setattr(
        maker, "make_task", lambda task, **own: made.append(own) or original(task, **own)
    )
    assert maker.trainers_of("value/SelfInitiatedChoice-v0") == ("recurrent-ppo",)
    made.clear()
    job = maker.Job(task, "recurrent-ppo-stages", (0,), 6144)
    [trainer] = maker.trainers_for(job, tmp_path)
    assert made == [{}, *maker.STAGES[task]]
    assert (trainer.done, maker.curve_of(job, trainer, tmp_path)) == (4096, [])
    trainer.train(6144, out=job.folders(tmp_path)[0])
    [record] = maker.measurements(job, [trainer], tmp_path)
    assert record["done"] == 6144
    assert [steps for steps, _ in record["curve"]] == [6144]
    assert record["cpu"] > 0
    made.clear()
    assert maker.trainers_for(job, tmp_path)[0].done == 6144
    assert made == [{}], "the stages are not repeated"


def test_a_network_that_sees_images_continues_after_an_easier_version(monkeypatch):
    torch = pytest.importorskip("torch")
    maker, images = loaded("train_gallery"), loaded("train_on_images")
    monkeypatch.setitem(sys.modules, "train_on_images", images)
    task, starts = "visual/RandomDotMotion-v0", []

    class Noted(images.ImageTraining):
        def __init__(self, task, seed, pixels, batch, **params):
            super().__init__(task, seed, 16, 2, timing={"stimulus": 64}, **params)
            starts.append((params, self))

    monkeypatch.setattr(images, "ImageTraining", Noted)
    monkeypatch.setattr(maker, "IMAGE_STAGES", {task: ({"dt": 32}, {"coherences": (100,)})})
    monkeypatch.setattr(maker, "STAGE_UPDATES", 4)
    monkeypatch.setattr(maker, "STAGE_LEVEL", 1.0)
    monkeypatch.setattr(maker, "TEST_TRIALS", 16)
    monkeypatch.setattr(maker, "FRESH", 16)
    [record] = maker.train(maker.Job(task, "cnn", (0,), 3), DOCS)
    assert [params for params, _ in starts] == [{"dt": 32}, {"coherences": (100,)}, {}]
    assert record["curve"][0][0] == 2 * 4, "updates of the stages count, their tests do not"
    assert record["done"] == 2 * 4 + 3
    assert all(one.network is starts[0][1].network for _, one in starts)
    assert torch.isfinite(torch.tensor(record["final"]))
