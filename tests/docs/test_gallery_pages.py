"""The pages of pictures and of trained networks: sheets are small, numbers are those measured."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from neurogym_training.levels import Way
from scripts import loaded

from neurogym_core import Subject, run
from neurogym_core.tools import TaskInfo, find_task

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAIR = ("control/GoNogo-v0", "value/ProbabilisticReversal-v0")


def test_the_sheets_are_on_the_page_and_not_too_large():
    page = (DOCS / "gallery.md").read_text("utf-8")
    for name in loaded("figures").SHEETS:
        assert f"images/{name}.png" in page
        assert (DOCS / "images" / f"{name}.png").stat().st_size < 600_000


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
        f"batches of {maker.BATCH} whole trials", f"a tenth in {maker.RATE_UPDATES:,} updates",
        f"{maker.PIXELS} pixels", f"tested {maker.TESTS} times, on {maker.TEST_TRIALS:,} trials",
        f"(of images, {maker.IMAGE_TEST_TRIALS};", *(f"{n:,})," for n in maker.LONG.values()),
        f"{maker.FRESH:,} new trials",
        f"in {maker.SESSIONS} sessions", f"above {maker.SOLVED},", f"last {maker.PATIENCE} tests",
        f"by {maker.RISE}.", f"at least {maker.LEARNED} of the way",
        f"above {maker.STAGE_LEVEL}, or for {maker.STAGE_STEPS:,}",
        f"at most {maker.IMAGE_UPDATES} updates of {maker.IMAGE_BATCH} trials",
        f"at most {maker.STAGE_UPDATES} updates",
        *(f"`{task}`" for task in (
            *maker.BY_REWARD, *maker.STAGES, *maker.IMAGE_STAGES, *maker.PRICES, *maker.LONG
        )),
    ):  # fmt: skip
        assert said in page, said


def test_a_test_is_large_enough_for_the_rise_that_it_has_to_show():
    """A third of the rise at most, also where performances vary most, at 0.5."""
    maker = loaded("train_gallery")
    assert 0.5 / maker.TEST_TRIALS**0.5 <= maker.RISE / 3 + 1e-9
    for task, trials in maker.LONG.items():
        spread = run(task, "random", 60, num_envs=60, seed=1)["performance"].std()
        assert spread / trials**0.5 <= maker.RISE / 3


def described(shortcuts: dict[str, float], ideal: float | None = None) -> TaskInfo:
    """Return a task with these shortcuts and this ideal in its manifest."""
    stated = {} if ideal is None else {"value": ideal, "by": "bound", "how": "a test"}
    return replace(find_task("control/GoNogo-v0"), shortcuts=shortcuts, ideal=stated, admitted={})


KNOWN = {"oracle": 1.0, "all": 0.9, "constant": 0.5, "channel.a": 0.89, "channel.b": 0.6}
"""Channel a leaves out nothing that counts: it does as well as everything together."""


def test_the_way_leads_from_the_best_shortcut_to_the_ideal_or_else_to_the_oracle():
    maker = loaded("train_gallery")
    assert maker.way_of(described(KNOWN, 0.8)) == Way(0.6, 0.8, True)
    # With an unknown ideal, channel a may leave something out: the oracle has more.
    assert maker.way_of(described(KNOWN)) == Way(0.89, 1.0, False)
    assert maker.way_of(described(KNOWN, 0.62)) is None
    assert maker.way_of(described({})) is None


def verdict_on(info: TaskInfo, *finals: float, trainer: str = "gru") -> str:
    """Return the verdict on seeds with these performances."""
    runs = [
        {"task": info.id, "trainer": trainer, "seed": seed, "final": final}
        for seed, final in enumerate(finals)
    ]
    return loaded("train_gallery").verdict(info, runs)


@pytest.mark.parametrize(
    ("finals", "ideal", "said"),
    [
        ((0.8, 0.8, 0.8), 0.8, "learned"),  # the ideal
        ((0.79, 0.78, 0.785), 0.8, "learned"),
        ((0.6, 0.6, 0.6), 0.8, "not learned"),  # the best shortcut
        ((0.77, 0.77, 0.77), 0.8, "not learned"),  # above the half of the way
        ((0.8, 0.8, 0.6), 0.8, "not learned"),  # one of three seeds
        ((0.8, 0.8, 0.8), None, "open"),
        ((0.99, 0.99, 0.99), None, "learned"),  # of the way to the oracle, and so to any ideal
        ((0.9, 0.9, 0.9), 0.62, "no way to go"),
        ((), 0.8, "not trained"),
    ],
)
def test_the_verdict_asks_for_nine_tenths_of_the_way(finals, ideal, said):
    assert verdict_on(described(KNOWN, ideal), *finals) == said


def test_shortcuts_that_are_admitted_count_in_the_strict_number():
    """A network that is hardly better than an admitted look is not counted by the strict rule."""
    maker = loaded("train_gallery")
    shortcuts = {"oracle": 1.0, "all": 0.6, "constant": 0.1, "look.first": 0.8}
    info = replace(described(shortcuts, 1.0), admitted={"look.*": "of 100 ms"})
    runs = [{"task": info.id, "trainer": "gru", "seed": seed, "final": 0.92} for seed in range(3)]
    assert maker.verdict(info, runs) == "learned"
    assert not maker.learned_strictly(info, runs)
    assert maker.learned_strictly(info, [run | {"final": 0.99} for run in runs])


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        ("integrator", "learned"),
        ("oracle", "learned"),
        ("random", "not learned"),
        ("first look", "not learned"),
    ],
)
def test_players_of_a_task_get_the_verdict_that_they_deserve(subject, said):
    """Determined by the seed; the first look is the best policy of 100 ms of the stimulus."""
    task = loaded("train_gallery").make_task("perceptual/PerceptualDecisionMaking-v0")
    if subject == "first look":
        subject = FirstLook()
    finals = [run(task, subject, 3000, seed=seed)["performance"].mean() for seed in range(3)]
    assert verdict_on(find_task("perceptual/PerceptualDecisionMaking-v0"), *finals) == said


class FirstLook(Subject):
    """Answers by the first step of the stimulus."""

    def begin(self, env):
        self.seen = np.zeros(env.num_envs, int)

    def __call__(self, env, observations):
        fixation, right, left = observations.T
        first = (self.seen == 0) & (right != 0)
        self.seen[first] = np.where(right > left, 1, 2)[first]
        answers = np.where(fixation == 0, self.seen, 0)
        self.seen[answers > 0] = 0
        return answers


def test_no_network_is_better_than_the_ideal_of_its_task():
    """Tests have 1,000 trials or more; 4 SD hold for 600 networks (false alarms: 2 %).

    The ideals themselves are rounded, and measured on a few thousand trials.
    """
    stored = json.loads((DOCS / "_make" / "gallery-results.json").read_text("utf-8"))["runs"]
    compared, better = 0, []
    for one in stored.values():
        ideal = find_task(one["task"]).ideal.get("value")
        if ideal is not None and one["final"] is not None:
            compared += 1
            if one["final"] > ideal + 0.006 + 4 * np.sqrt(ideal * (1 - ideal) / 1000):
                better.append((one["task"], one["trainer"], one["final"], ideal))
    assert compared > 50
    assert better == []


def test_a_training_ends_when_its_tests_no_longer_rise():
    maker = loaded("train_gallery")
    flat = [0.5] * (maker.PATIENCE + 1)
    assert maker.settled([0.1, 0.99, 0.99])
    assert not maker.settled([0.1, 0.99])  # one test may be luck
    assert maker.settled(flat)
    assert not maker.settled(flat[1:])
    assert not maker.settled([*flat, 0.54])
    assert not maker.settled([0.5 + 0.01 * k for k in range(40)])
    # Noise of half a standard error of a test does not keep a training alive, nor end a rising one.
    noise = np.random.default_rng(0).normal(0, 0.005, 200)
    assert maker.settled(list(0.7 + noise[:40]))


def test_learners_reach_what_the_page_says_about_the_two_step_task():
    """Determined by the seed."""
    task = "value/DawTwoStep-v0"
    subject = "hybrid:alpha=0.5,beta=20,weight=0.5,perseveration=0"
    earned = run(task, subject, 2000, seed=1)["performance"].mean()
    assert find_task(task).shortcuts["familiar"] < earned
    assert round(earned, 2) == 0.96


def test_waiting_pays_where_targets_ask_for_an_answer_at_once():
    """4 standard errors, which chance exceeds in 6 of 100,000 seeds; the seed is fixed."""
    record = run("perceptual/RoitmanShadlen-v0", "diffusion", 600, seed=0)
    assert record["performance"].mean() == pytest.approx(0.8, abs=4 * (0.16 / 600) ** 0.5)
    trials = loaded("train_gallery").make_task("perceptual/RoitmanShadlen-v0").sample(20, seed=0)
    asked = trials.target > 0  # (trials, periods)
    assert asked.all(axis=0).tolist() == [name == "stimulus" for name in trials.period_names]


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
        for name, cell in zip(maker.TRAINERS, row[3:7], strict=True)
        if cell
    }
    assert shown == {(f"`{run['task']}`", run["trainer"]) for run in runs}
    own = [one["final"] for one in runs if (one["task"], one["trainer"]) == (PAIR[0], "gru")]
    row = next(row for row in rows if row[0] == f"`{PAIR[0]}`")
    assert row[3].replace("*", "") == f"{sum(own) / 3:.2f} ({min(own):.2f}–{max(own):.2f})"


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


def test_a_training_with_a_larger_budget_is_made_again():
    maker = loaded("train_gallery")
    short, long = (maker.Job("control/GoNogo-v0", "gru", (0, 1), until) for until in (20, 80))
    runs = {key: {"until": 20} for key in short.keys}
    assert short.is_in(runs)
    assert not long.is_in(runs)
    assert not short.is_in({short.keys[0]: {"until": 20}})


@pytest.mark.parametrize(
    ("task", "trainers"),
    [
        ("perceptual/PerceptualDecisionMaking-v0", ("gru", "rnn")),
        ("perceptual/ManteDecisionMaking-v0", ("gru", "rnn")),  # blocks, but the context is shown
        ("control/NAltConditionalVisuomotor-v0", ("recurrent-ppo",)),  # rewards show the pairs
        ("memory/NBack-v1", ("recurrent-ppo",)),  # an earlier trial shows the target
        ("value/ProbabilisticReversal-v1", ("recurrent-ppo",)),
        ("perceptual/RoitmanShadlen-v0", ("recurrent-ppo",)),  # targets do not say when
    ],
)
def test_networks_learn_from_targets_only_where_a_trial_shows_them(task, trainers):
    pytest.importorskip("torch")
    assert loaded("train_gallery").trainers_of(task) == trainers


def test_looking_costs_an_agent_a_reward_where_the_task_does_not_price_time():
    maker = loaded("train_gallery")
    task = maker.make_task("perceptual/RoitmanShadlen-v0")
    priced = maker.make_task(task, wrap=[(maker.Priced, {"price": -0.01})])
    plain, paid = (run(one, "oracle", 20, seed=0) for one in (task, priced))
    waited = plain["reaction_time"] / 100
    assert np.allclose(plain["reward"] - paid["reward"], 0.01 * waited, atol=0.011)
    assert (plain["performance"] == paid["performance"]).all()


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
        patch.setattr(maker, "settled", lambda tests: False)
        with pytest.raises(StopError):
            maker.train(job, out)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trainer, "load", load_at)
        patch.setattr(maker, "settled", lambda tests: False)
        records = maker.train(job, out)
    assert continued == [12, 12]  # tests, and so checkpoints, are one update apart
    assert [record["seed"] for record in records] == [0, 1]
    assert all(record["done"] == 20 and record["cpu"] > 0 for record in records)
    words = [*(f"--only={task}" for task in PAIR), "--updates=20", "--steps=1024", "--seeds=2"]
    words += ["--with=gru", "--with=rnn", "--with=recurrent-ppo"]
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
    monkeypatch.setattr(maker, "TESTS", 2)
    original = maker.make_task
    monkeypatch.setattr(
        maker, "make_task", lambda task, **own: made.append(own) or original(task, **own)
    )
    job = maker.Job(task, "recurrent-ppo", (0,), 6144)
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
    monkeypatch.setattr(maker, "IMAGE_TEST_TRIALS", 16)
    monkeypatch.setattr(maker, "FRESH", 16)
    [record] = maker.train(maker.Job(task, "cnn", (0,), 3), DOCS)
    assert [params for params, _ in starts] == [{"dt": 32}, {"coherences": (100,)}, {}]
    assert record["curve"][0][0] == 2 * 4, "updates of the stages count, their tests do not"
    assert record["done"] == 2 * 4 + 3
    assert all(one.network is starts[0][1].network for _, one in starts)
    assert torch.isfinite(torch.tensor(record["final"]))
