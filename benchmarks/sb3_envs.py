"""Steps per second of ``make_vec_env(id, 16)`` of Stable-Baselines3, beside NeuroGym 2.3.1.

``python -m benchmarks.sb3_envs`` prints a table. Both libraries play PerceptualDecisionMaking with
their default parameters, each in a separate process; the two sides of a round run directly after
one another, and CPU times do not count other programs. ``--peer PYTHON`` names the Python of an
environment with NeuroGym 2.3.1 and Stable-Baselines3; without it, `.venv-peer` is made, and
Stable-Baselines3 installed into it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from statistics import median

from benchmarks.peer_venv import make_peer

ENVS, STEPS, ROUNDS = 16, 1500, 5
"""Number of envs, steps of each in a measurement, and measurements of each side."""
TASKS = {
    "core": ("neurogym_core", "neurogym_core.gym:perceptual/PerceptualDecisionMaking-v0"),
    "peer": ("neurogym", "PerceptualDecisionMaking-v0"),
}
CODE = """
import importlib, json, sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
library, task, envs, steps = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
importlib.import_module(library)
from stable_baselines3.common.env_util import make_vec_env
env = make_vec_env(task, envs)
env.reset()
actions = np.random.default_rng(0).integers(0, 3, (steps, envs))
for line in sys.stdin:
    began = time.process_time()
    for action in actions:
        env.step(action)
    print(json.dumps(steps * envs / (time.process_time() - began)), flush=True)
"""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="make_vec_env of Stable-Baselines3, both sides")
    parser.add_argument("--peer", help="Python with NeuroGym 2.3.1 and Stable-Baselines3")
    peer = parser.parse_args().peer
    if peer is None:
        peer = str(make_peer())
        install = [peer, "-m", "pip", "install", "--quiet", "stable-baselines3==2.9.2"]
        subprocess.run(install, check=True)
    pythons = {"core": sys.executable, "peer": peer}
    sides = {
        side: subprocess.Popen(
            [pythons[side], "-c", CODE, *TASKS[side], str(ENVS), str(STEPS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for side in TASKS
    }
    rates: dict[str, list[float]] = {side: [] for side in TASKS}
    for _ in range(ROUNDS + 1):  # the first is a warm-up
        for side, process in sides.items():
            process.stdin.write("go\n")
            process.stdin.flush()
            rates[side].append(json.loads(process.stdout.readline()))
    for process in sides.values():
        process.stdin.close()
        process.wait()
    rates = {side: values[1:] for side, values in rates.items()}
    ratios = [ours / theirs for ours, theirs in zip(*rates.values(), strict=True)]
    print("| core, steps/s | NeuroGym 2.3.1, steps/s | ratio of a round: median (range) |")
    print("|---|---|---|")
    ours, theirs = (f"{median(values):,.0f}" for values in rates.values())
    print(f"| {ours} | {theirs} | {median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) |")


if __name__ == "__main__":
    main()
