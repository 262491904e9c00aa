"""The workflows: findings of zizmor, pinned actions and tools, rights, the order of publishing."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from neurogym_check.new import render
from scripts import loaded

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
OF_REGISTRIES = ROOT / "plugins" / "neurogym-registry" / "neurogym_registry" / "new_registry"
PINNED = re.compile(r"[\w-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
checker = loaded(ROOT / ".ci" / "release_check.py")
verdicts = loaded(ROOT / ".ci" / "verdicts.py")
ANSWERS = {
    "task_name": "SideMemory",
    "lab": "sides",
    "author": "Ana Example",
    "repository": "https://example.org/lab/neurogym-task-sides",
    "licence": "MIT",
    "kind": "table",
}
CHEAT = """\
name: cheat
on: pull_request_target
jobs:
  a:
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/checkout@v4
      - run: echo ${{ github.event.pull_request.title }}
"""


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def audited(folder: Path) -> subprocess.CompletedProcess[str]:
    tool = shutil.which("zizmor", path=Path(sys.executable).parent)
    assert tool is not None, "zizmor is not installed; the group `test` has it"
    command = [tool, "--offline", "--min-severity", "low", "--no-config", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def test_zizmor_finds_nothing_in_any_workflow(tmp_path: Path) -> None:
    package = render(ANSWERS, tmp_path)
    places = [ROOT / ".github", OF_REGISTRIES / "workflows", package / ".github"]
    for number, place in enumerate(places):
        copy = tmp_path / str(number) / ".github"  # outside of a folder of git, which it would ask
        shutil.copytree(place, copy if place.name == ".github" else copy / "workflows")
        done = audited(copy)
        assert done.returncode == 0, f"{place}: {done.stdout}\n{done.stderr}"
        assert "No findings to report" in done.stdout + done.stderr


def test_zizmor_finds_a_workflow_that_runs_the_words_of_strangers(tmp_path: Path) -> None:
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    (folder / "cheat.yml").write_text(CHEAT, "utf-8")
    done = audited(tmp_path / ".github")
    assert done.returncode != 0
    for audit in ("dangerous-triggers", "template-injection", "unpinned-uses"):
        assert audit in done.stdout


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit_and_tools_by_constraints(path: Path) -> None:
    text = path.read_text("utf-8")
    used = [line.partition("uses:")[2].strip() for line in text.splitlines() if "uses:" in line]
    assert all(PINNED.fullmatch(one) or one.startswith("$/.github/") for one in used), used
    for line in text.splitlines():
        if "pip install" in line and "venv" not in line:
            assert "-c constraints.txt" in line, line


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_job_that_can_write_runs_no_code_of_the_repository(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"] in ({}, {"contents": "read"})
    for name, job in workflow["jobs"].items():
        rights = job.get("permissions", workflow["permissions"])
        if "write" not in rights.values():
            continue
        assert "contents" not in rights, f"{path.name}: {name}"
        assert not [step for step in job["steps"] if "run" in step or "checkout" in step["uses"]]
        assert job["environment"]
        assert "vars.PUBLISH" in job["if"]


def test_packages_are_uploaded_in_the_order_of_their_requirements() -> None:
    tables = {one["name"]: one for one in map(verdicts.table_of, verdicts.folders())}
    layers = checker.order(
        {name: checker.needs_of(one, set(tables)) for name, one in tables.items()}
    )
    jobs = read(ROOT / ".github" / "workflows" / "publish.yml")["jobs"]
    uploads = {name: job["steps"][-1] for name, job in jobs.items() if "environment" in job}
    assert [one["with"]["packages-dir"] for one in uploads.values()] == [
        f"dist/{at}/" for at in range(len(layers))
    ]
    before: Any = ["check", "judge"]
    for name, step in uploads.items():
        assert step["uses"].startswith("pypa/gh-action-pypi-publish@")
        assert step["with"]["attestations"] is True
        assert jobs[name]["needs"] == before
        assert jobs[name]["permissions"] == {"id-token": "write"}
        before = name


def test_nothing_is_uploaded_that_the_release_check_has_not_accepted() -> None:
    jobs = read(ROOT / ".github" / "workflows" / "publish.yml")["jobs"]
    commands = {
        name: [step.get("run", "") for step in job.get("steps", [])] for name, job in jobs.items()
    }
    (checked,) = [one for one in commands["check"] if "release_check.py" in one]
    (judged,) = [one for one in commands["judge"] if "release_check.py" in one]
    assert checked.endswith('--tag "$GITHUB_REF_NAME" --dist dist')
    assert judged.endswith('--tag "$GITHUB_REF_NAME" --judge wheelhouse --only neurogym-core')
    assert not any("--before-names" in line for lines in commands.values() for line in lines)
    assert jobs["judge"]["needs"] == "wheels"


def test_git_changes_no_line_ends_on_windows() -> None:
    words = ["git", "check-attr", "text", "--", "neurogym_core/__init__.py", "README.md"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert [line.rpartition(": ")[2] for line in done.stdout.splitlines()] == ["unset", "unset"]


@pytest.mark.parametrize("name", ["release", "test"])
def test_workflows_of_a_new_package_pin_their_tools_as_the_constraints_do(name: str) -> None:
    (path,) = ROOT.glob(f"cookiecutter-task/*/.github/workflows/{name}.yml")
    installed = re.findall(r"(?<!uv )pip install (.+)", path.read_text("utf-8"))
    pins = {one for line in installed if "$NEUROGYM_SOURCES" not in line for one in line.split()}
    assert {one.partition("==")[0] for one in pins} == (
        {"build", "twine"} if name == "release" else {"uv"}
    )
    assert pins <= set((ROOT / "constraints.txt").read_text("utf-8").splitlines())
