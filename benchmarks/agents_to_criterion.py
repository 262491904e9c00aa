"""Time to a criterion of `--algo jax-ppo` beside `--algo recurrent-ppo`, with several seeds.

    python -m benchmarks.agents_to_criterion [--seeds 5] [--criterion 0.8] [--only NAME]
        [--python NAME=PATH] [--option NAME:KEY=VALUE]

Both learn the same task: random dots with NeuroGym's noise (sigma 1) and twice its strength, 11
steps a trial. Settings are the defaults, except that rollouts of jax-ppo have 32 steps instead of
64, since trials are short; the defaults of recurrent-ppo were chosen on this task, among others
(docs/agent-results.md). Tests have the same 500 trials for a seed, about every 5,000
steps of a network; the criterion is the mean performance of a test, in which a trial with a broken
hold counts 0. jax-ppo trains all seeds at once, and its worst network has to meet the criterion;
recurrent-ppo trains one seed after another.

Every training is a new process, whose seconds are counted from its start: with imports, compilation
and tests. jax-ppo is timed twice: the second time, its programs are in JAX's compilation cache
(`JAX_COMPILATION_CACHE_DIR`), as for a user who has trained on the task before. Seconds are CPU
seconds of all threads, which count on a shared machine, and wall seconds.

``--python recurrent-ppo=PATH`` runs an agent in another environment, for example one without JAX.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from importlib.metadata import version
from itertools import pairwise
from typing import Any

from neurogym_core import make_task

TASK = "perceptual/PerceptualDecisionMaking-v0"
PARAMETERS = {
    "coherences": (0, 12.8, 25.6, 51.2, 102.4),
    "sigma": 1.0,
    "timing": {"fixation": 300, "stimulus": 500, "delay": 0, "decision": 300},
}
STEPS = 300_000
"""Steps of a network after which a training without success stops."""
TEST_EVERY = 5_000
AGENTS: Mapping[str, Mapping[str, Any]] = {"jax-ppo": {"n_steps": 32}, "recurrent-ppo": {}}
"""The agents, and their settings that are not the defaults."""


def train(algo: str, criterion: float, options: Mapping[str, Any]) -> dict[str, Any]:
    """Train in this process, and return its results as plain values."""
    from neurogym_training import Experiment  # only in the process of a training, where it is timed

    options = {"test_every": TEST_EVERY, **options}
    trainer = Experiment(
        tasks=({"task": TASK},), kind="algo", trainer=algo, amount=STEPS, seed=options.pop("seed"),
        parameters=PARAMETERS, options=options,
    ).make_trainer()  # fmt: skip
    ready = time.process_time()
    why = trainer.train(STEPS, criterion=criterion)
    # The first interval between tests contains the compilation.
    cpu = [row["cpu"] for row in trainer.curve]
    intervals = [after - before for before, after in pairwise(cpu)]
    return {
        "met": why == "criterion", "steps": trainer.done, "ready": ready,
        "first": intervals[0] if intervals else 0.0, "later": intervals[1:],
        "cpu": time.process_time(),
    }  # fmt: skip


def timed(python: str, algo: str, criterion: float, options: Mapping[str, Any], cache: str) -> Any:
    """Return the results of a training in a new process, and its wall seconds."""
    began = time.perf_counter()
    text = json.dumps([algo, criterion, options])
    # By default, JAX keeps programs only whose compilation took over a second.
    kept = {
        "JAX_COMPILATION_CACHE_DIR": cache,
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.1",
    }
    command = [python, "-m", "benchmarks.agents_to_criterion", "--process", text]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **kept})
    if done.returncode:
        sys.exit(f"The training with {algo} failed:\n{done.stderr}")
    return {**json.loads(done.stdout.splitlines()[-1]), "wall": time.perf_counter() - began}


def shown(name: str, runs: list[Any], seeds: int) -> float:
    """Print a row, and return the CPU seconds of all seeds."""
    cpu, wall = (sum(run[unit] for run in runs) for unit in ("cpu", "wall"))
    steps = " ".join(f"{run['steps']:,}" + ("" if run["met"] else " (not met)") for run in runs)
    print(f"{name:<34}{cpu:8.1f}{cpu / seeds:10.1f}{wall:8.1f}   {steps}", flush=True)
    return float(cpu)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--criterion", type=float, default=0.8)
    parser.add_argument("--only", choices=AGENTS)
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--option", action="append", default=[], metavar="NAME:KEY=VALUE")
    parser.add_argument("--process", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.process is not None:
        algo, criterion, options = json.loads(given.process)
        print(json.dumps(train(algo, criterion, options)))
        return
    pythons = dict(one.split("=", 1) for one in given.python)
    options = {name: dict(own) for name, own in AGENTS.items()}
    for one in given.option:
        name, setting = one.split(":", 1)
        key, value = setting.split("=", 1)
        options[name][key] = json.loads(value)
    print(
        f"{make_task(TASK, **PARAMETERS)}\n{os.cpu_count()} CPU cores, {platform.machine()},"
        f" Python {platform.python_version()}, numpy {version('numpy')}"
    )
    print(f"{f'to {given.criterion:.0%}, {given.seeds} seeds':<34}"
          f"{'CPU s':>8}{'a seed':>10}{'wall s':>8}   steps of each training")  # fmt: skip
    totals: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as cache:
        for name in AGENTS if given.only is None else (given.only,):
            python, own = pythons.get(name, sys.executable), options[name]
            if name == "jax-ppo":
                for kind in ("compiled anew", "from the cache"):
                    together = {"seed": 0, "seeds": given.seeds, **own}
                    run = timed(python, name, given.criterion, together, cache)
                    totals[kind] = shown(f"jax-ppo, {kind}", [run], given.seeds)
                    if run["later"]:
                        # Without imports and compilation: every interval costs as a later one.
                        mean = sum(run["later"]) / len(run["later"])
                        alone = mean * (len(run["later"]) + 1)
                        print(f"{'  training and tests alone':<34}{alone:8.1f}")
            else:
                runs = []
                for seed in range(given.seeds):
                    runs.append(timed(python, name, given.criterion, {"seed": seed, **own}, cache))
                totals[name] = shown(name, runs, given.seeds)
                alone = sum(run["cpu"] - run["ready"] for run in runs)
                print(f"{'  training and tests alone':<34}{alone:8.1f}")
    for kind in ("compiled anew", "from the cache"):
        if kind in totals and "recurrent-ppo" in totals:
            ratio = totals["recurrent-ppo"] / totals[kind]
            print(f"recurrent-ppo takes {ratio:.1f} times the CPU time of jax-ppo, {kind}")


if __name__ == "__main__":
    main()
