"""The smoke test of a package passes with its wheel, and fails with broken ones."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import environments
import pytest

pytestmark = pytest.mark.slow
ROOT = environments.REPOSITORY
SMOKE = ROOT / ".ci" / "smoke.py"
NAME = "neurogym-task-visual"  # with a plain Gymnasium env


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> environments.Environment:
    folder = tmp_path_factory.mktemp("smoke")
    made = environments.Environment(folder / "venv", environments.borrowed(folder / "third-party"))
    wheels = [
        environments.build_wheel(one, folder / "dist") for one in (ROOT, ROOT / "plugins" / NAME)
    ]
    made.pip_install(wheels)
    return made


def points(made: environments.Environment) -> Path:
    (found,) = made.site.glob("neurogym_task_visual-*.dist-info/entry_points.txt")
    return found


def test_a_package_as_it_is_passes(made: environments.Environment) -> None:
    for name in ("neurogym-core", NAME):
        done = made.run("-P", SMOKE, name, check=True)
        assert re.match(rf"{name} [\d.]+: \d+ entry points", done.stdout)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("random_dot_motion:RandomDotMotion", "random_dot_motion:Missing"),
        ("drifting_plaid:DriftingPlaid", "missing:DriftingPlaid"),
        ("[neurogym.tasks]", "[neurogym.commands]\nvisual = json:dumps\n\n[neurogym.tasks]"),
        ("neurogym_task_visual:ngym.toml", "neurogym_task_visual:none.toml"),
    ],
)
def test_a_broken_entry_point_fails(made: environments.Environment, old: str, new: str) -> None:
    path = points(made)
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")
    try:
        assert made.run("-P", SMOKE, NAME).returncode != 0
    finally:
        path.write_text(text, "utf-8")


def test_a_package_of_the_checkout_fails() -> None:
    """Users have no editable install."""
    done = subprocess.run([sys.executable, "-P", SMOKE, NAME], capture_output=True, check=False)
    assert b"AssertionError" in done.stderr
