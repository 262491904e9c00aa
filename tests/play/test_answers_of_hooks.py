"""`now.answer`: a step hook says what the subject did, and the record has it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

from neurogym_core import END, STAY, Angle, Axis, Choice, Outcome, Task, Uniform, make, run
from neurogym_core.errors import (
    NeurogymError,
    TaskDefinitionError,
    TrialLayoutError,
    UnknownNameError,
)


class Maze(Task):
    """Run to an arm of a maze; only the place counts, which many actions change together."""

    side: bool = True
    dt: float = 50
    rewards: ClassVar = {"correct": 2.0, "error": -1.0, "miss": -3.0}
    timing: ClassVar = {"wait": 100, "run": 1000, "late": 100}
    trial_state: ClassVar = {"at": 0.0}

    def define(self):
        self.observe(side=2)
        self.act(rest=1, go=("left", "right"))
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("wait", "run", "late", then={"late": "end"})
        trial.hold(during=("wait", "late"), cost=0)
        trial.show("side", np.eye(2)[trial["side"]], during="run")
        then = {"error": "late"}
        trial.answer("go", trial["side"], during="run", reported=True, then=then)

    def step_action(self, now, action):
        moved = now.in_period("run") * np.array([0, -1, 1])[action]
        now.trial_state["at"] = now.trial_state["at"] + moved
        self.report(now, np.abs(now.trial_state["at"]) >= 3, now.trial_state["at"] > 0)
        return None, None

    def report(self, now, there, right):
        now.answer(there, np.where(right, 1, 0))

    def step_target(self, now):
        return now.in_period("run") * (1 + now.conditions["side"])


def played(task: Task, actions: list[int], side: int = 0) -> tuple[dict[str, Any], list[float]]:
    """The trial that ends with these actions, and the rewards."""
    env = make(task)
    env.reset(seed=1, options={"conditions": {"side": side}})
    paid = []
    for action in actions:
        _, reward, *_, info = env.step(action)
        paid.append(reward)
    return info["trial"], paid


LEFT, RIGHT = 1, 2


def test_an_answer_gives_choice_outcome_reaction_time_score_and_pay_of_the_table():
    trial, paid = played(Maze(), [0, 0, LEFT, 0, LEFT, LEFT])
    assert (trial["choice"], trial["outcome"], trial["performance"]) == ("left", "correct", 1.0)
    assert trial["reaction_time"] == 200
    assert paid == [0, 0, 0, 0, 0, 2]
    # The first turn was to the other side: the place counts, not an action.
    trial, paid = played(Maze(), [0, 0, LEFT, RIGHT, RIGHT, RIGHT, RIGHT, 0, 0])
    assert (trial["choice"], trial["outcome"], trial["performance"]) == ("right", "error", 0.0)
    assert trial["reaction_time"] == 250
    assert paid == [0, 0, 0, 0, 0, 0, -1, 0, 0]  # `then` leads through the period `late`


def test_a_subject_that_never_arrives_misses_whatever_its_actions_were():
    trial, paid = played(Maze(), [0, 0, *[LEFT, RIGHT] * 10, 0, 0])
    assert (trial["choice"], trial["outcome"]) == ("none", "miss")
    assert "reaction_time" not in trial
    assert sum(paid) == -3


def test_the_oracle_of_a_reported_slot_is_right_and_random_actions_are_not():
    ideal = run(Maze(), "oracle", 400, seed=1)
    assert (ideal["outcome"] == "correct").all()
    assert (ideal["choice"] == np.where(ideal["side"] == "left", "left", "right")).all()
    cheat = run(Maze(), "random", 400, seed=1)
    assert 0.3 < (cheat["outcome"] == "correct").mean() < 0.6
    assert ((cheat["choice"] == cheat["side"]) == (cheat["outcome"] == "correct")).all()


def test_one_env_and_many_record_the_same_answers():
    many = run(Maze(), "oracle", 60, seed=3, num_envs=3)
    one = run(Maze(), "oracle", 60, seed=3, num_envs=1)
    for record in (many, one):
        assert (record["answer_time"] == record["onset.run"] + record["reaction_time"]).all()
        assert set(record["reaction_time"]) == {150.0}


def test_the_hook_may_give_outcome_and_reaction_time_itself():
    class Judges(Maze):
        def report(self, now, there, right):
            outcome = np.where(right, Outcome.OTHER, Outcome.NONE)
            now.answer(there, 1, outcome, reaction_time=17.5)

    trial, paid = played(Judges(), [0, 0, RIGHT, RIGHT, RIGHT])
    assert (trial["choice"], trial["outcome"], trial["reaction_time"]) == ("right", "other", 17.5)
    assert sum(paid) == 0
    assert played(Judges(), [0, 0, *[LEFT] * 20, 0, 0])[0]["outcome"] == "miss"  # NONE is no answer


def test_rewards_and_destinations_of_the_hook_replace_those_of_the_table():
    class Pays(Maze):
        def step_action(self, now, action):
            super().step_action(now, action)
            there = np.abs(now.trial_state["at"]) >= 2
            return 0.5 * there, np.where(there, END, STAY)

        def report(self, now, there, right):
            now.answer(np.abs(now.trial_state["at"]) >= 2, right.astype(int))

    trial, paid = played(Pays(), [0, 0, RIGHT, RIGHT])
    assert (trial["choice"], trial["outcome"], paid) == ("right", "error", [0, 0, 0, 0.5])


class Point(Task):
    """Continuous actions: push a hand to a place, or turn it to an angle, and stop."""

    angle: bool = False
    trigger: bool = False
    dt: float = 50
    timing: ClassVar = {"move": 1000}
    trial_state: ClassVar = {"hand": 0.0, "rested": 0}

    def define(self):
        self.observe(light=1)
        trigger = {"go": Axis(-1, 1, rest=-1, trigger=0)} if self.trigger else {}
        self.act(
            **trigger, speed=Axis(-10, 10, rest=0), place=Angle() if self.angle else Axis(-9, 9)
        )
        self.vary(at=Uniform(-3, 3))

    def new_trial(self, trial):
        trial.periods("move")
        trial.answer("place", trial["at"], "move", tolerance=0.5, reported=True, correct=4)

    def step_action(self, now, action):
        speed = action[:, self.actions["speed"]][:, 0]
        now.trial_state["hand"] = now.trial_state["hand"] + speed * now.dt / 1000
        now.trial_state["rested"] = (speed == 0) * (now.trial_state["rested"] + 1)
        now.answer(now.trial_state["rested"] == 2, now.trial_state["hand"])
        return None, None

    def step_target(self, now):
        left = now.conditions["at"] - now.trial_state["hand"]
        speed = np.clip(left * 1000 / now.dt, -10, 10) * (np.abs(left) > 0.1)
        action = np.zeros((now.n, self.actions.size))
        action[:, self.actions["speed"]] = speed[:, None]
        return action


@pytest.mark.parametrize("angle", [False, True])
@pytest.mark.parametrize("trigger", [False, True])
def test_continuous_answers_have_values_times_and_pay(angle, trigger):
    record = run(Point(angle=angle, trigger=trigger), "oracle", 40, seed=1)
    assert (record["outcome"] == "correct").all()
    assert (record["reward"] == 4).all()
    assert np.abs(record["choice"] - record["at"]).max() < 0.11
    steps = np.ceil((np.abs(record["at"]) - 0.1) / 0.5).clip(0) + 2
    assert (np.abs(record["reaction_time"] - 50 * steps) <= 50).all()
    assert (record["steps"] * 50 == record["reaction_time"]).all()


def test_continuous_actions_without_a_report_are_no_answer():
    task = Point()

    def busy(env, observations):
        return np.full((len(observations), 2), 0.9)

    record = run(task, busy, 10, seed=1)
    assert set(record["outcome"]) == {"miss"}
    assert np.isnan(record["reaction_time"]).all()


# ---------------------------------------------------------------------- visits


class UntilCorrect(Task):
    """Answer until it is right: the record keeps first and last answer, and their number."""

    max_duration: float | None = 100_000
    timing: ClassVar = {"ask": float("inf")}

    def define(self):
        self.observe(side=2)
        self.act(rest=1, press=("a", "b", "c"))
        self.vary(side=Choice(3))

    def new_trial(self, trial):
        trial.periods("ask", repeat="ask")
        trial.show("side", trial["side"][:, None] == [0, 1], "ask")
        then = {"correct": "end", "error": "ask"}
        trial.answer("press", trial["side"], "ask", then=then, again=True)


class ReportedUntilCorrect(UntilCorrect):
    def new_trial(self, trial):
        super().new_trial(trial)
        trial.layout.slots[0].reported = True

    def step_action(self, now, action):
        now.answer(action > 0, action - 1)
        return None, None


@pytest.mark.parametrize("task", [UntilCorrect, ReportedUntilCorrect])
def test_slots_that_are_answered_again_keep_first_last_and_number(task):
    env = make(task())
    env.reset(seed=1, options={"conditions": {"side": 2}})
    for action in (0, 1, 0, 0, 2, 3):
        *_, info = env.step(action)
    trial = info["trial"]
    assert (trial["choice"], trial["outcome"], trial["reaction_time"]) == ("c", "correct", 100)
    assert (trial["first_choice"], trial["first_outcome"]) == ("a", "error")
    assert (trial["first_reaction_time"], trial["answers"]) == (200, 3)
    env.reset(options={"conditions": {"side": 0}})
    *_, info = env.step(1)
    trial = info["trial"]
    assert (trial["first_choice"], trial["choice"], trial["answers"]) == ("a", "a", 1)


def test_a_guesser_until_correct_is_right_in_a_third_of_its_first_answers():
    record = run(UntilCorrect(), "random", 3000, seed=1)
    assert (record["outcome"] == "correct").all()  # which says nothing
    first = (record["first_outcome"] == "correct").mean()
    assert abs(first - 1 / 3) < 0.04  # 4.6 standard errors
    assert abs(record["answers"].mean() - 3) < 0.2


# ---------------------------------------------------------------------- mistakes


def test_an_answer_without_a_slot_is_an_error_and_not_dropped():
    class NoSlot(Maze):
        def new_trial(self, trial):
            super().new_trial(trial)
            trial.layout.slots.clear()

    with pytest.raises(
        TaskDefinitionError, match=r"now\.answer\(\), and its trials have no answer"
    ):
        run(NoSlot(), "oracle", 2, seed=1)


def test_an_answer_in_a_trial_that_does_not_ask_is_an_error():
    class Half(Maze):
        def new_trial(self, trial):
            super().new_trial(trial)
            trial.layout.slots[0].span.where = trial["side"] == 0

    with pytest.raises(TaskDefinitionError, match="in trials that do not have it"):
        run(Half(), "oracle", 20, seed=1)


def test_a_reported_slot_needs_a_hook_that_reports():
    class NoHook(Maze):
        step_action = None

    with pytest.raises(TrialLayoutError, match="reported=True, but the task has no step_action"):
        NoHook()


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        (
            {"choice": 2},
            TaskDefinitionError,
            r"indices of the choices of the slot 'go', from 0 to 1",
        ),
        ({"choice": 0.5}, TaskDefinitionError, r"choice= of type float64"),
        ({"choice": np.zeros(5, int)}, TaskDefinitionError, r"choice= .* shape \(5,\)"),
        ({"where": 1}, TaskDefinitionError, r"where= of type int64"),
        ({"outcome": 9}, TaskDefinitionError, "Expected values of Outcome"),
        ({"slot": "come"}, UnknownNameError, "'come'"),
    ],
)
def test_wrong_reports_are_errors_that_name_the_call(given, error, says):
    class Wrong(Maze):
        def report(self, now, there, right):
            now.answer(**{"where": there | True, "choice": 0, **given})

    with pytest.raises(error, match=says) as raised:
        run(Wrong(), "oracle", 2, seed=1, num_envs=2)
    assert "now.answer()" in str(raised.value)


@pytest.mark.parametrize(
    ("returned", "says"),
    [
        (lambda n: (np.full(n, np.nan), None), r"returned reward with nan .* finite numbers"),
        (lambda n: (np.full(n, np.inf), None), r"returned reward with inf"),
        (
            lambda n: (None, np.full(n, 0.5)),
            r"returned goto with 0\.5 .* whole numbers from -2 to 2",
        ),
        (lambda n: (None, 3), r"returned goto with 3 .* now\.number_of"),
        (lambda n: (None, np.full((n, 2), -1)), r"returned goto of shape \(\d, 2\)"),
        (lambda n: (None, "run"), r"returned goto with 'run'"),
        (lambda n: (0.0, None, np.ones(n, int)), r"returned a tuple of 3.*now\.answer"),
    ],
)
@pytest.mark.parametrize("n", [1, 3])
def test_what_step_action_returns_is_checked(returned, says, n):
    class Wrong(Maze):
        def step_action(self, now, action):
            return returned(now.n)

    with pytest.raises(TaskDefinitionError, match=says) as raised:
        run(Wrong(), "oracle", n, seed=1, num_envs=n)
    assert str(raised.value).startswith("Wrong.step_action returned")
    assert str(raised.value).count(". ") >= 2  # given, expected, remedy


@pytest.mark.parametrize("hook", ["step_target", "step_observation"])
def test_numbers_of_the_other_hooks_are_checked_too(hook):
    values = {"step_target": 1.5, "step_observation": np.nan}

    class Wrong(Maze):
        pass

    setattr(Wrong, hook, lambda self, now, *obs: np.full((now.n, 2)[: 1 + len(obs)], values[hook]))
    with pytest.raises(NeurogymError, match=rf"Wrong\.{hook} returned an array with (1\.5|nan)"):
        run(Wrong(), "oracle", 2, seed=1)
