"""Claims of the command."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from {{ cookiecutter.__module }}.{{ cookiecutter.__file }} import command

TASK = '''
from neurogym_core import Task


class Press(Task):
    """One button."""

    def define(self):
        self.observe(light=1)
        self.act(rest=1, press=1)

    def new_trial(self, trial):
        trial.periods("go", go=300)
        trial.answer("press", 0, during="go")
'''


def test_it_prints_the_mean_performance(tmp_path: Path):
    (tmp_path / "press.py").write_text(TASK, "utf-8")
    result = CliRunner().invoke(command, [f"{tmp_path / 'press.py'}:Press", "--n-trials", "5"])
    assert (result.exit_code, result.output) == (0, "1.000\n")
