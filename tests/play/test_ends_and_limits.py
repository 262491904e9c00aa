"""Ends of trials and windows: by time, by an answer, by `max_duration`; and periods without a
timer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from neurogym_core import Choice, Task, TaskEnv, TaskVectorEnv, run

pytestmark = pytest.mark.usefixtures("kernel")


def trial_of(task: Task, actions: dict[int, int], vector: bool) -> tuple[dict[str, Any], list[str]]:
    """The record of the first trial, and its periods, when these actions are played on these steps,
    and rest on others.
    """
    env: Any = TaskVectorEnv(task, 1) if vector else TaskEnv(task)
    env.reset(seed=1)
    periods: list[str] = []
    for step in range(2000):
        periods.append(str(np.ravel(env.period)[0]))
        action = actions.get(step, 0)
        info = env.step(np.array([action]) if vector else action)[4]
        if np.ravel(info["new_trial"])[0]:
            trial = {
                name: values[0] if vector else values for name, values in info["trial"].items()
            }
            return trial, periods
    raise AssertionError("The trial does not end.")


both = pytest.mark.parametrize("vector", [False, True])


class Asking(Task):
    """One slot after 200 ms."""

    timing = {"fix": 200, "choice": 1000}
    rewards = {"miss": -5.0, "abort": -0.1}

    def define(self):
        self.observe(cue=1)
        self.act(rest=1, go=2, stop=1)
        self.vary(side=Choice(2))

    def new_trial(self, trial):
        trial.periods("fix", "choice")
        trial.show("cue", 1, during="choice")
        trial.answer("go", trial["side"], during="choice")


class AskingTwice(Asking):
    """Two slots at once."""

    def new_trial(self, trial):
        trial.periods("fix", "choice")
        trial.show("cue", 1, during="choice")
        trial.answer("go", trial["side"] * 0, during="choice", slot="first", then="wait")
        trial.answer("stop", 0, during="choice", slot="second", then="wait")


class Restarting(Asking):
    """Breaking fixation restarts it; the choice waits for an action."""

    timing = {"fix": 200, "choice": float("inf")}

    def new_trial(self, trial):
        trial.periods("fix", "choice")
        trial.show("cue", 1, during="choice")
        trial.hold(during="fix", then="restart")
        trial.answer("go", trial["side"], during="choice")


@both
def test_a_window_that_max_duration_cuts_off_is_a_miss_and_paid_as_one(vector):
    for most in (None, 600):
        trial, _ = trial_of(Asking(max_duration=most), {}, vector)
        assert (trial["outcome"], trial["reward"]) == ("miss", -5)


@both
def test_max_duration_counts_an_open_slot_beside_a_correct_one_as_a_miss(vector):
    trial, _ = trial_of(AskingTwice(max_duration=600), {3: 1}, vector)
    assert (trial["first.outcome"], trial["second.outcome"], trial["outcome"]) == (
        "correct",
        "miss",
        "miss",
    )
    assert trial["reward"] == 1 - 5
    assert trial["performance"] == 0.5


@both
def test_a_miss_cannot_be_dodged_by_breaking_fixation_first(vector):
    rested, _ = trial_of(Restarting(max_duration=1000), {}, vector)
    broken, _ = trial_of(Restarting(max_duration=1000), {1: 3}, vector)
    assert rested["reward"] == -5
    assert broken["reward"] == pytest.approx(-5.1)
    assert broken["steps"] == rested["steps"] == 10


def test_miss_penalty_is_paid_where_max_duration_cuts_the_window():
    task = Asking(timing={"choice": 3000}, max_duration=2500, rewards={"miss": 0})
    record = run(task, "rest", 20, seed=1, wrap=("MissPenalty", {"reward": -7.0}))
    assert (record["reward"] == -7).all()


# ---------------------------------------------------------------------- reaction times


class Jumping(Task):
    """A window over four periods; an answer to the other slot in the first jumps to the last."""

    timing = {"a": 100, "b": 100, "c": 100, "d": 300}

    def define(self):
        self.observe(cue=1)
        self.act(rest=1, go=1, jump=1, back=1)
        self.vary(side=Choice(2))

    def new_trial(self, trial):
        trial.periods("a", "b", "c", "d")
        trial.show("cue", trial["side"], during="a")
        trial.answer("go", 0, during=("a", "b", "c", "d"), slot="go")
        trial.answer("jump", 0, during="a", then="d", slot="jump")


class Late(Jumping):
    """The answer is due 200 ms after the window opened."""

    def new_trial(self, trial):
        trial.periods("a", "b", "c", "d", then={"a": "d"})
        trial.show("cue", trial["side"], during="a")
        trial.hold(during="d", cost=0)
        trial.answer_at("go", 200, during=("a", "d"), tolerance=10)


class Returning(Jumping):
    """Acting in the second period leads back to the first."""

    def new_trial(self, trial):
        trial.periods("a", "b", "c", "d")
        trial.show("cue", trial["side"], during="a")
        trial.answer("go", 0, during=("a", "b", "c", "d"), slot="go")
        trial.answer("back", 0, during="b", then="a", slot="back")


@both
def test_reaction_times_count_played_time_without_skipped_periods(vector):
    assert trial_of(Jumping(), {0: 2, 1: 1}, vector)[0]["go.reaction_time"] == 200
    assert trial_of(Jumping(), {3: 1}, vector)[0]["go.reaction_time"] == 400


@both
def test_an_answer_that_is_due_after_a_jump_is_due_by_the_time_that_was_played(vector):
    trial, periods = trial_of(Late(), {1: 1}, vector)
    assert periods == ["a", "d"]
    assert (trial["reaction_time"], trial["outcome"]) == (200, "correct")
    assert trial_of(Late(), {2: 1}, vector)[0]["outcome"] == "error"


@both
def test_a_step_back_opens_the_window_again(vector):
    trial, periods = trial_of(Returning(), {1: 3, 3: 1}, vector)
    assert periods == ["a", "b", "a", "b"]
    assert trial["go.reaction_time"] == 200


# ---------------------------------------------------------------------- no timer


class Poking(Task):
    """The subject begins the trial itself."""

    timing = {"wait": float("inf"), "stimulus": 300, "choice": 200}
    max_duration = 2000.0

    def define(self):
        self.observe(light=1, dots=2, count=1)
        self.act(rest=1, poke=1, go=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("wait", "stimulus", "choice")
        trial.show("light", 1, during="wait")
        trial.show("dots", trial["side"][:, None] == [0, 1], during="stimulus", noise=0.5)
        trial.answer("poke", 0, during="wait", then="stimulus", slot="begin")
        trial.answer("go", trial["side"], during="choice", slot="choice")


@both
def test_a_period_without_a_timer_lasts_until_an_action_leads_out_of_it(vector):
    for poke in (0, 7, 17):
        trial, periods = trial_of(Poking(), {poke: 1}, vector)
        assert periods[: poke + 2] == ["wait"] * (poke + 1) + ["stimulus"]
        assert trial["begin.reaction_time"] == (poke + 1) * 100


@both
@pytest.mark.parametrize("most", [2000.0, None])
def test_the_period_after_one_without_a_timer_never_begins_by_itself(vector, most):
    trial, periods = trial_of(Poking(max_duration=most), {}, vector)
    assert set(periods) == {"wait"}
    assert trial["steps"] == (20 if most else 50)  # ten times the duration of the others
    assert (trial["outcome"], trial["begin.outcome"]) == ("miss", "miss")


@both
def test_moments_of_a_period_without_a_timer_are_counted_from_its_onset(vector):
    """Stimuli with an onset, with an end, and frame by frame."""

    class Cued(Poking):
        def new_trial(self, trial):
            super().new_trial(trial)
            trial.show("light", 2, during="wait", start=200)
            trial.show("light", 4, during="wait", stop=100)
            trial.timecourse("count", np.arange(1, 4), during="stimulus")

    env: Any = TaskVectorEnv(Cued(), 1) if vector else TaskEnv(Cued())
    seen = [np.ravel(env.reset(seed=1)[0])]
    for action in (0, 0, 0, 1, 0, 0, 0):
        seen.append(np.ravel(env.step(np.array([action]) if vector else action)[0]))
    assert [values[0] for values in seen] == [5, 1, 3, 3, 0, 0, 0, 0]
    assert [values[3] for values in seen] == [0, 0, 0, 0, 1, 2, 3, 0]


class Watched(Asking):
    """Played by the slower path, since there is a hook."""

    def step_action(self, now, action):
        return None, None


@both
@pytest.mark.parametrize("task", [Asking, Watched])
@pytest.mark.parametrize("trials", [1, 2])
def test_one_trial_terminates_its_session_and_the_last_of_several_truncates_it(
    task, trials, vector
):
    one = task(trials_per_session=trials)
    env: Any = TaskVectorEnv(one, 1) if vector else TaskEnv(one)
    env.reset(seed=1)
    for ended in range(trials):
        new_trial = False
        while not new_trial:
            _, _, over, cut, info = env.step([0] if vector else 0)
            new_trial = np.ravel(info["new_trial"])[0]
            last = new_trial and ended == trials - 1
            assert np.ravel(over)[0] == (last and trials == 1)
            assert np.ravel(cut)[0] == (last and trials > 1)
