"""Memory does not grow with the number of steps, nor with the infos of ended trials."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from neurogym_core import Choice, Session, Task, TaskEnv, TaskVectorEnv, Uniform, run

pytestmark = pytest.mark.usefixtures("kernel")
MB = 1e6


class Wide(Task):
    """Many channels, and a condition with another value in every trial: no two are alike."""

    timing = {"stimulus": 3000, "choice": 100}

    def define(self):
        self.observe(dots=40)
        self.act(rest=1, go=2)
        self.vary(level=Uniform(0, 1), side=Choice(2))

    def new_trial(self, trial):
        trial.periods("stimulus", "choice")
        trial.show("dots", trial["level"][:, None], during="stimulus", noise=1.0)
        trial.answer("go", trial["side"], during="choice")


class Short(Wide):
    """A trial is a step."""

    timing = {"stimulus": 0, "choice": 100}

    def define(self):
        super().define()
        self.observe(dots=2)


class Uneven(Task):
    """Trials depend on the session; acting ends them at once, resting lets them last."""

    abort_ends_trial: bool = True
    timing = {"wait": 2000, "choice": 100}

    def define(self):
        self.observe(cue=1)
        self.act(rest=1, go=2)
        self.vary(level=Uniform(0, 1))

    def new_session(self, session: Session, rng):
        session.level = rng.random(len(session))

    def draw(self, session, rng):
        session.level = (session.level + rng.random(len(session))) % 1
        return {"level": session.level}

    def draw_ahead(self, session, rng, trials):
        levels = (session.level + np.cumsum(rng.random((trials, len(session))), axis=0)) % 1
        session.level = levels[-1]
        return {"level": levels}

    def new_trial(self, trial):
        trial.periods("wait", "choice")
        trial.show("cue", trial["level"], during="wait", noise=1.0)
        trial.answer("go", 0, during="choice")


def used_by(work: Callable[[], object]) -> tuple[float, float]:
    """Return the memory in use after some work, and the peak during it, MB."""
    gc.collect()
    tracemalloc.start()
    try:
        kept = work()
        gc.collect()
        held, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    del kept
    return held / MB, most / MB


def test_a_hundred_thousand_trials_of_continuous_conditions_leave_nothing_behind():
    env = TaskVectorEnv(Short(), 64)
    env.reset(seed=0)
    rng = np.random.default_rng(0)

    def play(steps: int) -> None:
        for _ in range(steps):
            env.step(rng.integers(3, size=64))

    def most(steps: int) -> float:
        """Return the peak, since blocks of 32,768 trials are drawn from time to time."""
        used = []
        for _ in range(steps // 50):
            play(50)
            used.append(tracemalloc.get_traced_memory()[0] / MB)
        return max(used)

    tracemalloc.start()
    try:
        play(600)
        early, late = most(600), most(1200)
    finally:
        tracemalloc.stop()
    assert env.trial_number.sum() > 100_000
    assert late < early + 2


@pytest.mark.slow
def test_sessions_of_unequal_pace_side_by_side_do_not_pile_up_trials():
    """One env acts at once, and the others rest, so that its sessions are far ahead."""
    env = TaskVectorEnv(Uneven(), 16)
    env.reset(seed=0)
    actions = np.zeros(16, np.int64)
    actions[0] = 1

    def play(steps: int) -> None:
        for _ in range(steps):
            env.step(actions)

    play(3000)
    ahead = env.trial_number
    assert ahead[0] > 10 * ahead[1]
    held, most = used_by(lambda: play(9000))
    assert held < 5
    assert most < 40


def test_the_pace_of_one_env_does_not_change_the_trials_of_the_others():
    """Blocks that one env has left are drawn again for envs that come to them."""

    def trials(fast: int) -> list:
        env = TaskVectorEnv(Uneven(), 3, autoreset_mode="SameStep")
        env.stepper.dealer.block_rows = 12
        env.reset(seed=4)
        actions = np.zeros(3, np.int64)
        actions[fast] = 1
        levels: list[list] = [[], [], []]
        for _ in range(21 * 14):
            info = env.step(actions)[4]
            for i in np.flatnonzero(info["new_trial"]):
                levels[i].append(info["trial"]["level"][i])
        return levels

    for a, b in zip(trials(0), trials(2), strict=True):
        common = min(len(a), len(b))
        assert common >= 14
        assert a[:common] == b[:common]


@pytest.mark.slow
def test_infos_that_are_kept_do_not_keep_the_observations():
    """They may take more than plain dicts, but not the 5 kB of the observations of a trial."""
    n = 2000

    def infos(keep: Callable) -> list:
        env, kept = TaskEnv(Wide()), []
        env.reset(seed=0)
        while len(kept) < n:
            info = env.step(0)[4]
            if "trial" in info:
                kept.append(keep(info["trial"]))
        return kept

    plain, _ = used_by(lambda: infos(dict))
    lazy, _ = used_by(lambda: infos(lambda trial: trial))
    assert lazy < plain + 5


def test_run_keeps_the_record_and_not_the_trials():
    """The observations of 4,000 trials take 20 MB."""
    run(Wide(), "oracle", 100, seed=0)
    _, few = used_by(lambda: run(Wide(), "oracle", 4000, seed=0))
    _, many = used_by(lambda: run(Wide(), "oracle", 8000, seed=0))
    assert many < few + 6
