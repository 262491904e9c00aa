"""A lab's first hour: every printed command, in an environment made from the package's metadata.

The environments have the lowest or the highest versions that the generated pyproject.toml allows,
and nothing else: no package of the environment that runs these tests. Their Pythons are those of
`PYTHONS` that this machine has, on its path or from pyenv."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import environments
import pytest
from neurogym_check import new
from neurogym_check.add import PARTS

pytestmark = pytest.mark.slow
RESOLUTIONS = ("lowest-direct", "highest")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
OURS = (".", *(f"plugins/neurogym-{name}" for name in ("check", "classic", "plot", "registry")))


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheels of this project, for all Pythons; no index has them."""
    folder = tmp_path_factory.mktemp("wheels")
    for source in OURS:
        environments.build_wheel(environments.REPOSITORY / source, folder)
    return folder


def python_of(version: str) -> str:
    """Return the path of a Python of this minor version, or skip the test if there is none."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    installed = sorted(pyenv.glob(f"versions/{version}.*/bin/python"))
    # A shim of pyenv is on the path also where its version is not active, and fails.
    for path in (shutil.which(f"python{version}"), *map(str, installed)):
        command = [path or "", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        if (
            path
            and subprocess.run(command, capture_output=True, text=True).stdout == f"{version}\n"
        ):
            return path
    pytest.skip(f"this machine has no Python {version}")


class Lab:
    """A new package and its environment."""

    def __init__(
        self, folder: Path, wheels: Path, kind: str, resolution: str, python: str = sys.executable
    ) -> None:
        self.wheels, self.resolution, self.venv = wheels, resolution, folder / "venv"
        self.package = folder / f"neurogym-task-of-{kind}"
        self.ours("-m", "neurogym_core", "new", folder, "--task", "SideMemory", "--lab",
                  f"of-{kind}", "--author", "Ana", "--licence", "MIT", "--kind", kind)  # fmt: skip
        self.ours("-m", "uv", "venv", "--quiet", "--python", python, self.venv)
        self.install()

    def ours(self, *arguments: object) -> None:
        """Run the Python of the tests."""
        done = subprocess.run(
            [sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr

    def install(self) -> None:
        """Install the package with its extra `test`, as its workflow does.

        NumPy from wheels only: its lowest version has none for Python 3.13, and would be built."""
        options = ("--resolution", self.resolution, "--find-links", self.wheels)
        options += ("--only-binary", "numpy")
        python = self.venv / "bin" / "python"
        self.ours(
            "-m", "uv", "pip", "install", "--quiet", "--python", python, *options, "-e",
            f"{self.package}[test]",
        )  # fmt: skip

    def says(self, command: str) -> str:
        """Run a command in the package's folder; return its output."""
        mine = ("PYTHON", "NGYM_", "VIRTUAL_ENV")
        env = {key: value for key, value in os.environ.items() if not key.startswith(mine)}
        env["PATH"] = f"{self.venv / 'bin'}{os.pathsep}{env['PATH']}"
        done = subprocess.run(
            command, shell=True, cwd=self.package, env=env, capture_output=True, text=True,
            timeout=600,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
        return done.stdout


@pytest.mark.parametrize(
    ("version", "kind", "resolution"), list(itertools.product(PYTHONS, new.KINDS, RESOLUTIONS))
)
def test_every_printed_command_works(
    tmp_path: Path, wheels: Path, version: str, kind: str, resolution: str
) -> None:
    lab = Lab(tmp_path, wheels, kind, resolution, python_of(version))
    assert lab.says("python --version").startswith(f"Python {version}.")
    if kind != "classic":
        assert "summary" in lab.says("ngym run SideMemory-v0 --n-trials 10")
    lab.says("ngym plot SideMemory-v0 -o trial.svg")
    assert (lab.package / "trial.svg").stat().st_size > 1000
    assert f"of-{kind}/SideMemory-v0" in lab.says("ngym info SideMemory-v0")
    assert " failed" not in lab.says("python -m pytest -q")
    assert "checks of 1 task passed" in lab.says(f"ngym check {lab.package.name} --level full")
    lab.says("ruff check . && ruff format --check .")
    assert "Success" in lab.says("mypy")
    lab.says("ngym doctor")


def test_added_parts_work_in_it(tmp_path: Path, wheels: Path) -> None:
    lab = Lab(tmp_path, wheels, "table", "highest")
    for kind in ("session", "classic", *PARTS):
        name = f"My{kind.title()}"
        lab.ours("-m", "neurogym_core", "add", lab.package, "--task", name, "--kind", kind)
    lab.install()
    assert " failed" not in lab.says("python -m pytest -q")
    lab.says("ngym plot MyClassic-v0 -o classic.svg")
    assert "MySession" in lab.says("ngym run MySession-v0 --n-trials 5")
    assert "SideMemory" in lab.says("ngym run SideMemory-v0 --wrap MyWrapper:factor=0.1")
    assert "summary" in lab.says("ngym run SideMemory-v0 --subject my_subject:action=2")
    assert lab.says("ngym my-command SideMemory-v0").strip() == "1.000"
    assert "Success" in lab.says("mypy")
    lab.says("ngym doctor")


def test_the_files_of_a_release_pass_the_linters_of_packages(tmp_path: Path) -> None:
    package = tmp_path / "neurogym-task-of-us"
    new.render(
        {
            "task_name": "SideMemory",
            "lab": "of-us",
            "author": "Ana",
            "licence": "MIT",
            "kind": "table",
            "repository": "https://example.org/of-us/sides",
        },
        tmp_path,
    )
    wheel = environments.build_wheel(package, tmp_path / "dist")
    for tool, *arguments in (
        ("twine", "check", "--strict", wheel),
        ("validate-pyproject", package / "pyproject.toml"),
        ("check-wheel-contents", wheel),
        ("zizmor", "--offline", "--min-severity", "low", package),
    ):
        path = shutil.which(tool, path=Path(sys.executable).parent)
        assert path is not None, f"{tool} is not installed; the group `dev` has it"
        done = subprocess.run(
            [path, *map(str, arguments)], capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, f"{tool}: {done.stdout}\n{done.stderr}"
