"""Releases are made by the keeper's command: only of versions asked for, with code in a sandbox."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import made_packages as packages
import pytest
from neurogym_registry import sandbox
from neurogym_registry.examination import Examination, unpacked
from neurogym_registry.releases import make_release
from neurogym_registry.rules import errors, validate
from neurogym_registry.wheels import read_wheel

from neurogym_core import NeurogymError

makers = sys.modules["ngym_test_registry_makers"]
NAME = "neurogym-task-dots"
SECRET = "a token of the keeper"

if os.environ.get("CI") != "true" and shutil.which(sandbox.PROGRAM) is None:
    boxed = pytest.mark.skip(reason="bubblewrap is not installed (Debian: bubblewrap)")
else:
    boxed = pytest.mark.parametrize("none", [None])

SPY = """
import os, socket
from pathlib import Path

def attempt(what):
    try:
        return str(what())
    except BaseException as error:
        return type(error).__name__

FOUND = {{
    "variable": attempt(lambda: os.environ["KEEPERS_TOKEN"]),
    "file": attempt(lambda: Path({secret!r}).read_text()),
    "folder": attempt(lambda: os.listdir({registry!r})),
    "write": attempt(lambda: Path({registry!r}, "forged").write_text("x")),
    "own file": attempt(lambda: Path(__file__).write_text("x")),
    "network": attempt(lambda: socket.create_connection(("127.0.0.1", {port}), 2).close()),
    "processes": attempt(
        lambda: sorted(int(one) for one in os.listdir("/proc") if one.isdigit())
    ),
    "parent": attempt(lambda: os.kill(os.getppid(), 0)),
}}
"""


@pytest.fixture
def port() -> Iterator[int]:
    """The port of a server on this machine."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=lambda: _take(server), daemon=True).start()
        yield server.getsockname()[1]


def _take(server: socket.socket) -> None:
    while True:
        try:
            server.accept()[0].close()
        except OSError:
            return


def spy_wheel(folder: Path, registry: Path, secret: Path, port: int) -> Path:
    """A wheel whose task writes into its docstring all that it could reach."""
    spy = SPY.format(secret=str(secret), registry=str(registry), port=port)
    source = f'{spy}{makers.TASK}\n\nDots.__doc__ = f"Report a side. {{FOUND}}"\n'
    return packages.wheel(makers.dots_package(source=source), folder)


@boxed
def test_code_in_the_sandbox_reaches_nothing(
    none: None, tmp_path: Path, keeper, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret"
    secret.write_text(SECRET, "utf-8")
    monkeypatch.setenv("KEEPERS_TOKEN", SECRET)
    (tmp_path / "wheels").mkdir()
    wheel = read_wheel(spy_wheel(tmp_path / "wheels", keeper.folder, secret, port))
    said = {}
    for choice in (False, True):
        with unpacked(wheel, boxed=choice) as bench:
            tasks, figures = bench.describe()
            said[choice] = tasks["Dots-v0"]["description"]["docstring"]
            assert list(figures) == ["Dots-v0"]
            own = (bench.site / "neurogym_task_dots" / "dots.py").read_text("utf-8")
            assert (own == "x") is not choice
        forged = keeper.folder / "forged"
        assert forged.exists() is not choice
        forged.unlink(missing_ok=True)
    # The control: without a sandbox, everything was within reach.
    assert said[False].count(SECRET) == 2
    assert "'network': 'None'" in said[False]
    assert "'parent': 'None'" in said[False]
    assert SECRET not in said[True]
    for what, error in {
        "variable": "KeyError",
        "file": "FileNotFoundError",
        "folder": "FileNotFoundError",
        "write": "FileNotFoundError",
        "own file": "OSError",
        "network": "ConnectionRefusedError",
    }.items():
        assert f"'{what}': '{error}'" in said[True], said[True]
    assert str(os.getpid()) not in said[True].partition("'processes': ")[2]


@boxed
def test_a_checked_release_says_that_its_checks_were_isolated(
    none: None, tmp_path: Path, keeper, ngym
) -> None:
    (tmp_path / "wheels").mkdir()
    path = packages.wheel(makers.dots_package(), tmp_path / "wheels")
    keeper.entry(NAME, versions=("1.0.0",))
    reasons = {code: f"{code}=An example of the tests." for code in ("A003", "R002")}
    excuse = [word for one in reasons.values() for word in ("--expected-failure", one)]
    places = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(path.parent)}
    done = ngym("registry", "accept", "--registry", str(keeper.folder), *excuse, **places)
    assert done.exit_code == 0, done.output
    assert f"Accepted {NAME} 1.0.0" in done.stdout
    assert "attestation: none on the package index" in done.stdout
    release = json.loads((keeper.folder / "releases" / NAME / "1.0.0.json").read_text("utf-8"))
    assert release["conformance"]["isolated"] is True
    assert release["conformance"]["passed"] > 20
    assert errors(validate(keeper.folder, wheels=path.parent)) == []
    again = ngym("registry", "accept", "--registry", str(keeper.folder), **places)
    assert again.exit_code == 0
    assert "No maintainer asks for a version that is not released." in again.stdout


def test_without_a_sandbox_nothing_runs(
    tmp_path: Path, keeper, ngym, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "mark"
    source = f"open({str(mark)!r}, 'w').close()\n{makers.TASK}"
    (tmp_path / "wheels").mkdir()
    path = packages.wheel(makers.dots_package(source=source), tmp_path / "wheels")
    keeper.entry(NAME, versions=("1.0.0",))
    monkeypatch.setattr(sandbox, "PROGRAM", "a-program-that-is-not-there")
    places = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(path.parent)}
    done = ngym("registry", "accept", "--registry", str(keeper.folder), **places)
    assert done.exit_code == 1
    assert "No sandbox can be made" in done.stderr
    assert not mark.exists()
    assert not (keeper.folder / "releases").exists()


def test_only_a_version_that_maintainers_ask_for_is_accepted(tmp_path: Path, keeper, ngym) -> None:
    """A version that a thief of a password uploaded is not one of them."""
    path = packages.wheel(makers.dots_package("6.6.6"), tmp_path)
    keeper.entry(NAME, versions=("1.0.0",))
    done = keeper.accept(path, asked=False)
    assert done.exit_code == 1
    assert "its maintainers did not ask for it" in done.stderr
    assert not (keeper.folder / "releases").exists()


def test_one_refused_version_does_not_stop_the_others(tmp_path: Path, keeper, ngym) -> None:
    other = "neurogym-task-lines"
    rows = {"name": other, "groups": {"neurogym.commands": {"lines": "neurogym_task_lines.a:b"}}}
    metadata = (
        f"Metadata-Version: 2.4\nName: {other}\nVersion: 1.0.0\nLicense-Expression: MIT\n"
        "Requires-Python: >=3.11\nRequires-Dist: neurogym-core>=1.0,<2\n"
    )
    packages.wheel(packages.Package(version="1.0.0", metadata=metadata, **rows), tmp_path)
    packages.wheel(makers.dots_package(source="raise RuntimeError('on purpose')"), tmp_path)
    keeper.entry(NAME, versions=("1.0.0",))
    keeper.entry(other, versions=("1.0.0",))
    places = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}
    arguments = ("registry", "accept", "--registry", str(keeper.folder), "--no-sandbox")
    done = ngym(*arguments, **places)
    assert done.exit_code == 1
    assert f"Refused {NAME}==1.0.0" in done.stderr
    assert "on purpose" in done.stderr
    assert f"Accepted {other} 1.0.0" in done.stdout
    assert [one.name for one in (keeper.folder / "releases").iterdir()] == [other]


def test_requirements_of_a_wheel_are_there_for_its_checks(tmp_path: Path) -> None:
    """Wheels only, and beside the environment, not in it."""
    helper = packages.Package(
        name="dots-helper", version="1.0", requires=(), manifest=None, files={"a.py": "SIDES = 2\n"}
    )
    packages.wheel(helper, tmp_path)
    source = "from dots_helper.a import SIDES\n" + makers.TASK.replace("Choice(2)", "Choice(SIDES)")
    needs = ("neurogym-core>=1.0,<2", "dots-helper>=1")
    wheel = read_wheel(packages.wheel(makers.dots_package(source=source, requires=needs), tmp_path))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_NO_INDEX", "1")
        patch.setenv("PIP_FIND_LINKS", str(tmp_path))
        with unpacked(wheel, boxed=False) as bench:
            assert (bench.site / "dots_helper" / "a.py").is_file()
            tasks, _ = bench.describe()
    assert tasks["Dots-v0"]["description"]["docstring"] == "Report a side."
    with pytest.raises(ImportError):
        __import__("dots_helper")


BUILDS = """
import pathlib
pathlib.Path({marker!r}).write_text("built")
"""


@pytest.mark.parametrize("form", ["sdist", "folder", "repository"])
def test_no_requirement_of_a_requirement_is_built(tmp_path: Path, keeper, ngym, form: str) -> None:
    """pip built the sources at an address, with all rights, also where only wheels are allowed."""
    marker, sources, wheels = tmp_path / "built", tmp_path / "evil-1.0", tmp_path / "wheels"
    for folder in (sources, wheels):
        folder.mkdir()
    backend = '[build-system]\nrequires = []\nbuild-backend = "b"\nbackend-path = ["."]\n'
    (sources / "pyproject.toml").write_text(backend, "utf-8")
    (sources / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n", "utf-8")
    (sources / "b.py").write_text(BUILDS.format(marker=str(marker)), "utf-8")
    place = sources.as_uri()
    if form == "sdist":
        place = Path(shutil.make_archive(str(sources), "gztar", tmp_path, sources.name)).as_uri()
    if form == "repository":
        place = f"git+{place}"
    needs = ("neurogym-core>=1.0,<2", "helper-of-dots")
    packages.wheel(makers.dots_package(requires=needs), wheels)
    helper = packages.Package(name="helper-of-dots", manifest=None, requires=(f"evil @ {place}",))
    packages.wheel(helper, wheels)
    keeper.entry(NAME, versions=("1.0.0",))
    folder = ("--registry", str(keeper.folder), "--no-sandbox")
    done = ngym("registry", "accept", *folder, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheels))
    assert done.exit_code == 1
    assert not marker.exists()
    said = " ".join(done.stderr.split())
    assert form == "repository" or "Expected wheels only" in said


def test_what_would_be_built_would_run(tmp_path: Path) -> None:
    """The test above would find it: pip itself builds the same sources."""
    marker = tmp_path / "built"
    backend = '[build-system]\nrequires = []\nbuild-backend = "b"\nbackend-path = ["."]\n'
    (tmp_path / "pyproject.toml").write_text(backend, "utf-8")
    (tmp_path / "b.py").write_text(BUILDS.format(marker=str(marker)), "utf-8")
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", str(tmp_path)]
    subprocess.run(command, capture_output=True, timeout=120)
    assert marker.exists()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM")
def test_at_the_end_of_its_time_the_command_leaves_nothing(tmp_path: Path, keeper) -> None:
    """`timeout` of the workflow sends SIGTERM, which left folders and a child process."""
    wheels, place = tmp_path / "wheels", tmp_path / "tmp"
    for folder in (wheels, place):
        folder.mkdir()
    began = place / "began"
    source = f"import pathlib, time\npathlib.Path({str(began)!r}).touch()\ntime.sleep(60)\n"
    packages.wheel(makers.dots_package(source=source + makers.TASK), wheels)
    keeper.entry(NAME, versions=("1.0.0",))
    variables = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels), "TMPDIR": str(place)}
    command = [sys.executable, "-m", "neurogym_core", "registry", "accept"]
    with subprocess.Popen(
        [*command, "--registry", str(keeper.folder), "--no-sandbox"],
        env={**os.environ, **variables},
    ) as process:
        end = time.monotonic() + 60
        while not began.exists():
            assert time.monotonic() < end, "the code of the package did not begin"
            time.sleep(0.1)
        process.terminate()
        assert process.wait(20) == 143
    assert [path.name for path in place.iterdir()] == ["began"]


@pytest.mark.parametrize(
    ("limit", "most", "said"),
    [("MOST_REQUIRED", 0, "are 1 packages"), ("MOST_UNPACKED", 100, "bytes that this")],
)
def test_requirements_of_a_wheel_are_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: int, said: str
) -> None:
    monkeypatch.setattr(f"neurogym_registry.pip.{limit}", most)
    packages.wheel(packages.Package(name="dots-helper", requires=(), manifest=None), tmp_path)
    needs = ("neurogym-core>=1.0,<2", "dots-helper")
    wheel = read_wheel(packages.wheel(makers.dots_package(requires=needs), tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(NeurogymError, match=said), unpacked(wheel, boxed=False):
        pass


def test_downloads_count_in_the_time_of_a_package(tmp_path: Path) -> None:
    wheel = read_wheel(packages.wheel(makers.dots_package(), tmp_path))
    with (
        pytest.raises(NeurogymError, match="did not finish in 0 s"),
        unpacked(wheel, boxed=False, deadline=time.monotonic()),
    ):
        pass


def test_checks_in_a_sandbox_and_others_are_told_apart(tmp_path: Path) -> None:
    wheel = read_wheel(packages.wheel(makers.dots_package(), tmp_path))
    said = {**makers.release(NAME)["conformance"], "isolated": False}
    tasks = {"Dots-v0": {"description": {}}}
    release = make_release(wheel, Examination(tasks=tasks, conformance=said))
    assert release["conformance"]["isolated"] is False
