"""Sessions are the same in every form of env; methods of subclasses of the envs are called."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from neurogym_core import Choice, Task, TaskEnv, TaskVectorEnv, Uniform, run

pytestmark = pytest.mark.usefixtures("kernel")


class Hooked(Task):
    """Shows and pays numbers that the hook draws."""

    timing = {"a": 200, "b": 300}
    trial_state = {"drawn": 0.0, "calls": 0}
    trials_per_session: int | None = 2

    def define(self):
        self.observe(x=3)
        self.act(rest=1, go=2)
        self.vary(side=Choice(2))

    def new_trial(self, trial):
        trial.periods("a", "b")
        trial.hold(during="a", cost=0)
        trial.answer("go", trial["side"], during="b")
        trial.max_reward(1.0)

    def step_action(self, now, action):
        now.trial_state["drawn"] = now.trial_state["drawn"] + now.rng.random(now.n)
        now.trial_state["calls"] = now.trial_state["calls"] + 1
        return now.trial_state["drawn"] * 0.1, None

    def step_observation(self, now, obs):
        obs[:, 0], obs[:, 1], obs[:, 2] = (
            now.trial_state["drawn"],
            now.elapsed,
            now.trial_state["calls"],
        )
        return obs


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_the_step_that_is_ignored_calls_no_hook_and_draws_no_number(mode):
    single, vector = TaskEnv(Hooked()), TaskVectorEnv(Hooked(), 1, autoreset_mode=mode)
    seen, wide = single.reset(seed=1)[0], vector.reset(seed=1)[0]
    rng, sessions = np.random.default_rng(0), 0
    while sessions < 8:
        np.testing.assert_array_equal(seen, wide[0])
        action = int(rng.integers(3))
        seen, reward, _, over, _ = single.step(action)
        wide, rewards, _, overs, _ = vector.step(np.array([action]))
        assert (reward, over) == (rewards[0], overs[0])
        if over:
            sessions += 1
            seen = single.reset()[0]
            if mode == "NextStep":
                wide = vector.step(np.array([0]))[0]


def test_equal_seeds_give_hooks_equal_numbers():
    envs = [TaskEnv(Hooked()), TaskEnv(Hooked(), seed=3)]
    envs[1].step(1)
    said = []
    for env in envs:
        for _ in range(2):
            said.append([env.reset(seed=5)[0].tolist(), *(env.step(0)[1] for _ in range(4))])
    assert said[1:] == said[:-1]


class Following(Task):
    """Records the history on the first trial of each session."""

    reads_outcomes = True
    trials_per_session: int | None = 2
    timing = {"go": 100}

    def define(self):
        self.observe(x=1)
        self.act(rest=1, go=2)
        self.vary(side=Choice(2), known=Uniform(-9, 99))

    def draw(self, session, rng):
        previous, n = session.previous, len(session)
        whole = {"side", "choice", "outcome", "reward", "performance"} <= previous.keys()
        side = previous.get("side", np.zeros(n, int))
        blank = (side == 0) & (previous["choice"] == -1)
        for name in ("outcome", "reward", "performance"):
            blank &= previous[name] == 0
        seen = side * 10.0 + previous["choice"]
        known = np.where(session.trial == 0, np.where(blank, -2, 50 + seen), seen if whole else 99)
        return {"side": np.ones(n, int), "known": known}

    def new_trial(self, trial):
        trial.periods("go")
        trial.show("x", trial["known"], during="go")
        trial.answer("go", trial["side"], during="go")


@pytest.mark.parametrize(
    "begun", ["by itself", "by reset", "by reset in mid-session", "by conditions"]
)
def test_the_history_is_blank_when_a_session_begins(begun):
    """The history has conditions, choice, outcome, reward and performance, or none of them."""
    env = TaskEnv(Following())
    seen = [env.reset(seed=1)[0].item()]
    for trial in range(6):
        now, *_, over, _ = env.step(2)
        if over and begun == "by conditions":
            now = env.reset(options={"conditions": {}})[0]
        elif (over and begun != "by itself") or (begun == "by reset in mid-session" and trial == 2):
            now = env.reset()[0]
        seen.append(now.item())
    # The side was 1 and the choice 1, which makes 11; -2 stands for no history.
    expected = (
        [-2, 11, -2, 11, -2, 11, -2]
        if begun != "by reset in mid-session"
        else [-2, 11, -2, -2, 11, -2, 11]
    )
    assert seen == expected


class Reading(Following):
    """Records whether the history was complete on the first trial."""

    def define(self):
        super().define()
        self.vary(word=Choice(("go", "stop")), place=lambda rng, prior: rng.random((prior.n, 2)))

    def draw(self, session, rng):
        previous, n = session.previous, len(session)
        blank = [
            previous["word"] == "",
            (previous["place"] == 0).all(axis=1),
            ~(previous["side"] != 0),
        ]
        assert not session.trial.any() or not np.any(blank)
        return self.draw_conditions(
            rng, n, {"side": np.ones(n, int), "known": np.sum(blank, axis=0)}
        )

    def new_trial(self, trial):
        super().new_trial(trial)
        trial.record(first_word=trial["word"], sum=trial["place"].sum(axis=1))


@pytest.mark.parametrize("n", [1, 3])
def test_on_the_first_trial_of_a_subject_the_conditions_of_the_last_one_are_there_and_blank(n):
    record = run(Reading(), "oracle", 2 * n, num_envs=n, seed=1)
    assert record["known"].tolist() == [3, 0] * n


@pytest.mark.parametrize("n", [1, 3])
def test_the_history_is_blank_in_vector_envs_too(n):
    """Also if only some envs begin a session."""

    class Uneven(Following):
        timing = {"go": 200}

    env = TaskVectorEnv(Uneven(), n, autoreset_mode="SameStep")
    now, rng, seen = env.reset(seed=1)[0], np.random.default_rng(0), set()
    for _ in range(60):
        begins = env.stepper.state("left") == 2
        assert (now[begins, 0] == -2).all()
        assert ((now[~begins, 0] == 11) | (now[~begins, 0] == 10) | (now[~begins, 0] == 9)).all()
        seen |= {int(begins.sum())}
        now = env.step(rng.integers(0, 3, n))[0]
    assert seen == ({0, 1} if n == 1 else {0, 1, 2, 3})


class Plain(Following):
    """The same without session state."""

    reads_outcomes = False
    draw = Task.draw


@pytest.mark.parametrize("vector", [False, True])
@pytest.mark.parametrize("task", [Plain, Following])
def test_a_reset_with_conditions_goes_on_counting_trials_and_sessions(task, vector):
    env: Any = TaskVectorEnv(task(), 1, autoreset_mode="SameStep") if vector else TaskEnv(task())
    env.reset(seed=1)
    numbers = []
    for _ in range(3):
        for _ in range(2):
            info = env.step(np.array([1]) if vector else 1)[4]
            numbers.append(
                (
                    int(np.ravel(info["trial"]["trial"])[0]),
                    int(np.ravel(info["trial"]["session"])[0]),
                )
            )
        env.reset(options={"conditions": {"side": 1}})
    assert numbers == [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2), (5, 2)]
    env.reset(seed=1)
    info = env.step(np.array([1]) if vector else 1)[4]
    assert int(np.ravel(info["trial"]["trial"])[0]) == 0


# ---------------------------------------------------------------------- subclasses, copies


class Doubled(TaskEnv):
    """Pays twice."""

    def step(self, action):
        seen, reward, *rest = super().step(action)
        return seen, 2 * reward, *rest


class DoubledVector(TaskVectorEnv):
    """Pays twice."""

    def step(self, actions):
        seen, reward, *rest = super().step(actions)
        return seen, 2 * reward, *rest


@pytest.mark.parametrize("task", [Plain, Hooked])
@pytest.mark.parametrize(
    "copied", [lambda env: env, copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))]
)
def test_a_subclass_that_overrides_step_is_obeyed(task, copied):
    pairs = [
        (TaskEnv(task()), copied(Doubled(task())), 1),
        (TaskVectorEnv(task(), 2), copied(DoubledVector(task(), 2)), np.ones(2, int)),
    ]
    for plain, doubled, action in pairs:
        plain.reset(seed=1), doubled.reset(seed=1)
        paid = np.array(
            [[np.sum(env.step(action)[1]) for env in (plain, doubled)] for _ in range(6)]
        )
        assert paid.any()
        np.testing.assert_array_equal(paid[:, 1], 2 * paid[:, 0])


def test_a_copy_in_mid_session_still_reports_the_trial_that_ended():
    env = TaskEnv(Following())
    env.reset(seed=1)
    info = env.step(2)[4]
    for twin in (copy.deepcopy((env, info)), pickle.loads(pickle.dumps((env, info)))):
        assert dict(twin[1]["trial"]) == dict(info["trial"])
        assert twin[0].step(1)[0] == copy.deepcopy(env).step(1)[0]


def test_an_observation_that_was_edited_does_not_come_back_with_reset():
    env = TaskEnv(Following(trials_per_session=1))
    env.reset(seed=1)
    seen = env.step(1)[0]
    before = seen.copy()
    seen -= 5
    np.testing.assert_array_equal(env.reset()[0], before)


class Silent(Task):
    """Without noise; acting during the first period restarts it."""

    timing = {"wait": 300, "go": 100}

    def define(self):
        self.observe(x=2)
        self.act(rest=1, go=1)

    def new_trial(self, trial):
        trial.periods("wait", "go")
        trial.show("x", [1, 2], during="wait")
        trial.hold(during="wait", then="restart")
        trial.answer("go", 0, during="go")


def test_a_restart_shows_the_original_observations_after_the_caller_changed_them():
    env = TaskEnv(Silent())
    seen = [env.reset(seed=1)[0]]
    for action in (0, 1, 0, 1, 0, 0, 0):
        before = seen[-1].copy()
        np.testing.assert_array_equal(before, [1, 2] if env.period == "wait" else [0, 0])
        seen[-1] -= 5
        seen.append(env.step(action)[0])
