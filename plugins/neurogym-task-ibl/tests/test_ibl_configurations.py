"""The simpler versions of the IBL task."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_ibl.configurations import IBL20, IBLBlocks, IBLTwoChoice

from neurogym_core import TaskEnv, run
from neurogym_core.players import TaskView


def p_left(task, trials, sessions=50, seed=1):
    rng = np.random.default_rng(seed)
    return task.draw_ahead(TaskView(task).fresh_session(rng, sessions), rng, trials)["p_left"]


def test_ibl20_alternates_every_90_trials():
    p = p_left(IBL20(), 450).reshape(5, 90, 50)
    assert (p == p[:, :1]).all()
    np.testing.assert_allclose(p[1:, 0], 1 - p[:-1, 0])
    assert set(np.unique(p)) == {0.2, 0.8}


def test_ibl_blocks_last_200_trials_and_differ_from_the_one_before():
    p = p_left(IBLBlocks(), 1000).reshape(5, 200, 50)
    assert (p == p[:, :1]).all()
    assert (p[1:, 0] != p[:-1, 0]).all()
    assert set(np.unique(p)) == {0.2, 0.5, 0.8}
    assert IBLBlocks().trials_per_session == 1000


@pytest.mark.parametrize("task", [IBLTwoChoice, IBLBlocks])
def test_a_trial_is_one_observation_and_one_choice(task):
    env = TaskEnv(task(sigma=0.0))
    obs, _ = env.reset(seed=2, options={"conditions": {"side": "right", "contrast": 25.6}})
    np.testing.assert_allclose(obs, [0, 0.256])
    _, reward, *_, info = env.step(1)
    assert reward == 1
    assert info["new_trial"]
    assert info["trial"]["signed_contrast"] == 25.6
    assert env.step(0)[1] == 0


def test_two_choice_has_the_six_contrasts_on_both_sides_alike():
    batch = IBLTwoChoice().sample(12_000, seed=3)
    values, counts = np.unique(batch.notes["signed_contrast"], return_counts=True)
    positive = [1.6, 3.2, 6.4, 12.8, 25.6, 51.2]
    np.testing.assert_allclose(values, [*(-c for c in reversed(positive)), *positive])
    np.testing.assert_allclose(counts, 1000, atol=160)  # five SDs


@pytest.mark.parametrize("dt", [10, 20, 100])
@pytest.mark.parametrize("kind", [IBLTwoChoice, IBLBlocks])
def test_one_look_is_as_difficult_at_any_dt(kind, dt):
    """20,000 trials: SE 0.0035 or less, limits of 0.014 (p < 1e-4 for each of 36)."""
    task = kind(dt=dt)
    for contrast, expected in zip(
        (1.6, 3.2, 6.4, 12.8, 25.6, 51.2), (0.545, 0.589, 0.675, 0.817, 0.965, 1.0), strict=True
    ):
        batch = task.sample(20_000, seed=5, contrast=contrast)
        assert set(batch.steps) == {1}
        seen = batch.render(np.random.default_rng(6))
        right = seen.argmax(axis=1) == (batch.conditions["side"] == "right")
        assert abs(right.mean() - expected) < 0.014


@pytest.mark.parametrize("task", [IBL20, IBLTwoChoice, IBLBlocks])
def test_configured_oracles_are_at_their_maximum(task):
    assert (run(task(), "oracle", 200, seed=4)["performance"] == 1).all()


@pytest.mark.parametrize(
    "task", [IBL20(timing={"response": 500}), IBLTwoChoice(), IBLBlocks()], ids=lambda t: t.name
)
def test_configurations_agree_in_single_and_vector_env(task, same_in_both):
    same_in_both(task, steps=400)
