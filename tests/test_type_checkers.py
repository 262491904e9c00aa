"""mypy and pyright understand the public names, and find wrong ones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from neurogym_check.new import KINDS, render

ROOT = Path(__file__).parents[1]
USE = """
from neurogym_core import Task, TaskEnv, TrialBuilder, make
from neurogym_core.players import TaskView
from neurogym_core.tools import Page

env = make("perceptual/PerceptualDecisionMaking-v0", wrap="ReactionTime")
observation, info = env.reset(seed=0)
inside: TaskEnv = env.unwrapped
print(env.unwrapped.target, TaskView(env.unwrapped.task).max_steps, Page().width)


class One(Task):
    sigma: float = 1.0

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("stimulus")
        trial.show("stimulus", trial["side"], during="stimulus", noise=self.sigma)


One(sigma=2.0)
"""
WRONG = {
    "a verb": ('trial.show("stimulus"', 'trial.shwo("stimulus"'),
    "a parameter": ("One(sigma=2.0)", "One(sigmaa=2.0)"),
    "an attribute of the env": ("env.unwrapped.target", "env.unwrapped.targte"),
    "a public name": ("import Page", "import Pag"),
}


def mypy(file: Path) -> list[str]:
    command = [sys.executable, "-m", "mypy", "--config-file=", "--ignore-missing-imports"]
    done = subprocess.run(
        [*command, f"--cache-dir={file.parents[1] / 'cache'}", "--follow-imports=silent", file],
        capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    return [line for line in done.stdout.splitlines() if ": error:" in line]


def pyright(file: Path) -> list[str]:
    pytest.importorskip("pyright")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run([*command, str(file)], capture_output=True, text=True, cwd=ROOT)
    found = json.loads(done.stdout)["generalDiagnostics"]
    return [one["message"] for one in found if one["severity"] == "error"]


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_make_lint_finds_no_error_of_types(checker):
    pytest.importorskip(checker)
    options = ["--pythonpath", sys.executable] if checker == "pyright" else []
    done = subprocess.run(
        [sys.executable, "-m", checker, *options], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("check", [mypy, pyright])
def test_type_checkers_know_the_public_names(check, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp() / "type-checkers"
    uses = {"right": USE} | {name: USE.replace(*change) for name, change in WRONG.items()}
    for k, (name, text) in enumerate(uses.items()):
        file = folder / str(k) / "use.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        assert bool(check(file)) == (name != "right"), (name, check(file))


@pytest.mark.slow
def test_pyright_finds_no_error_in_packages_of_the_template(tmp_path):
    for k, kind in enumerate(KINDS):
        answers = {
            "task_name": "SideMemory",
            "lab": f"sides{k}",
            "author": "Ana Example",
            "repository": "https://example.org/lab/tasks",
            "licence": "MIT",
            "kind": kind,
        }
        render(answers, tmp_path)
    assert pyright(tmp_path) == []
