"""`ngym new` with this package installed: names are compared, and new packages can be listed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import environments
import made_packages
import pytest
import yaml
from neurogym_check import new
from neurogym_registry.sandbox import PROGRAM

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
    keeper.entry(package.name, versions=("0.1.0",))
    places = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheel.parent)}
    arguments = ("registry", "accept", "--registry", keeper.folder, "--no-sandbox")
    environment.ngym(*arguments, check=True, **places)
    options = ("--wheels", wheel.parent, "--json")
    assert (
        json.loads(environment.ngym("registry", "validate", keeper.folder, *options).stdout) == []
    )


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which(PROGRAM) is None, reason="bubblewrap is not installed (Debian: bubblewrap)"
)
def test_the_workflow_of_a_registry_makes_the_releases_that_maintainers_ask_for(
    environment, tmp_path: Path
) -> None:
    """Its scripts, with two versions of which one has a broken task, and a folder for GitHub."""
    environment.ngym("new", tmp_path, *answers("of-kit"), check=True)
    package = tmp_path / "neurogym-task-of-kit"
    makers.finish(package)
    wheel = environments.build_wheel(package, tmp_path / "dist")
    broken = "neurogym-task-broken"
    lines = (f"Name: {broken}", "Version: 1.0.0", "License-Expression: MIT",
             "Requires-Python: >=3.11", "Requires-Dist: neurogym-core>=1.0,<2")  # fmt: skip
    made_packages.wheel(
        made_packages.Package(
            name=broken,
            version="1.0.0",
            tasks={"Walk-v0": "neurogym_task_broken.walk:Walk"},
            files={"walk.py": "raise RuntimeError('on purpose')\n"},
            manifest=made_packages.manifest_row("Walk-v0", tags='["perceptual"]'),
            metadata="\n".join(["Metadata-Version: 2.4", *lines, ""]),
        ),
        wheel.parent,
    )
    registry = tmp_path / "registry"
    options = ("--keeper", "Ana", "--github-id", 7)
    environment.ngym("registry", "new", registry, *options, check=True)
    keeper = makers.Keeper(registry)
    keeper.entry(package.name, versions=("0.1.0",))
    keeper.entry(broken, versions=("1.0.0",))
    git(registry, "init", "--quiet", "--initial-branch", "main")
    commit(registry)
    hub = tmp_path / "hub" / "lab" / "registry.git"
    hub.parent.mkdir(parents=True)
    git(tmp_path, "clone", "--quiet", "--bare", "registry", str(hub))
    workflow = yaml.safe_load((registry / ".github/workflows/accept.yml").read_text("utf-8"))
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "gh").write_text('#!/bin/bash\necho "$@" >> gh-asked\n', "utf-8")
    (bin_folder / "gh").chmod(0o755)
    (tmp_path / ".gitconfig").write_text(
        f'[url "file://{tmp_path}/hub/"]\n\tinsteadOf = "https://x-access-token:T@github.com/"\n',
        "utf-8",
    )
    variables = {
        "PATH": os.pathsep.join([str(bin_folder), str(environment.python.parent),
                                 os.environ["PATH"]]),
        "HOME": str(tmp_path), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheel.parent),
        "NEUROGYM_SOURCES": "--help", "GITHUB_REPOSITORY": "lab/registry", "GH_TOKEN": "T",
        "GITHUB_OUTPUT": str(tmp_path / "output"), "RELEASE": "", "EXCUSED": "",
    }  # fmt: skip

    def play(job: str, name: str, folder: Path) -> subprocess.CompletedProcess[str]:
        (step,) = (one for one in workflow["jobs"][job]["steps"] if one.get("name") == name)
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        return subprocess.run(
            command, cwd=folder, env=variables, capture_output=True, text=True, timeout=500
        )

    checked = play("check", "Make the releases", tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert (tmp_path / "output").read_text("utf-8") == "status=1\n"
    assert "Refused neurogym-task-broken==1.0.0" in checked.stderr
    assert "on purpose" in checked.stderr
    # The second job begins with another checkout.
    other = tmp_path / "second"
    other.mkdir()
    git(tmp_path, "clone", "--quiet", str(hub), str(other / "registry"))
    shutil.copytree(tmp_path / "made", other / "made")
    committed = play("commit", "Add the new files, check them by the rules, and publish", other)
    assert committed.returncode == 0, committed.stdout + committed.stderr
    files = git(tmp_path, "-C", str(hub), "ls-tree", "-r", "--name-only", "main").splitlines()
    assert "releases/neurogym-task-of-kit/0.1.0.json" in files
    assert "releases/neurogym-task-of-kit/0.1.0/Walk-v0.svg" in files
    assert not [one for one in files if broken in one and one.startswith("releases")]
    assert "workflow run publish.yml" in (other / "registry" / "gh-asked").read_text("utf-8")
    text = git(hub, "show", "main:releases/neurogym-task-of-kit/0.1.0.json")
    assert json.loads(text)["conformance"]["isolated"] is True


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def commit(folder: Path) -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "x")
    return git(folder, "rev-parse", "HEAD")
