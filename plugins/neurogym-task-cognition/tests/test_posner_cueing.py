"""Posner's task: the arrow shows the place and not the letter, and costs strength elsewhere."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from neurogym_task_cognition.observers import BestPlaces
from neurogym_task_cognition.posner_cueing import PosnerCueing

from neurogym_core import InvalidValueError, run

IDEAL = 0.862
KINDS = ("valid", "neutral", "invalid")


@cache
def played(task, subject=BestPlaces, trials=10_000):
    return run(task, subject(), trials, num_envs=100, seed=1)


def means(record):
    """Reaction time of right answers and share of errors, (kinds,) each."""
    right, kinds = record["outcome"] == "correct", [record["validity"] == kind for kind in KINDS]
    times = [record["reaction_time"][right & kind].mean() for kind in kinds]
    return np.array(times), np.array([1 - right[kind].mean() for kind in kinds])


@pytest.mark.parametrize("place", ["left", "right"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_arrow_points_to_the_letter_to_the_other_side_or_both_ways(kind, place):
    task, other = PosnerCueing(), {"left": "right", "right": "left"}[place]
    conditions = {"validity": kind, "place": place, "letter": 1, "duration.gap": 200}
    seen = task.sample(1, seed=1, **conditions).render(None)
    arrow = dict(zip(("left", "right"), seen[27, task.channels["cue"]], strict=True))
    assert (arrow[place], arrow[other]) == {
        "valid": (1, 0), "invalid": (0, 1), "neutral": (1, 1)
    }[kind]  # fmt: skip
    np.testing.assert_allclose(seen[-1, task.channels[place]], [0, 1])
    assert not seen[:, task.channels[other]].any()
    assert not seen[-1, task.channels["cue"]].any()


def test_the_arrow_is_valid_in_four_fifths_and_says_nothing_about_the_letter():
    """5 SEs of 8,000 trials, or of 1,000: false alarms 1 in 10**5."""
    drawn = PosnerCueing().sample(8000, seed=3).conditions
    pointing = drawn["validity"] != "neutral"
    assert pointing.mean() == pytest.approx(0.8, abs=0.023)
    assert (drawn["validity"][pointing] == "valid").mean() == pytest.approx(0.8, abs=0.025)
    for kind in KINDS:
        assert drawn["letter"][drawn["validity"] == kind].mean() == pytest.approx(0.5, abs=0.08)


@pytest.mark.slow
def test_the_letter_comes_100_300_600_or_1000_ms_after_the_arrow():
    record = played(PosnerCueing())
    after = np.unique((record["onset.stimulus"] - record["onset.cue"]).round())
    np.testing.assert_allclose(after, [100, 300, 600, 1000])


def test_the_ideal_observer_reaches_the_ideal_and_shows_no_effect_of_the_arrow():
    """4 SEs of mean, time and errors (SDs 0.23, 140 ms, 0.22): false alarms 2 in 10,000."""
    record = played(PosnerCueing())
    assert record["performance"].mean() == pytest.approx(IDEAL, abs=0.01)
    assert (record["outcome"] == "correct").mean() == pytest.approx(0.947, abs=0.01)
    times, errors = means(record)
    assert np.ptp(times) < 20
    assert np.ptp(errors) < 0.03


@pytest.mark.slow
def test_with_a_loss_invalid_trials_are_the_slowest_and_valid_ones_the_fastest():
    """4 SEs as above: false alarms 2 in 10,000."""
    times, errors = means(played(PosnerCueing(lost=0.4)))
    np.testing.assert_allclose(times, [173, 198, 218], atol=20)
    np.testing.assert_allclose(errors, [0.06, 0.1, 0.16], atol=0.035)
    assert times[2] - times[0] > 25
    assert errors[2] > errors[1] > errors[0]


class Follow(BestPlaces):
    """Looks only where the arrow points, and guesses at once if nothing is there."""

    def begin(self, env):
        super().begin(env)
        self.arrow = np.zeros((env.num_envs, 2))

    def evidence(self, env, observations):
        channels = env.task.channels
        shown = observations[:, channels["cue"]]
        self.arrow = np.where(shown.any(axis=1)[:, None], shown, self.arrow)
        places = [observations[:, channels[place]] @ [-1, 1] for place in ("left", "right")]
        seen = (np.stack(places, axis=1) * self.arrow).sum(axis=1)
        return np.where(seen == 0, 100.0, seen)


class Left(BestPlaces):
    """Looks at the left side only, and guesses at once if nothing is there."""

    def evidence(self, env, observations):
        seen = observations[:, env.task.channels["left"]] @ [-1, 1]
        return np.where(seen == 0, 100.0, seen)


class Look(BestPlaces):
    """Answers after 100 ms."""

    def begin(self, env):
        super().begin(env)
        self.bounds = np.where(np.arange(len(self.bounds)) < 4, np.inf, 0)


@pytest.mark.slow
@pytest.mark.parametrize(("subject", "earned"), [(Follow, 0.805), (Left, 0.681), (Look, 0.77)])
def test_shortcuts_earn_what_the_page_says(subject, earned):
    """4 SEs of 10,000 trials (SD below 0.47): false alarms 6 in 10**5."""
    found = played(PosnerCueing(), subject)["performance"].mean()
    assert found == pytest.approx(earned, abs=0.019)


def test_a_right_answer_earns_less_the_later_it_comes():
    assert (run(PosnerCueing(), "oracle", 50, seed=1)["reward"] == 1).all()
    late = run(PosnerCueing(), "late_oracle", 50, seed=1)
    np.testing.assert_allclose(late["performance"], 1 - 480 / 1500, atol=0.03)
    assert (run(PosnerCueing(price=0.0), "late_oracle", 50, seed=1)["reward"] == 1).all()


@pytest.mark.parametrize("wrong", [{"lost": 1.5}, {"price": -1.0}, {"p_valid": 2.0}])
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="PosnerCueing"):
        PosnerCueing(**wrong)
