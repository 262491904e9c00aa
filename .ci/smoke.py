"""Try an installed package of this project: ``python -P .ci/smoke.py NAME``.

Imports it, loads all that it offers, plays two trials of each of its tasks, and asks each of its
commands for its help. It needs nothing but the package and its requirements."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import EntryPoint, distribution
from pathlib import Path

from click.testing import CliRunner

from neurogym_core import make, run
from neurogym_core.cli import main


def play(task: str) -> None:
    """Play two trials of a task; of a plain Gymnasium env, which has no trials, one step."""
    env = make(task)
    if hasattr(env.unwrapped, "task"):
        assert len(run(task, "oracle", 2, seed=1)) == 2, task
        return
    env.reset(seed=1)
    env.step(env.action_space.sample())


def tried(point: EntryPoint) -> None:
    """Load an entry point, and use it if it is a task or a command."""
    if point.group == "neurogym.manifest":
        module, _, name = point.value.partition(":")
        assert Path(import_module(module).__file__).with_name(name).is_file(), point
        return
    point.load()
    if point.group == "neurogym.tasks":
        play(f"{point.dist.name.removeprefix('neurogym-task-')}/{point.name}")
    elif point.group == "neurogym.commands":
        result = CliRunner().invoke(main, [point.name, "--help"], prog_name="ngym")
        assert result.exit_code == 0, result.output


if __name__ == "__main__":
    installed = distribution(sys.argv[1])
    module = import_module(sys.argv[1].replace("-", "_"))
    assert Path(sys.prefix) in Path(module.__file__).parents, module.__file__
    points = [one for one in installed.entry_points if one.group.startswith("neurogym.")]
    for one in points:
        tried(one)
    print(f"{installed.name} {installed.version}: {len(points)} entry points")
