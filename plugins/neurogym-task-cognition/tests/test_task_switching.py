"""Cued task switching: cues come by chance, and switches cost only where the old task persists."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_cognition.observers import BestSwitch
from neurogym_task_cognition.task_switching import TaskSwitching

from neurogym_core import InvalidValueError, run

IDEAL = 0.862


def played(task, subject=None, trials=10_000):
    return run(task, subject or BestSwitch(), trials, num_envs=100, seed=1)


def cost(record, interval):
    """Reaction time of right answers and share of errors, switch minus other trials."""
    right, now = record["outcome"] == "correct", record["duration.cue"] == interval
    each = [now & (record["transition"] == "switch"), now & (record["transition"] != "switch")]
    slower = np.subtract(*[record["reaction_time"][rows & right].mean() for rows in each])
    return slower, np.subtract(*[1 - right[rows].mean() for rows in each])


@pytest.mark.parametrize(("kind", "other"), [("congruent", 1), ("incongruent", 0)])
@pytest.mark.parametrize(
    ("cue", "asked", "left"),
    [(0, "height", "side"), (1, "height", "side"), (2, "side", "height"), (3, "side", "height")],
)
def test_the_cue_says_whether_height_or_side_is_asked(cue, asked, left, kind, other):
    task = TaskSwitching()
    batch = task.sample(1, seed=1, cue=cue, key=1, congruency=kind)
    seen = batch.render(None)[-1]
    np.testing.assert_allclose(seen[task.channels[asked]], [0, 1])
    np.testing.assert_allclose(seen[task.channels[left]], [1 - other, other])
    np.testing.assert_allclose(seen[task.channels["cue"]], np.eye(4)[cue])


@pytest.mark.slow
def test_the_task_switches_in_half_of_the_trials_and_the_cue_repeats_in_a_quarter():
    """4 SEs of 10,000 trials: false alarms 2 in 10,000."""
    record = played(TaskSwitching(), "guess")
    later = record["transition"][record["transition"] != "first"]
    for name, share in (("switch", 0.5), ("repeat", 0.25), ("same cue", 0.25)):
        assert (later == name).mean() == pytest.approx(share, abs=0.02)
    assert (record["congruency"] == "congruent").mean() == pytest.approx(0.5, abs=0.02)


def test_the_record_names_the_transition_from_the_trial_before():
    record = run(TaskSwitching(), "guess", 200, seed=2)
    cue, transition, session = (record[name] for name in ("cue", "transition", "session"))
    fresh = np.append(True, session[1:] != session[:-1])
    before = np.append(-1, cue[:-1])
    switch = before // 2 != cue // 2
    expected = np.where(switch, "switch", np.where(before == cue, "same cue", "repeat"))
    np.testing.assert_array_equal(transition, np.where(fresh, "first", expected))


@pytest.mark.slow
def test_the_ideal_observer_reaches_the_ideal_and_shows_no_cost_of_switches():
    """4 SEs of mean, time and errors (SDs 0.23, 140 ms, 0.22): false alarms 2 in 10,000."""
    record = played(TaskSwitching())
    assert record["performance"].mean() == pytest.approx(IDEAL, abs=0.01)
    assert (record["outcome"] == "correct").mean() == pytest.approx(0.947, abs=0.01)
    for interval in (160, 600, 1200):
        slower, errors = cost(record, interval)
        assert abs(slower) < 20
        assert abs(errors) < 0.032


@pytest.mark.slow
def test_with_inertia_switches_cost_less_the_earlier_the_cue_comes():
    """4 SEs as above: false alarms 2 in 10,000."""
    record = played(TaskSwitching(inertia=0.6))
    for interval, ms, share in ((160, 29, 0.12), (600, 12, 0.007), (1200, 2, 0.002)):
        slower, errors = cost(record, interval)
        assert slower == pytest.approx(ms, abs=20)
        assert errors == pytest.approx(share, abs=0.035)
    assert cost(record, 160)[0] > 8
    assert cost(record, 160)[1] > 0.08


class Both(BestSwitch):
    """Adds height and side, whatever the cue."""

    def evidence(self, env, observations):
        return observations[:, env.task.channels["height"]] @ [-1, 1] + (
            observations[:, env.task.channels["side"]] @ [-1, 1]
        )


class Look(BestSwitch):
    """Answers after 100 ms."""

    def begin(self, env):
        super().begin(env)
        self.bounds = np.where(np.arange(len(self.bounds)) < 4, np.inf, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("subject", "earned"),
    [(BestSwitch("height"), 0.657), (BestSwitch("side"), 0.657), (Both(), 0.683), (Look(), 0.77)],
    ids=["height", "side", "both", "look"],
)
def test_shortcuts_earn_what_the_page_says(subject, earned):
    """4 SEs of 10,000 trials (SD below 0.47): false alarms 6 in 10**5."""
    found = played(TaskSwitching(), subject)["performance"].mean()
    assert found == pytest.approx(earned, abs=0.019)


def test_without_noise_an_answer_that_ignores_the_cue_is_right_in_three_quarters():
    """4 SEs of 10,000 trials: false alarms 6 in 10**5."""
    found = played(TaskSwitching(sigma=0.1), BestSwitch("height"))
    assert (found["outcome"] == "correct").mean() == pytest.approx(0.75, abs=0.018)


def test_a_right_answer_earns_less_the_later_it_comes():
    assert (played(TaskSwitching(), "oracle", 200)["reward"] == 1).all()
    late = played(TaskSwitching(), "late_oracle", 200)
    np.testing.assert_allclose(late["performance"], 1 - 480 / 1500, atol=0.03)
    assert (played(TaskSwitching(price=0.0), "late_oracle", 200)["reward"] == 1).all()


@pytest.mark.parametrize("wrong", [{"inertia": 1.5}, {"price": -1.0}, {"inertia_ms": 0.0}])
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="give"):
        TaskSwitching(**wrong)
