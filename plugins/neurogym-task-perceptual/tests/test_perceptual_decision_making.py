"""PerceptualDecisionMaking: evidence, noise and periods of the reference task."""

from __future__ import annotations

import math

import numpy as np
import pytest
from neurogym_task_perceptual.perceptual_decision_making import PerceptualDecisionMaking

from neurogym_core import Dataset, TaskEnv, run

COHERENCES = (0, 3.2, 6.4, 12.8, 25.6, 51.2)


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_oracle_is_always_right_and_paid_in_full(oracle, dt):
    for trial in oracle(PerceptualDecisionMaking(dt=dt), 15):
        assert (trial["performance"], trial["reward"]) == (1, 1)


def test_durations_and_coherences_are_those_declared():
    batch = PerceptualDecisionMaking(dt=10).sample(300, seed=1)
    ms = {name: set(steps * 10) for name, steps in batch.period_steps.items()}
    assert ms == {"fixation": {300}, "stimulus": {2000}, "delay": {0}, "decision": {300}}
    assert set(batch.conditions["coherence"]) == set(COHERENCES)


@pytest.mark.parametrize("given", [[0, 51.2], (0, 51.2), np.array([0, 51.2]), np.array([0, 51])])
def test_coherences_may_be_an_array(given):
    task = PerceptualDecisionMaking(coherences=given)
    assert set(task.sample(60, seed=2).conditions["coherence"]) == set(np.asarray(given).tolist())
    assert TaskEnv(task).reset(seed=3)[0].shape == (3,)


@pytest.mark.parametrize("directions", [2, 3, 8])
def test_evidence_is_a_cosine_of_the_direction_as_high_as_the_coherence(directions):
    task = PerceptualDecisionMaking(directions=directions)
    batch = task.sample(200, seed=4)
    shown = batch.shown[:, batch.period == 1][:, 0, task.channels["stimulus"]]
    angle = (
        2 * np.pi * (np.arange(directions) - batch.conditions["direction"][:, None]) / directions
    )
    np.testing.assert_allclose(
        shown, 0.5 + batch.conditions["coherence"][:, None] / 200 * np.cos(angle), atol=1e-6
    )
    answer = batch.target[:, batch.period == 3][:, 0] - 1
    np.testing.assert_array_equal(answer, batch.conditions["direction"])


def test_the_subject_sees_a_fixation_of_one_step():
    """The first observation is the one that `reset` returns, before any action."""
    env = TaskEnv(PerceptualDecisionMaking(timing={"fixation": 100}), info="full")
    obs, _ = env.reset(seed=5)
    assert env.period == "fixation"
    np.testing.assert_array_equal(obs, [1, 0, 0])
    *_, info = env.step(0)
    assert info["period"] == "fixation"
    assert env.period == "stimulus"


def test_the_sd_of_the_noise_is_sigma_over_the_root_of_dt():
    for dt in (10, 100):
        batch = PerceptualDecisionMaking(dt=dt, sigma=2.0, coherences=(0,)).sample(200, seed=6)
        obs = batch.render(np.random.default_rng(7)).reshape(200, -1, 3)[:, 300 // dt : 2300 // dt]
        assert obs[..., 1:].std() == pytest.approx(2 / math.sqrt(dt), rel=0.03)
        assert (obs[..., 0] == 1).all()


@pytest.mark.parametrize("coherence", [6.4, 12.8])
def test_the_ideal_observer_is_as_good_as_signal_detection_says(coherence):
    """d' of the summed difference is 2 c T / (sqrt(2) sigma sqrt(T)).

    2,000 trials, SD at most 0.011, 4.5 SD.
    """
    task = PerceptualDecisionMaking(sigma=20.0, dt=20)
    record = run(task, "integrator", 2000, num_envs=50, seed=8, conditions={"coherence": coherence})
    z = coherence / 100 * math.sqrt(2000) / (math.sqrt(2) * 20)
    expected = 0.5 * math.erfc(-z / math.sqrt(2))
    assert abs((record["outcome"] == "correct").mean() - expected) < 0.05


def test_acting_early_costs_in_every_period(premature):
    task = PerceptualDecisionMaking(timing={"delay": 300})
    for period in ("fixation", "stimulus", "delay"):
        assert premature(task, period) == {-0.1}


def test_a_wrong_answer_ends_the_trial_and_pays_nothing(constant):
    trial = constant(
        PerceptualDecisionMaking(rewards={"abort": 0}),
        1,
        1,
        options={"conditions": {"direction": 1}},
    )[0]
    assert (trial["outcome"], trial["reward"], trial["performance"]) == ("error", 0, 0)


def test_the_dataset_scores_its_own_targets_as_perfect():
    batch = next(iter(Dataset(PerceptualDecisionMaking(), 8, seed=9)))
    np.testing.assert_array_equal(batch.score(batch.targets)["performance"], 1)


def test_single_env_and_vector_env_agree(same_in_both):
    same_in_both(PerceptualDecisionMaking(timing={"delay": 200}))
