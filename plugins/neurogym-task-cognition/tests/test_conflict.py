"""Flanker, Stroop, Simon: the irrelevant feature says nothing, and time has a price."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_cognition.flanker import Flanker
from neurogym_task_cognition.observers import BestStop
from neurogym_task_cognition.simon import Simon
from neurogym_task_cognition.stroop import Stroop

from neurogym_core import InvalidValueError, run

TASKS = (Flanker, Stroop, Simon)
IDEAL = 0.862


def played(task, subject=None, trials=4000):
    return run(task, subject or BestStop(), trials, num_envs=100, seed=1)


def shown(task, channel, **conditions):
    """A channel in the first trial, during the stimulus, without noise."""
    batch = task.sample(1, seed=1, **conditions)
    return batch.render(None)[-1, task.channels[channel]]


def means(record):
    """Reaction time of right answers and share of errors, incongruent minus congruent."""
    right, time = record["outcome"] == "correct", record["reaction_time"]
    each = [record["congruency"] == kind for kind in ("incongruent", "congruent")]
    slower = np.subtract(*[time[rows & right].mean() for rows in each])
    return slower, np.subtract(*[1 - right[rows].mean() for rows in each])


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("congruent", [1, 0] * 4), ("incongruent", [0, 1] * 4), ("neutral", [0] * 8)],
)
def test_flankers_point_in_the_same_direction_or_in_the_other_or_are_absent(kind, expected):
    task = Flanker()
    np.testing.assert_allclose(shown(task, "flankers", side=0, congruency=kind), expected)
    np.testing.assert_allclose(shown(task, "target", side=0, congruency=kind), [1, 0])


@pytest.mark.parametrize(
    ("kind", "other"), [("congruent", [0, 1]), ("incongruent", [1, 0]), ("neutral", [0, 0])]
)
@pytest.mark.parametrize(
    ("rule", "asked", "left"), [("name", "ink", "word"), ("read", "word", "ink")]
)
def test_the_cue_says_whether_ink_or_word_is_asked(rule, asked, left, kind, other):
    task, conditions = Stroop(), {"rule": rule, "colour": 1, "congruency": kind}
    np.testing.assert_allclose(shown(task, asked, **conditions), [0, 1])
    np.testing.assert_allclose(shown(task, left, **conditions), other)
    np.testing.assert_allclose(shown(task, "cue", **conditions), [rule == "name", rule == "read"])


@pytest.mark.parametrize(
    ("kind", "expected"), [("congruent", [0, 1]), ("incongruent", [1, 0]), ("neutral", [0, 0])]
)
def test_the_light_is_on_the_side_of_its_key_or_on_the_other_or_in_the_centre(kind, expected):
    task = Simon()
    np.testing.assert_allclose(shown(task, "position", key=1, congruency=kind), expected)
    np.testing.assert_allclose(shown(task, "colour", key=1, congruency=kind), [0, 1])


@pytest.mark.parametrize("task", TASKS)
def test_conditions_are_as_likely_as_said_and_independent_of_the_answer(task):
    """Five SEs of half of 8,000 trials, 0.008 each: false alarms 1 in 10**5."""
    conditions = task().sample(8000, seed=3).conditions
    answer = conditions[{Flanker: "side", Stroop: "colour", Simon: "key"}[task]]
    either = 0.5 if task is Stroop else 0.4
    shares = {"congruent": either, "incongruent": either, "neutral": 1 - 2 * either}
    for kind, share in shares.items():
        for side in (0, 1):
            found = (conditions["congruency"][answer == side] == kind).mean()
            assert found == pytest.approx(share, abs=0.04)


@pytest.mark.parametrize("task", TASKS)
def test_the_ideal_observer_reaches_the_ideal_and_shows_no_effect_of_congruency(task):
    """4 SEs of mean, time and errors (SDs 0.23, 140 ms, 0.22): false alarms 2 in 10,000."""
    record = played(task())
    assert record["performance"].mean() == pytest.approx(IDEAL, abs=0.015)
    slower, errors = means(record)
    assert abs(slower) < 21
    assert abs(errors) < 0.032


@pytest.mark.parametrize(
    ("task", "expected"),
    [(Flanker(leak=0.4), 81), (Simon(leak=0.6), 108), (Stroop(leak=0.4, p_read=0.0), 82)],
    ids=["flanker", "simon", "stroop"],
)
def test_with_a_leak_the_observer_shows_the_effects_of_people(task, expected):
    """Limits are 4 SEs or more of a time: false alarms 6 in 10**5."""
    slower, errors = means(played(task))
    assert slower == pytest.approx(expected, abs=25)
    assert errors > 0.08


def test_words_are_read_alike_whatever_the_ink():
    slower, errors = means(played(Stroop(leak=0.4, p_read=1.0)))
    assert abs(slower) < 21
    assert abs(errors) < 0.032


class Both(BestStop):
    """Adds ink and word, whatever the cue."""

    def evidence(self, env, observations):
        channels = env.task.channels
        units = observations[:, channels["ink"]] + observations[:, channels["word"]]
        return units[:, 1] - units[:, 0]


class Look(BestStop):
    """Answers after 100 ms."""

    def begin(self, env):
        super().begin(env)
        self.bounds = np.where(np.arange(len(self.bounds)) < 4, np.inf, 0)


class Sum(BestStop):
    """Adds the flankers to the centre."""

    def evidence(self, env, observations):
        flankers = observations[:, env.task.channels["flankers"]]
        sides = flankers[:, 1::2].sum(axis=1) - flankers[:, ::2].sum(axis=1)
        return super().evidence(env, observations) + sides


@pytest.mark.parametrize(
    ("task", "subject", "earned"),
    [
        (Flanker(), Sum(), 0.555),
        (Stroop(), BestStop("ink"), 0.659),
        (Stroop(), BestStop("word"), 0.659),
        (Simon(), BestStop("position"), 0.454),
    ],
    ids=["sum", "ink", "word", "position"],
)
def test_shortcuts_earn_less_than_half_of_the_way_from_guessing_to_the_ideal(task, subject, earned):
    """4 SEs of 4,000 trials are 0.03 (SD below 0.47): false alarms 6 in 10**5."""
    found = played(task, subject)["performance"].mean()
    assert found == pytest.approx(earned, abs=0.03)
    assert found < (0.5 + IDEAL) / 2


@pytest.mark.parametrize("task", TASKS)
def test_answers_after_100_ms_earn_what_the_pages_say(task):
    """4 SEs of 4,000 trials: false alarms 6 in 10**5."""
    assert played(task(), Look())["performance"].mean() == pytest.approx(0.77, abs=0.025)


def test_the_sum_of_ink_and_word_earns_half_of_the_way_as_the_page_says():
    """4 SEs of 4,000 trials are 0.027: false alarms 6 in 10**5."""
    assert played(Stroop(), Both())["performance"].mean() == pytest.approx(0.683, abs=0.027)


@pytest.mark.parametrize("task", TASKS)
def test_a_right_answer_earns_less_the_later_it_comes(task):
    record = played(task(), "oracle", 200)
    late = played(task(), "late_oracle", 200)
    assert (record["reward"] == 1).all()
    assert (late["outcome"] == "correct").all()
    np.testing.assert_allclose(late["performance"], 1 - 480 / 1500, atol=0.03)
    assert (played(task(price=0.0), "late_oracle", 200)["reward"] == 1).all()


@pytest.mark.parametrize("task", TASKS)
def test_neutral_trials_can_be_left_out(task):
    assert "neutral" not in task(p_neutral=0.0).sample(500, seed=1).conditions["congruency"]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("wrong", [{"p_neutral": 1.5}, {"price": -1.0}])
def test_impossible_parameters_are_refused(task, wrong):
    with pytest.raises(InvalidValueError, match=task.__name__):
        task(**wrong)
