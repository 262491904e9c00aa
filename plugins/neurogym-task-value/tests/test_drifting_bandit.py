"""DriftingBandit: means that follow decaying random walks."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_value.drifting_bandit import DriftingBandit
from neurogym_task_value.walks import decaying_walk

from neurogym_core import InvalidValueError, TaskEnv, TaskVectorEnv, run
from neurogym_core.players import TaskView


def means_of(task, sessions=64, trials=300, seed=1):
    """Means drawn for whole sessions, (trials, sessions, arms)."""
    rng = np.random.default_rng(seed)
    session = TaskView(task).fresh_session(rng, sessions)
    return task.draw_ahead(session, rng, trials)["mean"]


def test_the_walk_is_the_one_of_the_paper():
    task = DriftingBandit()
    means = means_of(task)
    steps = means[1:] - (0.9836 * means[:-1] + (1 - 0.9836) * 50)
    # 76,544 independent steps of SD 2.8: five SDs of their mean are 0.05, of their SD 0.036 (1 in
    # 1.7 million).
    assert steps.mean() == pytest.approx(0, abs=0.05)
    assert steps.std() == pytest.approx(2.8, abs=0.036)
    flat = steps.reshape(len(steps), -1)
    lagged = (flat[1:] * flat[:-1]).mean() / steps.var()
    assert abs(lagged) < 5 / np.sqrt(flat[1:].size)


def test_it_starts_in_the_stationary_distribution():
    """The first means have the stationary mean 50 and SD 2.8 / sqrt(1 - 0.9836^2) = 15.5."""
    first = means_of(DriftingBandit(), sessions=5000, trials=1)[0]
    last = means_of(DriftingBandit(), sessions=5000, trials=300)[-1]
    for means in (first, last):  # 20,000 values: five SDs are 0.55 and 0.39
        assert means.mean() == pytest.approx(50, abs=0.55)
        assert means.std() == pytest.approx(15.52, abs=0.39)
    assert np.abs(np.corrcoef(first.T)[np.triu_indices(4, 1)]).max() < 5 / np.sqrt(5000)


def test_drawing_one_by_one_continues_the_same_walk():
    task, rng = DriftingBandit(drift=0.0), np.random.default_rng(0)
    session = TaskView(task).fresh_session(rng, 3)
    start = session.mean.copy()
    one_by_one = np.stack([task.draw(session, rng)["mean"] for _ in range(5)])
    np.testing.assert_allclose(
        one_by_one, 50 + (start - 50) * 0.9836 ** np.arange(5)[:, None, None]
    )
    ahead = task.draw_ahead(session, rng, 2)["mean"]
    np.testing.assert_allclose(ahead[0], 50 + (start - 50) * 0.9836**5)


def test_decaying_walk_is_the_recursion():
    rng = np.random.default_rng(1)
    start, steps = rng.normal(50, 9, (2, 3)), rng.normal(0, 2, (40, 2, 3))
    x, path = start, []
    for step in steps:
        x = 0.9 * x + 0.1 * 50 + step
        path.append(x)
    np.testing.assert_allclose(decaying_walk(start, steps, 0.9, 50), path)


def test_payoffs_scatter_around_the_means_in_whole_points():
    record = run(DriftingBandit(), "random", 6000, seed=4)
    points, mean = record["points"], record["mean"]
    assert (points == np.rint(points)).all()
    assert points.min() >= 1
    assert points.max() <= 100
    inside = (mean > 15) & (mean < 85)
    # Scatter 4 and rounding 1/sqrt(12): SD 4.01; about 23,000 values: five SDs are 0.1.
    assert (points - mean)[inside].std() == pytest.approx(4.01, abs=0.1)
    np.testing.assert_allclose(record["reward"], points[np.arange(6000), record.codes()] / 100)


@pytest.mark.parametrize("dt", [10, 100])
def test_the_oracle_takes_the_arm_with_the_highest_mean(dt):
    record = run(DriftingBandit(dt=dt), "oracle", 1000, seed=5)
    np.testing.assert_array_equal(record.codes(), record["mean"].argmax(axis=1))
    assert (record["performance"] == 1).all()
    assert (record["steps"] == 1).all()


def test_the_walk_ignores_the_subject_and_continues_over_blocks():
    envs = [TaskEnv(DriftingBandit()) for _ in range(2)]
    means = []
    for arm, env in enumerate(envs):
        env.reset(seed=6)
        means.append([])
        for _ in range(299):
            means[-1].append(env.conditions["mean"])
            env.step(arm)
    np.testing.assert_array_equal(*means)
    steps = np.diff(np.array(means[0]), axis=0)
    assert (
        np.abs(steps).max() < 5.5 * 2.8 + 1
    )  # no jump where a block of trials ends; 5.5 SDs: 1 in 20,000


def test_a_new_session_has_new_means_and_a_seed_reproduces_them():
    env = TaskVectorEnv(DriftingBandit(trials_per_session=5), 4, autoreset_mode="SameStep")

    def play():
        env.reset(seed=7)
        seen = []
        for _ in range(10):
            seen.append(env.conditions["mean"])
            env.step(np.zeros(4, int))
        return np.array(seen)

    first, again = play(), play()
    np.testing.assert_array_equal(first, again)
    jump = np.abs(np.diff(first, axis=0)).mean(axis=(1, 2))
    assert jump[4] > 2 * np.delete(jump, 4).max()


def test_a_walk_that_does_not_decay_is_refused():
    with pytest.raises(InvalidValueError, match="decay"):
        DriftingBandit(decay=1.0)


def test_the_declared_evidence_is_the_lead_of_the_best_arm():
    task = DriftingBandit()
    conditions = dict(task.sample(50, seed=1).conditions)
    ranked = np.sort(np.clip(conditions["mean"], 1, 100), axis=1)
    assert TaskView(task).evidence(conditions) == pytest.approx(ranked[:, -1] - ranked[:, -2])
