"""Bandit: arms with fixed reward probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_value.bandit import Bandit, Nothing

from neurogym_core import Dataset, InvalidValueError, NotSupportedError, TaskEnv, run
from neurogym_core.players import TaskView

THREE = {"probabilities": (0.1, 0.5, 0.9), "magnitudes": (3.0, 1.0, 0.5)}


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_a_trial_is_one_step_and_every_action_takes_an_arm(dt):
    env = TaskEnv(Bandit(dt=dt, **THREE))
    env.reset(seed=1)
    for k in range(60):
        payout = env.conditions["payout"]
        _, reward, *_, info = env.step(k % 3)
        assert info["new_trial"]
        assert reward == payout[k % 3]
        assert (info["trial"]["choice"], info["trial"]["outcome"]) == ("ABC"[k % 3], "other")


def test_arms_pay_their_magnitude_with_their_probability_and_independently():
    payout = Bandit(**THREE).sample(20_000, seed=1).conditions["payout"]
    paid = payout > 0
    assert [set(column) for column in payout.T] == [{0, 3.0}, {0, 1.0}, {0, 0.5}]
    # Four SDs of a mean of 20,000 are at most 0.015; false alarms: 1 in 2,600 per test of six.
    np.testing.assert_allclose(paid.mean(axis=0), THREE["probabilities"], atol=0.015)
    np.testing.assert_allclose(
        np.corrcoef(paid.T)[np.triu_indices(3, 1)], 0, atol=4 / np.sqrt(20_000)
    )


def test_the_best_arm_is_the_one_that_pays_most_on_average():
    record = run(Bandit(**THREE), "oracle", 300, seed=1)
    assert (record.codes() == 1).all()  # 0.5 on average, the others 0.3 and 0.45
    assert (record["performance"] == 1).all()
    other = run(Bandit(**THREE), lambda env, obs: np.zeros(env.num_envs, int), 50, seed=1)
    assert other["performance"] == pytest.approx(0.6, abs=1e-6)


def test_performance_does_not_depend_on_luck():
    record = run(Bandit(), "random", 500, seed=2)
    assert set(record["reward"]) == {0.0, 1.0}
    np.testing.assert_allclose(
        record["performance"], np.where(record.codes() == 1, 1, 1 / 3), atol=1e-6
    )


def test_imposed_probabilities_determine_the_rewards():
    record = run(Bandit(), "random", 200, seed=3, conditions={"probability": (1.0, 0.0)})
    np.testing.assert_array_equal(record["reward"], record.codes() == 0)
    made = run(Bandit(conditions={"probability": (1.0, 0.0)}), "oracle", 50, seed=3)
    assert (made.codes() == 0).all()


def test_the_error_explains_why_there_is_no_dataset():
    with pytest.raises(NotSupportedError, match="Bandit"):
        Dataset(Bandit())


def test_single_and_vector_env_agree(same_in_both):
    same_in_both(Bandit(**THREE))


def test_impossible_arms_are_refused():
    for wrong in (
        {"probabilities": (0.5,)},
        {"probabilities": (0.5, 1.5)},
        {"magnitudes": (1.0, 2.0, 3.0)},
    ):
        with pytest.raises(InvalidValueError):
            Bandit(**wrong)


def test_the_task_nothing_is_solved_by_the_first_arm():
    """One arm always pays, the other never: only the identity of the arm is to be learned."""
    task = Nothing()
    assert TaskView(task).parameters == TaskView(Bandit(probabilities=(1.0, 0.0))).parameters
    env = TaskEnv(task)
    env.reset(seed=1)
    assert [env.step(arm)[1] for arm in (0, 1, 0, 0, 1)] == [1, 0, 1, 1, 0]


def test_the_declared_evidence_is_the_difference_of_the_arms_worth():
    two = Bandit(probabilities=(0.2, 0.5), magnitudes=(1.0, 2.0))
    assert TaskView(two).evidence(dict(two.sample(3, seed=1).conditions)) == pytest.approx(
        [0.8] * 3
    )
    three = Bandit(**THREE)  # worth 0.3, 0.5 and 0.45: the best minus the next best
    assert TaskView(three).evidence(dict(three.sample(3, seed=1).conditions)) == pytest.approx(
        [0.05] * 3
    )
