"""Measure frames and films: ``.venv/bin/python -m benchmarks.frames``.

It prints the CPU time of one frame of every installed task in a trial, beside one
frame of Gymnasium's CartPole-v1 in the same rounds (needs pygame), and the time of a film of one
session of perceptual/PerceptualDecisionMaking-v0 (needs imageio-ffmpeg).
"""

from __future__ import annotations

import importlib.util
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import gymnasium
from neurogym_plot import frames_of, save_film

from neurogym_core import Task, make, make_task
from neurogym_core.players import resolve
from neurogym_core.tools import installed

FRAMES, ROUNDS = 10, 5
DOTS = "perceptual/PerceptualDecisionMaking-v0"


def main() -> None:
    """Print the table."""
    cartpole = None
    if importlib.util.find_spec("pygame") is not None:
        cartpole = gymnasium.make("CartPole-v1", render_mode="rgb_array")
        cartpole.reset(seed=0)
        cartpole.render()
    rows = []
    for offer in installed().tasks:
        if offer.usable and issubclass(resolve(offer.id), Task):
            env: Any = make(offer.id, render_mode="rgb_array", seed=0)
            _play_half(env)
            env.render()  # texts are drawn once
            times, ratios = [], []
            for _ in range(ROUNDS):
                times.append(_milliseconds(env))
                if cartpole is not None:
                    ratios.append(times[-1] / _milliseconds(cartpole))
            rows.append((median(times), median(ratios) if ratios else float("nan"), offer.id))
    rows.sort(reverse=True)
    own = next(row for row in rows if row[2] == DOTS)
    print(f"{len(rows)} tasks; CPU time of a frame, and its ratio to one of CartPole-v1")
    for label, row in (("slowest", rows[0]), ("median", rows[len(rows) // 2]), ("dots", own)):
        print(f"  {label:8} {row[0]:6.2f} ms  {row[1]:5.1f}x  {row[2]}")
    print(f"  {sum(row[0] < 10 for row in rows)} of {len(rows)} tasks are below 10 ms")
    if importlib.util.find_spec("imageio_ffmpeg") is not None:
        _film()


def _play_half(env: Any) -> None:
    """Play ten correct steps, or until a trial ends."""
    _, info = env.reset(seed=0)
    for _ in range(10):
        _, _, _, _, info = env.step(env.unwrapped.target)
        if info["new_trial"]:
            return


def _milliseconds(env: Any) -> float:
    begin = time.process_time()
    for _ in range(FRAMES):
        env.render()
    return (time.process_time() - begin) / FRAMES * 1e3


def _film() -> None:
    trials = make_task(DOTS).trials_per_session
    with tempfile.TemporaryDirectory() as folder:
        wall, cpu = time.perf_counter(), time.process_time()
        save_film(frames_of(DOTS, "late_oracle", trials), Path(folder) / "session.mp4")
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"  film of a session of {trials} trials: {wall:.1f} s, of which {cpu:.1f} s of CPU here")


if __name__ == "__main__":
    main()
