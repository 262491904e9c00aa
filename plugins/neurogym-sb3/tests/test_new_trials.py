"""Trials on which a trained agent is evaluated do not occur in its training."""

from __future__ import annotations

import pytest
from neurogym_sb3 import AgentSubject, SB3VecEnv
from neurogym_sb3.trainers import A2CTrainer, RecurrentPPOTrainer

SMALL = {"envs": 4, "n_steps": 16, "hidden": 8, "test_every": 128, "test_trials": 20}


@pytest.fixture
def frames(monkeypatch):
    """The noisy frames so far: (those that an agent learned from, those that a subject saw)."""
    learned, seen = [], []

    def noisy(observations):
        return [row.tobytes() for row in observations if (row[1:3] != 0).all()]

    def recording(method, place, of):
        original = getattr(place, method)

        def called(self, *args):
            result = original(self, *args)
            of(self, result, *args)
            return result

        monkeypatch.setattr(place, method, called)

    recording("reset", SB3VecEnv, lambda env, result: learned.extend(noisy(result)))
    recording("step_wait", SB3VecEnv, lambda env, result: learned.extend(noisy(result[0])))
    recording("__call__", AgentSubject, lambda agent, result, env, rows: seen.extend(noisy(rows)))
    return learned, seen


# Two noisy units: another frame has the same bits with a probability below 2**-42, and the tests
# compare fewer than 2**24 pairs, so that a false alarm has a probability below 1e-5.


@pytest.mark.parametrize("trainer", [A2CTrainer, RecurrentPPOTrainer])
def test_no_frame_of_a_test_or_of_play_was_learned_from(trainer, sides, frames, tmp_path):
    learned, seen = frames
    for seed in (0, 1):
        agent = trainer(sides, seed=seed, **SMALL)
        agent.train(512, out=tmp_path / str(seed))
        resumed = trainer(sides, seed=seed, **SMALL)
        resumed.load(tmp_path / str(seed))
        resumed.train(768)
    assert len(set(learned)) > 500
    assert set(learned).isdisjoint(seen), "in-training tests"
    seen.clear()
    for seed in (0, 1, 512, 513, 1000):
        agent.play(50, seed=seed)
        agent.play(50, seed=seed, num_envs=4)
        agent.play(50, seed=seed, num_envs=4, conditions={"side": [0, 1, 1]})
    assert len(set(seen)) > 500
    assert set(learned).isdisjoint(seen)


def test_a_split_can_be_chosen(sides, frames):
    learned, seen = frames
    agent = A2CTrainer(sides, seed=3, **SMALL)
    agent.train(512)
    seen.clear()
    record = agent.play(50, seed=3, num_envs=4, split="train")
    assert record.meta["split"] == "train"
    assert len(set(learned) & set(seen)) > 50
    assert agent.play(5, seed=3).meta["split"] == "test"
    assert agent.play(5, seed=3, split=None).meta["split"] is None
