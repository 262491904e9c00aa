"""Play every task class of NeuroGym's files for the same steps, there or here.

test_neurogyms_files.py runs this file as ``python play.py there|here FOLDER OUT``. The top imports
only the standard library and NumPy, because NeuroGym's environment has nothing of this project.

Intended differences are removed: both sides draw from the same kind of generator with the same
seed, and durations with separate generators draw from the env instead.
"""

from __future__ import annotations

import ast
import importlib
import pickle
import sys
import traceback
import warnings
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np

STEPS = 2000
SETTINGS = {
    "AnnubesEnv": {
        "session": {("v",): 0.5, ("a",): 0.3, ("a", "v"): 0.2},
        "catch_prob": 0.2,
        "random_seed": 1,
    },
    # With its own dt, 8.3 ms, its clock there sums 8.3 until rounding ends trials a step early.
    "SpatialSuppressMotion": {"dt": 8.0},
}
"""Parameters of classes that need them, or differ without them."""


class Same(np.random.RandomState):
    """The generator of both sides; without a seed it is not random."""

    def __init__(self, seed=None):
        super().__init__(0 if seed is None else seed)


def drawn_from(env, spec):
    """Return a duration of `env.timing` that draws from the generator of the env."""
    if hasattr(spec, "vmin"):
        return lambda: env.rng.uniform(spec.vmin, spec.vmax)
    if isinstance(spec, list | tuple) and not isinstance(spec[0], str):
        return lambda: env.rng.choice(spec)
    if isinstance(spec, list | tuple) and spec[0] in ("uniform", "choice"):
        return lambda: getattr(env.rng, spec[0])(*spec[1:])
    return spec


def played(env, task):
    """Return the results of `STEPS` steps: mostly waiting, the last target, or any action."""
    rows, target = [], 0
    chance = np.random.RandomState(1)
    for _ in range(STEPS):
        observation, reward, terminated, _, info = env.step(chosen(task, chance, target))
        given = np.array(info["gt"], dtype=float).reshape(-1) if "gt" in info else None
        target = 0 if given is None else given[0]
        rows.append(
            {
                "observation": np.array(observation, dtype=np.float32).reshape(-1),
                "reward": float(reward),
                "terminated": bool(terminated),
                "new_trial": bool(info["new_trial"]),
                "target": given,
                "performance": float(info.get("performance", 0)),
                "trial": dict(task.trial or {}),
            }
        )
    return rows


def chosen(task, chance, target):
    """Return an action, from the same random numbers on both sides."""
    space, kind, random = task.action_space, chance.rand(), chance.rand(16)
    if not hasattr(space, "n"):
        low, high = np.maximum(space.low, -1), np.minimum(space.high, 1)
        return (low + random[: space.shape[0]] * (high - low)).astype(space.dtype)
    if kind < 0.5:
        return 0
    return int(target if kind < 0.8 and 0 <= target < space.n else random[0] * space.n)


def opened(file, name):
    """Return the env, and its task."""
    settings = SETTINGS.get(name, {})
    if SIDE == "there":
        module = importlib.import_module(f"neurogym.envs.{file.parent.name}.{file.stem}")
        env = task = getattr(module, name)(**settings)
    else:
        from neurogym_core import make

        env = make(f"{file}:{name}", **settings)
        task = env.unwrapped
        task.trials_per_session = None
    task.timing.update({period: drawn_from(task, spec) for period, spec in task.timing.items()})
    env.reset(options={"no_step": True})
    return env, task


def play_all(folder):
    """Return {class: rows, or the text of the error}."""
    results = {}
    for file in sorted(folder.glob("*/*.py")):
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                try:
                    results[node.name] = played(*opened(file, node.name))
                except Exception:
                    results[node.name] = traceback.format_exc()
    return results


def one_generator():
    """Make both sides draw the same numbers."""
    if SIDE == "there":
        np.random.RandomState = Same
        return
    from neurogym_classic.trial import ClassicTrial

    def seed_generator(self, seed):
        self._play.rng = Same(seed)

    ClassicTrial._seed_generator = seed_generator


if __name__ == "__main__":
    SIDE, folder, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    warnings.simplefilter("ignore")
    # NeuroGym's monitor imports torch, which is not installed.
    sys.modules["torch"] = MagicMock()
    one_generator()
    out.write_bytes(pickle.dumps(play_all(folder)))
