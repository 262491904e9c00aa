"""Learning subjects, on tasks so small that the correct values are known."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_likeness import DiffusionObserver, Hybrid, QLearner, WinStayLoseShift

from neurogym_core import (
    Axis,
    Choice,
    InvalidValueError,
    NotSupportedError,
    Task,
    TaskVectorEnv,
    UnknownNameError,
    run,
)
from neurogym_core.players import player_of
from neurogym_core.tools import brought


class Corridor(Task):
    """Two steps: choice 1 of the first leads to a room where choice 0 pays 1; all else pays 0."""

    supervised = False
    timing = {"hall": 100, "room": 100, "cellar": 100}

    def define(self):
        self.observe(place=3)
        self.act(go=2)

    def new_trial(self, trial):
        trial.periods("hall", "room", "cellar", then={"room": "end"})
        for k, place in enumerate(("hall", "room", "cellar")):
            trial.show("place", np.eye(3)[k], during=place)
        trial.offer("go", 0, during="hall", slot="hall", worth=(0, 1), then=("cellar", "room"))
        trial.offer("go", (1, 0), during="room", slot="room")
        trial.offer("go", 0, during="cellar", slot="cellar")


class Looking(Task):
    """Two units, one of which shows more than the other, and an answer at any time."""

    noise: float = 1.0
    timing = {"stimulus": 3000}
    evidence_periods = ("stimulus",)

    def define(self):
        self.observe(stimulus=2)
        self.act(wait=1, choose=2)
        self.vary(side=Choice(2), strength=Choice((0.0, 0.05, 0.1, 0.2)))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("stimulus")
        sign = np.where(trial["side"][:, None] == np.arange(2), 1, -1)
        trial.show(
            "stimulus",
            0.5 + sign * trial["strength"][:, None] / 2,
            during="stimulus",
            noise=self.noise,
        )
        trial.answer("choose", trial["side"], during="stimulus")


@pytest.mark.parametrize("subject", [QLearner, Hybrid])
def test_learners_learn_where_the_corridor_leads(subject):
    record = run(
        Corridor(), subject(seed=1, beta=10.0, perseveration=0.0), 20 * 100, num_envs=20, seed=2
    )
    assert record["reward"][record["trial"] < 3].mean() < 0.6
    assert record["reward"][record["trial"] >= 60].mean() > 0.95


def test_without_a_trace_the_value_moves_back_one_step_a_trial():
    """With random choices, the reward teaches the room's value, and that teaches the hall's."""
    subject = QLearner(seed=3, alpha=1.0, beta=0.0, trace=0.0)
    env = TaskVectorEnv(Corridor(), 1, autoreset_mode="SameStep")
    obs, _ = env.reset(seed=4)
    subject.begin(env)
    rooms = []
    for _ in range(200):
        action = subject(env, obs)
        rooms.append(
            (obs[0].argmax(), action[0], subject.values[0].copy(), subject.state_of(np.eye(3)[0]))
        )
        obs, *_ = env.step(action)
    paid = next(k for k, (place, action, *_) in enumerate(rooms) if (place, action) == (1, 0))
    values, hall = rooms[paid + 1][2:]
    assert values[subject.state_of(np.eye(3)[1])].tolist() == [1, 0]
    assert values[hall].tolist() == [0, 0]
    assert any(values[hall].tolist() == [0, 1] for _, _, values, _ in rooms[paid:])


def test_a_full_trace_reinforces_the_first_choice_by_the_outcome():
    subject = QLearner(seed=5, alpha=0.5, beta=0.0, trace=1.0)
    env = TaskVectorEnv(Corridor(), 1, autoreset_mode="SameStep")
    obs, _ = env.reset(seed=6)
    subject.begin(env)
    place, action = -1, -1
    while (place, action) != (1, 0):
        place, action = obs[0].argmax(), int(subject(env, obs)[0])
        obs, *_ = env.step([action])
    subject(env, obs)  # sees the reward only now
    assert subject.values[0, subject.state_of(np.eye(3)[0])].tolist() == [0, 0.5]
    assert subject.values[0, subject.state_of(np.eye(3)[1])].tolist() == [0.5, 0]


def test_a_planner_uses_the_value_of_a_room_at_once():
    """The room has a value, but no reward has followed the choice in the hall.

    Only the planner prefers that choice.
    """
    env = TaskVectorEnv(Corridor(), 1, autoreset_mode="SameStep")
    hall, room, _ = np.eye(3, dtype=np.float32)
    obs, _ = env.reset(seed=7)
    subject = Hybrid(seed=8, weight=1.0)
    subject.begin(env)
    subject(env, obs)
    subject._states(np.stack([hall, room]))
    subject.led[0, subject.state_of(hall), 1, subject.state_of(room)] = 1
    subject.values[0, subject.state_of(room)] = [1, 0]
    np.testing.assert_array_equal(subject.worth(np.array([subject.state_of(hall)])), [[0, 1]])
    subject.weight = 0.25
    np.testing.assert_array_equal(subject.worth(np.array([subject.state_of(hall)])), [[0, 0.25]])


def test_the_env_has_the_reward_of_the_last_step():
    env = TaskVectorEnv(Corridor(), 2, autoreset_mode="SameStep")
    env.reset(seed=1)
    assert env.last_reward.tolist() == [0, 0]
    env.step([1, 0])
    _, rewards, *_ = env.step([0, 0])
    assert env.last_reward.tolist() == rewards.tolist() == [1, 0]
    env.last_reward[:] = 7  # a copy
    assert env.last_reward.tolist() == [1, 0]
    env.reset()
    assert env.last_reward.tolist() == [0, 0]


@pytest.mark.parametrize("name", ["q_learner", "hybrid", "win_stay_lose_shift"])
def test_the_same_seed_makes_the_same_choices(name):
    one, other = (run(Corridor(), name, 60, num_envs=3, seed=9) for _ in range(2))
    np.testing.assert_array_equal(one["hall.choice"], other["hall.choice"])
    different = run(Corridor(), player_of(name, seed=77), 60, num_envs=3, seed=9)
    assert (one["hall.choice"] != different["hall.choice"]).any()


def test_a_subject_can_begin_again_in_another_env():
    subject = QLearner(seed=10)
    run(Corridor(), subject, 20, num_envs=4, seed=11)
    run(Corridor(), subject, 20, num_envs=2, seed=11)
    assert len(subject.values) == 2


@pytest.mark.parametrize("subject", [QLearner, Hybrid])
def test_learners_refuse_noise_and_continuous_actions(subject):
    class Pointing(Looking):
        def define(self):
            self.observe(stimulus=2)
            self.act(point=Axis(-1, 1, trigger=0.5))
            self.vary(side=Choice(2), strength=Choice((0.0, 1.0)))

        def new_trial(self, trial):
            trial.periods("stimulus")
            trial.show("stimulus", trial["strength"][:, None], during="stimulus")
            trial.answer("point", trial["side"], during="stimulus", tolerance=0.1)

    with pytest.raises(NotSupportedError, match="noise"):
        run(Looking(), subject(), 2)
    with pytest.raises(NotSupportedError, match="continuous"):
        run(Pointing(), subject(), 2)
    with pytest.raises(NotSupportedError, match="group"):
        run(Pointing(), WinStayLoseShift(), 2)


# ---- diffusion ----


def looked(trials=4000, **settings):
    return run(
        Looking(dt=5),
        DiffusionObserver(seed=12, non_decision=0.0, **settings),
        trials,
        num_envs=500,
        seed=13,
    )


def test_diffusion_is_as_accurate_and_as_fast_as_the_closed_form():
    """In steps of 5 ms the bound is overshot by about 0.58 SDs of a step, 0.58 sqrt(2 * 5).

    Source: Siegmund (1985).
    """
    record, bound = looked(), 40.0 + 0.58 * np.sqrt(10)
    for c in (0.05, 0.1, 0.2):
        trials = record["strength"] == c
        share, mean = 1 / (1 + np.exp(-c * bound)), bound / c * np.tanh(c * bound / 2)
        n = trials.sum()
        right, time = (record["outcome"] == "correct")[trials], record["reaction_time"][trials]
        assert right.mean() == pytest.approx(
            share, abs=5 * np.sqrt(share * (1 - share) / n) + 0.005
        )
        assert time.mean() == pytest.approx(mean, abs=5 * time.std() / np.sqrt(n) + 0.04 * mean)


def test_a_higher_bound_is_slower_and_more_accurate():
    quick, careful = looked(1000, bound=10.0), looked(1000, bound=50.0)
    weak = [one["strength"] == 0.05 for one in (quick, careful)]
    assert quick["reaction_time"][weak[0]].mean() < 0.5 * careful["reaction_time"][weak[1]].mean()
    assert (quick["outcome"] == "correct")[weak[0]].mean() + 0.1 < (
        careful["outcome"] == "correct"
    )[weak[1]].mean()


def test_the_non_decision_time_is_added():
    task = Looking(dt=10, noise=0.0, conditions={"strength": 0.2})
    times = [
        run(task, DiffusionObserver(bound=20.0, non_decision=ms), 5, seed=14)["reaction_time"]
        for ms in (0, 200)
    ]
    assert set(times[0]) == {100}  # 20 = 0.2 * 100 ms
    assert set(times[1]) == {300}


def test_if_time_runs_out_it_answers_on_the_last_step():
    record = run(Looking(conditions={"strength": 0.1}), DiffusionObserver(bound=1e6), 400, seed=15)
    assert set(record["reaction_time"]) == {3000}
    # d' = 0.1 * 3000 / sqrt(2 * 3000): 99.99 % correct.
    assert (record["outcome"] == "correct").mean() > 0.98


@pytest.mark.parametrize(
    ("subject", "wrong"),
    [
        (QLearner, {"alpha": 1.5}),
        (QLearner, {"beta": -1.0}),
        (Hybrid, {"weight": 2.0}),
        (DiffusionObserver, {"bound": 0.0}),
        (DiffusionObserver, {"non_decision": -1.0}),
    ],
)
def test_invalid_parameters_are_refused(subject, wrong):
    with pytest.raises(InvalidValueError):
        subject(**wrong)


def test_the_observer_refuses_tasks_without_its_evidence():
    with pytest.raises(NotSupportedError, match="rest"):
        run(Corridor(), DiffusionObserver(channel="place"), 2)


# ---------------------------------------------------------------------- named and with settings


def test_learners_carry_state_over_trials_and_the_diffusion_observer_does_not():
    names = set(brought("subjects")) - {"trained", "llm"}  # they need a run, or a model
    carried = {name for name in names if player_of(name).carries_state}
    assert carried == {"q_learner", "hybrid", "win_stay_lose_shift"}


@pytest.mark.parametrize("n_trials", [99, 100])
def test_one_learner_lives_all_trials(n_trials):
    record = run(Corridor(), "q_learner:alpha=0.3", n_trials, seed=1)
    assert not record["env"].any()
    assert record["trial"].tolist() == list(range(n_trials))


def test_a_learner_learns_as_its_settings_say():
    still = run(Corridor(), "q_learner:alpha=0", 200, seed=1)["performance"].mean()
    assert run(Corridor(), "q_learner", 200, seed=1)["performance"].mean() > still + 0.1


def test_a_diffusion_observer_without_its_channel_says_what_it_needs():
    with pytest.raises(
        UnknownNameError, match="'diffusion' needs evidence in a channel 'stimulus'"
    ):
        run(Corridor(), "diffusion", 2)


@pytest.mark.parametrize("subject", ["integrator", "diffusion"])
def test_the_channel_that_such_an_error_proposes_is_the_noisy_one(subject):
    class Flash(Looking):
        def define(self):
            self.observe(fixation=1, cues=4, light=2)
            self.act(wait=1, choose=2)
            self.vary(side=Choice(2))
            self.correct_choice("side")

        def new_trial(self, trial):
            trial.periods("stimulus")
            trial.show("fixation", 1, during="stimulus")
            trial.show("cues", 1, during="stimulus")
            trial.show("light", np.eye(2)[trial["side"]], during="stimulus", noise=self.noise)
            trial.answer("choose", trial["side"], during="stimulus")

    with pytest.raises(UnknownNameError, match=f"Name one of them: {subject}:channel=light, or"):
        run(Flash(), subject, 2)
    run(Flash(), f"{subject}:channel=light", 2)
