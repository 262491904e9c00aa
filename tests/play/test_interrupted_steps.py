"""A Ctrl-C or an exception while the next trial is drawn: no trial is played twice."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from neurogym_core import Choice, Dataset, Task, Uniform, make, make_vec
from neurogym_core.errors import TrialLayoutError

pytestmark = pytest.mark.usefixtures("kernel")

REST, LEFT = 0, 1


class Sides(Task):
    """Report a side; the trials depend on nothing."""

    timing = {"fixation": 200, "go": 200}
    fails: list = []  # an exception to raise; shared by all tasks of a test

    def define(self):
        self.observe(x=1)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("fixation", "go")
        trial.show("x", trial["side"] + 1, during="go")
        trial.answer("choose", trial["side"], during="go")

    def fail(self):
        if self.fails:
            raise self.fails.pop()


class Outcomes(Sides):
    """The trials depend on outcomes: each is drawn when the last one has ended."""

    reads_outcomes = True

    def new_session(self, session, rng):
        pass

    def draw(self, session, rng):
        self.fail()
        return self.draw_conditions(rng, len(session))


class Sessions(Outcomes):
    """The trials depend on the session: they are drawn in blocks."""

    reads_outcomes = False


class Shared(Sides):
    """The trials depend on nothing, and are built in blocks."""

    timing = {"fixation": 200, "go": Uniform(200, 300)}

    def new_trial(self, trial):
        self.fail()
        super().new_trial(trial)


@pytest.fixture(autouse=True)
def no_failure():
    Sides.fails.clear()
    yield
    Sides.fails.clear()


INTERRUPTED = "interrupted after a trial had ended.*Call reset"


def play_until_interrupted(env, action, error) -> int:
    """Play until the next trial cannot be drawn; return the number of trials that have ended."""
    ended = 0
    for step in range(200_000):
        if step == 5:
            Sides.fails.append(error)
        try:
            *_, info = env.step(action)
        except type(error):
            return ended
        ended += int(np.sum(info["new_trial"]))
    raise AssertionError("No block came to its end.")


@pytest.mark.parametrize("task", [Outcomes, Sessions, Shared])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("draw")])
@pytest.mark.parametrize("sessions", [None, 1])
def test_the_trial_that_ended_is_not_played_on(task, error, sessions):
    env = make(task, trials_per_session=sessions)
    env.reset(seed=0)
    ended = play_until_interrupted(env, LEFT, error)
    assert env.unwrapped.stepper.state("number") == [ended + 1]  # with the one that just ended
    for stuck in (env, copy.deepcopy(env)):
        for _ in range(2):
            with pytest.raises(RuntimeError, match=INTERRUPTED):
                stuck.step(REST)
        # A session of one trial has ended with its trial; the reset ends one that goes on.
        session = stuck.unwrapped.stepper.state("session").item() + (sessions is None)
        stuck.reset()
        assert stuck.unwrapped.stepper.state("clock") == [0]
        for _ in range(40):
            *_, info = stuck.step(LEFT)
            if info["new_trial"]:
                break
        assert info["trial"]["trial"] == ended + 1  # no number is missing, none occurs twice
        assert info["trial"]["session"] == session


@pytest.mark.parametrize("task", [Outcomes, Sessions, Shared])
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_neither_in_the_envs_of_a_vector_env(task, mode):
    envs = make_vec(task, 3, autoreset_mode=mode, trials_per_session=50)
    envs.reset(seed=0)
    play_until_interrupted(envs, np.array([LEFT, LEFT, REST]), KeyboardInterrupt())
    before = envs.trial_number
    with pytest.raises(RuntimeError, match=INTERRUPTED):
        envs.step(np.full(3, REST))
    np.testing.assert_array_equal(envs.trial_number, before)
    # The third env may be in the middle of a trial, which the reset abandons: its number is gone.
    under_way = envs.unwrapped.stepper._started
    envs.reset()
    np.testing.assert_array_equal(envs.trial_number, before + under_way)
    assert (envs.unwrapped.stepper.state("clock") == 0).all()
    envs.step(np.full(3, REST))
    assert (envs.unwrapped.stepper.state("clock") == 1).all()


def test_a_dataset_says_how_it_goes_on():
    dataset = Dataset(Outcomes, 2, 20, seed=1)
    Sides.fails.append(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        next(dataset)
    with pytest.raises(RuntimeError, match=r"Call reset\(\), or restart\(\) of a Dataset\."):
        next(dataset)
    dataset.restart()
    first, fresh = next(dataset), next(Dataset(Outcomes, 2, 20, seed=1))
    np.testing.assert_array_equal(first.inputs, fresh.inputs)


def test_envs_that_are_reset_by_a_mask_go_on():
    envs = make_vec(Outcomes, 2, autoreset_mode="Disabled")
    envs.reset(seed=0)
    play_until_interrupted(envs, np.array([LEFT, LEFT]), KeyboardInterrupt())
    with pytest.raises(RuntimeError, match=INTERRUPTED):
        envs.step(np.zeros(2, int))
    envs.reset()
    envs.step(np.zeros(2, int))


class RareLayout(Outcomes):
    """A layout that fails in a few trials, which are not among those that are built first."""

    def new_trial(self, trial):
        super().new_trial(trial)
        late = trial.rng.random(trial.n) < 0.02
        trial.show("x", 1, during="go", start=np.where(late, 5000, 0))


def test_a_layout_that_fails_in_the_middle_of_a_session_leaves_an_env_that_can_be_reset():
    env = make(RareLayout)
    env.reset(seed=0)
    failed = 0
    for _ in range(2000):
        try:
            env.step(REST)
        except TrialLayoutError as error:
            assert "start= of RareLayout was given 5000 ms" in str(error)  # noqa: PT017
            failed += 1
            with pytest.raises(RuntimeError, match=INTERRUPTED):
                env.step(REST)
            while env.unwrapped.stepper.state("ended").any():
                try:
                    env.reset()
                except TrialLayoutError:
                    continue
                break
    assert failed > 3


class ShortGo(Outcomes):
    """A duration may be drawn that is too short for `start=`; only its bound shows it for sure."""

    timing = {"fixation": 200, "go": Choice((300, 9000), p=(1e-6, 1 - 1e-6))}

    def new_trial(self, trial):
        super().new_trial(trial)
        trial.show("x", 1, during="go", start=300)


def test_a_layout_that_does_not_fit_to_the_shortest_duration_is_refused_when_the_task_is_made():
    with pytest.raises(TrialLayoutError, match="start= of ShortGo was given 300 ms"):
        make(ShortGo)
