"""Packages of others: one of each kind, written from the public pages, in a new environment.

They come from the package index's tools as for every author: pip builds wheels, and installs them
beside a wheel of the core.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import venv
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
KINDS = ("task", "wrapper", "subject", "player", "command")
PUBLIC = {"neurogym_core", "neurogym_core.players", "neurogym_core.tools"}

PLAY = """
import json
import numpy as np
import neurogym_core
from neurogym_core import make, make_task, run
from downstream_player import planned

assert "site-packages" in neurogym_core.__file__, neurogym_core.__file__
env = make("x-downstream-task/Brighter-v0", wrap="Fade")
env.reset(seed=0)
results = [env.step(0) for _ in range(13)]
record = run("Brighter-v0", "brighter:threshold=0.2", 50, seed=1)
blind = run("Brighter-v0", "brighter", 50, seed=1, wrap=("Fade", {"period": "decision"}))
conditions, steps = planned(make_task("Brighter-v0"), 50, seed=1)
sides = np.array(["left", "right"])[conditions["side"]]
print(json.dumps({
    "wrapped": env.unwrapped.task.name,
    "seen": float(max(result[0][1:].max() for result in results)),
    "cost": sum(result[1] for result in results),
    "performance": float(record["performance"].mean()),
    "blind": float(blind["performance"].mean()),
    "planned": steps.tolist(),
    "same stream": sides.tolist() == list(record["side"]),
}))
"""


@pytest.mark.parametrize("kind", KINDS)
def test_a_package_imports_public_names_only(kind):
    tree = ast.parse((HERE / kind / f"downstream_{kind}.py").read_text("utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {module for module in modules if module.startswith("neurogym")} <= PUBLIC


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Python of a new environment with wheels of the core and of the five packages."""
    folder = tmp_path_factory.mktemp("downstream")
    venv.create(folder / "venv", with_pip=True)
    found = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    limits = ("--quiet", "--disable-pip-version-check", "-c", ROOT / "constraints.txt")
    sources = (ROOT, *(HERE / kind for kind in KINDS))
    call(found, "-m", "pip", "wheel", "--no-deps", "-w", folder / "wheels", *limits, *sources)
    call(found, "-m", "pip", "install", *limits, *(folder / "wheels").glob("*.whl"))
    return found


def call(*command: object) -> str:
    """Run a command away from the sources, and return its output."""
    hidden = ("PYTHON", "NGYM_", "NEUROGYM_", "COLUMNS", "VIRTUAL_ENV")
    env = {key: value for key, value in os.environ.items() if not key.startswith(hidden)}
    env["NEUROGYM_BUILD_KERNEL"] = "0"  # which kernel plays makes no difference
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, cwd="/", env=env, timeout=600)
    assert done.returncode == 0, f"{words}: {done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.slow
def test_task_wrapper_subject_and_player_work_together(python):
    played = json.loads(call(python, "-c", PLAY))
    assert played["wrapped"] == "Fade(Brighter)"
    assert played["seen"] == 0  # during "light", and afterwards
    assert played["cost"] == pytest.approx(-0.01 * 5)  # 500 ms of the response window
    assert played["performance"] == 1
    assert played["blind"] == 0
    assert played["planned"] == [[3, 5, 5]] * 50
    assert played["same stream"]


@pytest.mark.slow
def test_the_command_and_the_offers_are_found(python):
    ngym = python.with_name("ngym")
    said = json.loads(call(ngym, "durations", "Brighter-v0", "--json"))
    assert said == {
        "task": "x-downstream-task/Brighter-v0",
        "durations": {"fixation": "300", "light": "500", "decision": "500"},
    }
    assert "decision" in call(ngym, "durations", "Brighter-v0")
    assert "Brighter-v0" in call(ngym, "list")
    run = call(ngym, "run", "Brighter-v0", "--subject", "brighter", "--wrap", "Fade:cost=-0.02")
    assert "Brighter" in run


def test_other_versions_are_skipped_until_there_is_a_release():
    tags = ["git", "describe", "--tags", "--match", "v*"]
    if subprocess.run(tags, cwd=ROOT, capture_output=True).returncode == 0:
        pytest.skip("there is a release")
    done = subprocess.run([ROOT / ".ci" / "downstream", "release", "."], capture_output=True)
    assert done.returncode == 0
    assert done.stdout.startswith(b"Skipped: there is no release yet")


@pytest.mark.slow
def test_the_packages_work_with_the_core_of_the_checkout():
    done = subprocess.run(
        [ROOT / ".ci" / "downstream", ".", "."], capture_output=True, text=True, timeout=1200
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "The player read 20 trials" in done.stdout
