"""IBL: contrasts, quiescence, response, feedback and blocks, as published."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from neurogym_task_ibl.blocks import Blocks
from neurogym_task_ibl.ibl import IBL

from neurogym_core import Constant, Dataset, InvalidValueError, TaskEnv, TruncatedExponential, run
from neurogym_core.players import TaskView

REST, LEFT, RIGHT = 0, 1, 2


def drawn(task=None, sessions=200, trials=500, seed=1):
    """Conditions of whole parallel sessions, name -> (trials, sessions)."""
    task, rng = task or IBL(), np.random.default_rng(seed)
    return task.draw_ahead(TaskView(task).fresh_session(rng, sessions), rng, trials)


def runs_of(values):
    """Values of a sequence and the length of each run."""
    edges = np.flatnonzero(np.diff(values)) + 1
    starts = np.concatenate([[0], edges])
    return values[starts], np.diff(np.append(starts, len(values)))


# ---------------------------------------------------------------------- drawing trials


def test_contrasts_are_those_of_the_paper_and_signed_ones_equally_likely():
    batch = IBL(unbiased_trials=0, priors=(0.5,)).sample(9000, seed=0)
    values, counts = np.unique(batch.notes["signed_contrast"] + 0.0, return_counts=True)
    assert values.tolist() == [-100, -25, -12.5, -6.25, 0, 6.25, 12.5, 25, 100]
    # 1,000 trials each, SD 30: five SDs (1 in 2e6, nine times).
    np.testing.assert_allclose(counts, 1000, atol=150)


def test_the_unbiased_trials_are_ten_of_each_contrast_on_either_side():
    """The paper's and the rig's first 90 trials: exactly ten each, five at contrast 0."""
    sessions = drawn()
    assert not (sessions["side"][:90, :1] == sessions["side"][:90, 1:]).all(axis=0).any()
    for side in ("left", "right"):
        for contrast in (100, 25, 12.5, 6.25, 0):
            these = (sessions["side"][:90] == side) & (sessions["contrast"][:90] == contrast)
            np.testing.assert_array_equal(these.sum(axis=0), 10 if contrast else 5)
    imposed = drawn(IBL(conditions={"contrast": 25}))
    assert (imposed["contrast"] == 25).all()
    assert ((imposed["side"][:90] == "left").sum(axis=0) == 45).all()


def test_unbiased_trials_that_do_not_divide_equally_are_drawn():
    """200 sessions of 13 trials: the side's fraction has an SE of 0.01 (p < 1e-5)."""
    sessions = drawn(IBL(unbiased_trials=13))
    assert abs((sessions["side"][:13] == "left").mean() - 0.5) < 0.05
    assert set(np.unique(sessions["p_left"][:13])) == {0.5}


@pytest.mark.parametrize(
    ("looks", "expected"),
    [(1, (0.671, 0.812, 0.961, 1.0)), (2, (0.734, 0.894, 0.994, 1.0))],
)
def test_a_look_of_100_ms_is_as_informative_as_the_docstring_says(looks, expected):
    """20,000 trials: SE 0.0033 or less, limits of 0.014 (p < 1e-4 for each of 8)."""
    task = IBL(timing={"quiescence": 200, "response": 200})
    for contrast, fraction in zip((6.25, 12.5, 25, 100), expected, strict=True):
        batch = task.sample(20_000, seed=8, contrast=contrast)
        onset = np.cumsum(batch.steps) - batch.steps + 2
        seen = batch.render(np.random.default_rng(9))[:, task.channels["grating"]]
        sums = sum(seen[onset + k] for k in range(looks))
        right = (sums[:, 2] > sums[:, 0]) == (batch.conditions["side"] == "right")
        assert abs(right.mean() - fraction) < 0.014


def test_a_session_begins_with_90_unbiased_trials():
    p = drawn()["p_left"]
    assert (p[:90] == 0.5).all()
    assert (p[90:] != 0.5).all()


def test_blocks_of_80_and_20_percent_alternate_and_begin_at_random():
    p = drawn()["p_left"][90:]
    for session in p.T:
        values, _ = runs_of(session)
        assert set(values) == {0.2, 0.8}
        assert (np.diff(values) != 0).all()
    # 200 sessions: 0.5, within five SDs.
    assert (p[0] == 0.8).mean() == pytest.approx(0.5, abs=5 * 0.5 / np.sqrt(200))


def test_block_lengths_are_truncated_exponential_between_20_and_100():
    # Only the first blocks of each session: the last one is cut off, and later blocks that end
    # within the session tend to be short.
    lengths = np.concatenate(
        [runs_of(session)[1][:3] for session in drawn(sessions=500)["p_left"][90:].T]
    )
    assert lengths.min() >= 20
    assert lengths.max() <= 100
    expected = TruncatedExponential(60, 20, 100)
    error = 5 * lengths.std() / np.sqrt(len(lengths))
    assert lengths.mean() == pytest.approx(expected.mean, abs=error + 0.1)
    assert 45 < expected.mean < 55  # "about 50"
    for q in (35, 50, 75):
        assert (lengths <= q).mean() == pytest.approx(
            expected.cdf(np.array(q + 0.5)), abs=5 * 0.5 / np.sqrt(len(lengths))
        )


def test_sides_follow_the_prior_of_the_block():
    conditions = drawn()
    for p in (0.2, 0.5, 0.8):
        left = conditions["side"][conditions["p_left"] == p] == "left"
        assert left.mean() == pytest.approx(p, abs=5 * 0.5 / np.sqrt(left.size))


def test_at_zero_contrast_the_grating_is_invisible_and_the_prior_pays():
    task = IBL(sigma=0.0, unbiased_trials=0, priors=(0.8,), timing={"quiescence": 200})
    batch = task.sample(4000, seed=2, contrast=0.0)
    assert not batch.shown[:, :, task.channels["grating"]].any()
    record = run(
        task,
        lambda env, obs: np.full(env.num_envs, LEFT) * env.is_asked,
        2000,
        seed=3,
        conditions={"contrast": 0.0},
    )
    assert (record["outcome"] == "correct").mean() == pytest.approx(
        0.8, abs=5 * 0.4 / np.sqrt(2000)
    )


def test_a_seed_reproduces_the_session():
    env = TaskEnv(IBL())
    env.reset(seed=4)
    seen = []
    for _ in range(2):
        env.reset(seed=4)
        seen.append([])
        while len(seen[-1]) < 120:
            info = env.step(env.target)[4]
            if info["new_trial"]:
                seen[-1].append(
                    (info["trial"]["p_left"], info["trial"]["side"], info["trial"]["contrast"])
                )
    assert seen[0] == seen[1]


def test_an_imposed_prior_replaces_the_blocks():
    conditions = drawn(IBL(conditions={"p_left": 0.8}), sessions=20, trials=150)
    assert set(conditions["p_left"].ravel()) == {0.8}
    assert (conditions["side"] == "left").mean() == pytest.approx(0.8, abs=5 * 0.4 / np.sqrt(3000))
    one = TaskEnv(IBL())
    one.reset(seed=1, options={"conditions": {"side": "right", "contrast": 25}})
    assert (one.conditions["side"], one.conditions["contrast"]) == ("right", 25)


# ---------------------------------------------------------------------- periods of a trial


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_durations_are_as_published(dt):
    batch = IBL(dt=dt).sample(4000, seed=5)
    ms = {name: steps * dt for name, steps in batch.period_steps.items()}
    assert set(ms["response"]) == {60_000}
    assert set(ms["timeout"]) == {2000}
    assert set(ms["reward"]) == {1000}
    expected = TruncatedExponential(350, 200, 500)
    assert ms["quiescence"].min() >= 200
    assert ms["quiescence"].max() <= 500
    # Rounding to whole steps keeps the mean to a few ms.
    assert ms["quiescence"].mean() == pytest.approx(
        expected.mean, abs=5 * 90 / np.sqrt(4000) + dt / 10
    )


@pytest.mark.parametrize("dt", [10, 100])
def test_moving_restarts_the_quiescence(dt):
    env = TaskEnv(IBL(dt=dt, timing={"quiescence": 300}))
    env.reset(seed=6)
    steps = 300 // dt
    for _ in range(3):
        for _ in range(steps - 1):
            _, reward, *_ = env.step(REST)
            assert env.period == "quiescence"
        _, reward, *_ = env.step(LEFT)  # on the last step
        assert env.period == "quiescence"
        assert reward == 0
    for _ in range(steps):
        assert env.period == "quiescence"
        env.step(REST)
    assert env.period == "response"


@pytest.mark.parametrize(
    ("right", "period", "ms", "reward"),
    [(True, "reward", 1000, 1.0), (False, "timeout", 2000, 0.0)],
)
@pytest.mark.parametrize("dt", [20, 100])
def test_an_answer_is_rewarded_at_once_and_followed_by_its_feedback(dt, right, period, ms, reward):
    task = IBL(dt=dt, sigma=0.0, timing={"quiescence": 200})
    env = TaskEnv(task)
    obs, _ = env.reset(seed=7, options={"conditions": {"side": "left", "contrast": 25}})
    while env.period == "quiescence":
        assert not obs.any()
        obs, *_ = env.step(REST)
    np.testing.assert_allclose(obs, [0.25, 0, 0, 1, 0])  # the grating on the left, and the tone
    obs, paid, *_ = env.step(LEFT if right else RIGHT)
    assert paid == reward
    shown, steps = [obs], 1
    info = {"new_trial": False}
    while not info["new_trial"]:
        assert env.period == period
        obs, paid, *_, info = env.step(REST)
        assert paid == 0
        shown.append(obs)
        steps += 1
    assert (steps - 1) * dt == ms
    shown = np.array(shown[:-1])
    if right:
        np.testing.assert_allclose(shown, np.broadcast_to([0, 0.25, 0, 0, 0], shown.shape))
    else:
        np.testing.assert_allclose(shown[:, 4].sum() * dt, 500)
        assert not shown[:, :4].any()
    assert info["trial"]["outcome"] == ("correct" if right else "error")
    assert info["trial"]["signed_contrast"] == -25


def test_no_answer_within_a_minute_is_a_miss_with_a_time_out():
    record = run(IBL(trials_per_session=1), "rest", 4, seed=8)
    assert set(record["outcome"]) == {"miss"}
    np.testing.assert_array_equal(record["steps"] * 100, record["duration.quiescence"] + 62_000)


def test_a_trial_without_quiescence_ends_as_a_miss():
    record = run(IBL(), lambda env, obs: np.ones(env.num_envs, int), 4, seed=8)
    assert set(record["outcome"]) == {"miss"}
    assert set(record["steps"]) == {750}
    assert (record["reward"] == 0).all()


def test_the_tone_marks_the_onset_also_without_contrast():
    task = IBL(dt=10)
    batch = task.sample(50, seed=9, contrast=0.0)
    tone = batch.shown[:, :, task.channels["tone"]][..., 0]
    on = (batch.duration * tone).sum(axis=1)
    np.testing.assert_array_equal(on * 10, 100)


def test_turning_during_feedback_costs_nothing():
    env = TaskEnv(IBL(timing={"quiescence": 200}))
    env.reset(seed=10)
    while env.period == "quiescence":
        env.step(REST)
    env.step(env.target)
    paid = [env.step(LEFT)[1] for _ in range(10)]
    assert paid == [0] * 10


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_the_ibl_oracle_is_at_its_maximum(dt):
    record = run(IBL(dt=dt), "oracle", 160, seed=11)
    assert (record["performance"] == 1).all()
    assert (record["reward"] == 1).all()
    assert (record["aborts"] == 0).all()


def test_accuracy_grows_with_contrast():
    """One observation of the grating: accuracy Phi(contrast / (100 sigma_step sqrt 2))."""

    def look(env, obs):
        place = obs[:, :3]
        return np.where(env.is_asked, np.where(place[:, 0] > place[:, 2], LEFT, RIGHT), REST)

    task = IBL(
        unbiased_trials=0, priors=(0.5,), timing={"quiescence": 200, "timeout": 100, "reward": 100}
    )
    record = run(task, look, 4000, num_envs=100, seed=12)
    right = record["outcome"] == "correct"
    for contrast, share in ((0, 0.5), (6.25, 0.671), (12.5, 0.812), (25, 0.961), (100, 1.0)):
        trials = right[record["contrast"] == contrast]
        assert trials.mean() == pytest.approx(share, abs=5 * 0.5 / np.sqrt(len(trials)))


def test_a_shorter_response_makes_a_dataset():
    batch = next(Dataset(IBL(timing={"response": 1000}), batch_size=4, seq_len=60, seed=13))
    assert batch.inputs.shape == (4, 60, 5)
    assert set(np.unique(batch.targets)) == {REST, LEFT, RIGHT}


def test_ibl_single_and_vector_env_agree(same_in_both):
    same_in_both(IBL(timing={"response": 500}, trials_per_session=20))


# ---------------------------------------------------------------------- blocks


def test_three_priors_never_come_twice_in_a_row():
    p = drawn(IBL(unbiased_trials=0, priors=(0.2, 0.5, 0.8)), sessions=100)["p_left"]
    firsts, seconds = [], []
    for session in p.T:
        values, _ = runs_of(session)
        assert (np.diff(values) != 0).all()
        firsts.append(values[0])
        seconds += list(pairwise(values))
    assert set(firsts) == {0.2, 0.5, 0.8}
    assert len(set(seconds)) == 6


@pytest.mark.parametrize(
    "wrong",
    [
        {"unbiased_trials": -1},
        {"priors": ()},
        {"priors": (1.2, 0.2)},
        {"shortest_block": 0, "longest_block": 10},
    ],
)
def test_impossible_blocks_are_refused(wrong):
    with pytest.raises(InvalidValueError):
        IBL(**wrong)


def test_one_prior_lasts():
    blocks = Blocks(0, (0.3,), Constant(5))
    session = TaskView(IBL()).fresh_session(np.random.default_rng(0), 3)
    blocks.begin(session, np.random.default_rng(0))
    assert {p for _ in range(20) for p in blocks.next_trial(session, np.random.default_rng(1))} == {
        0.3
    }
