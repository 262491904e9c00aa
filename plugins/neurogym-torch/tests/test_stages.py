"""Stages: easier versions of the tasks are learned first, and mixtures change."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from neurogym_torch.together import train_together
from neurogym_torch.trainers import GRUTrainer

from neurogym_core import InvalidValueError, UnknownNameError

SMALL = {"batch": 16, "hidden": 16, "test_every": 5, "test_trials": 40, "learning_rate": 0.01}
EASY = {"conditions": {"strength": 1.0}, "sigma": 0.0}


def stages_seen(trainer):
    return [int(row["stage"]) for row in trainer.curve]


def equal(one, other):
    pairs = zip(one.network.parameters(), other.network.parameters(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


def test_a_stage_ends_at_its_accuracy_and_tests_play_the_task_itself(tasks):
    trainer = GRUTrainer(tasks.Sides, stages=[EASY], advance_at=0.9, seed=1, **SMALL)
    trainer.train(80)
    stages = stages_seen(trainer)
    assert stages[0] == 0
    assert stages[-1] == 1
    assert stages == sorted(stages)
    last_easy = [row for row in trainer.curve if row["stage"] == 0]
    assert last_easy[-1]["stage accuracy"] >= 0.9
    assert all(row["stage accuracy"] < 0.9 for row in last_easy[:-1])
    assert last_easy[-1]["accuracy"] < 0.9  # of noisy trials, most of them weak
    assert np.isnan(trainer.curve[-1]["stage accuracy"])
    assert set(trainer.play(40, seed=1)["strength"]) == {0.2, 1.0}


def test_the_trials_are_those_of_the_stage_and_then_of_the_task(tasks):
    trainer = GRUTrainer(
        tasks.Sides, stages=[{**EASY, "updates": 10}, {"sigma": 0.5, "updates": 5}], **SMALL
    )
    seen = {}
    whole = trainer.update

    def update():
        batch = next(trainer.data)
        seen[trainer.done] = (batch.task.sigma, set(batch.trials.conditions["strength"]))
        return whole()

    trainer.update = update
    trainer.train(25)
    assert [seen[k][0] for k in (0, 9, 10, 14, 15, 24)] == [0, 0, 0.5, 0.5, 1, 1]
    assert seen[9][1] == {1.0}
    assert seen[24][1] == {0.2, 1.0}
    assert stages_seen(trainer) == [0, 0, 0, 1, 2, 2]


def test_shares_change_with_the_stages(tasks):
    pair = [tasks.Sides, tasks.Directions]
    trainer = GRUTrainer(pair, stages=[{"shares": {"Sides": 0.0}, "updates": 5}], **SMALL)
    assert trainer.data.shares.tolist() == [0, 1]
    trainer.train(5)
    assert trainer.data.shares.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("cut", [5, 10, 15, 25])
def test_a_training_that_is_resumed_in_any_stage_ends_like_an_uninterrupted_one(
    cut, tasks, tmp_path
):
    def made():
        return GRUTrainer(
            tasks.Sides, stages=[{**EASY, "updates": 10}, {"sigma": 0.5, "updates": 10}],
            seq_len=17, seed=2, **SMALL,
        )  # fmt: skip

    whole = made()
    whole.train(30)
    first = made()
    first.train(cut, out=tmp_path)
    second = made()
    second.load(tmp_path)
    second.train(30)
    assert equal(second, whole)
    assert stages_seen(second) == stages_seen(whole)


def test_networks_that_are_trained_together_have_their_own_stages(tasks):
    def made(seed):
        return GRUTrainer(tasks.Sides, stages=[{**EASY, "updates": 5}], seed=seed, **SMALL)

    trainers = [made(seed) for seed in (1, 2)]
    train_together(trainers, 10)
    alone = made(2)
    alone.train(10)
    assert stages_seen(trainers[1]) == stages_seen(alone) == [0, 0, 1]
    pairs = zip(trainers[1].network.parameters(), alone.network.parameters(), strict=True)
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in pairs)


@pytest.mark.parametrize(
    ("stages", "error", "said"),
    [
        ({"sigma": 0}, InvalidValueError, "a list"),
        ([{}], InvalidValueError, "tasks themselves"),
        ([{"updates": 5}], InvalidValueError, "tasks themselves"),
        ([{"timing": {}}], InvalidValueError, "tasks themselves"),
        ([{"sigma": 0.0, "updates": 0}], InvalidValueError, "1 or more"),
        ([{"sigmas": 0.0}], UnknownNameError, "sigma"),
        ([{"timing": {"delays": 0}}], InvalidValueError, "stage 0"),
    ],
)
def test_wrong_stages_are_refused(stages, error, said, tasks):
    with pytest.raises(error, match=said):
        GRUTrainer(tasks.Sides, stages=stages, **SMALL)
    with pytest.raises(InvalidValueError, match="accuracy"):
        GRUTrainer(tasks.Sides, stages=[EASY], advance_at=1.5, **SMALL)
