"""Fresh environments for tests that install wheels with pip, without a package index.

An environment is a venv with links to the third-party packages of the environment that runs the
tests, so that it is created quickly. It has no package of this project until a wheel is installed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
OURS = ("neurogym", "__editable__", "_neurogym", "_editable")


def borrowed(folder: Path) -> Path:
    """Fill a folder with links to the third-party packages of this environment, and return it."""
    folder.mkdir(parents=True)
    for kind in dict.fromkeys(("purelib", "platlib")):
        for entry in Path(sysconfig.get_paths()[kind]).iterdir():
            link = folder / entry.name
            if (
                not entry.name.lower().startswith(OURS)
                and entry.suffix != ".pth"
                and not link.exists()
            ):
                link.symlink_to(entry)
    return folder


def build_wheel(source: Path, target: Path) -> Path:
    """Build a wheel with the installed build tools, without a compiled kernel; return its path."""
    before = set(target.glob("*.whl")) if target.is_dir() else set()
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    plain = os.environ | {"NEUROGYM_BUILD_KERNEL": "0"}  # test_building.py compiles
    subprocess.run(command, cwd=source, env=plain, check=True, capture_output=True, timeout=300)
    (path,) = set(target.glob("*.whl")) - before
    return path


class Environment:
    """A venv in a folder, with pip and the third-party packages of this one."""

    def __init__(self, folder: Path, third_party: Path, **variables: str) -> None:
        self.folder, self.variables = folder, variables
        venv.create(folder, with_pip=False, symlinks=True)
        self.python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
        (self.site / "borrowed.pth").write_text(f"{third_party}\n", "utf-8")

    @property
    def site(self) -> Path:
        """The folder site-packages."""
        (found,) = self.folder.glob("lib/python*/site-packages")
        return found

    def run(
        self, *arguments: object, check: bool = False, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run its Python in another folder, without this process's variables of Python and ngym."""
        mine = ("PYTHON", "NGYM_", "PIP_", "COLUMNS", "COVERAGE")
        env = {key: value for key, value in os.environ.items() if not key.startswith(mine)}
        env |= {"PIP_NO_INDEX": "1", "HOME": str(self.folder)} | self.variables | variables
        done = subprocess.run(
            [str(self.python), *map(str, arguments)],
            env=env,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert not check or done.returncode == 0, f"{arguments}: {done.stdout}\n{done.stderr}"
        return done

    def ngym(
        self, *arguments: object, check: bool = False, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run its ``ngym``."""
        return self.run("-m", "neurogym_core", *arguments, check=check, **variables)

    def pip_install(self, wheels: Sequence[Path]) -> None:
        """Install wheels without their dependencies."""
        options = (
            "--no-deps",
            "--no-index",
            "--no-compile",
            "--quiet",
            "--disable-pip-version-check",
        )
        self.run("-m", "pip", "install", *options, *wheels, check=True)


def as_json(done: subprocess.CompletedProcess[str]) -> Any:
    """Return the output of a command, read as JSON."""
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
