"""Periods of `inf`: the observations of a subject that waits; they never end by themselves."""

from __future__ import annotations

import numpy as np
import pytest

from neurogym_core import Axis, Choice, Dataset, Task, make, make_vec
from neurogym_core.errors import TrialLayoutError

pytestmark = pytest.mark.usefixtures("kernel")

REST, PRESS = 0, 1


class Waiting(Task):
    """A cue that changes, a wait until the subject presses, then the stimulus."""

    timing = {"cue": 300, "waiting": float("inf"), "stimulus": 500}
    max_duration: float | None = 3000

    def define(self):
        self.observe(x=1)
        self.act(rest=1, press=1)
        self.vary(side=Choice((-1, 1)))

    def new_trial(self, trial):
        trial.periods("cue", "waiting", "stimulus")
        trial.timecourse("x", [0.25, 0.5, 0.75], during="cue")
        trial.show("x", 5 * trial["side"], during="stimulus")
        trial.answer("press", 0, during="waiting", then="stimulus")


class CutShort(Waiting):
    """Acting during the cue leads to the wait at once."""

    def new_trial(self, trial):
        super().new_trial(trial)
        trial.show("x", 7, during="waiting")
        trial.hold("cue", then="waiting")


class Ramp(Task):
    """A ramp that begins in a period without a timer, or before it."""

    begins: str = "wait"
    timing = {"fixation": 200, "wait": float("inf")}
    max_duration: float | None = 1500

    def define(self):
        self.observe(x=1, y=1)
        self.act(rest=1, press=1)

    def new_trial(self, trial):
        trial.periods("fixation", "wait")
        during = ("fixation", "wait") if self.begins == "fixation" else "wait"
        trial.timecourse("x", [1, 2, 3, 4], during=during)
        trial.show("y", 1, during="wait")
        trial.answer("press", 0, during="wait")


def seen_by_a_subject(env, actions):
    """The observations of a trial, and its periods."""
    observations, periods = [], []
    observation = env.reset(seed=0)[0]
    for action in actions:
        observations.append(observation)
        periods.append(env.unwrapped.period)
        observation, *_, info = env.step(action)
        if info["new_trial"]:
            break
    return np.array(observations), periods


def test_a_subject_that_waits_is_not_shown_the_coming_stimulus():
    seen, periods = seen_by_a_subject(make(Waiting), [REST] * 40)
    assert periods == ["cue"] * 3 + ["waiting"] * 27
    assert seen[:, 0].tolist() == [0.25, 0.5, 0.75] + [0.0] * 27


def test_a_subject_that_waits_longer_than_planned_is_not_shown_another_trial():
    seen, periods = seen_by_a_subject(make(CutShort), [PRESS] + [REST] * 40)
    assert periods == ["cue"] + ["waiting"] * 29
    assert seen[1:, 0].tolist() == [7.0] * 29


def test_neither_is_a_vector_env_nor_one_of_many_trials():
    envs = make_vec(CutShort, 3)
    seen = [envs.reset(seed=0)[0], *(envs.step(np.full(3, a))[0] for a in [PRESS] + [REST] * 28)]
    assert np.array(seen)[1:, :, 0].tolist() == [[7.0] * 3] * 29


@pytest.mark.parametrize(
    ("begins", "expected"),
    [
        ("wait", [0, 0, 1, 2, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4]),
        ("fixation", [1, 2, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4]),
    ],
)
def test_the_last_value_of_a_timecourse_stays(begins, expected):
    seen, _ = seen_by_a_subject(make(Ramp, begins=begins), [REST] * 20)
    assert seen[:, 0].tolist() == expected
    assert seen[:, 1].tolist() == [0, 0] + [1] * 13


class Steering(Task):
    """A continuous target that changes while the trial waits for the subject."""

    timing = {"wait": float("inf")}
    max_duration: float | None = 800

    def define(self):
        self.observe(x=1)
        self.act(level=Axis(-8, 8, rest=0))

    def new_trial(self, trial):
        trial.periods("wait")
        trial.timecourse("level", [1, 2, 3], during="wait")


def test_so_does_the_last_value_of_a_target():
    env = make(Steering)
    env.reset(seed=0)
    targets = []
    for _ in range(8):
        targets.append(8 * env.unwrapped.target[0])
        env.step(np.zeros(1, np.float32))
    assert targets == [1, 2, 3, 3, 3, 3, 3, 3]


class Cued(Task):
    """A cue of 300 ms at the onset of a period without a timer; a press starts a long delay."""

    timing = {"ready": float("inf"), "delay": [500, 2000]}
    max_duration: float | None = 1500
    free: bool = False

    def define(self):
        self.observe(x=1)
        self.act(rest=1, press=1)

    def new_trial(self, trial):
        trial.periods("ready", "delay")
        trial.show("x", 1, during="ready", stop=300)
        if self.free:
            trial.hold("ready", start=200, cost=0)
            trial.answer("press", 0, during="delay")
        else:
            trial.answer("press", 0, during="ready", then="delay")


@pytest.mark.parametrize("max_duration", [1500, 10_000])
@pytest.mark.parametrize("delay", [500, 2000])
def test_a_short_limit_does_not_stretch_what_is_shown_first(delay, max_duration):
    env = make(Cued, max_duration=max_duration, conditions={"duration.delay": delay})
    seen, periods = seen_by_a_subject(env, [REST] * 14)
    assert seen[:, 0].tolist() == [1, 1, 1] + [0] * 11
    assert set(periods) == {"ready"}


@pytest.mark.parametrize("delay", [500, 2000])
def test_a_period_without_a_timer_never_ends_by_itself(delay):
    env = make(Cued, free=True, conditions={"duration.delay": delay})
    periods = seen_by_a_subject(env, [REST] * 30)[1]
    assert periods == ["ready"] * 15


@pytest.mark.parametrize("delay", [500, 2000])
def test_a_free_hold_that_begins_later_is_free(delay):
    env = make(Cued, free=True, abort_ends_trial=True, conditions={"duration.delay": delay})
    env.reset(seed=0)
    infos = [env.step(action)[-1] for action in [REST, REST, REST, PRESS]]
    assert not any(info["new_trial"] for info in infos)
    env.reset(seed=0)
    assert [env.step(action)[-1]["new_trial"] for action in [REST, PRESS]] == [False, True]


def test_the_record_says_how_long_the_other_periods_leave():
    env = make(Cued, conditions={"duration.delay": 500})
    env.reset(seed=0)
    for _ in range(15):
        *_, info = env.step(REST)
    assert (info["trial"]["duration.ready"], info["trial"]["duration.delay"]) == (1000, 500)


class Counting(Cued):
    """A clock that would have to run through a period of unknown length."""

    def new_trial(self, trial):
        trial.periods("ready", "delay")
        trial.show("x", 1, during=("ready", "delay"), stop=300)


def test_a_verb_that_counts_time_through_such_a_period_is_refused():
    with pytest.raises(TrialLayoutError, match="'ready' has no timer"):
        make(Counting)


def test_datasets_show_the_same():
    first = next(Dataset(Waiting, 1, seed=0)).inputs[0, :, 0]
    assert first[:4].tolist() == [0.25, 0.5, 0.75, 0.0]  # it presses at once
    assert set(np.abs(first[4:])) == {5.0}


# ---------------------------------------------------------------------- the tail


@pytest.mark.parametrize(("begins", "rows"), [("wait", 2 + 3 + 1), ("fixation", 2 + 1 + 1)])
@pytest.mark.parametrize("ms", [300, 1500, 60_000])
def test_the_tail_of_a_script_is_one_row_whatever_the_limit(begins, rows, ms):
    tables = make(Ramp, begins=begins, max_duration=ms, trials_per_session=1).unwrapped
    tables.reset(seed=0)
    script = tables.stepper.any_block.tables.script
    assert len(script) == rows * len(tables.stepper.any_block.tables)
