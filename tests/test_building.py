"""The core is built and installed for real, by pip into new environments: with a C compiler, and
without one.

The build requirements come from the package index, as for every user.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from scripts import loaded

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = (
    ".git",
    ".venv*",
    ".*_cache",
    ".hypothesis",
    "__pycache__",
    "build",
    "dist",
    "*.so",
    "*.pyd",
)
SOURCES = ("kernel.py", "_kernel.pxd", "_memory.pxd", "_noise.h")
NO_COMPILER = {"CC": "/bin/false"}
KERNEL = """
import json
from neurogym_core.players import kernel_in_use
print(json.dumps({"name": kernel_in_use().name, "reason": kernel_in_use().reason}))
"""


def variables(**more: str) -> dict[str, str]:
    """This process's environment without variables that mislead Python, pip, the kernel or the
    compiler.
    """
    ours = (
        "PYTHON",
        "NGYM_",
        "NEUROGYM_",
        "PIP_CONSTRAINT",
        "PIP_NO_INDEX",
        "COLUMNS",
        "COVERAGE",
        "VIRTUAL_ENV",
    )
    return {
        key: value
        for key, value in os.environ.items()
        if not key.startswith((*ours, "CC", "CFLAGS"))
    } | more


def run(*command: object, check: bool = True, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder without the sources, which Python would import instead of the
    installed package.
    """
    done = subprocess.run(
        list(map(str, command)),
        cwd="/",
        env=variables(**more),
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0 or not check, f"{command}: {done.stdout}\n{done.stderr}"
    return done


class Environment:
    """A new venv with nothing but pip."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        venv.create(folder, with_pip=True)
        self.python = folder / "bin" / "python"

    def pip(
        self, *arguments: object, check: bool = True, **more: str
    ) -> subprocess.CompletedProcess[str]:
        return run(self.python, "-m", "pip", *arguments, check=check, **more)

    def kernel(self) -> dict[str, str]:
        """The kernel in use and the reason for it, after two trials were played with it."""
        said = run(self.python, "-c", KERNEL)
        kernel: dict[str, str] = json.loads(said.stdout)
        run(self.python, ROOT / "tests" / "smoke.py", kernel["name"])
        return kernel


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this repository in which nothing was built."""
    folder = tmp_path_factory.mktemp("checkout") / "neurogym"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
    return folder


@pytest.fixture(scope="module")
def compiler() -> None:
    """The C compiler; in continuous integration (CI=true) its absence is a failure."""
    if not any(shutil.which(name) for name in (os.environ.get("CC", "cc"), "gcc", "clang")):
        reason = "building the compiled kernel is tested with a C compiler, and there is none"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)


def build(checkout: Path, target: Path, what: str, **more: str) -> Path:
    """The file that the documented command makes."""
    run(sys.executable, "-m", "build", what, "--outdir", target, checkout, **more)
    (path,) = (
        one for one in target.iterdir() if one.name != ".gitignore"
    )  # which build puts there
    return path


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_an_sdist_holds_all_that_it_takes_to_compile_the_kernel(checkout, tmp_path):
    sdist = build(checkout, tmp_path / "dist", "--sdist")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"neurogym_core/play/{name}" for name in SOURCES} <= names
    assert "hatch_build.py" in names
    environment = Environment(tmp_path / "venv")
    environment.pip("install", sdist)
    assert environment.kernel()["name"] == "compiled"


@pytest.mark.slow
def test_without_a_compiler_on_the_path_the_core_is_installed_with_the_plain_kernel(
    checkout, tmp_path
):
    environment = Environment(tmp_path / "venv")
    installed = environment.pip(
        "install", "--verbose", checkout, PATH=str(environment.folder / "bin")
    )
    said = (installed.stdout + installed.stderr).splitlines()
    (line,) = [line for line in said if "without its compiled kernel" in line]
    assert "compiling failed" in line
    assert "steps of envs and the rendering of datasets are slower" in line
    assert environment.kernel() == {"name": "plain", "reason": "the compiled kernel was not built"}


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_an_editable_install_compiles_again_and_leaves_no_kernel_of_an_earlier_one(
    checkout, tmp_path
):
    environment = Environment(tmp_path / "venv")

    def built() -> list[Path]:
        return list(checkout.glob("neurogym_core/play/*.so"))

    environment.pip("install", "-e", checkout)
    (first,) = built()
    assert environment.kernel()["name"] == "compiled"
    assert str(first) in environment.kernel()["reason"]
    source = checkout / "neurogym_core" / "play" / "kernel.py"
    before = first.read_bytes()
    source.write_text(source.read_text("utf-8") + "\nNGYM_ANOTHER_SYMBOL = 1\n", "utf-8")
    environment.pip("install", "-e", checkout)
    assert built() == [first]
    assert first.read_bytes() != before
    environment.pip("install", "-e", checkout, **NO_COMPILER)  # a failing one
    assert built() == []
    assert environment.kernel()["name"] == "plain"


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_the_wheel_of_the_documented_command_brings_the_compiled_kernel(checkout, tmp_path):
    assert "python -m build --wheel" in (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    wheel = build(checkout, tmp_path / "dist", "--wheel")
    assert "none-any" not in wheel.name
    assert not list(
        checkout.glob("neurogym_core/play/*.so")
    )  # building leaves the sources as they are
    environment = Environment(tmp_path / "venv")
    environment.pip("install", wheel)
    kernel = environment.kernel()
    assert kernel["name"] == "compiled"
    assert str(environment.folder) in kernel["reason"]


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_two_wheels_with_the_kernel_are_the_same_and_have_no_path_of_their_builder(
    checkout, tmp_path
):
    settings = {"NEUROGYM_BUILD_KERNEL": "1", "SOURCE_DATE_EPOCH": "1700000000"}
    first, second = (build(checkout, tmp_path / one, "--wheel", **settings) for one in "ab")
    assert first.read_bytes() == second.read_bytes()
    verdicts = loaded(ROOT / ".ci" / "verdicts.py")
    places = (str(checkout), str(tmp_path), f"{Path.home()}/")
    assert list(verdicts.paths(verdicts.read_archive(first), None, places)) == []


@pytest.mark.slow
def test_a_wheel_without_the_kernel_is_for_every_machine_and_holds_no_c(checkout, tmp_path):
    beside = checkout / "neurogym_core" / "play" / "_kernel.other.so"
    beside.write_bytes(b"of another Python")
    try:
        wheel = build(checkout, tmp_path / "dist", "--wheel", NEUROGYM_BUILD_KERNEL="0")
    finally:
        beside.unlink()
    assert wheel.name.endswith("-py3-none-any.whl")
    assert not [
        name
        for name in zipfile.ZipFile(wheel).namelist()
        if name.endswith((".so", ".pyd", ".c", ".h", ".pxd"))
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("1", "NEUROGYM_BUILD_KERNEL is 1, and compiling failed"),
        ("yes", "NEUROGYM_BUILD_KERNEL is 'yes'. Expected 0"),
    ],
)
def test_a_kernel_that_is_demanded_and_cannot_be_built_is_an_error(checkout, tmp_path, given, said):
    command = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", tmp_path, checkout)
    failed = run(*command, check=False, NEUROGYM_BUILD_KERNEL=given, **NO_COMPILER)
    assert failed.returncode != 0
    assert said in failed.stdout + failed.stderr
    assert not list(tmp_path.iterdir())


def test_make_installs_again_when_the_kernel_s_sources_change(checkout, tmp_path):
    folder = tmp_path / "checkout"
    shutil.copytree(checkout, folder)
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "bin" / "python").touch()
    for path in folder.rglob("*"):
        os.utime(path, (1000, 1000))
    installed = folder / ".venv" / "installed-test"
    installed.touch()
    os.utime(installed, (2000, 2000))

    def up_to_date() -> bool:
        done = subprocess.run(
            ["make", "-q", ".venv/installed-test"], cwd=folder, capture_output=True, check=False
        )
        return done.returncode == 0

    assert up_to_date()
    for name in (
        "hatch_build.py",
        *(f"neurogym_core/play/{name}" for name in SOURCES),
    ):
        os.utime(folder / name, (3000, 3000))
        assert not up_to_date()
        os.utime(folder / name, (1000, 1000))
        assert up_to_date()


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_the_environment_without_make_has_the_packages_of_the_one_with_it():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    line = next(one for one in text.splitlines() if "pip install -c constraints.txt" in one)
    said = subprocess.run(
        ["bash", "-c", f"echo {line.partition('install')[2]}"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    made = subprocess.run(
        ["make", "-s", "--eval", "show: ; @echo $(LIGHT)", "show"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    assert len(made) > 15
    assert {one.removeprefix("./") for one in said if "plugins/" in one} == set(made)
