"""An env that several threads use at once refuses all but one, and counts every trial once."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

from neurogym_core import Choice, Task, Uniform, make, make_vec

STEPS, THREADS = 200, 4


class Sides(Task):
    """Short trials, so that most steps of many envs deal."""

    timing = {"go": Uniform(100, 300)}
    trials_per_session = 3

    def define(self):
        self.observe(x=1)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("go")
        trial.show("x", trial["side"] + 1, during="go", noise=1.0)
        trial.answer("choose", trial["side"], during="go")


class Outcomes(Sides):
    """Every trial is drawn by Python code, in which threads change."""

    reads_outcomes = True

    def new_session(self, session, rng):
        pass

    def draw(self, session, rng):
        return self.draw_conditions(rng, len(session))


class Hooked(Sides):
    """A hook runs on every step."""

    trial_state = {"acts": 0}

    def step_action(self, now, action):
        now.trial_state["acts"] = now.trial_state["acts"] + 1
        return np.zeros(now.n), None


class Watched(Sides):
    """A hook with which a test runs something else in the middle of a step."""

    meanwhile: list = []  # shared by all tasks

    def step_observation(self, now, seen):
        if self.meanwhile:
            self.meanwhile.pop()()
        return seen


@pytest.fixture
def many_switches():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("many_switches", "kernel")
@pytest.mark.parametrize("task", [Sides, Outcomes, Hooked])
@pytest.mark.parametrize("n", [None, 1, 64, 300])
def test_threads_that_share_an_env_get_an_error_that_says_so(task, n):
    env = make(task) if n is None else make_vec(task, n)
    env.reset(seed=0)
    actions = 1 if n is None else np.ones(n, np.int64)
    ended, refused, others = [0] * THREADS, [0] * THREADS, []
    start = threading.Barrier(THREADS)

    def play(thread):
        start.wait()
        for step in range(STEPS if n != 300 else STEPS // 8):
            try:
                if step % 100 == 50 and thread == 0 and n is not None:
                    env.reset(seed=step)
                    ended[:] = [0] * THREADS
                ended[thread] += int(np.sum(env.step(actions)[4]["new_trial"]))
            except RuntimeError as error:
                if "used from two threads at once; give each its own env" not in str(error):
                    others.append(error)
                refused[thread] += 1
            except Exception as error:
                others.append(error)

    threads = [threading.Thread(target=play, args=(k,)) for k in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not others
    # In the compiled kernel threads change within a step only where it runs Python code.
    if task is Outcomes:
        assert sum(refused)
    if n is None:
        assert sum(ended) == env.unwrapped.stepper.state("number").sum()
    env.step(actions)  # and now that they are done, it goes on


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("n", [None, 2])
def test_nothing_is_played_by_another_thread_while_a_hook_runs(n):
    env = make(Watched) if n is None else make_vec(Watched, n)
    env.reset(seed=0)
    kernel, action = env.unwrapped.stepper.kernel, 0 if n is None else np.zeros(n, np.int64)
    calls = {
        "step": lambda: env.step(action), "reset": env.reset, "stop": lambda: kernel.stop([0]),
        "begin_next": lambda: kernel.begin_next([0]),
    }  # fmt: skip
    refused = []

    def one(name):
        try:
            calls[name]()
        except RuntimeError as error:
            assert "used from two threads at once" in str(error)  # noqa: PT017
            refused.append(name)

    def others():
        for name in calls:
            thread = threading.Thread(target=one, args=(name,))
            thread.start()
            thread.join()

    Watched.meanwhile.append(others)
    env.step(action)
    assert refused == list(calls)
