"""A function, a trainer without torch, and ``ngym`` in a new folder."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import sites

STUDY = '''
"""Functions of the tests."""

import os
import signal
import time
from pathlib import Path


def tiny(seed, rate=1.0, name="a"):
    """Fails for the seed 13."""
    if seed == 13:
        raise ValueError("thirteen")
    return {"accuracy": seed * rate, "n": 1}


def several(seed):
    return [{"updates": 10 * step, "accuracy": step + seed} for step in range(3)]


def wrong(seed):
    return {"accuracy": [1, 2]}


def slow(seed, folder, seconds=0.3):
    """Writes a line per call into a file beside the sweep."""
    with open(folder.parents[2] / "calls.txt", "a") as file:
        file.write(f"{seed}\\n")
    time.sleep(seconds)
    return {"accuracy": seed / 10}


def deadly(seed):
    """Kills its process for the seed 2."""
    if seed == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.02)
    return {"accuracy": float(seed)}


def full(seed, folder):
    """Finds the disk full, as long as there is a file `full` beside the sweep."""
    if seed > 1 and (folder.parents[2] / "full").exists():
        raise OSError(28, "No space left on device")
    return {"accuracy": float(seed)}


def with_experiment(experiment, seed, gain=1.0):
    return {"accuracy": gain * experiment.make_task().dt}
'''

TRAINER = '''
"""Learns nothing, and writes a checkpoint."""

import json
import time

import numpy as np

from neurogym_core import NotSupportedError
from neurogym_training import Trainer


class Rest:
    def begin(self, env):
        pass

    def __call__(self, env, observations):
        return np.zeros(env.num_envs, int)


class Toy(Trainer):
    def __init__(self, tasks, *, seed=0, hidden: int = 8, pause: float = 0.0, batch: int = 4):
        super().__init__(tasks, seed=seed)
        self.hidden, self.pause, self.batch = hidden, pause, batch
        self.rng = np.random.default_rng(seed)
        if type(self.tasks[0]).__name__ == "PulseDecisionMaking":
            raise NotSupportedError("PulseDecisionMaking cannot be learned.")

    def _learn(self, until, watch):
        while self.done < until:
            time.sleep(self.pause)
            self.done += 1
            if self.done % 5 == 0 and watch.point(
                self.play(4, seed=1), noise=self.rng.random() * self.hidden
            ):
                return

    def subject(self, which=0):
        return Rest()

    def save(self, folder):
        state = {"done": self.done, "curve": self.curve, "rng": self.rng.bit_generator.state}
        (folder / "toy.tmp").write_text(json.dumps(state))
        (folder / "toy.tmp").replace(folder / "toy.json")

    def load(self, folder):
        state = json.loads((folder / "toy.json").read_text())
        self.done, self.curve = state["done"], state["curve"]
        self.rng.bit_generator.state = state["rng"]
'''

EXPERIMENT = """
schema = 1
task = "perceptual/PerceptualDecisionMaking-v0"

[parameters]
dt = 50

[train]
model = "toy"
updates = 20
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Work in a new folder with study.py; return the folder."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "study.py").write_text(STUDY, "utf-8")
    (folder / "experiment.toml").write_text(EXPERIMENT, "utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")
    return folder


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """Install the trainer "toy", also for processes that this one starts."""
    yield from sites.installed_trainers(tmp_path, monkeypatch, TRAINER, {"toy": "Toy"})


@pytest.fixture
def ngym(study):
    """Return a function that runs ``ngym`` in the folder `study`; it returns code and output."""
    return sites.called


class Started:
    """A process of ``ngym``, whose output goes into a file: its workers may outlive it."""

    def __init__(self, folder, words):
        self.output = tempfile.TemporaryFile("w+", dir=folder.parent)  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, "-m", "neurogym_core", *map(str, words)],
            cwd=folder,
            stdout=self.output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def kill(self):
        self.process.kill()
        self.process.wait()

    def said(self):
        """Wait for the end, and return the output."""
        self.process.wait(timeout=120)
        self.output.seek(0)
        return self.output.read()

    def end(self):
        """End the process and its workers."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.output.close()


@pytest.fixture
def start(study):
    """Return a function that starts ``ngym`` as a process; all are ended after the test."""
    started = []

    def begin(*words):
        started.append(Started(study, words))
        return started[-1]

    yield begin
    for process in started:
        process.end()


@pytest.fixture
def wait_for():
    """Return a function that waits until a condition holds."""

    def wait(condition, seconds=60.0):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "it did not happen in time"
            time.sleep(0.02)

    return wait


VARIABLE = ("run_seconds", "started", "host", "seconds", "cpu")


@pytest.fixture
def table():
    """Return a function that reads the table of a sweep, without its times."""

    def read(folder="sweep"):
        rows = pq.read_table(Path(folder) / "table.parquet").to_pylist()
        return [
            {name: value for name, value in row.items() if name not in VARIABLE} for row in rows
        ]

    return read
