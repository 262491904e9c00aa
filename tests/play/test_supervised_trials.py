"""Datasets show the steps of an env under the oracle: limits, loops, periods without a timer."""

from __future__ import annotations

import numpy as np
import pytest

from neurogym_core import Choice, Dataset, Task, make, run
from neurogym_core.subjects import LateOracle

pytestmark = pytest.mark.usefixtures("kernel")


class Limited(Task):
    """The trial may be over before its last period is."""

    timing = {"fixation": 500, "go": 500}
    rewards = {"miss": -1.0}
    max_duration: float | None = 700

    def define(self):
        self.observe(x=1)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("fixation", "go")
        trial.show("x", trial["side"] + 1, during="go", noise=0.1)
        trial.answer("choose", trial["side"], during="go")


class Loop(Limited):
    """Light and go follow each other until the trial has lasted long enough."""

    timing = {"light": 300, "go": 200, "feedback": 100}
    max_duration: float | None = 2100  # within a light

    def new_trial(self, trial):
        trial.periods("light", "go", "feedback", repeat=("light", "go"), then={"go": "light"})
        trial.show("x", 1, during="light")
        trial.show("x", 2, during="go")
        trial.show("x", 3, during="feedback")
        trial.answer("choose", trial["side"], during="feedback")


class Twice(Limited):
    """The first answer leads back; the second time the trial goes on with another question."""

    again: bool = False
    timing = {"light": 300, "go": 200, "report": 200}
    max_duration: float | None = None

    def new_trial(self, trial):
        trial.periods("light", "go", "report", repeat=("light", "go"))
        trial.timecourse("x", [1, 2, 3], during="light")
        trial.show("x", 4, during="go", noise=1.0)
        trial.answer("choose", trial["side"], during="go", then="light", again=self.again)
        trial.answer("choose", trial["side"], during="report", slot="report")


class Paced(Limited):
    """The subject starts the trial; a cue shows for 300 ms that it may."""

    timing = {"ready": float("inf"), "light": 300, "go": 200}
    max_duration: float | None = 3000

    def new_trial(self, trial):
        trial.periods("ready", "light", "go")
        trial.show("x", 1, during="ready", stop=300)
        trial.show("x", 2, during="light")
        trial.answer("choose", 0, during="ready", slot="start", then="light", scored=False)
        trial.answer("choose", trial["side"], during="go", slot="side")


class Late(Paced):
    """The subject may start the trial 200 ms after the onset of the wait."""

    def new_trial(self, trial):
        trial.periods("ready", "light", "go")
        trial.show("x", 1, during="ready", stop=600)
        trial.answer("choose", 0, "ready", start=200, slot="start", then="light", scored=False)
        trial.answer("choose", trial["side"], during="go", slot="side")


class NoWayOut(Limited):
    """No right answer leads out of the period without a timer."""

    timing = {"wait": float("inf"), "go": 500}
    max_duration: float | None = 1200

    def new_trial(self, trial):
        trial.periods("wait", "go")
        trial.show("x", 1, during="wait")
        trial.show("x", 2, during="go")
        trial.hold("wait", then="go")
        trial.answer("choose", trial["side"], during="go")


def played_late(task, steps):
    """Observations of an env that is played by the oracle of datasets: it answers at the end of
    windows, and in periods without a timer at once."""
    env = make(task)
    observation, _ = env.reset(seed=0)
    subject = env.unwrapped
    for _ in range(steps):
        yield observation, subject.target
        waits = subject.can_wait and not np.isinf(subject.stepper.remaining[0])
        observation, *_ = env.step(0 if waits else subject.target)


TASKS = [Limited, Loop, Twice, (Twice, True), Paced, Late, NoWayOut]


def made(task):
    return task[0](again=task[1], max_duration=4000) if isinstance(task, tuple) else task()


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("seq_len", [None, 7, 50])
def test_a_dataset_shows_what_the_env_plays_under_the_oracle(task, seq_len):
    dataset, shown = Dataset(made(task), 1, seq_len=seq_len, seed=0), []
    while len(shown) < 120:
        batch = next(dataset)
        shown += list(zip(batch.inputs[0], batch.targets[0], strict=True))
    for (seen, target), (expected, wanted) in zip(
        shown[:120], played_late(made(task), 120), strict=True
    ):
        np.testing.assert_array_equal(seen, expected)
        assert target == wanted


def test_trials_are_as_long_as_those_of_the_env():
    lengths = {
        (task[0] if isinstance(task, tuple) else task).__name__
        + "again" * isinstance(task, tuple): set(made(task).sample(3, seed=0).steps)
        for task in TASKS
    }
    assert lengths == {
        "Limited": {7}, "Loop": {21}, "Twice": {12}, "Twiceagain": {40}, "Paced": {6}, "Late": {8},
        "NoWayOut": {12},
    }  # fmt: skip


@pytest.mark.parametrize("task", [Limited, Twice, Paced, Late])
def test_the_oracle_of_a_dataset_is_scored_as_correct(task):
    """As in the env; it answers each slot on the step on which the path shows that it does."""
    task = made(task)
    batch = next(Dataset(task, 16, seed=0))
    answers = np.zeros_like(batch.targets)
    for row, trial in enumerate(batch.trials.take(np.arange(16)).path):
        ends = {
            Limited: [7], Twice: [5, 12], Paced: [1, 6], Late: [3, 8],
        }[type(task)]  # fmt: skip
        assert trial.sum() == ends[-1]
        for end in ends:
            answers[row, end - 1] = batch.targets[row, end - 1]
    record = batch.score(answers)
    assert set(record["outcome"]) == {"correct"}
    assert set(record["performance"]) == {1.0}
    assert set(record["steps"]) == {ends[-1]}


@pytest.mark.parametrize("task", [Loop, NoWayOut])
def test_where_the_oracle_of_the_env_misses_so_does_that_of_the_dataset(task):
    record = run(task, LateOracle(wait=1e9), 8, seed=0)
    batch = next(Dataset(task, 8, seed=0))
    scored = batch.score(batch.targets)
    for name in ("outcome", "performance", "steps"):
        assert set(record[name]) == set(scored[name])
    assert set(scored["outcome"]) == {"miss"}


def test_a_late_oracle_answers_before_the_limit():
    assert set(run(Limited, "late_oracle", 10, seed=0)["outcome"]) == {"correct"}


def test_spans_show_every_visit():
    assert Twice().sample(1, seed=0).spans(0) == [
        ("light", 0, 3), ("go", 3, 5), ("light", 5, 8), ("go", 8, 10), ("report", 10, 12),
    ]  # fmt: skip


class Hooked(Paced):
    """A hook watches, so the dataset is played step by step."""

    trial_state = {"steps": 0}

    def step_action(self, now, action):
        now.trial_state["steps"] = now.trial_state["steps"] + 1
        return np.zeros(now.n), None


def test_a_dataset_that_is_stepped_does_not_wait_without_end():
    batch = next(Dataset(Hooked, 2, seed=0))
    plain = next(Dataset(Paced, 2, seed=0))
    np.testing.assert_array_equal(batch.inputs, plain.inputs)
    np.testing.assert_array_equal(batch.targets, plain.targets)
