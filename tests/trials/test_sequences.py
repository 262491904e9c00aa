"""`trial.sequence`: streams of items, and windows that follow an item."""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np
import pytest

from neurogym_core import Choice, OneHot, Task, make, run
from neurogym_core.errors import TrialLayoutError
from neurogym_core.trials.timing import TimeWarning

LETTERS, DIGITS = tuple("ABCDEFGH"), tuple("23456789")


class Stream(Task):
    """Items on a channel; a test sets the arguments."""

    timing: ClassVar = {"before": 100, "stream": 400, "after": 600}
    given: ClassVar = {"items": [0, 1, 2, 1], "soa": 100}
    dt: float = 50

    def define(self):
        self.observe(item=("a", "b", "c"), tone=1)
        self.act(rest=1, press=1)
        self.vary(place=Choice((0, 1, 2)))

    def new_trial(self, trial):
        trial.periods("before", "stream", "after")
        trial.record("place")
        given = {"channel": "item", "during": ("stream", "after"), **self.given}
        self.stream(trial, trial.sequence(**given))

    def stream(self, trial, items):
        pass


def shown(given, n=1, **settings):
    """The item on each step, (steps, units), of the first trial."""
    task = type("Given", (Stream,), {"given": given})(**settings)
    return task.sample(n, seed=0).render(None)


def test_items_follow_one_another_from_the_onset_of_the_period():
    seen = shown({"items": [0, 1, 2, 1], "soa": 100})[:, :3]
    assert seen[:2].sum() == 0
    assert seen[2:10].argmax(axis=1).tolist() == [0, 0, 1, 1, 2, 2, 1, 1]
    assert seen[10:].sum() == 0


def test_onset_duration_names_and_gaps():
    seen = shown({"items": ["c", "a"], "soa": 150, "onset": 50, "duration": 50})[:, :3]
    assert np.argwhere(seen).tolist() == [[3, 2], [6, 0]]
    seen = shown({"items": [2, -1, 0], "soa": 100, "duration": 50})[:, :3]
    assert np.argwhere(seen).tolist() == [[2, 2], [6, 0]]
    seen = shown({"items": [0, 1], "onset": [[0, 250]], "duration": 100})[:, :3]
    assert np.argwhere(seen).tolist() == [[2, 0], [3, 0], [7, 1], [8, 1]]


def test_a_channel_of_one_unit_shows_strengths_and_values_are_shown_as_given():
    seen = shown({"channel": "tone", "items": [0.5, 2], "soa": 100})[:, 3]
    assert seen[2:6].tolist() == [0.5, 0.5, 2, 2]
    values = np.array([[[1, 2, 3], [4, 5, 6.0]]])
    seen = shown({"items": values, "soa": 100})[:, :3]
    assert seen[[2, 4]].tolist() == [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize("dt", [10, 20, 40, 100])
def test_items_are_rounded_as_spans_and_none_is_lost(dt):
    """Each item lasts as `show` lets it last, also where `dt` does not divide it."""
    items, soa = [0, 1, 2, 0, 1], 110.0

    class Shown(Stream):
        def new_trial(self, trial):
            trial.periods("before", "stream", "after")
            for k, item in enumerate(items):
                value = np.eye(3)[item]
                trial.record("place")
                trial.show(
                    "item", value, ("stream", "after"), start=k * soa, stop=k * soa + 110, noise=0.3
                )

    given = {"items": items, "soa": soa, "noise": 0.3}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TimeWarning)
        one, other = shown(given, dt=dt), Shown(dt=dt).sample(1, seed=0).render(None)
    assert np.array_equal(one, other)
    order = one[:, :3].argmax(axis=1)[one[:, :3].any(axis=1)]
    assert (order[np.flatnonzero(np.diff(order, prepend=-1))] == items).all()


def test_a_rate_that_dt_changes_is_said_once():
    """At dt=40 ms, letters of 100 ms last 80 or 120 ms."""
    with pytest.warns(TimeWarning, match=r"rounds to (80|120) ms"):
        shown({"items": [0, 1, 2, 1], "soa": 100}, dt=40)


# ---------------------------------------------------------------------- windows that follow an item


class Press(Stream):
    """Press within 400 ms of an item, which may be when others are shown."""

    given: ClassVar = {"items": [0, 1, 2, 1], "soa": 100}

    def stream(self, trial, items):
        trial.answer("press", 0, **items.after(trial["place"], 400), then="wait")


def test_a_window_may_be_longer_than_the_time_from_item_to_item():
    for place in (0, 1, 2):
        env = make(Press(conditions={"place": place}))
        env.reset(seed=1)
        opens = [0] * 22
        for step in range(22):
            opens[step] = int(env.unwrapped.is_asked)
            env.step(0)
        first = 2 + 2 * place
        assert np.flatnonzero(opens).tolist() == list(range(first, first + 8))
    record = run(Press(), "late_oracle", 30, seed=1)
    assert (record["outcome"] == "correct").all()
    assert record["reaction_time"].min() > 100  # longer than the SOA


def test_windows_may_be_delayed():
    class Late(Press):
        def stream(self, trial, items):
            trial.answer("press", 0, **items.after(0, 200, delay=100), then="wait")

    assert (run(Late(), "oracle", 3, seed=1)["answer_time"] > 200).all()


class AttentionalBlink(Task):
    """Report two letters in a rapid stream of digits.

    Chun & Potter (1995), J. Exp. Psychol. HPP 21:109, doi:10.1037/0096-1523.21.1.109.
    """

    dt: float = 20
    timing: ClassVar = {"fixation": 500, "stream": 2000, "first": 500, "second": 500}

    def define(self):
        self.observe(item=OneHot(LETTERS + DIGITS), ask=2)
        self.act(fixate=1, report=LETTERS)
        self.vary(
            lag=Choice(range(1, 9)), place=Choice(range(4, 11)), t1=Choice(8),
            t2=lambda rng, prior: (prior["t1"] + rng.integers(1, 8, prior.n)) % 8,
            digits=lambda rng, prior: np.cumsum(rng.integers(1, 8, (prior.n, 20)), axis=1) % 8,
        )  # fmt: skip

    def new_trial(self, trial):
        trial.periods("fixation", "stream", "first", "second")
        stream, rows = trial["digits"] + 8, np.arange(trial.n)
        stream[rows, trial["place"]] = trial["t1"]
        stream[rows, trial["place"] + trial["lag"]] = trial["t2"]
        self.show_stream(trial, stream)
        for k, name in enumerate(("first", "second")):
            trial.show("ask", np.eye(2)[k], during=name)
            trial.answer("report", trial[f"t{k + 1}"], during=name, slot=name, then="wait")

    def show_stream(self, trial, stream):
        trial.sequence("item", stream, during="stream", soa=100, noise=2.0)


class BlinkOfFrames(AttentionalBlink):
    """The same with frames that the author computes."""

    def show_stream(self, trial, stream):
        steps = round(2000 / trial.dt)
        which = (np.arange(steps) * trial.dt // 100).astype(int)
        trial.timecourse("item", self.channels.encoder("item").encode(stream[:, which]), "stream")
        trial.show("item", 0, during="stream", noise=2.0)


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_the_attentional_blink_is_that_of_computed_frames(dt):
    one, other = AttentionalBlink(dt=dt).sample(20, seed=1), BlinkOfFrames(dt=dt).sample(20, seed=1)
    for seed in (None, 3):
        assert np.array_equal(one.render(seed), other.render(seed))


# ---------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"items": [0, 1], "soa": 10}, "items 10 ms apart, which begin on the same step of 50 ms"),
        ({"items": [0, 1]}, "no soa="),
        ({"items": [0, 3], "soa": 100}, "the item 3"),
        ({"items": ["a", "d"], "soa": 100}, "the item 'd'"),
        ({"items": [0.5, 1], "soa": 100}, r"items of type float64 and shape \(2,\)"),
        ({"items": np.zeros((3, 2), int), "soa": 100}, r"shape \(3, 2\)"),
        ({"items": [0, 1], "onset": [[0, 1, 2]]}, r"onset= .* shape \(1, 3\)"),
        ({"items": [0] * 20, "soa": 100}, "not before the end"),
    ],
)
def test_impossible_streams_are_errors(given, says):
    with pytest.raises(TrialLayoutError, match=says):
        shown(given)


def test_a_window_after_an_item_that_does_not_exist_is_an_error():
    class Wrong(Press):
        def stream(self, trial, items):
            trial.answer("press", 0, **items.after(4, 100))

    with pytest.raises(TrialLayoutError, match="stream of 4 items was given 4"):
        Wrong()
