"""Training agents: the trainers, evaluation by trials, the subject, the command line."""

from __future__ import annotations

import csv
import math
import re
import shlex
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from neurogym_sb3 import AgentSubject, SB3VecEnv, TrialEvaluation
from neurogym_sb3.trainers import A2CTrainer, PPOTrainer, RecurrentPPOTrainer
from neurogym_training import Experiment, Run
from neurogym_training.training import Watch
from scripts import loaded
from stable_baselines3 import PPO

from neurogym_core import InvalidValueError, NotSupportedError, make_task, run
from neurogym_core.tools import main, read_value

SMALL = {"envs": 4, "n_steps": 16, "hidden": 8, "test_every": 128, "test_trials": 20}
TRAINERS = (PPOTrainer, A2CTrainer, RecurrentPPOTrainer)


def test_an_agent_learns_a_mixture_of_tasks_with_its_rule(sides, one_trial, tmp_path):
    mixed = ("Mixture", {"other_tasks": (one_trial(sigma=0.1),)})
    task = make_task(sides(sigma=0.1), wrap=mixed)
    agent = RecurrentPPOTrainer(task, seed=1, **{**SMALL, "test_trials": 60})
    assert agent.env.observation_space.shape == (1 + 2 + 2,)  # fixation, sides, rule
    agent.train(256)
    last = agent.curve[-1]
    assert {"accuracy of Sides", "answered of Sides", "aborts of OneTrial"} <= set(last)
    record = agent.play(200, seed=3)
    assert set(record["task"]) == {"Sides", "OneTrial"}
    with pytest.raises(NotSupportedError, match=r"2 tasks.*Mix them into one task: --wrap"):
        RecurrentPPOTrainer([sides, one_trial])


@pytest.mark.parametrize("trainer", TRAINERS)
def test_it_trains_tests_and_can_be_resumed(trainer, sides, tmp_path):
    first = trainer(sides, seed=1, **SMALL)
    assert first.train(256, out=tmp_path) == "steps"
    assert [row["steps"] for row in first.curve] == [0, 128, 256]
    assert all(0 <= row["answered"] <= 1 for row in first.curve)
    second = trainer(sides, seed=1, **SMALL)
    second.load(tmp_path)
    assert second.done == 256
    for name, value in second.model.policy.state_dict().items():
        assert torch.equal(value, first.model.policy.state_dict()[name])
    assert second.play(30, seed=3) == first.play(30, seed=3)
    second.train(384)
    assert [row["steps"] for row in second.curve] == [0, 128, 256, 384]
    assert second.model.num_timesteps == 384


def _weights(trainer):
    return torch.cat([value.flatten() for value in trainer.model.policy.parameters()])


def _interrupt(trainer, row):
    if row["steps"] == 256:
        raise KeyboardInterrupt


@pytest.mark.parametrize("wrap", [(), ("PassReward",)])
@pytest.mark.parametrize("trainer", TRAINERS)
def test_a_resumed_training_ends_with_the_weights_of_an_uninterrupted_one(
    trainer, wrap, sides, tmp_path
):
    # Sessions of 5 trials of 7 to 14 steps: an env that began a new one would be elsewhere.
    settings = {**SMALL, "seed": 1, "wrap": wrap, "schedule": "linear"}
    whole = trainer(sides, **settings)
    whole.train(640)
    first = trainer(sides, **settings)
    with pytest.raises(KeyboardInterrupt):
        first.train(640, out=tmp_path, on_test=_interrupt)
    np.random.seed(7)  # noqa: NPY002 - others draw from it, too
    torch.rand(5)
    second = trainer(sides, **settings)
    second.load(tmp_path)
    assert second.done == 256
    second.save(tmp_path)  # and again, before it learns
    second.load(tmp_path)
    second.train(640)
    assert torch.equal(_weights(second), _weights(whole))
    assert [row["reward"] for row in second.curve] == [row["reward"] for row in whole.curve]


def test_a_rollout_that_was_interrupted_is_repeated(sides, tmp_path, monkeypatch):
    whole = RecurrentPPOTrainer(sides, seed=1, **SMALL)
    whole.train(384)
    first = RecurrentPPOTrainer(sides, seed=1, **SMALL)
    tick, calls = Watch.tick, []

    def interrupting(watch, **shown):
        calls.append(shown)
        if len(calls) == 2:  # after the first test: at the 20th step, in the second rollout
            watch._interrupt()
        tick(watch, **shown)

    monkeypatch.setattr(Watch, "tick", interrupting)
    with pytest.raises(KeyboardInterrupt):
        first.train(384, out=tmp_path)
    monkeypatch.undo()
    assert "training" in calls[1]
    assert len(first.env.played) * 4 > first.done
    for trainer in (first, RecurrentPPOTrainer(sides, seed=1, **SMALL)):
        if trainer is not first:
            trainer.load(tmp_path)
        assert trainer.done % 64 == 0
        trainer.train(384)
        assert torch.equal(_weights(trainer), _weights(whole))


def test_a_training_that_met_its_criterion_goes_on_as_one_without(sides):
    whole, halted = (PPOTrainer(sides, seed=1, **SMALL) for _ in range(2))
    whole.train(384)
    assert halted.train(384, criterion=lambda record: halted.done >= 128) == "criterion"
    assert halted.done == 128
    halted.train(384)
    assert torch.equal(_weights(halted), _weights(whole))


def test_the_same_seed_learns_the_same(sides):
    runs = []
    for seed in (1, 1, 2):
        trainer = PPOTrainer(sides, seed=seed, **SMALL)
        trainer.train(256)
        runs.append(torch.cat([value.flatten() for value in trainer.model.policy.parameters()]))
    assert torch.equal(runs[0], runs[1])
    assert not torch.equal(runs[0], runs[2])


def test_it_learns_and_stops_at_the_criterion(sides):
    # With seeds 0 to 9, all met it within 1,024 steps, and two, by chance, before the first.
    trainer = PPOTrainer(sides(sigma=0.5), seed=0, hidden=32, test_every=1024, test_trials=200)
    assert trainer.train(40_000, criterion=0.9) == "criterion"
    assert 0 < trainer.done < 40_000
    assert trainer.curve[0]["accuracy"] < 0.7
    assert trainer.curve[-1]["answered"] > 0.9
    # It plays as in the tests: 90 % of 200 trials, within 4 SEs.
    assert trainer.play(200, seed=77)["performance"].mean() > 0.9 - 4 * 0.022


def test_wrappers_reach_training_testing_and_playing(sides):
    trainer = RecurrentPPOTrainer(sides, wrap=("PassReward", "PassAction"), **SMALL)
    assert trainer.env.observation_space.shape == (3 + 1 + 3,)
    assert trainer.env.task == trainer.tasks[0]
    trainer.train(128)
    assert len(trainer.play(20, seed=1)) == 20


@pytest.mark.parametrize("trainer", TRAINERS)
def test_the_curve_has_the_diagnostics_of_the_newest_update(trainer, sides):
    learning = trainer(sides, seed=1, **SMALL)
    learning.train(256)
    first, *rows = learning.curve
    names = {"entropy", "value_loss", "explained_variance"}
    if trainer is not A2CTrainer:
        names |= {"kl", "clipped"}
    names.add("fps")
    assert not names & set(first)  # of no update
    for row in rows:
        assert names <= set(row)
        # A policy over three actions that hardly learned: between 0 and ln 3.
        assert 0.5 < row["entropy"] <= math.log(3) + 1e-6
        assert row["value_loss"] >= 0
        # Steps of learning alone: more than those of the time with tests.
        assert row["fps"] > 128 / (row["seconds"] + 1e-9)
        assert row["explained_variance"] <= 1


@pytest.mark.parametrize("trainer", TRAINERS)
def test_arguments_of_the_policy_reach_it(trainer, sides):
    usual = trainer(sides, seed=1, **SMALL)
    other = trainer(sides, seed=1, policy_kwargs={"net_arch": (5, 3)}, **SMALL)
    shapes = [tuple(one.shape) for one in other.model.policy.mlp_extractor.parameters()]
    assert shapes != [tuple(one.shape) for one in usual.model.policy.mlp_extractor.parameters()]
    assert (3, 5) in shapes
    with pytest.raises(InvalidValueError, match="mapping"):
        trainer(sides, policy_kwargs=[32], **SMALL)


def test_the_learning_rate_of_an_agent_falls_to_0(sides):
    learning = PPOTrainer(sides, schedule="linear", learning_rate=1e-2, target_kl=0.5, **SMALL)
    learning.train(640)
    (group,) = learning.model.policy.optimizer.param_groups
    assert group["lr"] < 2e-3
    assert learning.model.target_kl == 0.5
    with pytest.raises(InvalidValueError, match="constant, linear"):
        PPOTrainer(sides, schedule="cosine", **SMALL)


def test_tests_of_an_agent_play_the_last_stage_of_a_curriculum(sides):
    stages = ({"sigma": 0.1}, {"sigma": 0.2})
    task = make_task(sides, wrap=[("Curriculum", {"stages": stages, "window": 5})])
    trainer = PPOTrainer(task, **SMALL)
    played = []
    trainer.train(128, on_test=lambda trainer, row: played.append(trainer.evaluation.record))
    assert len(played) == 2
    for record in (*played, trainer.play(20, seed=3)):
        assert set(record["stage"].tolist()) == {2}
    assert set(trainer.play(20, seed=3, conditions={"stage": 0})["stage"].tolist()) == {0}


def test_advantage_actor_critic_with_an_lstm_is_ppo_with_one_batch_per_rollout(sides):
    model = RecurrentPPOTrainer(sides, a2c=True, **SMALL).model
    assert (model.n_epochs, model.batch_size) == (1, 4 * 16)
    assert not model.normalize_advantage
    assert RecurrentPPOTrainer(sides, **SMALL).model.normalize_advantage
    assert model.gamma == 0.9
    assert model.gae_lambda == 1.0
    assert isinstance(model.policy.optimizer, torch.optim.RMSprop)
    with pytest.raises(InvalidValueError, match="Leave them out"):
        RecurrentPPOTrainer(sides, a2c=True, batch=32, **SMALL)


@pytest.mark.parametrize("a2c", [False, True])
def test_the_defaults_are_the_settings_that_were_measured(a2c, sides, monkeypatch):
    module = loaded("agents")
    measured = RecurrentPPOTrainer(sides, **module.SETTINGS[module.CHOSEN[a2c]].options)
    trainer = RecurrentPPOTrainer(sides, a2c=a2c)
    assert trainer.settings == measured.settings
    assert trainer.rollout == measured.rollout
    for name in ("batch_size", "n_epochs", "normalize_advantage"):
        assert getattr(trainer.model, name) == getattr(measured.model, name)


def test_the_help_of_ngym_train_has_the_defaults_of_agents(sides):
    text = CliRunner().invoke(main, ["train", "--help"]).output
    (shown,) = re.findall(r"Settings of recurrent-ppo.*?:\n(.*?)\n\n", text, re.DOTALL)
    said = {name: read_value(value) for name, value in re.findall(r"(\w+)=(\S+)", shown)}
    trainer = RecurrentPPOTrainer(sides)
    own = {"envs": trainer.env.num_envs, "hidden": trainer.hidden, "a2c": trainer.a2c}
    own |= {"batch": trainer.model.batch_size, "n_epochs": trainer.model.n_epochs}
    own |= {"test_every": trainer.evaluation.every, "test_trials": trainer.evaluation.n_trials}
    assert said == {name: {**trainer.settings, **own}[name] for name in said}
    assert {"n_steps", "gamma", "gae_lambda", "ent_coef", *own} <= set(said)


@pytest.mark.parametrize(
    ("options", "chosen"),
    [
        ({}, {"n_steps": 128, "batch": 512, "n_epochs": 10, "gamma": 0.99, "gae_lambda": 0.85}),
        ({"gamma": 0.9, "batch": 64}, {"gamma": 0.9, "batch": 64, "n_epochs": 10}),
        (
            {"a2c": True},
            {"n_steps": 20, "batch": None, "gamma": 0.9, "normalize_advantage": False},
        ),
    ],
)
def test_a_run_keeps_the_defaults_with_which_it_began(options, chosen, tmp_path):
    experiment = Experiment(
        tasks=({"task": "PerceptualDecisionMaking-v0"},), kind="algo", trainer="recurrent-ppo",
        amount=64, options=options,
    )  # fmt: skip
    kept = Run.create(tmp_path / "run", experiment).facts["trainer"]
    assert {name: kept[name] for name in chosen} == chosen


def test_an_agent_learns_one_task_only(sides):
    with pytest.raises(NotSupportedError, match="train a network: --model"):
        PPOTrainer([sides, sides], **SMALL)


# ---- evaluation and playing ----


def test_every_evaluation_plays_the_same_trials(sides):
    env = SB3VecEnv(sides, 4, seed=1)
    model = PPO("MlpPolicy", env, n_steps=16, batch_size=32, seed=0, device="cpu")
    seen = []
    evaluation = TrialEvaluation(
        sides, every=100, n_trials=30, seed=5, stop=lambda record: seen.append(record) or False
    )
    model.learn(448, evaluation)
    assert len(seen) == 3, "at 128, 256 and 320 of 448: where a rollout of 64 begins"
    assert all(len(record) == 30 for record in seen)
    # The order is that in which trials ended, which depends on the agent.
    shown = [
        sorted(zip(record["env"], record["trial"], record["side"], strict=True)) for record in seen
    ]
    assert all(trials == shown[0] for trials in shown)
    assert evaluation.record is seen[-1]


@pytest.mark.parametrize(
    ("task", "sessions"), [("control/CardSorting-v0", 2), ("memory/DelayMatchSample-v0", 16)]
)
def test_tests_play_long_sessions_where_trials_depend_on_earlier_ones(task, sessions):
    # In CardSorting, the first ten trials of a session have the same rule, for example.
    trainer = PPOTrainer(make_task(task), **SMALL | {"test_trials": 200})
    trainer.train(128)
    record = trainer.evaluation.record
    assert len(record) == 200
    assert len(set(zip(record["env"], record["session"], strict=True))) == sessions


def test_evaluation_can_stop_training(sides):
    model = PPO(
        "MlpPolicy", SB3VecEnv(sides, 4, seed=1), n_steps=16, batch_size=32, seed=0, device="cpu"
    )
    model.learn(4000, TrialEvaluation(sides, every=100, n_trials=10, stop=lambda record: True))
    assert model.num_timesteps == 128 + 4


class Remembering:
    """Imitates a recurrent model whose state counts the steps since the session began."""

    policy = SimpleNamespace(lstm_actor=None)

    def predict(self, observations, state=None, episode_start=None, deterministic=True):
        state = np.zeros(len(observations)) if state is None else state
        state = np.where(episode_start, 0, state) + 1
        self.states = state.copy()
        return np.ones(len(observations), int), state


def test_the_state_of_a_policy_lasts_a_session(sides):
    model = Remembering()
    subject = AgentSubject(model)
    longest, steps = 0, []

    class Watched(AgentSubject):
        def __call__(self, env, observations):
            actions = super().__call__(env, observations)
            steps.append((env.trial_number // 5, model.states))
            return actions

    subject = Watched(model)
    record = run(sides, subject, 30, num_envs=2, seed=1)
    for env in range(2):
        sessions = np.array([sessions[env] for sessions, _ in steps])
        counted = np.array([states[env] for _, states in steps])
        for session in np.unique(sessions):
            mine = counted[sessions == session]
            np.testing.assert_array_equal(mine, np.arange(1, len(mine) + 1))
            longest = max(longest, len(mine))
    assert longest > record["steps"].max(), "a session is longer than a trial"


# ---- from the command line ----


@pytest.mark.parametrize("algo", ["ppo", "a2c", "recurrent-ppo"])
def test_every_algorithm_trains_from_the_command_line(algo, tmp_path):
    settings = [word for name, value in SMALL.items() for word in ("--option", f"{name}={value}")]
    wrappers = ["--pass-reward", "--pass-action"]
    options = ["--timing", "stimulus=300", "--quiet", "--out", tmp_path / "run", *settings]
    words = ["train", "PerceptualDecisionMaking-v0", "--algo", algo, "--steps", 128]
    words += [*wrappers, *options]
    result = CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert "128 steps done" in result.output
    with (tmp_path / "run" / "curve.csv").open(encoding="utf-8") as file:
        assert [row["steps"] for row in csv.DictReader(file)] == ["0", "128"]
    assert Run.open(tmp_path / "run").trainer().done == 128


def test_the_example_of_neurogyms_readme_is_one_command_line(tmp_path, monkeypatch):
    """The command is that of README.md, with 320 steps instead of 50,000."""
    monkeypatch.chdir(tmp_path)
    lines = (Path(__file__).parents[1] / "README.md").read_text("utf-8").splitlines()
    (line,) = [line for line in lines if line.startswith("ngym train") and "a2c=true" in line]
    words = shlex.split(line.replace("--steps 50000 --criterion 0.8", "--steps 320"))[1:]
    result = CliRunner().invoke(main, [*words, "--quiet"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    trainer = Run.open("a2c").trainer()
    assert (trainer.a2c, trainer.model.n_steps, trainer.model.n_envs) == (True, 20, 16)
    assert max(trainer.tasks[0].coherences) == 2 * 51.2
    assert [period.to_plain() for period in trainer.tasks[0].timing.values()] == [300, 500, 0, 300]
    assert trainer.wrap == [("PassReward", {}), ("PassAction", {})]


@pytest.mark.parametrize(
    ("algo", "task", "why"),
    [
        ("ppo", "PerceptualDecisionMaking-v0", "evidence-accumulation"),
        ("a2c", "PerceptualDecisionMaking-v0", "evidence-accumulation"),
        ("ppo", "ProbabilisticReversal-v0", "counting trials"),
        ("ppo", "ProbabilisticReversal-v1", "repeating a right answer"),
        ("ppo", "IBLTraining-v0", ""),
        ("ppo", "AntiReach-v0", ""),
        ("recurrent-ppo", "PerceptualDecisionMaking-v0", ""),
    ],
)
def test_an_agent_without_memory_is_warned_about_where_the_task_needs_it(algo, task, why, tmp_path):
    words = ["train", task, "--algo", algo, "--steps", 64, "--quiet"]
    words += ["--out", tmp_path / "run", "--option", "test_trials=20", "--option", "envs=4"]
    words += ["--option", "n_steps=16", "--option", "hidden=8"]
    result = CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert (f"{algo} has no memory, and {task} needs it" in result.output) == bool(why)
    assert f"({why})" in result.output or not why
    assert ("Use --algo recurrent-ppo" in result.output) == bool(why)
    assert "accuracy " in result.output
    assert " (chance, " in result.output


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_the_defaults_learn_a_task_with_a_delay(seed):
    """Seed 1 met it after 40,960 steps, and seed 2 after 45,056; seed 0 does not within 100,000.

    The seeds are fixed: a failure means that the numbers of torch, of the task or of the defaults
    have changed.
    """
    trainer = RecurrentPPOTrainer("memory/DelayMatchSample-v0", seed=seed)
    assert trainer.train(100_000, criterion=0.9) == "criterion"


@pytest.mark.slow
def test_actor_critic_learns_to_act_where_never_acting_earns_half():
    """Seed 7 met it after 20,160 steps, seed 1 after 40,000; seeds 0, 2 and 3 do not within 60,000.

    When the defaults were chosen, 7 of 8 seeds met it within 125,000 steps. With normalised
    advantages it never went, with any of six seeds. The seed is fixed, as above.
    """
    trainer = RecurrentPPOTrainer("control/GoNogo-v0", seed=7, a2c=True)
    assert trainer.train(60_000, criterion=0.9) == "criterion"


@pytest.mark.parametrize("algo", ["ppo", "recurrent-ppo"])
def test_a_trained_agent_plays_by_the_path_of_its_run(algo, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["train", "PerceptualDecisionMaking-v0", "--algo", algo, "--steps", "64"]
    for option in ("envs=4", "n_steps=16", "hidden=8", "test_trials=5"):
        words += ["--option", option]
    result = CliRunner().invoke(main, [*words, "--pass-reward", "--out", "runs/x", "--quiet"])
    assert result.exit_code == 0, result.output
    task = ["PerceptualDecisionMaking-v0", "--subject", "runs/x"]
    played = CliRunner().invoke(main, ["run", *task, "--n-trials", "3"])
    assert played.exit_code == 0, played.output
    drawn = CliRunner().invoke(main, ["plot", *task, "-o", "trial.svg"])
    assert drawn.exit_code == 0, drawn.output
    text = (tmp_path / "trial.svg").read_text("utf-8")
    assert "runs/x: " in text
    assert "PassReward" in text
