"""StopSignal: the staircase, the stop signal, and the race of going and stopping."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_control.observers import StaircaseKnower
from neurogym_task_control.stop_signal import PatientStopSignal, StopSignal

from neurogym_core import Dataset, InvalidValueError, run


class Racer:
    """Goes at a random time, unless stopping, which takes 200 ms, is done before."""

    ssrt = 200

    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)

    def begin(self, env):
        self.dt = env.task.dt
        self.ms = np.zeros(env.num_envs)
        self.go = self._times(env.num_envs)
        self.stopped = np.full(env.num_envs, np.inf)

    def _times(self, n):
        return self.rng.normal(500, 80, n)

    def __call__(self, env, obs):
        fixation, left, right, stop = obs.T
        waits = fixation > 0
        self.go = np.where(waits, self._times(len(obs)), self.go)
        self.stopped[waits] = np.inf
        self.stopped = np.where((stop > 0) & np.isinf(self.stopped), self.ms + 200, self.stopped)
        self.ms = np.where(waits, 0, self.ms + self.dt)
        goes = ~waits & (self.ms >= self.go) & (self.go < self.stopped)
        return np.where(goes, 1 + (right > left), 0)


@pytest.fixture(scope="module")
def raced():
    """Ten subjects, with a session each."""
    return run(StopSignal(), Racer(), 2560, num_envs=10, seed=1)


def test_a_quarter_of_the_trials_are_stop_trials(raced):
    """4.5 standard errors: false alarms 1 in 100,000."""
    assert raced["stop"].mean() == pytest.approx(0.25, abs=4.5 * np.sqrt(0.25 * 0.75 / len(raced)))


def test_the_delay_rises_after_stopping_and_falls_after_a_response(raced):
    for subject in range(10):
        rows = raced["env"] == subject
        stop, ssd = raced["stop"][rows], raced["ssd"][rows]
        responded = raced.codes()[rows] >= 0
        assert ssd[0] == 200
        change = np.where(stop, np.where(responded, -50, 50), 0)[:-1]
        np.testing.assert_array_equal(ssd[1:], np.clip(ssd[:-1] + change, 50, 1200))


def test_the_staircase_finds_the_delay_at_which_half_of_the_stop_trials_are_stopped(raced):
    stop = raced["stop"]
    assert (raced["outcome"][stop] == "correct").mean() == pytest.approx(0.5, abs=0.05)


def test_the_integration_method_finds_the_ssrt_of_the_subject(raced):
    stop, late = raced["stop"], np.nan_to_num(raced["reaction_time"], nan=1250)
    responds = (raced.codes()[stop] >= 0).mean()
    ssrt = np.quantile(late[~stop], responds) - raced["ssd"][stop].mean()
    assert ssrt == pytest.approx(Racer.ssrt, abs=20)


def test_responses_despite_the_signal_are_faster_than_go_responses(raced):
    """The prediction of the race that the consensus guide asks to check."""
    responded = raced.codes() >= 0
    failed, go = raced["stop"] & responded, ~raced["stop"] & responded
    assert raced["reaction_time"][failed].mean() < raced["reaction_time"][go].mean() - 20


def test_delays_stay_within_their_bounds():
    always = run(StopSignal(), "oracle", 256, num_envs=1, seed=2)
    assert (always["ssd"].min(), always["ssd"].max()) == (200, 1200)

    def goes(env, obs):
        return np.where(obs[:, 0] > 0, 0, 1)

    assert run(StopSignal(), goes, 256, num_envs=1, seed=2)["ssd"].min() == 50


@pytest.mark.parametrize(
    ("stop", "acts", "outcome"),
    [(True, False, "correct"), (True, True, "error"), (False, True, "correct")],
)
def test_outcomes_of_stop_and_go_trials(stop, acts, outcome):
    record = run(
        StopSignal(),
        lambda env, obs: np.where(obs[:, 0] > 0, 0, acts * 1),
        20,
        seed=3,
        conditions={"stop": stop, "side": 0},
    )
    assert set(record["outcome"]) == {outcome}


def test_no_response_on_a_go_trial_is_a_miss():
    assert set(run(StopSignal(), "rest", 20, conditions={"stop": False})["outcome"]) == {"miss"}


@pytest.mark.parametrize("dt", [10, 50])
def test_the_signal_is_on_from_the_delay_on_in_stop_trials_only(dt):
    task = StopSignal(dt=dt)
    for stop in (True, False):
        shown = task.sample(1, seed=4, stop=stop, ssd=300.0).render(None)[:, task.channels["stop"]]
        onset = (750 + 300) // dt
        np.testing.assert_array_equal(shown[:, 0], stop * (np.arange(2000 // dt) >= onset))


def test_the_loss_has_no_weight_before_the_stop_signal():
    batch = next(Dataset(StopSignal(dt=50, conditions={"stop": True}), 1, seed=5))
    np.testing.assert_array_equal(batch.weights[0, 15:19], 0)
    assert batch.weights[0, 19:].all()
    assert batch.weights[0, :15].all()


@pytest.mark.parametrize("wrong", [{"p_stop": 2}, {"ssd_step": 0}, {"first_ssd": 20}])
def test_impossible_staircases_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="StopSignal"):
        StopSignal(**wrong)


class Presses:
    """Presses the right side at a fixed time, unless it has seen the signal."""

    carries_state = True

    def __init__(self, at: float) -> None:
        self.at = at

    def begin(self, env):
        self.ms, self.stopped = np.zeros(env.num_envs), np.zeros(env.num_envs, bool)

    def __call__(self, env, obs):
        on = obs[:, 1:3].max(axis=1) > 0.5
        self.ms = np.where(on, self.ms + env.task.dt, 0)
        self.stopped = on & (self.stopped | (obs[:, 3] > 0.5))
        goes = on & (self.ms >= self.at) & ~self.stopped
        return np.where(goes, 1 + obs[:, 1:3].argmax(axis=1), 0)


def pressed(task, at):
    """Record of a session of each of five subjects."""
    return run(task, Presses(at), 5 * 256, num_envs=5, seed=1)


@pytest.mark.parametrize(("at", "performance", "fails"), [(10, 0.75, 1), (1210, 1, 0)])
def test_without_a_price_of_time_waiting_for_the_signal_is_the_best_policy(at, performance, fails):
    """Five SEs of the proportion of stop trials are 0.061: false alarms 1 in 10**6."""
    record = pressed(PatientStopSignal(), at)
    assert record["performance"].mean() == pytest.approx(performance, abs=0.061)
    assert (record.codes()[record["stop"]] >= 0).mean() == fails


@pytest.mark.slow
def test_waiting_earns_less_than_going_as_the_docstring_says():
    """Five SEs of the proportion of stop trials are 0.061: false alarms 1 in 10**6."""
    earned = [pressed(StopSignal(), at)["performance"].mean() for at in (60, 1210)]
    assert earned == pytest.approx([0.84, 0.29], abs=0.061)
    assert run(StopSignal(), "oracle", 512, num_envs=2, seed=1)["performance"].min() == 1


def test_the_reward_of_a_press_falls_in_bins_of_50_ms():
    task = StopSignal()
    for at, reward in ((10, 1.0), (60, 0.96), (1250, 0.04)):
        record = run(task, Presses(at), 4, num_envs=1, seed=1, conditions={"stop": False})
        np.testing.assert_allclose(record["reward"], reward, atol=1e-6)
    half = run(StopSignal(price=0.5), Presses(1250), 1, seed=1, conditions={"stop": False})
    assert half["reward"][0] == pytest.approx(0.52)


def test_a_race_has_the_two_signatures_of_stopping(raced):
    """Failed stops are fast, and late signals fail: differences of 15 SEs in the race."""
    stop, responded = raced["stop"], raced.codes() >= 0
    late = raced["ssd"] > np.median(raced["ssd"][stop])
    assert responded[stop & late].mean() > responded[stop & ~late].mean() + 0.25
    failed, went = (raced["reaction_time"][rows & responded].mean() for rows in (stop, ~stop))
    assert failed < went - 20


def test_an_impossible_price_is_refused():
    with pytest.raises(InvalidValueError, match="price"):
        StopSignal(price=1.5)


@pytest.mark.slow
def test_a_subject_that_follows_the_staircase_earns_more_than_one_that_always_waits_as_long():
    """A session of each of 40 subjects; five SEs are 0.011: false alarms 1 in 10**6."""
    follows, waits = (
        run(StopSignal(), one, 40 * 256, num_envs=40, seed=1)["performance"].mean()
        for one in (StaircaseKnower(), Presses(60))
    )
    assert follows == pytest.approx(0.856, abs=0.011)
    assert waits < follows - 0.005
