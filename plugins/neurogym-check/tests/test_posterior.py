"""The observer that knows how trials are made: it reaches known ideals, and sees no answers."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_check import posterior_performance

from neurogym_core import Choice, NotSupportedError, Task, Uniform, make_task


class Lights(Task):
    """Report which of two lights is brighter, in noise of SD `sigma` per step."""

    sigma: float = 1.0
    shown: bool = True
    timing = {"light": 100, "answer": 100}

    def define(self) -> None:
        self.observe(light=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("light", "answer")
        value = np.eye(2)[trial["side"]] * self.shown
        trial.show("light", value, during="light", noise=self.sigma * 10)
        trial.answer("choose", trial["side"], during="answer")


class Told(Lights):
    """The light stays for as long as the side says."""

    def new_trial(self, trial):
        trial.periods("light", "answer", light=np.where(trial["side"], 300, 100))
        trial.show("light", [1, 1], during="light")
        trial.answer("choose", trial["side"], during="answer")


class Hurried(Lights):
    """The reward falls with time, so that the last step is not the best one to answer on."""

    def new_trial(self, trial):
        trial.periods("light", "answer")
        trial.show("light", np.eye(2)[trial["side"]], during="light")
        for start, pay in ((0, 1.0), (50, 0.5)):
            trial.answer(
                "choose", trial["side"], during="answer", start=start, stop=start + 50,
                slot="choose", correct=pay,
            )  # fmt: skip


class Changing(Lights):
    """One window, in which the right answer changes: the observer has to answer within it."""

    timing = {"light": 100, "first": 100, "second": 100}

    def new_trial(self, trial):
        trial.periods("light", "first", "second")
        trial.show("light", np.eye(2)[trial["side"]], during="light")
        trial.answer("choose", 0, during="first", slot="choose")
        trial.answer("choose", 1, during="second", slot="choose")


class Masks(Lights):
    """Two of three answers are right, of which one always is; nothing shows the other."""

    def define(self) -> None:
        self.observe(light=1)
        self.act(rest=1, choose=3)
        self.vary(side=Choice(2))

    def new_trial(self, trial):
        trial.periods("light", "answer")
        trial.show("light", 1, during="light")
        right = np.array([[True, True, False], [False, True, True]])[trial["side"]]
        trial.answer("choose", right, during="answer")


class Longer(Lights):
    """Two intervals without a visible boundary; the longer one is the answer."""

    timing = {"light": Uniform(100, 500), "dark": Uniform(100, 500), "answer": 100}

    def define(self) -> None:
        self.observe(light=1)
        self.act(rest=1, choose=2)

    def new_trial(self, trial):
        trial.periods("light", "dark", "answer")
        trial.show("light", 1, during="answer")
        first = trial.duration("light") > trial.duration("dark")
        trial.answer("choose", first.astype(int), during="answer")


class Joint(Lights):
    """The second period is as long as the first if the light is on the left."""

    timing = {"light": Uniform(100, 500), "dark": Uniform(100, 500), "answer": 100}

    def new_trial(self, trial):
        other = np.random.default_rng(0).uniform(100, 500, trial.n)
        trial.periods(
            "light", "dark", "answer",
            dark=lambda: np.where(trial["side"] == 0, trial.duration("light"), other),
        )  # fmt: skip
        trial.show("light", [1, 0], during="light")
        trial.show("light", [0, 1], during="answer")
        trial.answer("choose", trial["side"], during="answer")


class Hidden(Lights):
    """Nothing shows the moment at which the window opens."""

    timing = {"light": 100, "wait": Uniform(0, 2000), "answer": 100}

    def new_trial(self, trial):
        trial.periods("light", "wait", "answer")
        trial.show("light", np.eye(2)[trial["side"]], during="light")
        trial.answer("choose", trial["side"], during="answer")


class Weak(Lights):
    """A difference that is small, without noise."""

    def new_trial(self, trial):
        trial.periods("light", "answer")
        trial.show("light", 1e-5 * np.eye(2)[trial["side"]], during="light")
        trial.answer("choose", trial["side"], during="answer")


class Pulses(Lights):
    """The sign of the sum of 25 pulses in noise: no few hundred other trials have all of them."""

    timing = {"light": 500, "answer": 100}

    def define(self) -> None:
        self.observe(light=1)
        self.act(rest=1, choose=2)
        self.vary(code=Choice(2**25))

    def new_trial(self, trial):
        pulses = 2 * (trial["code"][:, None] >> np.arange(25) & 1) - 1
        trial.periods("light", "answer")
        trial.timecourse("light", pulses[:, :, None], during="light")
        trial.show("light", 0, during="light", noise=5)
        trial.answer("choose", (pulses.sum(axis=1) > 0).astype(int), during="answer")


class Many(Lights):
    """The majority of twelve lights, which a few hundred other trials do not have all."""

    def define(self) -> None:
        self.observe(light=12)
        self.act(rest=1, choose=2)
        self.vary(code=Choice(4096))

    def new_trial(self, trial):
        trial.periods("light", "answer")
        lights = trial["code"][:, None] >> np.arange(12) & 1
        trial.show("light", lights, during="light")
        side = (lights.sum(axis=1) > 6).astype(int)
        trial.answer("choose", side, during="answer")


def sum_is_right(d):
    """Return the probability that the larger of two sums is right; d = difference in SDs."""
    from statistics import NormalDist

    return NormalDist().cdf(d)


@pytest.mark.parametrize("sigma", [0.5, 1.0, 2.0])
def test_it_reaches_the_ideal_that_can_be_computed(sigma):
    """4 standard errors: false alarms in 6 of 100,000 seeds, for each of 3; the seed is fixed."""
    n, task = 1500, Lights(sigma=sigma, dt=20)
    steps = 5
    sd = sigma * 10 / np.sqrt(20)  # per step
    ideal = sum_is_right(steps / np.sqrt(2 * steps) / sd)
    found = posterior_performance(task, n, seed=1, hypotheses=100).mean()
    assert found == pytest.approx(ideal, abs=4 * np.sqrt(ideal * (1 - ideal) / n))


def test_it_is_the_integrator_where_that_is_ideal():
    """4 standard errors of 1,500 trials: false alarms in 6 of 100,000 seeds; the seed is fixed."""
    task = make_task("perceptual/PerceptualDecisionMaking-v0")
    found = posterior_performance(task, 1500, hypotheses=300).mean()
    assert found == pytest.approx(0.805, abs=4 * np.sqrt(0.16 / 1500))


def test_without_noise_it_makes_no_error():
    assert posterior_performance(Lights(sigma=0, dt=20), 200, hypotheses=50).mean() == 1


def test_without_a_stimulus_it_guesses():
    """4 standard errors of 1,000 trials; the seed is fixed. It would be 1 if it saw the target."""
    found = posterior_performance(Lights(shown=False, dt=20), 1000, hypotheses=200).mean()
    assert found == pytest.approx(0.5, abs=0.065)


def test_any_of_several_right_answers_is_right():
    """Choice 1 is right in all trials; the target alone is right in half of them."""
    assert posterior_performance(Masks(dt=20), 300, hypotheses=100).mean() == 1


def test_a_small_difference_without_noise_is_seen():
    assert posterior_performance(Weak(dt=20), 200, hypotheses=50).mean() == 1


@pytest.mark.parametrize(("task", "n"), [(Many, 200), (Pulses, 1000)])
def test_it_says_that_too_few_trials_are_like_those_that_it_sees(task, n):
    """Determined by the seed."""
    with pytest.raises(NotSupportedError, match=r"Give more hypotheses"):
        posterior_performance(task(dt=20), n, hypotheses=200)


@pytest.mark.parametrize(
    ("task", "why"),
    [
        (lambda: Told(dt=20), "its durations follow from its conditions"),
        (lambda: make_task("timing/IntervalDiscrimination-v0"), "its durations follow"),
        (lambda: Hurried(dt=10), "depends on its moment"),
        (lambda: Longer(dt=20), "answers do not follow from its conditions"),
        (lambda: Joint(dt=20), "its durations follow"),
        (lambda: Hidden(dt=20), "nothing shows when a window opens"),
        (lambda: Changing(dt=20), "changes within a window"),
        (lambda: make_task("cognition/TaskSwitching-v0"), "depends on its moment"),
        (lambda: make_task("memory/NBack-v1"), "follow from earlier ones"),
        (lambda: make_task("value/ProbabilisticReversal-v1"), "depend on the subject"),
        (lambda: make_task("motor/ReachingDelayResponse-v0"), "continuous"),
        (lambda: make_task("perceptual/PostDecisionWager-v0"), "have prices"),
    ],
)
def test_it_does_not_play_tasks_whose_answers_it_would_be_told_or_cannot_give(task, why):
    with pytest.raises(NotSupportedError, match=why):
        posterior_performance(task(), 100)
