"""RoitmanShadlen: the paper's coherences, accuracies and reaction times."""

from __future__ import annotations

import math

import numpy as np
import pytest
from neurogym_task_perceptual.roitman_shadlen import RoitmanShadlen

from neurogym_core import TaskEnv

PUBLISHED = {  # coherence %: share correct and mean reaction time in s, means of two monkeys
    0: (0.50, 0.821),
    3.2: (0.639, 0.815),
    6.4: (0.772, 0.770),
    12.8: (0.940, 0.682),
    25.6: (0.995, 0.545),
    51.2: (1.0, 0.428),
}
BOUND, ELSEWHERE = 0.694, 0.334  # SD sqrt(s), s: means of the fits to both monkeys


def test_coherences_are_the_six_of_the_paper():
    assert set(RoitmanShadlen().sample(500, seed=1).conditions["coherence"]) == set(PUBLISHED)


@pytest.mark.parametrize("coherence", PUBLISHED)
def test_a_bounded_observer_answers_as_the_monkeys_did(coherence):
    """800 trials: SD of the accuracy at most 0.018, of the mean time 0.015 s; limits of 4 SD and
    more.
    """
    dt, n = 10, 800
    task = RoitmanShadlen(dt=dt)
    batch = task.sample(n, seed=2, coherence=coherence)
    obs = batch.render(np.random.default_rng(3))
    motion = obs[obs[:, 0] == 0][:, task.channels["stimulus"]].reshape(n, -1, 2)
    evidence = (
        np.cumsum(motion[..., 0] - motion[..., 1], axis=1)
        * dt
        / (math.sqrt(2) * task.sigma * math.sqrt(1000))
    )
    bound = BOUND - 0.583 * math.sqrt(
        dt / 1000
    )  # a walk in steps overshoots a bound by this much on average
    over = np.abs(evidence) >= bound
    at = np.where(over.any(axis=1), over.argmax(axis=1), evidence.shape[1] - 1)
    choice = np.where(evidence[np.arange(n), at] > 0, 0, 1)
    correct, time = PUBLISHED[coherence]
    assert abs(np.mean(choice == batch.conditions["direction"]) - correct) < 0.07
    assert abs(np.mean(at + 1) * dt / 1000 + ELSEWHERE - time) < 0.07


def test_an_answer_is_taken_from_the_onset_of_motion_on_and_ends_the_trial():
    env = TaskEnv(RoitmanShadlen(dt=20))
    env.reset(seed=4)
    while env.period != "stimulus":
        assert env.step(0)[1] == 0
    for _ in range(9):
        env.step(0)
    *_, info = env.step(env.target)
    assert info["new_trial"]
    assert info["trial"]["reaction_time"] == 200
    assert info["trial"]["reward"] == 1
