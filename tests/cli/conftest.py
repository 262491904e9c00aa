"""`site` as in `tests/ecosystem`, `ngym` to call commands in this process, `shell` to call them in
one of their own.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner, Result

from neurogym_core.cli import main


def _neighbour() -> ModuleType:
    """`tests/ecosystem/conftest.py`, which pytest does not share with this folder."""
    path = Path(__file__).parents[1] / "ecosystem" / "conftest.py"
    spec = importlib.util.spec_from_file_location("ngym_test_ecosystem_conftest", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_ecosystem = _neighbour()
site = _ecosystem.site
packages = _ecosystem.load_packages()


@pytest.fixture
def ngym():
    """Call ``ngym`` with these arguments; gives click's result with ``exit_code``, ``stdout`` and
    ``stderr``.
    """

    def call(*arguments: str, charset: str = "utf-8", **environment: str) -> Result:
        runner = CliRunner(charset=charset)
        env = {"COLUMNS": None, "NO_COLOR": None, "FORCE_COLOR": None, **environment}
        return runner.invoke(main, list(arguments), prog_name="ngym", env=env)

    return call


@pytest.fixture(scope="session")
def shell():
    """Run ``python -m neurogym_core.cli`` with these arguments in a process that sees `site` before
    all else.
    """

    def run(
        *arguments: str,
        site: Path | None = None,
        module: str = "neurogym_core.cli",
        **environment: str,
    ):
        path = [str(folder) for folder in (site, packages.CORE_FOLDER) if folder is not None]
        env = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith("NGYM_") and key != "COLUMNS"
        }
        return subprocess.run(
            [sys.executable, "-P", "-m", module, *arguments],
            env=env | {"PYTHONPATH": os.pathsep.join(path)} | environment,
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run
