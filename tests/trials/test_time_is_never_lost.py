"""A span that is longer than 0 ms lasts at least one step; changes by `dt` are said once."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from neurogym_core import Choice, Task, Uniform, make, make_task, run
from neurogym_core.errors import TrialLayoutError
from neurogym_core.trials.layout import Span
from neurogym_core.trials.timing import TimeWarning

WINDOWS = [(0, 40), (60, 140), (55, 145), (460, None), (460, 540), (-100, 30), (None, 40)]
"""Of a period of 500 ms; at dt=100 ms, both edges of each round to the same step."""


class Flash(Task):
    """A period of 500 ms between two others; a test adds one call."""

    timing: ClassVar = {"before": 200, "stim": 500, "after": 200}
    call: ClassVar[Any] = None

    def define(self):
        self.observe(light=1)
        self.act(rest=1, choose=1, report=1)
        self.vary(soa=Choice((0, 100, 200)))

    def new_trial(self, trial):
        trial.periods("before", "stim", "after")
        trial.answer("report", 0, during="after", slot="end")
        trial["soa"]
        type(self).call(trial)


def task_with(call, **settings) -> Task:
    return type("Mine", (Flash,), {"call": staticmethod(call)})(**settings)


def quietly(call, **settings) -> Task:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return task_with(call, **settings)


def said(call, **settings) -> list[str]:
    """The warnings of making a task."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        task_with(call, **settings)
    return [str(one.message) for one in caught]


# ---------------------------------------------------------------------- the law

finite = st.floats(-300, 1500)


@settings(deadline=None, derandomize=True, max_examples=500)
@given(
    dt=st.sampled_from([0.1, 1.0, 7.5, 10.0, 16.7, 100.0]) | st.floats(0.5, 400),
    total=st.integers(1, 60),
    start=st.none() | finite,
    stop=st.none() | finite,
    on_the_grid=st.booleans(),
)
def test_a_time_within_its_periods_lasts_a_step_and_lies_in_them(
    dt, total, start, stop, on_the_grid
):
    if on_the_grid:
        start = start if start is None else round(start / dt) * dt
        stop = stop if stop is None else round(stop / dt) * dt
    span = Span(
        ("a",),
        None if start is None else np.array([start]),
        None if stop is None else np.array([stop]),
    )
    begin, end = max(start or 0.0, 0.0), min(total * dt, np.inf if stop is None else stop)
    assume(end - begin > 1e-6 * dt)
    first, last = span.steps(np.array([total]), dt)
    first = 0 if first is None else max(int(first[0]), 0)
    last = total if last is None else min(int(last[0]), total)
    assert 0 <= first < last <= total
    # Neither edge is farther than a step from its time, and half a step where that leaves a step.
    assert abs(first * dt - begin) < dt * (1 + 1e-6)
    assert abs(last * dt - end) < dt * (1 + 1e-6)
    if last - first > 1:
        assert abs(first * dt - begin) <= dt * (0.5 + 1e-6)
        assert abs(last * dt - end) <= dt * (0.5 + 1e-6)


@settings(deadline=None, derandomize=True, max_examples=200)
@given(total=st.integers(1, 20), start=st.floats(-3, 25), length=st.just(0.0) | st.floats(-5, 0))
def test_a_time_of_nothing_lasts_no_step(total, start, length):
    span = Span(("a",), np.array([start]), np.array([start + length]))
    first, last = span.steps(np.array([total]), 1.0)
    assert max(first[0], 0) >= min(last[0], total)


def steps_shown(task: Task) -> list[int]:
    shown = task.sample(1, seed=0, soa=0).render(None)[:, 0]
    return np.flatnonzero(shown).tolist()


@pytest.mark.parametrize(("start", "stop"), WINDOWS)
def test_what_is_shown_for_less_than_a_step_is_shown(start, stop):
    when = {"during": "stim", "start": start, "stop": stop}
    (step,) = steps_shown(quietly(lambda trial: trial.show("light", 1, **when)))
    assert 2 <= step < 7


@pytest.mark.parametrize(("start", "stop"), WINDOWS)
def test_a_window_of_less_than_a_step_can_be_answered(start, stop):
    def call(trial):
        trial.answer("choose", 0, during="stim", start=start, stop=stop, then="wait")

    batch = quietly(call).sample(1, seed=0, soa=0)
    asked = np.repeat(batch.table("window")[0, :, 1], batch.duration[0])
    assert asked.sum() == 1


@pytest.mark.parametrize(("start", "stop"), WINDOWS)
def test_a_hold_and_a_weight_of_less_than_a_step_apply(start, stop):
    def call(trial):
        trial.hold(during="stim", start=start, stop=stop, cost=-1)
        trial.loss_weight(7, during="stim", start=start, stop=stop)

    batch = quietly(call).sample(1, seed=0, soa=0)
    cost = np.repeat(batch.table("reward")[0, :, 1], batch.duration[0])
    assert (cost == -1).sum() == 1
    assert (np.repeat(batch.weight[0], batch.duration[0]) == 7).sum() == 1


def test_a_timecourse_that_begins_in_the_last_half_step_is_shown():
    task = quietly(lambda trial: trial.timecourse("light", [3], during="stim", start=460))
    assert steps_shown(task) == [6]
    with pytest.raises(TrialLayoutError, match="given 2 values, but there are 1 steps"):
        quietly(lambda trial: trial.timecourse("light", [3, 4], during="stim", start=460))


def test_a_moment_in_the_last_half_step_is_due_in_it():
    def call(trial):
        trial.answer_at("choose", 0, during="stim", start=460, tolerance=50, then="wait")

    batch = quietly(call).sample(1, seed=0, soa=0)
    assert np.flatnonzero(np.repeat(batch.target[0], batch.duration[0]) == 1).tolist() == [6]


# ---------------------------------------------------------------------- warnings


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda trial: trial.show("light", 1, during="stim", stop=40),
            r"show\('light'\) in 'stim' of Mine lasts 40 ms, which dt=100 ms rounds to 100 ms\.",
        ),
        (
            lambda trial: trial.show("light", 1, during="stim", start=150),
            r"show\('light'\) in 'stim' of Mine begins after 150 ms, .* rounds to 200 ms",
        ),
        (
            lambda trial: trial.answer("choose", 0, during="stim", start=460),
            r"The window of 'choose' in 'stim' of Mine begins after 460 ms, .* to 400 ms",
        ),
        (
            lambda trial: trial.hold(during=("before", "stim"), stop=350),
            r"hold\(\) in 'before', 'stim' of Mine lasts 350 ms, .* rounds to 400 ms",
        ),
        (
            lambda trial: trial.loss_weight(0, during="stim", stop=250),
            r"loss_weight\(\) in 'stim' of Mine lasts 250 ms, .* rounds to 300 ms",
        ),
        (
            lambda trial: trial.timecourse("light", np.ones(4), during="stim", start=70),
            r"timecourse\('light'\) in 'stim' of Mine begins after 70 ms, .* rounds to 100 ms",
        ),
        (
            lambda trial: trial.show("light", 1, during="stim", start=50 + trial["soa"]),
            r"begins after 50 ms, which dt=100 ms rounds to 100 ms \(the largest change, of those"
            r" in \d+ of 200 trials\)\. Use a smaller dt, or times that are multiples of it\.",
        ),
    ],
    ids=["show", "start", "answer", "hold", "weight", "timecourse", "by condition"],
)
def test_a_rounding_of_more_than_10_percent_is_said_once(call, says):
    with pytest.warns(UserWarning, match=says):
        task = task_with(call)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(task).reset(seed=0)
        task.sample(300, seed=0)


@pytest.mark.parametrize(
    "call",
    [
        lambda trial: trial.show("light", 1, during="stim", start=100, stop=300),
        lambda trial: trial.show("light", 1, during="stim", start=trial["soa"], stop=300),
        lambda trial: trial.show("light", 1, during="stim", start=-50),
        lambda trial: trial.show("light", 1, during="stim", stop=9000),
        lambda trial: trial.show("light", 1, during="stim", start=0, stop=0),
        lambda trial: trial.show("light", 1, during="stim", start=310, stop=510),
        lambda trial: trial.hold(during="stim", start=530),
        lambda trial: trial.show("light", 1, during="stim", stop=40, where=trial["soa"] < 0),
        lambda trial: (
            trial.show("light", 1, during="stim", start=100 + 300 * trial.rng.random(7))
            if trial.n == 7
            else None
        ),
    ],
)
def test_a_rounding_that_loses_nothing_is_not_said(call):
    assert said(call) == []


class Drawn(Flash):
    """The duration of the first period is drawn."""

    call = staticmethod(lambda trial: None)


@pytest.mark.parametrize(
    ("duration", "says"),
    [
        ([0, 50, 200], r"'before' of Drawn lasts 50 ms, .* to 100 ms \(the largest change, of"),
        (Uniform(10, 30), r"'before' of Drawn lasts 10\.\d* ms, .* \(the .* in 200 of 200 trials"),
        (Uniform(75, 125), r"'before' of Drawn lasts 7\d\.\d* ms, which dt=100 ms rounds to 100"),
    ],
    ids=["values", "too short", "jitter lost"],
)
def test_drawn_durations_that_are_rounded_are_said(duration, says):
    with pytest.warns(UserWarning, match=f"Period {says}"):
        Drawn(timing={"before": duration})


@pytest.mark.parametrize("duration", [[0, 100, 200], [310, 490], Uniform(200, 800)])
def test_durations_that_vary_by_more_than_the_steps_are_not(duration):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Drawn(timing={"before": duration})


def test_a_wrapper_does_not_say_it_again():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make_task(Drawn, timing={"before": [50, 200]}, wrap="ReactionTime")
    assert len([one for one in caught if "'before'" in str(one.message)]) == 1


# ---------------------------------------------------------------------- seconds


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (
            {"timing": {"before": 0.3}},
            r"Period 'before' of Drawn lasts 0\.3 ms\. Expected 3 ms or more, or 0\. If these are"
            r" seconds, write 300: all times are in ms\.",
        ),
        ({"timing": {"before": [1, 2]}, "dt": 1}, r"Period 'before' of Drawn lasts 2 ms\. .*2000"),
        ({"dt": 0.02}, r"Drawn was given dt=0\.02\. Expected ms, .* seconds, write dt=20\."),
    ],
)
def test_seconds_given_for_milliseconds_are_noticed(settings, says):
    with pytest.warns(UserWarning, match=says):
        Drawn(**settings)


@pytest.mark.parametrize("when", [{"start": 0.1}, {"stop": 0.2}, {"start": 0.1, "stop": 0.4}])
def test_spans_in_seconds_are_noticed(when):
    texts = said(lambda trial: trial.show("light", 1, during="stim", **when))
    assert any("Expected 3 ms or more, or 0. If these are seconds, write" in one for one in texts)


@pytest.mark.parametrize("settings", [{"dt": 0.5}, {"dt": 1, "timing": {"before": 3, "stim": 0}}])
def test_short_times_that_are_possible_are_not(settings):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Drawn(**settings)


class Press(Task):
    """A press that is due at a moment."""

    timing: ClassVar = {"before": 200, "light": 600}
    due: float = 300
    within: float = 30

    def define(self):
        self.observe(light=1)
        self.act(rest=1, press=1)

    def new_trial(self, trial):
        trial.periods("before", "light")
        trial.show("light", 1, during="light")
        trial.answer_at("press", self.due, during="light", tolerance=self.within)


@pytest.mark.parametrize("due", [0, 40, 150])
def test_a_press_that_no_step_can_make_in_time_is_said(due):
    with pytest.warns(TimeWarning, match=r"due after .* it cannot be correct in any trial"):
        task = Press(due=due)
    assert run(task, "oracle", 10, seed=0)["performance"].mean() == 0  # the warning is true


@pytest.mark.parametrize("settings", [{}, {"due": 40, "within": 60}, {"due": 150, "within": 50}])
def test_a_press_that_a_step_can_make_in_time_is_not_accused(settings):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        task = Press(**settings)
    assert run(task, "oracle", 10, seed=0)["performance"].mean() == 1


@pytest.mark.parametrize(
    "play",
    [
        lambda task, imposed: task.sample(2, seed=0, **imposed),
        lambda task, imposed: run(task, "oracle", 4, conditions=imposed),
        lambda task, imposed: make(task).reset(options={"conditions": imposed}),
    ],
    ids=["sample", "run", "reset"],
)
def test_the_rounding_of_an_imposed_duration_is_said_once(play):
    task = Press()
    with pytest.warns(TimeWarning, match="lasts 40 ms, which dt=100 ms rounds to 100 ms"):
        play(task, {"duration.before": 40})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        play(task, {"duration.before": 40})
        play(Press(), {"duration.before": 400})


def test_the_rounding_of_the_longest_trial_is_said():
    with pytest.warns(TimeWarning, match="max_duration of Press is 1240 ms, which dt=1000"):
        Press(dt=1000, max_duration=1240, timing={"before": 1000, "light": 1000}, due=1000)
