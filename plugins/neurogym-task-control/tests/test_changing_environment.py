"""ChangingEnvironment: motion, and an environment that changes without notice."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_control.changing_environment import ChangingEnvironment

from neurogym_core import Dataset, InvalidValueError, TaskEnv, TruncatedExponential, run
from neurogym_core.players import TaskView


def environments(task=None, sessions=300, trials=100, seed=1):
    task, rng = task or ChangingEnvironment(), np.random.default_rng(seed)
    return task.draw_ahead(TaskView(task).fresh_session(rng, sessions), rng, trials)["environment"]


def whole_blocks(sessions):
    """Lengths of the first four blocks, which all end within 100 trials."""
    return np.concatenate(
        [np.diff(np.concatenate([[-1], np.flatnonzero(s[1:] != s[:-1])]))[:4] for s in sessions.T]
    )


def test_blocks_last_2_to_15_trials_with_a_truncated_geometric_distribution():
    lengths = whole_blocks(environments())
    assert len(lengths) == 1200
    assert set(lengths) == set(range(2, 16))
    p = 0.15 * 0.85 ** np.arange(14)
    p /= p.sum()
    expected = 1200 * p
    observed = np.bincount(lengths, minlength=16)[2:]
    # Chi-squared with 13 degrees of freedom: above 45 once in 50,000.
    assert ((observed - expected) ** 2 / expected).sum() < 45


def test_both_environments_begin_a_session():
    first = environments(sessions=1000, trials=1)[0] == "upper"
    assert first.mean() == pytest.approx(0.5, abs=5 * 0.5 / np.sqrt(1000))


def test_the_right_target_is_that_of_direction_and_environment():
    task = ChangingEnvironment()
    design = task.factorial()
    batch = task.sample(design, seed=2)
    right = 2 * (design["environment"] == "upper") + (design["direction"] == "right")
    np.testing.assert_array_equal(batch.target[:, 2], 1 + right)


@pytest.mark.parametrize(("direction", "environment"), [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_only_one_of_the_four_targets_pays(direction, environment):
    names = {
        "direction": ("left", "right")[direction],
        "environment": ("lower", "upper")[environment],
    }
    paid = []
    for choice in range(4):
        env = TaskEnv(ChangingEnvironment())
        env.reset(seed=3, options={"conditions": names})
        while env.period != "decision":
            assert env.step(0)[1] == 0
        paid.append(env.step(1 + choice)[1])
    assert np.flatnonzero(paid).tolist() == [2 * environment + direction]


def test_evidence_is_on_the_stimulus_with_and_without_a_cue():
    """The cue has its own channel and does not move the evidence."""
    for cue in (False, True):
        task = ChangingEnvironment(context_cue=cue)
        batch = task.sample(400, seed=4, coherence=51.2)
        stimulus = batch.shown[:, 1, task.channels["stimulus"]]
        right = batch.conditions["direction"] == "right"
        np.testing.assert_allclose(stimulus[right], [[0.244, 0.756]] * right.sum(), atol=1e-6)
        np.testing.assert_allclose(stimulus[~right], [[0.756, 0.244]] * (~right).sum(), atol=1e-6)
        assert task.channels.size == (5 if cue else 3)
    shown = batch.shown[:, :, task.channels["context"]]
    upper = batch.conditions["environment"] == "upper"
    assert (shown[upper] == [0, 1]).all()
    assert (shown[~upper] == [1, 0]).all()


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_durations_of_changing_environment(dt):
    batch = ChangingEnvironment(dt=dt).sample(3000, seed=5)
    ms = {name: steps * dt for name, steps in batch.period_steps.items()}
    assert set(ms["fixation"]) == set(ms["decision"]) == {500}
    assert ms["stimulus"].min() >= 500
    assert ms["stimulus"].max() <= 1500
    assert ms["stimulus"].mean() == pytest.approx(
        TruncatedExponential(1000, 500, 1500).mean, abs=5 * 290 / np.sqrt(3000)
    )


def test_win_stay_lose_shift_between_environments_pays():
    """A subject that changes sides only after an unrewarded easy trial is far above chance."""

    class Inferring:
        def __init__(self):
            self.upper = np.zeros(20, bool)
            self.sum = np.zeros((20, 2))
            self.trial = np.zeros(20, int)

        def __call__(self, env, obs):
            self.sum += obs[:, 1:3]
            choice = 1 + 2 * self.upper + self.sum.argmax(axis=1)
            return np.where(env.is_asked, choice, 0)

        def learn(self, info):
            ended = info["new_trial"]
            unpaid = ended & (info["trial"]["reward"] < 0.5) if "trial" in info else ended
            self.upper ^= unpaid
            self.sum[ended] = 0

    from neurogym_core import TaskVectorEnv

    task = ChangingEnvironment(conditions={"coherence": 51.2})
    env = TaskVectorEnv(task, 20, autoreset_mode="SameStep")
    obs, _ = env.reset(seed=6)
    subject, paid = Inferring(), []
    for _ in range(1200):
        obs, _, _, _, info = env.step(subject(env, obs))
        subject.learn(info)
        if "trial" in info:
            paid += info["trial"]["reward"][info["new_trial"]].tolist()
    # One unpaid trial per block, and blocks last 6 trials on average.
    assert np.mean(paid) > 0.75


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_changing_environment_oracle_is_at_its_maximum(dt):
    record = run(ChangingEnvironment(dt=dt), "oracle", 100, seed=7)
    assert (record["performance"] == 1).all()
    assert (record["reward"] == 1).all()


def test_changing_environment_premature_answers_cost():
    assert run(ChangingEnvironment(), "premature", 200, seed=8)["reward"].mean() < 0


def test_changing_environment_makes_a_dataset():
    batch = next(Dataset(ChangingEnvironment(), batch_size=8, seq_len=50, seed=9))
    assert set(np.unique(batch.targets)) == {0, 1, 2, 3, 4}


def test_an_environment_that_is_asked_for_stays():
    assert set(
        environments(ChangingEnvironment(conditions={"environment": "upper"}), 5, 60).ravel()
    ) == {"upper"}


@pytest.mark.parametrize(
    "wrong", [{"shortest_block": 0}, {"longest_block": 1}, {"change_probability": 0.0}]
)
def test_impossible_environments_are_refused(wrong):
    with pytest.raises(InvalidValueError):
        ChangingEnvironment(**wrong)


def test_an_observer_that_knows_the_environment_has_the_threshold_of_the_page(averages):
    """20,000 trials: five SDs are at most 4 % in a fifth of them, and 1.5 % in all."""
    task = ChangingEnvironment()
    batch = task.sample(20_000, seed=5)
    left, right = averages(task, batch, "stimulus", "stimulus").T
    correct = (right > left) == (batch.conditions["direction"] == "right")
    coherence = batch.conditions["coherence"]
    for level, share in ((0, 0.5), (6.4, 0.68), (12.8, 0.82), (25.6, 0.96), (51.2, 0.999)):
        assert correct[coherence == level].mean() == pytest.approx(share, abs=0.04)
    assert correct.mean() == pytest.approx(0.79, abs=0.015)
