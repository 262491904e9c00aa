"""DawTwoStep: two successive choices."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_value.daw_two_step import DawTwoStep
from neurogym_task_value.walks import reflected_walk

from neurogym_core import InvalidValueError, TaskEnv, TaskVectorEnv, run
from neurogym_core.players import TaskView


def drawn(sessions=64, trials=201, seed=1, **settings):
    task, rng = DawTwoStep(**settings), np.random.default_rng(seed)
    return task.draw_ahead(TaskView(task).fresh_session(rng, sessions), rng, trials)


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_the_first_choice_leads_to_a_state_where_the_second_is_made_and_rewarded(dt):
    env = TaskEnv(DawTwoStep(dt=dt), info="full")
    obs, _ = env.reset(seed=1)
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(200):
        trial = env.conditions
        first, second = (int(choice) for choice in rng.integers(0, 2, 2))
        np.testing.assert_array_equal(
            obs, [1, 0, 0]
        )  # the very first observation is the first stage
        obs, reward, _, _, info = env.step(first)
        state = first if trial["common"] else 1 - first
        assert (reward, info["new_trial"], info["period"]) == (0, False, "first")
        assert env.period == ("state_a", "state_b")[state]
        np.testing.assert_array_equal(obs, [0, state == 0, state == 1])
        option = 2 * state + second
        obs, reward, _, _, info = env.step(second)
        assert reward == float(trial["luck"][option] < trial["probability"][option])
        assert info["new_trial"]
        row = info["trial"]
        assert (row["first.choice"], row["second.choice"], row["common"]) == (
            ("left", "right")[first],
            ("left", "right")[second],
            trial["common"],
        )
        assert (row["steps"], row["reward"]) == (2, reward)
        seen.add((first, state, second, reward))
        obs = env.reset()[0] if info["trial"]["trial"] == 200 else obs
    assert len(seen) == 16  # two first choices, two states, two second choices, paid or not


def test_transitions_are_common_seven_times_in_ten_whatever_the_choice():
    record = run(DawTwoStep(), "random", 12_000, num_envs=60, seed=2)
    # 6,000 trials each: five SDs are 0.03.
    for choice in (0, 1):
        assert record["common"][record.codes("first.choice") == choice].mean() == pytest.approx(
            0.7, abs=0.03
        )
    assert run(DawTwoStep(common_probability=1.0), "random", 50, seed=2)["common"].all()


def test_rewards_follow_the_four_probabilities():
    record = run(DawTwoStep(), "random", 12_000, num_envs=60, seed=3)
    first = record.codes("first.choice")
    state = np.where(record["common"], first, 1 - first)
    option = 2 * state + record.codes("second.choice")
    chance = record["probability"][np.arange(len(record)), option]
    surprise = record["reward"] - chance
    for k in range(4):  # 3,000 trials each of SD 0.5: five SDs are 0.046
        assert surprise[option == k].mean() == pytest.approx(0, abs=0.046)
    high = chance > 0.5
    assert record["reward"][high].mean() - record["reward"][~high].mean() > 0.15


def test_the_walk_is_the_one_of_the_paper():
    """Steps have SD 0.025 away from the mirrors, and the walk stays between them."""
    p = drawn()["probability"]
    assert p.min() >= 0.25
    assert p.max() <= 0.75
    inner = (p[:-1] > 0.35) & (p[:-1] < 0.65)  # four SDs from the mirrors
    steps = np.diff(p, axis=0)[inner]
    assert steps.mean() == pytest.approx(0, abs=5 * 0.025 / np.sqrt(len(steps)))
    assert steps.std() == pytest.approx(0.025, rel=5 / np.sqrt(2 * len(steps)))


def test_probabilities_are_uniform_between_the_mirrors_and_independent():
    for trial in (0, 200):
        p = drawn(sessions=4000, seed=4)["probability"][trial]
        shares = np.histogram(p, bins=5, range=(0.25, 0.75))[0] / p.size
        np.testing.assert_allclose(shares, 0.2, atol=5 * np.sqrt(0.16 / p.size))
        assert np.abs(np.corrcoef(p.T)[np.triu_indices(4, 1)]).max() < 5 / np.sqrt(4000)


def test_folding_a_free_walk_is_reflecting_it_at_every_step():
    """Equal up to the sign of later steps after a reflection, so distributions are compared."""
    rng = np.random.default_rng(5)
    start, steps = rng.uniform(0.25, 0.75, 40_000), rng.normal(0, 0.2, (6, 40_000))
    x = start
    for step in steps:
        x = x + step
        while ((x < 0.25) | (x > 0.75)).any():
            x = np.where(x < 0.25, 0.5 - x, np.where(x > 0.75, 1.5 - x, x))
    folded = reflected_walk(start, rng.normal(0, 0.2, (6, 40_000)), 0.25, 0.75)[-1]
    near = np.abs(start - 0.3) < 0.05
    for q in (
        0.1,
        0.3,
        0.5,
        0.7,
        0.9,
    ):  # about 8,000 values each; the SD of the difference of two quantiles is < 0.004
        assert np.quantile(folded[near], q) == pytest.approx(np.quantile(x[near], q), abs=0.02)
    np.testing.assert_allclose(
        reflected_walk(np.array([0.3]), np.array([[-0.2], [0.1]]), 0.25, 0.75), [[0.4], [0.3]]
    )
    np.testing.assert_array_equal(
        reflected_walk(np.array([0.5]), np.ones((3, 1)), 0.5, 0.5), np.full((3, 1), 0.5)
    )


def test_drawing_one_by_one_has_the_same_distribution_and_continues_the_walk():
    task, rng = DawTwoStep(drift=0.0), np.random.default_rng(0)
    session = TaskView(task).fresh_session(rng, 3)
    start = session.probability.copy()
    for _ in range(3):
        np.testing.assert_allclose(task.draw(session, rng)["probability"], start)
    np.testing.assert_allclose(
        task.draw_ahead(session, rng, 4)["probability"], np.broadcast_to(start, (4, 3, 4))
    )


def test_the_walk_ignores_the_subject_and_continues_over_blocks():
    walks = []
    for action in (0, 1):
        env = TaskEnv(DawTwoStep())
        env.reset(seed=6)
        walks.append([])
        for _ in range(201):
            walks[-1].append(env.conditions["probability"])
            env.step(action)
            env.step(action)
    np.testing.assert_array_equal(*walks)
    assert np.abs(np.diff(walks[0], axis=0)).max() < 5 * 0.025 + 1e-9  # 804 steps: 1 in 2,000


def test_a_seed_reproduces_the_rewards_and_a_new_session_redraws_them():
    """The probabilities of a seeded session do not depend on earlier sessions."""
    env = TaskEnv(DawTwoStep())
    env.reset(seed=7)
    before = env.conditions
    for _ in range(500):
        env.step(0)
    after = env.conditions
    env.reset(seed=7)
    assert env.conditions == before
    assert env.conditions != after


@pytest.mark.slow
@pytest.mark.parametrize("dt", [10, 100])
def test_the_oracle_is_at_its_maximum(dt):
    record = run(DawTwoStep(dt=dt), "oracle", 3000, seed=8)
    assert (record["performance"] == 1).all()
    p = record["probability"]
    best = np.stack([p[:, :2].max(axis=1), p[:, 2:].max(axis=1)], axis=1)
    # Common transitions are more likely than rare ones, so the better state's common option is the
    # best first choice.
    np.testing.assert_array_equal(record.codes("first.choice"), best.argmax(axis=1))
    first = record.codes("first.choice")
    state = np.where(record["common"], first, 1 - first)
    np.testing.assert_array_equal(
        record.codes("second.choice"), p.reshape(-1, 2, 2)[np.arange(3000), state].argmax(axis=1)
    )
    assert (
        record["reward"].mean()
        > run(DawTwoStep(dt=dt), "random", 3000, seed=8)["reward"].mean() + 0.03
    )


def test_stay_probabilities_depend_on_reward_and_transition():
    """The record suffices for the paper's signature, here of win-stay, lose-shift.

    That subject ignores transitions.
    """
    env = TaskVectorEnv(DawTwoStep(), 20, autoreset_mode="SameStep")
    env.reset(seed=9)
    first, rows = np.zeros(20, int), []
    for _ in range(200):  # all trials last two steps, so that all envs are in the same stage
        env.step(first)
        rows.append(env.step(np.zeros(20, int))[4]["trial"])
        first = np.where(rows[-1]["reward"] == 1, first, 1 - first)
    choice, common, reward = (
        np.array([row[name] for row in rows]) for name in ("first.choice", "common", "reward")
    )
    stay = choice[1:] == choice[:-1]
    for transition in (True, False):
        after = common[:-1] == transition
        assert stay[after & (reward[:-1] == 1)].all()
        assert not stay[after & (reward[:-1] == 0)].any()


def test_impossible_settings_are_refused():
    for wrong in ({"mirrors": (0.75, 0.25)}, {"mirrors": (-0.1, 0.5)}, {"common_probability": 1.2}):
        with pytest.raises(InvalidValueError):
            DawTwoStep(**wrong)
