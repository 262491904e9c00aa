"""Training with ``--algo jax-ppo``, and the example scripts."""

from __future__ import annotations

from pathlib import Path

import jax
import numpy as np
import pytest
from click.testing import CliRunner
from neurogym_jax.trainers import JaxPPOTrainer
from neurogym_training import Run
from scripts import loaded

from neurogym_core import InvalidValueError, NotSupportedError
from neurogym_core.tools import main

EXAMPLES = Path(__file__).parents[1] / "examples"
SMALL = {
    "envs": 8, "n_steps": 16, "hidden": 8, "minibatches": 2, "test_every": 256, "test_trials": 20,
}  # fmt: skip


def flat(trainer):
    return np.concatenate([np.ravel(one) for one in jax.tree.leaves(trainer.learner.weights)])


def test_it_trains_tests_and_can_be_resumed(tasks, tmp_path):
    first = JaxPPOTrainer(tasks.Jittered, seed=1, seeds=2, trials=32, **SMALL)
    assert first.train(512, out=tmp_path) == "steps"
    assert [row["steps"] for row in first.curve] == [0, 256, 512]
    assert first.curve[0].keys() >= {"seed 0", "seed 1", "accuracy", "answered"}
    second = JaxPPOTrainer(tasks.Jittered, seed=1, seeds=2, trials=32, **SMALL)
    assert (flat(second) != flat(first)).any()
    second.load(tmp_path)
    assert (flat(second) == flat(first)).all()
    assert second.play(30, seed=3) == first.play(30, seed=3)
    second.train(768)
    assert [row["steps"] for row in second.curve] == [0, 256, 512, 768]


@pytest.mark.parametrize("task", ["Jittered", "Sides"])
def test_a_resumed_training_ends_with_the_weights_of_an_uninterrupted_one(task, tasks, tmp_path):
    # Jittered draws decks, and Sides has all its trials in one.
    settings = {"seed": 1, "seeds": 2, "trials": 32, **SMALL}
    whole = JaxPPOTrainer(getattr(tasks, task), **settings)
    whole.train(1280)
    first = JaxPPOTrainer(getattr(tasks, task), **settings)

    def interrupt(trainer, row):
        if row["steps"] == 768:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        first.train(1280, out=tmp_path, on_test=interrupt)
    second = JaxPPOTrainer(getattr(tasks, task), **settings)
    second.load(tmp_path)
    second.train(1280)
    assert (flat(second) == flat(whole)).all()
    assert [row["reward"] for row in second.curve] == [row["reward"] for row in whole.curve]


def test_a_network_that_met_the_criterion_keeps_its_weights_when_resumed(tasks, tmp_path):
    def learned(record):
        return bool(record["performance"].mean() > 0.35)

    settings = {"seed": 1, "seeds": 3, **SMALL}
    whole, first = (JaxPPOTrainer(tasks.Sides, **settings) for _ in range(2))
    whole.train(2048, criterion=learned)
    kept = []

    def interrupt(trainer, row):
        kept.append(len(trainer._kept))
        if 0 < kept[-1] < 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        first.train(2048, out=tmp_path, criterion=learned, on_test=interrupt)
    second = JaxPPOTrainer(tasks.Sides, **settings)
    second.load(tmp_path)
    second.train(2048, criterion=learned)
    assert [row["accuracy"] for row in second.curve] == [row["accuracy"] for row in whole.curve]
    for which in range(3):
        assert second._subject(which).weights.keys() == whole._subject(which).weights.keys()
        for name, values in second._subject(which).weights.items():
            assert (values == whole._subject(which).weights[name]).all()


def test_it_ends_with_the_rollout_that_reaches_the_number_of_steps(tasks):
    trainer = JaxPPOTrainer(tasks.Sides, seed=1, **SMALL)
    assert trainer.rollout == 128
    trainer.train(300)
    assert [row["steps"] for row in trainer.curve] == [0, 256, 384]


def test_a_network_that_meets_the_criterion_keeps_its_weights(tasks, tmp_path):
    trainer = JaxPPOTrainer(tasks.Sides, seed=1, seeds=2, **SMALL)
    seen = []

    def first_met_at_the_second_test(record):
        seen.append(record)
        # Each test asks for the networks that learn, and for the worst of them.
        return [False, False, False, True, False, False, True, True][len(seen) - 1]

    assert trainer.train(2048, criterion=first_met_at_the_second_test, out=tmp_path) == "criterion"
    assert [row["steps"] for row in trainer.curve] == [0, 256, 512]
    assert trainer.curve[1]["seed 0"] == trainer.curve[2]["seed 0"] == seen[3]["performance"].mean()
    weights = trainer._weights()
    assert (np.asarray(weights["input"])[0] != trainer.learner.weights["input"][0]).any()
    again = JaxPPOTrainer(tasks.Sides, seed=1, seeds=2, **SMALL)
    again.load(tmp_path)
    assert again.play(20, seed=3) == trainer.play(20, seed=3)
    assert all((again.learner.weights[name] == values).all() for name, values in weights.items())


def test_continuous_actions_are_learned_and_played(tasks):
    trainer = JaxPPOTrainer(tasks.Pointing, seed=1, **SMALL)
    before = np.asarray(trainer.learner.weights["spread"])
    trainer.train(512)
    after = np.asarray(trainer.learner.weights["spread"])
    assert before.shape == after.shape == (1, 3)
    assert (before != after).all()
    record = trainer.play(20, seed=3)
    assert record["choice"].dtype.kind == "f"
    assert np.isfinite(record["reward"]).all()


def test_it_refuses_two_tasks_hooks_parts_of_envs_and_no_seed(tasks):
    with pytest.raises(NotSupportedError, match="2 tasks"):
        JaxPPOTrainer([tasks.Sides, tasks.Sides])
    with pytest.raises(NotSupportedError, match="hooks"):
        JaxPPOTrainer(tasks.Cursor)
    with pytest.raises(InvalidValueError, match="minibatches=9"):
        JaxPPOTrainer(tasks.Sides, **{**SMALL, "minibatches": 9})
    with pytest.raises(InvalidValueError, match="seeds"):
        JaxPPOTrainer(tasks.Sides, seeds=0, **SMALL)


@pytest.mark.slow
def test_several_networks_learn_together_from_the_command_line(tmp_path):
    result = CliRunner().invoke(
        main,
        ["train", "PerceptualDecisionMaking-v0", "--algo", "jax-ppo", "--steps", "400000",
         "--option", "seeds=2", "--criterion", "0.75", "--quiet", "--out", str(tmp_path / "run")],
    )  # fmt: skip
    # With seeds 0 to 4 (one run), all had at least 72 % after 49,152 steps.
    assert result.exit_code == 0, result.output
    assert "criterion is met" in result.output
    record = Run.open(tmp_path / "run").trainer().play(200, seed=2)
    # 75 % of 200 other trials, within 4 SEs; an untrained network has about 0.2.
    assert record["performance"].mean() > 0.6


@pytest.mark.slow
def test_the_first_command_of_the_readme_meets_its_criterion(tmp_path):
    readme = (Path(__file__).resolve().parents[1] / "README.md").read_text("utf-8")
    words = next(line for line in readme.splitlines() if line.startswith("ngym train ")).split()
    words[words.index("--out") + 1] = str(tmp_path / "run")
    result = CliRunner().invoke(main, words[1:])
    assert result.exit_code == 0, result.output
    assert "the criterion is met" in result.output


@pytest.mark.slow
def test_a_script_in_the_style_of_purejaxrl_learns():
    pytest.importorskip("optax", reason="the script's optimizer is optax's")
    assert loaded(EXAMPLES / "purejaxrl_ppo.py").main() > 0.8  # 0.92; 0.50 at first


@pytest.mark.slow
def test_ppo_of_rejax_learns():
    """It runs in a separate environment: gymnax, which rejax needs, refuses Gymnasium 1.4."""
    pytest.importorskip("rejax", reason="it needs rejax, which needs an older Gymnasium")
    before, after = loaded(EXAMPLES / "rejax_ppo.py").main(150_000)
    assert before < 0.65
    assert after > 0.8  # 0.90
