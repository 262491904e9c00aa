"""Fixtures: trainers without torch, a task to train on, and the command `ngym` in a new folder."""

from __future__ import annotations

import pytest
import sites

from neurogym_core.tools import trusting

TOY = '''
"""Learns nothing but to answer more often rightly with every update."""

import json

import numpy as np
from neurogym_training import Trainer

from neurogym_core import run


class Practised:
    """Plays the target with the probability `skill`, and rests else."""

    carries_state = False

    def __init__(self, skill):
        self.skill = skill

    def begin(self, env):
        self.rng = np.random.default_rng(1)
        self.able = self.rng.random(env.num_envs) < self.skill
        self.trial = env.trial_number.copy()

    def __call__(self, env, observations):
        fresh = env.trial_number != self.trial
        self.able[fresh] = self.rng.random(fresh.sum()) < self.skill
        self.trial = env.trial_number.copy()
        return np.where(self.able, env.target, 0)


class Looks(Practised):
    """Chooses the larger sum of the channel "stimulus"."""

    def begin(self, env):
        super().begin(env)
        self.sum = np.zeros((env.num_envs, 2))

    def __call__(self, env, observations):
        self.sum[env.trial_number != self.trial] = 0
        self.trial = env.trial_number.copy()
        self.sum += observations[:, env.task.channels["stimulus"]][:, :2]
        return np.where(env.is_asked, 1 + self.sum.argmax(axis=1), 0)


class Toy(Trainer):
    """Args: hidden, rate, wrap, test_every; interrupt: the update at which Ctrl-C is pressed."""

    def __init__(self, tasks, *, seed=0, hidden: int = 8, rate: float = 0.01, batch: int = 4,
                 test_every: int = 10, interrupt: int = 0):
        super().__init__(tasks, seed=seed)
        self.hidden, self.rate, self.batch = hidden, rate, batch
        self.test_every, self.interrupt = test_every, interrupt
        self.rng = np.random.default_rng(seed)
        self.skill = 0.0

    def _learn(self, until, watch):
        if not self.curve and watch.point(self.play(50, seed=3)):
            return
        while self.done < until:
            if self.done + 1 == self.interrupt and not watch.trainer.out_again:
                raise KeyboardInterrupt
            self.skill = min(self.skill + self.rate * (0.5 + self.rng.random()), 1.0)
            self.done += 1
            watch.tick(skill=self.skill)
            tests = self.done % self.test_every == 0
            if tests and watch.point(self.play(50, seed=3), skill=self.skill):
                return

    out_again = False

    def subject(self, which=0):
        return Practised(self.skill)

    def save(self, folder):
        state = {"done": self.done, "skill": self.skill, "curve": self.curve}
        state["rng"] = self.rng.bit_generator.state
        (folder / "toy.json").write_text(json.dumps(state))

    def load(self, folder):
        state = json.loads((folder / "toy.json").read_text())
        self.done, self.skill, self.curve = state["done"], state["skill"], state["curve"]
        self.rng.bit_generator.state = state["rng"]
        self.out_again = True


class Looker(Toy):
    def subject(self, which=0):
        return Looks(self.skill)


class ToyAgent(Toy):
    kind, unit = "algo", "steps"

    def __init__(self, tasks, *, wrap: tuple | None = None, **common):
        super().__init__(tasks, **common)
        self.wrap = wrap
'''

TASK = '''
"""A task of the tests."""

import numpy as np
from neurogym_core import Choice, Task


class Sides(Task):
    """Go to the side that is shown."""

    strengths: tuple[float, ...] = (0.0, 1.0)
    timing = {"fixation": 200, "decision": 300}
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self):
        self.observe(sides=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2), strength=Choice(self.strengths))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("fixation", "decision")
        sides = np.eye(2)[trial["side"]] * trial["strength"][:, None]
        trial.show("sides", sides, during="decision", noise=1.0)
        trial.answer("choose", trial["side"], during="decision")
'''


@pytest.fixture
def toys(tmp_path, monkeypatch):
    """Install the trainers "toy" and "toy-looks" (--model) and "toy-agent" (--algo)."""
    names = {
        "toy": "Toy",
        "toy-looks": "Looker",
        "toy-agent": "ToyAgent",
        "no-trainer": "json:loads",
    }
    yield from sites.installed_trainers(tmp_path, monkeypatch, TOY, names)


@pytest.fixture
def sides(tmp_path):
    """Return the name of a task in a file; runs that name it are trusted."""
    file = tmp_path / "sides_task.py"
    file.write_text(TASK, "utf-8")
    with trusting():
        yield f"{file}:Sides"


@pytest.fixture
def ngym(tmp_path, monkeypatch):
    """Return a function that runs ``ngym`` in a new folder; it returns exit code and output."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")
    return sites.called
