"""`ngym add`: parts that are added to a package of `ngym new`."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from neurogym_core.tools import main, parse_manifest

pytest.importorskip("cookiecutter")


def add(folder: Path, kind: str, task: str = "SecondThing"):
    return CliRunner().invoke(
        main, ["add", str(folder), "--task", task, "--kind", kind], prog_name="ngym"
    )


@pytest.fixture
def package(tmp_path: Path) -> Path:
    answers = {"--task": "SideMemory", "--lab": "my-lab", "--author": "Ana", "--licence": "MIT"}
    given = [part for answer in answers.items() for part in answer]
    words = ["new", str(tmp_path), "--kind", "table", *given]
    assert CliRunner().invoke(main, words, prog_name="ngym").exit_code == 0
    return tmp_path / "neurogym-task-my-lab"


GROUPS = {
    "table": ("neurogym.tasks", "SecondThing-v0", "SecondThing"),
    "session": ("neurogym.tasks", "SecondThing-v0", "SecondThing"),
    "closed-loop": ("neurogym.tasks", "SecondThing-v0", "SecondThing"),
    "classic": ("neurogym.tasks", "SecondThing-v0", "SecondThing"),
    "wrapper": ("neurogym.wrappers", "SecondThing", "SecondThing"),
    "subject": ("neurogym.subjects", "second_thing", "SecondThing"),
    "command": ("neurogym.commands", "second-thing", "command"),
}


@pytest.mark.parametrize("kind", GROUPS)
def test_a_part_is_added_with_its_entry_point_manifest_row_digest_and_tests(
    package: Path, kind: str
) -> None:
    assert add(package, kind).exit_code == 0
    group, name, attribute = GROUPS[kind]
    points = tomllib.loads((package / "pyproject.toml").read_text("utf-8"))["project"][
        "entry-points"
    ]
    assert points[group][name] == f"neurogym_task_my_lab.second_thing:{attribute}"
    assert "SideMemory-v0" in points["neurogym.tasks"]
    manifest = parse_manifest((package / "neurogym_task_my_lab/ngym.toml").read_text("utf-8"))
    rows = {row.name: row.problems for row in manifest.rows}
    listed = kind not in ("subject", "command")
    assert rows == {"SideMemory-v0": ()} | ({name: ()} if listed else {})
    digests = tomllib.loads((package / "neurogym_task_my_lab/digests.toml").read_text("utf-8"))
    assert (name in digests) is (kind in ("table", "session", "closed-loop"))
    assert (package / "tests/test_second_thing.py").is_file()


def test_a_classic_task_brings_the_packages_that_play_and_draw_it(package: Path) -> None:
    for name in ("SecondThing", "ThirdThing"):
        assert add(package, "classic", name).exit_code == 0
    project = tomllib.loads((package / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["dependencies"].count("neurogym-classic>=1.0,<2") == 1
    assert project["optional-dependencies"]["test"].count("neurogym-plot>=1.0,<2") == 1


def test_a_package_without_lists_of_requirements_is_left_unchanged(package: Path) -> None:
    path = package / "pyproject.toml"
    text = path.read_text("utf-8").replace("dependencies = [", "dependencies=[\n  ", 1)
    path.write_text(text.replace("test = [", "tests = [", 1), "utf-8")
    before = path.read_text("utf-8")
    result = add(package, "classic")
    assert "no list 'test'" in result.stderr
    assert path.read_text("utf-8") == before


def test_the_command_that_installs_it_again_names_the_current_folder(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(package)
    words = ["add", "--task", "SecondThing"]
    printed = CliRunner().invoke(main, words, prog_name="ngym").stdout
    assert 'pip install -e ".[test]"' in printed


def test_the_parts_pass_the_linter(package: Path) -> None:
    for kind in GROUPS:
        assert add(package, kind, f"Second{kind.title().replace('-', '')}").exit_code == 0
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--no-cache", str(package)],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout


def test_a_name_that_the_package_has_already_is_refused_and_nothing_changes(package: Path) -> None:
    before = {path: path.read_bytes() for path in package.rglob("*") if path.is_file()}
    refused = add(package, "table", "SideMemory")
    assert (refused.exit_code, "exists already" in refused.stderr) == (1, True)
    assert {path: path.read_bytes() for path in package.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "no pyproject.toml"),
        ("[project", "no pyproject.toml"),
        ('[project]\nname = "other"', "neurogym-task-NAME"),
        ('[project]\nname = "neurogym-task-gone"', "neurogym-task-NAME"),
    ],
)
def test_a_folder_without_such_a_package_is_refused(
    tmp_path: Path, text: str | None, said: str
) -> None:
    if text is not None:
        (tmp_path / "pyproject.toml").write_text(text, "utf-8")
    refused = add(tmp_path, "table")
    assert (refused.exit_code, said in refused.stderr) == (1, True)


def test_ngym_new_makes_no_package_for_a_wrapper(tmp_path: Path) -> None:
    words = ["new", str(tmp_path), "--task", "Dim", "--kind", "wrapper"]
    assert CliRunner().invoke(main, words, prog_name="ngym").exit_code == 2
