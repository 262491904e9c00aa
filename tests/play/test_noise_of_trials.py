"""The noise of a trial is shown, even if such trials are rare or late."""

from __future__ import annotations

import numpy as np
import pytest

from neurogym_core import Choice, Dataset, Task, TaskVectorEnv, make_task, run

pytestmark = pytest.mark.usefixtures("kernel")
P = "perceptual/PerceptualDecisionMaking-v0"
C = "perceptual/ContextDecisionMaking-v0"


class Rarely(Task):
    """One trial in thirty has noise on a channel without noise in all others."""

    timing = {"a": 500}
    supervised = False

    def define(self):
        self.observe(steady=2, rare=1)
        self.act(rest=1, go=1)
        self.vary(catch=Choice((True, False), p=(0.03, 0.97)))

    def new_trial(self, trial):
        trial.periods("a")
        trial.show("steady", 1, during="a")
        if trial["catch"].any():
            trial.show("rare", 0, during="a", noise=5, where=trial["catch"])
        trial.hold(during="a", cost=0)


def assert_noisy_where(noisy, seen):
    """Noise of SD 5 in 1 ms, 0.5 a step of 100 ms. False alarm: 5 standard errors, below 1e-6."""
    assert (seen[~noisy] == 0).all()
    n = noisy.sum()
    assert n > 500
    assert abs(seen[noisy].std() / 0.5 - 1) < 5 / np.sqrt(2 * n)


def test_noise_of_rare_trials_is_shown_in_envs():
    env = TaskVectorEnv(Rarely(), 64)
    seen, noisy, now = [], [], env.reset(seed=0)[0]
    for _ in range(600):
        seen.append(now[:, 2])
        noisy.append(env.conditions["catch"])
        now = env.step(np.zeros(64, int))[0]
    assert_noisy_where(np.array(noisy), np.array(seen))


def test_noise_of_rare_trials_is_shown_in_datasets():
    dataset = Dataset(Rarely(), 5000, seed=0, targets="best")
    batch = next(dataset)
    noisy = np.zeros(len(batch.row), bool)
    noisy[batch.row] = batch.conditions["catch"]
    assert_noisy_where(np.repeat(noisy[:, None], 5, axis=1), batch.inputs[:, :, 2])


PRESETS = {
    "transfer": (P, ("Transfer", {"other_tasks": (C,), "block_lengths": 3})),
    "schedule of envs": (
        P,
        ("Mixture", {"other_tasks": (C,), "order": "sequence", "block_length": 3}),
    ),
    "from a quiet task to a noisy one": (
        "GoNogo-v0",
        ("Transfer", {"other_tasks": (P,), "block_lengths": 3}),
    ),
}


@pytest.mark.parametrize("name", PRESETS)
def test_tasks_that_come_later_in_a_sequence_keep_their_noise(name):
    """The units that are noisy in each task on its own are noisy in the sequence of both."""
    first, wrap = PRESETS[name]
    task, later = make_task(first, wrap=wrap), make_task(wrap[1]["other_tasks"][0])
    alone = later.sample(200, seed=0)
    noisy = {channel for channel, units in later.channels.items() if alone.noise[..., units].any()}
    assert noisy
    env = TaskVectorEnv(task, 16)
    seen = {channel: [] for channel in noisy}
    now = env.reset(seed=0)[0]
    for _ in range(400):
        for channel in noisy:
            seen[channel].append(now[:, task.channels[channel]])
        now = env.step(env.target)[0]
    for channel, values in seen.items():
        # Without noise a channel has a few dozen values.
        assert len(np.unique(np.array(values[200:]))) > 500, channel


@pytest.mark.slow
def test_the_last_stage_of_a_curriculum_is_as_noisy_as_the_task_itself():
    """An integrator at a coherence of 3.2 % within 400 ms is correct in two thirds of the
    trials.

    False alarm: 5 standard errors of 1,500 trials on either side, below 1e-6.
    """
    settings = {
        "timing": {"fixation": 100, "stimulus": 400, "delay": 0},
        "conditions": {"coherence": 3.2},
    }
    easy = ("Curriculum", {"stages": ({"sigma": 0.0},), "window": 20})
    alone = run(P, "integrator", 1500, seed=0, **settings)
    record = run(P, "integrator", 2400, seed=0, wrap=easy, **settings)
    last = record[record["stage"] == record["stage"].max()]
    assert len(last) > 1200
    right = [(rows["outcome"] == "correct").mean() for rows in (alone, last)]
    assert 0.55 < right[0] < 0.8
    assert abs(right[0] - right[1]) < 5 * np.sqrt(0.25 * (1 / len(alone) + 1 / len(last)))
