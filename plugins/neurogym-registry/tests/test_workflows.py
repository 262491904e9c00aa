"""The workflow of the rules checks who opened a pull request, and who pushed to it."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest
import yaml
from neurogym_registry.keeping import new

OPENED, PUSHED = "11", "22"


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def pull_request(tmp_path: Path):
    """Return a function that plays the step of the workflow on a pull request; it returns the exit
    status, and the accounts for which the rules were asked.
    """
    origin = tmp_path / "origin"
    new(origin, "Ana", 7)
    git(tmp_path, "init", "--quiet", "origin")
    git(origin, "add", "--all")
    git(origin, "commit", "--quiet", "--message", "x")
    git(tmp_path, "clone", "--quiet", "origin", "registry")
    (origin / "packages").mkdir()
    (origin / "packages" / "a.toml").write_text("", "utf-8")
    git(origin, "add", "--all")
    git(origin, "commit", "--quiet", "--message", "y")
    git(origin, "update-ref", "refs/pull/5/head", "HEAD")
    head = git(origin, "rev-parse", "HEAD")
    stub = tmp_path / "bin" / "ngym"
    stub.parent.mkdir()
    # The rules allow everything to the account that opened the pull request, and nothing to others.
    stub.write_text(
        f'#!/bin/bash\necho "${{@: -1}} $(git -C registry rev-parse HEAD)" >> asked\n'
        f'[ "${{@: -1}}" = {OPENED} ]\n',
        "utf-8",
    )
    stub.chmod(stub.stat().st_mode | stat.S_IXUSR)
    text = (origin / ".github/workflows/rules.yml").read_text("utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["defaults"]["run"]["shell"] == "bash"  # which GitHub starts with pipefail
    script = workflow["jobs"]["rules"]["steps"][-1]["run"]

    def play(pushed: str, sha: str = head) -> tuple[int, list[str]]:
        given = {"NUMBER": "5", "SHA": sha, "OPENED": OPENED, "PUSHED": pushed, "ACTOR": OPENED}
        path = f"{stub.parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=tmp_path, env={"PATH": path, "HOME": str(tmp_path), **given}, capture_output=True,
        )  # fmt: skip
        asked = tmp_path / "asked"
        lines = asked.read_text("utf-8").splitlines() if asked.exists() else []
        assert {line.split()[1] for line in lines} <= {head}
        return done.returncode, [line.split()[0] for line in lines]

    return play


def test_the_account_that_opened_and_pushed_is_checked(pull_request) -> None:
    status, asked = pull_request(OPENED)
    assert status == 0
    assert set(asked) == {OPENED}


def test_another_account_cannot_push_to_the_branch_of_a_maintainer(pull_request) -> None:
    status, asked = pull_request(PUSHED)
    assert status != 0
    assert PUSHED in asked


def test_another_commit_than_that_of_the_event_is_not_checked(pull_request) -> None:
    status, asked = pull_request(OPENED, sha="0" * 40)
    assert status != 0
    assert asked == []
