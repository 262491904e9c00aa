"""The hook behind `ngym new`: the digest of a new task is stored."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from neurogym_check.digest import stored

from neurogym_core.ecosystem import hooks

TASK = '''
from neurogym_core import Choice, Task

class Report(Task):
    """Report a side."""

    def define(self):
        self.observe(light=1)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2), answer="side")

    def new_trial(self, trial):
        trial.periods("light", "decision", light=300, decision=200)
        trial.show("light", trial.side, during="light")
        trial.answer("choose", trial.side, during="decision")
'''
ENV = '''
import gymnasium

class Report(gymnasium.Env):
    """Not a Task."""
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A package without a task."""
    module = tmp_path / "neurogym-task-reports" / "neurogym_task_reports"
    module.mkdir(parents=True)
    (module / "__init__.py").write_text("", "utf-8")
    return module.parent


def test_the_digest_of_a_new_task_is_stored_and_said(site, folder: Path) -> None:
    module = folder / "neurogym_task_reports"
    (module / "report.py").write_text(TASK, "utf-8")
    (line,) = hooks.package_created(folder, "Report")
    assert "Report-v0" in line
    assert set(stored(module / "digests.toml")["Report-v0"]) == {"declared", "trials"}


def test_an_env_that_is_no_task_has_no_digest(site, folder: Path) -> None:
    (folder / "neurogym_task_reports" / "report.py").write_text(ENV, "utf-8")
    assert hooks.package_created(folder, "Report") == []
    assert not list(folder.rglob("digests.toml"))


def test_loading_the_hooks_imports_none_of_the_checks() -> None:
    code = (
        "import sys, neurogym_check.package_hooks; "
        "print([name for name in sys.modules if name.startswith('neurogym_check.')], "
        "'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['neurogym_check.package_hooks'] False"
