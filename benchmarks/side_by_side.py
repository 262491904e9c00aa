"""Time of a training alone, and beside another one on the same machine.

``python -m benchmarks.side_by_side`` prints a table: threads, and the wall-clock time and CPU time
per update. The limit is 1.3 times the time of one on two free cores. On a loaded machine the CPU
time is the better measure: threads that wait for each other burn it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from statistics import mean

TASK, UPDATES = "perceptual/PerceptualDecisionMaking-v0", 100
CODE = """
import json, sys, time
import torch
from neurogym_torch.trainers import GRUTrainer
from neurogym_training.training import limited

threads, updates = int(sys.argv[1]), int(sys.argv[2])
trainer = GRUTrainer({task!r}, threads=threads)
with limited(trainer.threads) as used:
    for _ in range(5):
        trainer.update()
    print("ready", flush=True)
    sys.stdin.readline()
    began, before = time.perf_counter(), time.process_time()
    for _ in range(updates):
        trainer.update()
    wall, cpu = time.perf_counter() - began, time.process_time() - before
print(json.dumps([used, wall / updates * 1e3, cpu / updates * 1e3]))
"""


def measured(processes: int, threads: int) -> tuple[int, float, float]:
    """Return the number of threads, and wall-clock and CPU time per update, ms."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", CODE.format(task=TASK), str(threads), str(UPDATES)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(processes)
    ]
    for process in started:
        process.stdout.readline()
    for process in started:  # all begin together
        process.stdin.write("go\n")
        process.stdin.flush()
    found = [json.loads(process.communicate()[0]) for process in started]
    return found[0][0], mean(one[1] for one in found), mean(one[2] for one in found)


def main() -> None:
    """Print the table."""
    print("| setting | trainings | threads each | ms per update | CPU ms per update |")
    print("|---|---|---|---|---|")
    for name, threads in (("default", 0), ("`--threads 2`", 2)):
        for processes in (1, 2):
            used, wall, cpu = measured(processes, threads)
            print(f"| {name} | {processes} | {used} | {wall:.1f} | {cpu:.1f} |", flush=True)


if __name__ == "__main__":
    main()
