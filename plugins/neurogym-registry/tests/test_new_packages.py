"""`ngym new` with this package installed: names are compared, and new packages can be listed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import environments
import pytest
import yaml
from neurogym_check import new

makers = sys.modules["ngym_test_registry_makers"]


def answers(lab: str, kind: str = "table") -> list[str]:
    given = {"task": "Walk", "lab": lab, "author": "Ana", "licence": "MIT", "kind": kind}
    return [part for key, value in given.items() for part in (f"--{key}", value)]


@pytest.mark.parametrize(
    ("lab", "why"),
    [("memory", "which exists. Expected"), ("memor", "which looks like neurogym-task-memory.")],
)
def test_a_name_that_looks_like_a_listed_one_is_refused_before_anything_is_written(
    ngym, site, tmp_path: Path, lab: str, why: str
) -> None:
    result = ngym("new", str(tmp_path / "here"), *answers(lab))
    assert result.exit_code == 1
    text = " ".join(result.stderr.split())
    assert f"neurogym-task-{lab}, {why}" in text
    assert "Nothing was written." in text
    assert not (tmp_path / "here").exists()


def test_a_registry_that_cannot_be_read_refuses_no_name(ngym, site, tmp_path: Path) -> None:
    result = ngym("new", str(tmp_path / "here"), *answers("memor"), NGYM_REGISTRY="/nowhere")
    assert result.exit_code == 0, result.output


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory, wheels: list[Path], third_party: Path):
    made = environments.Environment(tmp_path_factory.mktemp("env") / "venv", third_party)
    plugins = environments.REPOSITORY / "plugins"
    classic = environments.build_wheel(plugins / "neurogym-classic", made.folder / "dist")
    made.pip_install([*wheels, classic])
    return made


@pytest.mark.slow
@pytest.mark.parametrize("kind", new.KINDS)
def test_a_package_of_each_kind_is_taken_by_a_registry(
    environment, tmp_path: Path, kind: str
) -> None:
    lab = f"of-{kind}"
    environment.ngym("new", tmp_path, *answers(lab, kind), check=True)
    package = tmp_path / f"neurogym-task-{lab}"
    makers.finish(package)
    wheel = environments.build_wheel(package, tmp_path / "dist")
    keeper = makers.Keeper(tmp_path / "registry")
    keeper.entry(package.name)
    environment.ngym("registry", "add-release", wheel, keeper.folder, check=True)
    options = ("--wheels", wheel.parent, "--json")
    assert (
        json.loads(environment.ngym("registry", "validate", keeper.folder, *options).stdout) == []
    )


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the workflow runs in bash")
@pytest.mark.parametrize("excused", [True, False])
def test_the_kit_workflow_checks_new_releases_and_knows_their_excuses(
    environment, tmp_path: Path, excused: bool
) -> None:
    environment.ngym("new", tmp_path, *answers("of-kit"), check=True)
    package = tmp_path / "neurogym-task-of-kit"
    makers.finish(package)
    (package / "neurogym_task_of_kit" / "digests.toml").write_text("", "utf-8")
    wheel = environments.build_wheel(package, tmp_path / "dist")
    folder = tmp_path / "registry"
    options = ("--keeper", "Ana", "--github-id", 7)
    environment.ngym("registry", "new", folder, *options, check=True)
    git(folder, "init", "--quiet")
    base = commit(folder)
    reason = ("--expected-failure", "R002=Its behaviour is not decided.")
    makers.Keeper(folder).entry(package.name)
    environment.ngym("registry", "add-release", wheel, folder, *reason, check=True)
    if not excused:
        path = folder / "releases" / package.name / "0.1.0.json"
        release = json.loads(path.read_text("utf-8"))
        release["conformance"]["expected_failures"] = []
        path.write_text(json.dumps(release), "utf-8")
    commit(folder)
    workflow = yaml.safe_load((folder / ".github/workflows/kit.yml").read_text("utf-8"))
    step = workflow["jobs"]["kit"]["steps"][-1]
    home = {"HOME": str(tmp_path), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheel.parent)}
    path = f"{environment.python.parent}{os.pathsep}{os.environ['PATH']}"
    variables = {"PATH": path, **home, **step["env"], "BASE": base}
    try:
        done = subprocess.run(
            ["bash", "-e", "-c", step["run"]], cwd=tmp_path, env=variables, capture_output=True,
            text=True, timeout=300,
        )  # fmt: skip
        assert (done.returncode == 0) is excused, done.stdout + done.stderr
        assert "Installed neurogym-task-of-kit 0.1.0." in done.stdout
        assert ("1 expected failure" in done.stdout) is excused
    finally:
        environment.run("-m", "pip", "uninstall", "--yes", "--quiet", package.name)


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def commit(folder: Path) -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "x")
    return git(folder, "rev-parse", "HEAD")
