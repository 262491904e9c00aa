"""GradedComparison: frequencies, reports and their rewards."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_memory.graded_comparison import GradedComparison

from neurogym_core import InvalidValueError, TaskEnv, run


def action(go, hertz):
    """An action from `go` and a report in Hz; the axis from -16 to 16 Hz is [-1, 1]."""
    return np.array([go, hertz / 16], np.float32)


def reward_of(record, hertz):
    """Rewards that reports would earn, by the rule of the docstring, (n,)."""
    return np.maximum(0, 1 - np.abs(hertz - record["difference"]) / 4)


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_the_oracle_reports_the_difference_and_earns_everything(dt):
    record = run(GradedComparison(dt=dt), "oracle", 300, seed=1)
    np.testing.assert_allclose(record["choice"], record["difference"], atol=1e-5)
    np.testing.assert_allclose(record["performance"], 1, atol=1e-6)
    assert set(record["outcome"]) == {"correct"}


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_periods_last_as_long_as_in_the_experiment(dt):
    batch = GradedComparison(dt=dt).sample(5, seed=2)
    ms = {name: set(steps * dt) for name, steps in batch.period_steps.items()}
    assert ms == {"fixation": {500}, "base": {500}, "delay": {3000}, "comparison": {500}} | {
        "decision": {600}
    }


def test_frequencies_are_shown_from_0_to_1_and_the_delay_is_empty():
    task = GradedComparison()
    batch = task.sample(400, seed=3)
    shown = batch.shown[:, :, task.channels["stimulus"]][..., 0]
    base = batch.conditions["base"]
    for period, hertz in ((1, base), (3, base + batch.conditions["difference"])):
        np.testing.assert_allclose(
            shown[:, batch.period == period][:, 0], (hertz - 6) / 32, atol=1e-6
        )
    assert shown.min() == 0
    assert shown.max() == 1
    assert not shown[:, batch.period == 2].any()


@pytest.mark.slow
def test_neither_frequency_alone_gives_the_difference():
    record = run(GradedComparison(), "oracle", 4000, seed=4)
    base, difference = record["base"], record["difference"]
    # The SD of a correlation of 4,000 values is 0.016; five SDs are 0.08 (1 in 1.7 million).
    assert np.corrcoef(base, difference)[0, 1] == pytest.approx(0, abs=0.08)
    assert np.corrcoef(base + difference, difference)[0, 1] ** 2 == pytest.approx(0.48, abs=0.08)


@pytest.mark.slow
def test_reporting_the_direction_alone_earns_half():
    record = run(GradedComparison(), "oracle", 4000, seed=5)
    # Rewards are 0.25 or 0.75: five SDs of their mean are 0.02.
    binary = reward_of(record, 5 * np.sign(record["difference"])).mean()
    assert binary == pytest.approx(0.5, abs=0.02)


def test_the_averages_of_both_vibrations_differ_by_the_difference_with_an_sd_of_2_hz():
    task = GradedComparison()
    batch = task.sample(4000, seed=6)
    seen = batch.render(np.random.default_rng(6)).reshape(4000, -1, 2)[:, :, 1]
    base, comparison = seen[:, 5:10].mean(axis=1), seen[:, 40:45].mean(axis=1)
    error = 32 * (comparison - base) - batch.conditions["difference"]
    # 4,000 values of SD 2.02: five SDs of their mean are 0.16, of their SD 0.11.
    assert error.mean() == pytest.approx(0, abs=0.16)
    assert error.std() == pytest.approx(2.02, abs=0.11)


@pytest.mark.parametrize("error", [-6.0, -3.0, 0.0, 1.0, 3.9, 4.1])
def test_the_reward_falls_linearly_with_the_error(error):
    env = TaskEnv(GradedComparison())
    env.reset(seed=7)
    while env.period != "decision":
        _, reward, *_ = env.step(action(-1, 0))
        assert reward == 0
    hertz = env.conditions["difference"] + error
    _, reward, *_, info = env.step(action(1, hertz))
    assert reward == pytest.approx(max(0, 1 - abs(error) / 4), abs=1e-5)
    assert info["performance"] == pytest.approx(reward, abs=1e-5)
    assert info["trial"]["outcome"] == ("correct" if abs(error) < 4 else "error")
    assert info["trial"]["choice"] == pytest.approx(hertz, abs=1e-5)


def test_a_report_before_the_fixation_cue_turns_off_costs():
    env = TaskEnv(GradedComparison())
    env.reset(seed=8)
    _, reward, *_ = env.step(action(1, 0))
    assert reward == pytest.approx(-0.1)


@pytest.mark.parametrize("wrong", [{"differences": (0,)}, {"tolerance": 0}])
def test_nothing_to_grade_is_refused(wrong):
    with pytest.raises(InvalidValueError, match="GradedComparison was given"):
        GradedComparison(**wrong)


def test_observers_earn_what_the_page_says(averages):
    """10,000 trials; SDs of the performance of a trial are below 0.42, so five SEs are 0.021."""
    task = GradedComparison()
    batch = task.sample(10_000, seed=9)
    differences, bases = np.array(task.differences, float), np.array(task.bases, float)
    base, comparison = (
        averages(task, batch, "stimulus", period) for period in ("base", "comparison")
    )
    hertz = bases[:, None] + differences  # (bases, differences)
    low, span = 6.0, 32.0
    precision = 500 / task.sigma**2
    near = {
        "base": (base[:, :, None] - (bases[:, None] - low) / span) ** 2,
        "comparison": (comparison[:, :, None] - (hertz - low) / span) ** 2,
    }
    reports = np.linspace(-8, 8, 65)
    pays = np.maximum(0, 1 - np.abs(reports[:, None] - differences) / task.tolerance)

    def earns(report):
        error = np.abs(report - batch.conditions["difference"])
        return np.maximum(0, 1 - error / task.tolerance).mean()

    for known, share in ((("base", "comparison"), 0.73), (("comparison",), 0.41)):
        far = sum(near[name] for name in known)
        likely = np.exp(-precision / 2 * (far - far.min(axis=(1, 2), keepdims=True))).sum(axis=1)
        assert earns(reports[(likely @ pays.T).argmax(axis=1)]) == pytest.approx(share, abs=0.026)
    assert earns((comparison - base)[:, 0] * span) == pytest.approx(0.61, abs=0.026)
    assert pays.mean(axis=1).max() == pytest.approx(0.25, abs=1e-6)
