"""The order of events: the step that is scored, the end of a session, and the next step."""

from __future__ import annotations

import numpy as np
import pytest

from neurogym_core import Choice, Task, TaskEnv, TaskVectorEnv, make, make_vec, run


class Cue(Task):
    """Three steps of a cue for one of two sides, then two steps to answer."""

    timing = {"cue": 300, "answer": 200}
    rewards = {"abort": -0.1, "correct": 1.0, "error": -0.5, "miss": -0.25}

    def define(self):
        self.observe(cue=2, go=1)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("cue", "answer")
        trial.show("cue", trial["side"][:, None] == (0, 1), during="cue")
        trial.show("go", 1, during="answer")
        trial.answer("choose", trial["side"], during="answer")


class Forever(Cue):
    trials_per_session: int | None = None


class Once(Cue):
    trials_per_session: int | None = 1


def test_a_step_scores_the_observation_it_was_chosen_on():
    env = make(Cue, info="full")
    obs, info = env.reset(seed=0)
    assert info == {"period": "cue"}
    for _ in range(20):
        right = 1 + env.unwrapped.conditions["side"]
        expected = [([0, 0, 0], "cue")] * 3 + [([right, 0, 0], "answer")]
        for step, ((target, *_), period) in enumerate(expected):
            assert env.unwrapped.period == period
            assert env.unwrapped.target == target
            assert obs.tolist() == ([right == 1, right == 2, 0] if step < 3 else [0, 0, 1])
            obs, reward, terminated, truncated, info = env.step(target)
            assert (info["gt"], info["period"]) == (target, period)
            assert (reward, info["new_trial"]) == ((1.0, True) if step == 3 else (0.0, False))
            assert not terminated
            if truncated:
                obs, _ = env.reset()


def test_the_record_is_of_the_trial_that_ended_and_the_observation_of_the_next():
    env = make(Cue, conditions={"side": 0})
    env.reset(seed=0, options={"conditions": {"side": np.array([0, 1])}})
    for action in (0, 0, 0, 1):
        obs, _, _, _, info = env.step(action)
    assert info["new_trial"]
    assert dict(info["trial"]) == {
        "trial": 0,
        "env": 0,
        "session": 0,
        "side": 0,
        "choice": 0,
        "outcome": "correct",
        "reaction_time": 100.0,
        "performance": 1.0,
        "reward": 1.0,
        "aborts": 0,
        "steps": 4,
        "duration.cue": 300.0,
        "duration.answer": 200.0,
    }
    assert obs.tolist() == [0, 1, 0]
    assert env.unwrapped.conditions == {"side": 1}
    assert env.unwrapped.period == "cue"


def test_abort_error_and_miss_have_their_rewards_and_outcomes():
    env = make(Cue, conditions={"side": 0})
    env.reset(seed=0)
    rewards = [env.step(action)[1] for action in (2, 0, 1, 0)]
    _, reward, _, _, info = env.step(0)
    assert [*rewards, reward] == [-0.1, 0.0, -0.1, 0.0, -0.25]
    record = info["trial"]
    assert (record["outcome"], record["aborts"], record["choice"], record["steps"]) == (
        "miss",
        2,
        -1,
        5,
    )
    assert "reaction_time" not in record
    assert record["reward"] == pytest.approx(-0.45)
    for action in (0, 0, 0, 0, 2):
        info = env.step(action)[4]
    assert (info["trial"]["outcome"], info["trial"]["reaction_time"], info["trial"]["reward"]) == (
        "error",
        200.0,
        -0.5,
    )
    ending = make(Cue, abort_ends_trial=True)
    ending.reset(seed=0)
    _, reward, _, _, info = ending.step(1)
    assert (reward, info["new_trial"], info["trial"]["outcome"], info["trial"]["steps"]) == (
        -0.1,
        True,
        "abort",
        1,
    )


def test_costs_of_a_step_scale_with_dt_and_those_of_an_answer_do_not():
    slow, fast = make(Cue, conditions={"side": 0}), make(Cue, dt=50, conditions={"side": 0})
    for env, abort in ((slow, -0.1), (fast, -0.05)):
        env.reset(seed=0)
        assert env.step(1)[1] == pytest.approx(abort)
        while env.unwrapped.period == "cue":
            env.step(0)
        assert env.step(2)[1] == -0.5


# ---------------------------------------------------------------------- sessions


@pytest.mark.parametrize("trials", [1, 3])
def test_a_session_ends_after_its_trials(trials):
    env = make(Cue, trials_per_session=trials)
    env.reset(seed=0)
    ended = 0
    for _ in range(100):
        _, _, terminated, truncated, info = env.step(0)
        ended += info["new_trial"]
        over = info["new_trial"] and ended % trials == 0
        assert (terminated, truncated) == ((over, False) if trials == 1 else (False, over))
        if over:
            assert info["trial"]["session"] == ended // trials - 1
            env.reset()
    assert ended == 20


def test_a_session_without_end_goes_on():
    env = make(Forever)
    env.reset(seed=0)
    for _ in range(2000):
        _, _, terminated, truncated, _ = env.step(0)
        assert not terminated
        assert not truncated


def test_the_step_after_a_session_is_idle():
    """NextStep: this step has no reward and no record, and does not delay the other envs."""
    env = make_vec(Once, 2, conditions={"side": 0})
    env.reset(seed=0)
    env.step([0, 1])
    for _ in range(2):
        env.step([0, 0])
    _, reward, terminated, _, info = env.step([1, 0])
    assert terminated.tolist() == [True, False]
    assert reward.tolist() == [1.0, 0.0]
    assert info["trial"]["aborts"][0] == 0
    obs, reward, terminated, _, info = env.step([2, 2])
    assert reward.tolist() == [0.0, -0.5]
    assert terminated.tolist() == [False, True]
    assert info["new_trial"].tolist() == [False, True]
    assert obs[0].tolist() == [1, 0, 0]
    assert env.period.tolist() == ["cue", "cue"]
    for _ in range(4):
        _, _, _, _, info = env.step([0, 0])
    _, _, terminated, _, info = env.step([0, 0])
    assert terminated.tolist() == [True, False]
    record = info["trial"]
    assert (record["aborts"][0], record["steps"][0], record["reward"][0], record["trial"][0]) == (
        0,
        5,
        -0.25,
        1,
    )
    assert info["_trial"].tolist() == [True, False]


def test_same_step_puts_ended_sessions_under_final_info():
    env = make_vec(Once, 2, autoreset_mode="SameStep", conditions={"side": 0})
    env.reset(seed=0)
    for actions in ([0, 1], [0, 0], [0, 0]):
        env.step(actions)
    obs, _, terminated, _, info = env.step([1, 0])
    assert terminated.tolist() == [True, False]
    assert info["_final_info"].tolist() == [True, False]
    assert info["final_info"]["trial"]["outcome"][0] == "correct"
    assert info["final_obs"][0].tolist() == obs[0].tolist() == [1, 0, 0]
    assert info["final_obs"][1] is None
    _, reward, *_ = env.step([1, 0])
    assert reward.tolist() == [-0.1, -0.25]


def test_reset_without_a_seed_goes_on_with_the_coming_trial():
    def sides(env, reset_after):
        env.reset(seed=4)
        seen = []
        for trial in range(6):
            seen.append(env.unwrapped.conditions["side"])
            for _ in range(5):
                env.step(0)
            if trial in reset_after:
                env.reset()
        return seen

    env = make(Cue)
    assert sides(env, ()) == sides(env, (0, 1, 3)) == sides(make(Cue), (4,))


def test_a_reset_in_the_middle_gives_the_trial_up():
    env = make(Cue)
    env.reset(seed=4, options={"conditions": {"side": np.array([0, 1, 0, 1])}})
    env.step(1)
    env.step(0)
    env.reset()
    assert env.unwrapped.conditions == {"side": 1}
    assert env.unwrapped.period == "cue"
    for _ in range(5):
        info = env.step(0)[4]
    record = info["trial"]
    assert (record["aborts"], record["steps"], record["trial"], record["session"]) == (0, 5, 1, 1)


# ---------------------------------------------------------------------- imposing


def test_conditions_of_reset_hold_for_the_session_until_a_seed_is_given():
    env = make(Cue)
    env.reset(seed=0, options={"conditions": {"side": 1, "duration.cue": 100}})
    for _ in range(10):
        assert env.unwrapped.conditions == {"side": 1}
        for _ in range(3):
            info = env.step(0)[4]
        assert info["trial"]["duration.cue"] == 100.0
    env.reset(seed=0)
    sides = set()
    for _ in range(20):
        sides.add(env.unwrapped.conditions["side"])
        for _ in range(5):
            info = env.step(0)[4]
        assert info["trial"]["duration.cue"] == 300.0
    assert sides == {0, 1}


def test_values_are_imposed_in_turn():
    env = make(Cue)
    env.reset(seed=0, options={"conditions": {"side": [0, 1, 1]}})
    seen = []
    for _ in range(9):
        seen.append(env.unwrapped.conditions["side"])
        for _ in range(5):
            env.step(0)
    assert seen == [0, 1, 1] * 3
    vector = make_vec(Cue, 3)
    vector.reset(seed=0, options={"conditions": {"side": [0, 1, 1]}})
    assert vector.conditions["side"].tolist() == [0, 1, 1]


class Remembering(Cue):
    """A cue in sessions with state."""

    trials_per_session = None

    def new_session(self, session, rng):
        session.begun = np.ones(len(session))


class Following(Remembering):
    """A cue in sessions that depend on outcomes."""

    reads_outcomes = True


@pytest.mark.parametrize("task", [Remembering, Following])
@pytest.mark.parametrize("values", [[0, 1], [0, 1, 1], [0, 0, 1, 1]])
def test_each_env_of_a_task_with_sessions_gets_all_imposed_values(task, values):
    """Also where the number of envs is a multiple of that of values, and equally often."""
    record = run(task, "rest", 96, num_envs=4, seed=0, conditions={"side": values})
    shares = [record["side"][record["env"] == env].mean() for env in range(4)]
    np.testing.assert_allclose(shares, np.mean(values), atol=0.1)
    assert record["side"].mean() == pytest.approx(np.mean(values))
    alone = run(task, "rest", 12, num_envs=1, seed=0, conditions={"side": values})
    assert alone["side"].tolist() == (values * 12)[:12]


def test_a_design_is_played_once_before_it_begins_again():
    design = Remembering().factorial(8)["side"]
    record = run(Remembering, "rest", len(design), num_envs=4, conditions={"side": design})
    assert sorted(record["side"].tolist()) == sorted(design.tolist())


def test_trials_drawn_ahead_are_discarded_when_conditions_are_imposed():
    env = TaskVectorEnv(Cue(), 4)
    env.reset(seed=0)
    for _ in range(7):
        env.step(np.zeros(4, int))
    env.reset(options={"conditions": {"side": 1}})
    for _ in range(60):
        assert env.conditions["side"].tolist() == [1] * 4
        env.step(np.zeros(4, int))


def test_both_envs_describe_the_current_observation():
    single, vector = TaskEnv(Cue()), TaskVectorEnv(Cue(), 1, autoreset_mode="SameStep")
    single.reset(seed=1)
    vector.reset(seed=1)
    waits = []
    for _ in range(25):
        assert single.target == vector.target[0]
        assert single.period == vector.period[0]
        assert single.conditions["side"] == vector.conditions["side"][0]
        assert single.can_wait == vector.can_wait[0]
        waits.append((vector.is_asked[0], vector.can_wait[0]))
        single.step(0)
        vector.step(np.array([0]))
    assert waits[:5] == [(False, False)] * 3 + [(True, True), (True, False)]


@pytest.mark.parametrize("given", [0, np.int64(0), np.array(0), np.array([0])])
def test_actions_may_be_numpy_numbers(given):
    env = make(Cue)
    env.reset(seed=0)
    _, reward, *_ = env.step(given)
    assert reward == 0.0
