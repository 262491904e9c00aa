"""MemoryRecall: costs of errors, order of recall, and recalled vectors."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_memory.memory_recall import MemoryRecall

from neurogym_core import InvalidValueError, TaskEnv, run


def play(task: MemoryRecall, change, seed: int = 1) -> dict:
    """The record of a trial in which the subject modifies the correct output during recall."""
    env = TaskEnv(task)
    env.reset(seed=seed)
    while True:
        action = change(env.target) if env.period == "recall" else env.target
        *_, info = env.step(action.astype(np.float32))
        if info["new_trial"]:
            return info["trial"]


def test_a_recalled_vector_pays_and_errors_cost():
    task = MemoryRecall()
    right = play(task, lambda target: target)
    half = play(task, lambda target: 0.5 * target)
    wrong = play(task, lambda target: -target)
    stored = right["stored"]
    assert right["reward"] == stored
    # Outputs at half of their value are at a distance of 1.6 from the vector.
    assert half["reward"] == pytest.approx(-0.25 / 4 * stored)
    assert wrong["reward"] == pytest.approx(-stored)
    assert (right["performance"], wrong["performance"]) == (1, 0)


def test_a_vector_with_one_wrong_sign_is_not_recalled():
    one_wrong = np.where(np.arange(10) == 3, -1, 1)
    assert play(MemoryRecall(), lambda target: target * one_wrong)["performance"] == 0
    assert play(MemoryRecall(), lambda target: target * 0.8)["performance"] == 1


def test_nothing_is_paid_or_charged_while_storing():
    env = TaskEnv(MemoryRecall())
    env.reset(seed=2)
    rng = np.random.default_rng(2)
    while env.period == "store":
        assert env.step(rng.uniform(-1, 1, 10).astype(np.float32))[1] == 0


@pytest.mark.parametrize("dt", [20, 100])
def test_flagged_vectors_come_again_in_order_with_elements_blanked(dt):
    task = MemoryRecall(dt=dt)
    batch = task.sample(60, seed=3)
    each = task.steps
    for row, obs in enumerate(np.split(batch.render(None), np.cumsum(batch.steps)[:-1])):
        vector, flag, recall = (
            obs[:, task.channels[name]] for name in ("vector", "flag", "recall")
        )
        store = recall[:, 0] == 0
        stored = vector[store & (flag[:, 0] == 1)][::each]
        cues = vector[~store][::each]
        assert 1 <= len(stored) == len(cues) == batch.notes["stored"][row] <= 4
        assert store.sum() == batch.conditions["count"][row] * each
        kept = cues != 0
        np.testing.assert_array_equal(cues[kept], stored[kept])
        assert set(np.unique(stored)) == {-1, 1}


def test_about_one_vector_in_ten_is_flagged_and_three_elements_in_ten_blanked():
    """Flags are clipped to 1 to 4, which leaves the mean near 2.

    Blanked: 800 x 40 elements, SD 0.0026, 5 SD.
    """
    batch = MemoryRecall().sample(800, seed=4)
    assert 1.8 < batch.notes["stored"].mean() < 2.3
    assert abs(batch.conditions["blanked"].mean() - 0.3) < 5 * 0.0026
    assert set(batch.conditions["count"]) == set(range(15, 26))


def test_bounds_that_cross_are_refused():
    with pytest.raises(InvalidValueError, match="shortest <= longest"):
        MemoryRecall(shortest=30)


def test_repeating_the_cue_recalls_those_with_at_most_one_blank():
    """1,500 trials; the SD of a trial's performance is below 0.35, so five SEs are 0.045."""
    task = MemoryRecall()

    def copy(env, observations):
        return observations[:, task.channels["vector"]]

    record = run(task, copy, 1500, num_envs=30, seed=9)
    assert record["performance"].mean() == pytest.approx(0.15, abs=0.045)


class Remembers:
    """Stores the flagged vectors, and gives them back in their order."""

    carries_state = False

    def begin(self, env):
        self.stored = [[] for _ in range(env.num_envs)]

    def __call__(self, env, obs):
        channels = env.task.channels
        output = np.zeros((len(obs), env.task.size), np.float32)
        for row, stored in enumerate(self.stored):
            vector = obs[row, channels["vector"]]
            if obs[row, channels["recall"]] > 0.5:
                output[row] = stored.pop(0)
            elif obs[row, channels["flag"]] > 0.5:
                stored.append(vector)
        return output


def test_a_memory_of_the_flagged_vectors_recalls_all_of_them():
    assert run(MemoryRecall(), Remembers(), 100, num_envs=10, seed=1)["performance"].min() == 1
