"""EconomicDecisionMaking: amounts of two juices."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_value.economic_decision_making import EconomicDecisionMaking

from neurogym_core import Dataset, TaskEnv, run

OFFERS = [(0, 1), (1, 3), (1, 2), (1, 1), (2, 1), (3, 1), (4, 1), (6, 1), (2, 0)]


def test_offers_are_those_of_the_paper_on_both_sides():
    design = EconomicDecisionMaking().factorial()
    seen = {
        (*offer, side)
        for offer, side in zip(design["offer"].tolist(), design["a_left"].tolist(), strict=True)
    }
    assert seen == {(*offer, side) for offer in OFFERS for side in (True, False)}


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_periods_last_as_declared(dt):
    batch = EconomicDecisionMaking(dt=dt, timing={"decision": 800}, sigma=0).sample(2000, seed=1)
    ms = {name: steps * dt for name, steps in batch.period_steps.items()}
    assert set(ms["fixation"]) == {1500}
    assert set(ms["decision"]) == {800}
    assert ms["offer"].min() >= 1000
    assert ms["offer"].max() <= 2000
    assert ms["offer"].mean() == pytest.approx(1500, abs=5 * 289 / np.sqrt(2000))


def test_observations_show_the_offers_and_the_go_cue():
    task = EconomicDecisionMaking()
    design = task.factorial()
    batch = task.sample(design, seed=2)
    seen = {name: batch.shown[:, :, part] for name, part in task.channels.items()}
    # The end of the fixation cue is the go cue.
    np.testing.assert_array_equal(seen["fixation"][:, :, 0], np.broadcast_to([1, 1, 0], (18, 3)))
    b, a = design["offer"].T
    left = np.where(design["a_left"], a, b)
    right = np.where(design["a_left"], b, a)
    for segment, visible in enumerate((0, 1, 1)):
        np.testing.assert_allclose(
            seen["amount"][:, segment], visible * np.stack([left, right], axis=1) / 5
        )
        np.testing.assert_array_equal(seen["left_juice"][:, segment, 0], visible * design["a_left"])
        np.testing.assert_array_equal(
            seen["left_juice"][:, segment, 1], visible * ~design["a_left"]
        )
        np.testing.assert_array_equal(
            seen["right_juice"][:, segment, 0], visible * ~design["a_left"]
        )


def test_durations_are_exact_at_the_default_dt():
    """At 100 ms, the decision of 750 ms lasted 800 ms."""
    task = EconomicDecisionMaking()
    steps = task.sample(20, seed=1).period_steps
    assert {name: set(steps[name] * task.dt) for name in ("fixation", "decision")} == {
        "fixation": {1500},
        "decision": {750},
    }


def test_noise_of_the_amounts_makes_choices_a_sigmoid(averages):
    """Shares of choices of B by an observer that compares the values of the average amounts.

    About 2,200 trials of each offer; five SDs of a fraction are at most 5.3 %. Without noise the
    share jumps from 0 to 1 between 2:1 and 3:1."""
    task = EconomicDecisionMaking()
    batch = task.sample(20_000, seed=2)
    a_left, offer = batch.conditions["a_left"], batch.conditions["offer"]

    def shares(amount):
        a, b = (np.where(a_left == left, *amount.T) for left in (True, False))
        chose_b = b > 2.2 * a
        return [chose_b[(offer == ratio).all(axis=1)].mean() for ratio in ((1, 1), (2, 1), (3, 1))]

    assert shares(averages(task, batch, "amount", "offer")) == pytest.approx(
        [0, 0.08, 1], abs=0.053
    )
    early = EconomicDecisionMaking(timing={"offer": 100})
    batch = early.sample(20_000, seed=2)
    a_left, offer = batch.conditions["a_left"], batch.conditions["offer"]
    assert shares(averages(early, batch, "amount", "offer")) == pytest.approx(
        [0.014, 0.355, 0.933], abs=0.053
    )


@pytest.mark.parametrize(("policy", "earns"), [("left", 0.69), ("A", 0.74), ("worse", 0.38)])
def test_constant_policies_earn_what_the_page_says(policy, earns):
    """1,800 trials; the SD of a trial's performance is below 0.35, so five SEs are 0.042."""
    record = run(EconomicDecisionMaking(), "oracle", 1800, num_envs=20, seed=3)
    b, a = record["offer"].T * np.array([[1.0], [2.2]])
    left = {"left": record["a_choice"] == 0, "A": np.ones(1800, bool), "worse": a < b}[policy]
    taken = np.where(left, a, b)
    assert np.mean(taken / np.maximum(a, b)) == pytest.approx(earns, abs=0.042)


def test_each_side_pays_the_value_of_its_juice():
    task = EconomicDecisionMaking()
    design = task.factorial()
    reward = task.sample(design, seed=3).table("reward")[:, -1, 1:]
    b, a = 0.1 * design["offer"][:, 0], 0.22 * design["offer"][:, 1]
    wanted = np.where(design["a_left"][:, None], np.stack([a, b], axis=1), np.stack([b, a], axis=1))
    np.testing.assert_allclose(reward, wanted)


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_the_oracle_takes_the_better_offer(dt):
    record = run(
        EconomicDecisionMaking(dt=dt, timing={"decision": 800}, sigma=0), "oracle", 200, seed=4
    )
    b, a = record["offer"].T
    np.testing.assert_array_equal(record.codes() == record["a_choice"], 2.2 * a > b)
    assert (record["performance"] == 1).all()
    np.testing.assert_allclose(record["reward"], np.maximum(0.22 * a, 0.1 * b))
    assert (record["aborts"] == 0).all()


def test_performance_of_the_worse_offer_is_its_relative_value():
    class Worse:
        def __call__(self, env, observations):
            return np.where(env.is_asked, 3 - np.maximum(env.target, 1), 0)

    record = run(EconomicDecisionMaking(), Worse(), 200, seed=5)
    b, a = record["offer"].T
    values = np.stack([0.22 * a, 0.1 * b])
    np.testing.assert_allclose(
        record["performance"], values.min(axis=0) / values.max(axis=0), atol=1e-6
    )


def test_the_relative_value_moves_the_point_of_indifference():
    def share_of_b(relative):
        task = EconomicDecisionMaking(relative_value=relative)
        record = run(task, "oracle", 300, seed=6, conditions={"offer": [3, 1]})
        return (record.codes() != record["a_choice"]).mean()

    assert (share_of_b(2.2), share_of_b(3.5)) == (1, 0)


def test_answering_before_the_go_cue_costs_at_every_step_and_answers_nothing():
    env = TaskEnv(EconomicDecisionMaking(dt=100))
    env.reset(seed=7)
    paid, steps = [], 0
    while env.period != "decision":
        paid.append(env.step(1 + steps % 2)[1])
        steps += 1
    assert paid == [-0.1] * steps
    assert steps >= 25
    assert run(EconomicDecisionMaking(), "premature", 100, seed=7)["reward"].max() < 0
    same_price = [
        run(EconomicDecisionMaking(dt=dt), "premature", 200, seed=8)["reward"].mean()
        for dt in (50, 100)
    ]
    assert same_price[0] == pytest.approx(same_price[1], abs=0.3)


def test_not_answering_pays_nothing():
    record = run(EconomicDecisionMaking(), "rest", 50, seed=9)
    assert set(record["outcome"]) == {"miss"}
    assert set(record["performance"]) == {0.0}


def test_there_is_a_target_hence_a_dataset():
    batch = next(iter(Dataset(EconomicDecisionMaking(), batch_size=4, seq_len=100, seed=1)))
    assert set(np.unique(batch.targets)) == {0, 1, 2}
