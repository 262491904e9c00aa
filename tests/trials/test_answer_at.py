"""`answer_at`: an index for each trial, and continuous actions that are due at a moment."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from neurogym_core import Axis, Choice, PowerLaw, Task, TaskEnv, TrialBuilder, run
from neurogym_core.errors import TrialLayoutError

DUE = 300


class Sided(Task):
    """Act on one of two sides, 300 ms after the onset of the period."""

    timing: ClassVar = {"wait": 100, "produce": 600}

    def define(self) -> None:
        self.observe(cue=2)
        self.act(rest=1, go=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("wait", "produce")
        trial.show("cue", trial["side"][:, None] == np.arange(2), during="produce")
        trial.answer_at(
            "go", DUE, during="produce", tolerance=100, index=trial["side"], pays=PowerLaw()
        )


class Grown(Task):
    """Exceed 0.5 at 300 ms after the onset of the period; the other axis does not count."""

    timing: ClassVar = {"wait": 100, "produce": 600}

    def define(self) -> None:
        self.observe(cue=1)
        self.act(level=Axis(0, 1, rest=0, trigger=0.5), idle=Axis(-1, 1, rest=0))

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("wait", "produce")
        trial.show("cue", 1, during="produce")
        trial.answer_at("level", DUE, during="produce", tolerance=100, pays=PowerLaw())


def act_at(task: Task, ms: float, action, rest) -> dict:
    env = TaskEnv(task)
    env.reset(seed=1, options={"conditions": {"side": 1}} if task.conditions else None)
    elapsed = 0
    while True:
        elapsed += task.dt * (env.period == "produce")
        *_, info = env.step(action if elapsed >= ms else rest)
        if info["new_trial"]:
            return info["trial"]


@pytest.mark.parametrize(
    ("ms", "outcome", "reward"),
    [(300, "correct", 1), (350, "correct", 0.5**1.5), (450, "error", 0)],
)
def test_moments_are_judged_alike_whatever_the_action_is_made_of(ms, outcome, reward):
    loud, silent = np.array([1, 0.7], np.float32), np.array([-1, 0], np.float32)
    for trial in (act_at(Sided(dt=50), ms, 2, 0), act_at(Grown(dt=50), ms, loud, silent)):
        assert (trial["outcome"], trial["reaction_time"]) == (outcome, ms)
        assert trial["reward"] == pytest.approx(reward)
        assert trial["performance"] == (outcome == "correct")


def test_the_other_choice_is_wrong_at_the_right_moment():
    assert act_at(Sided(), DUE, 1, 0)["outcome"] == "error"


@pytest.mark.parametrize("kind", [Sided, Grown])
@pytest.mark.parametrize("dt", [10, 100])
def test_the_target_is_right_in_both_players(kind, dt):
    record = run(kind(dt=dt), "oracle", n_trials=20, num_envs=3, seed=2)
    assert (record["outcome"] == "correct").all()
    np.testing.assert_allclose(record["reward"], 1)
    np.testing.assert_array_equal(record["reaction_time"], DUE)


def test_the_target_of_a_continuous_action_triggers_on_one_step():
    targets = Grown(dt=100).sample(1, seed=3).render_targets()
    np.testing.assert_array_equal(targets[:, 0], [0, 0, 0, 1, 0, 0, 0])
    assert (targets[:, 1] == 0).all()


@pytest.mark.parametrize("index", [2, -1, [0, 5], 0.5])
def test_an_index_beyond_the_choices_is_refused(index):
    class Wrong(Sided):
        def new_trial(self, trial: TrialBuilder) -> None:
            trial.periods("wait", "produce")
            trial.show("cue", trial["side"][:, None] == np.arange(2), during="produce")
            trial.answer_at("go", DUE, during="produce", tolerance=100, index=index)

    with pytest.raises(TrialLayoutError, match="from 0 to 1"):
        Wrong()


def test_actions_that_never_trigger_have_no_moment():
    class Wrong(Grown):
        def define(self) -> None:
            self.observe(cue=1)
            self.act(level=Axis(0, 1))

    with pytest.raises(TrialLayoutError, match="trigger="):
        Wrong()


def test_where_no_action_rests_nobody_can_wait_for_the_moment():
    class Wrong(Sided):
        def define(self) -> None:
            self.observe(cue=2)
            self.act(go=2, other=1)
            self.vary(side=Choice(2))

    with pytest.raises(TrialLayoutError, match="first step of the window is an answer"):
        Wrong()
