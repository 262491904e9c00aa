"""From an empty folder to a task that another user has installed, with real pip and real wheels."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import environments
import made_packages as packages
import pytest
from click.testing import CliRunner
from neurogym_registry.commands import submit
from neurogym_registry.submission import Submission
from neurogym_registry.wheels import TEMPLATE_TEXTS

from neurogym_core.tools import main

makers = sys.modules["ngym_test_registry_makers"]
NAME = "neurogym-task-walk"


@pytest.fixture(scope="module")
def author(tmp_path_factory: pytest.TempPathFactory, wheels: list[Path], third_party: Path):
    made = environments.Environment(tmp_path_factory.mktemp("author") / "venv", third_party)
    made.pip_install(wheels)
    return made


@pytest.fixture(scope="module")
def package(author, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package made by `ngym new`."""
    folder = tmp_path_factory.mktemp("lab")
    answers = (
        "--task",
        "Walk",
        "--lab",
        "walk",
        "--author",
        "Ana",
        "--licence",
        "MIT",
        "--kind",
        "table",
    )
    author.ngym("new", folder, *answers, check=True)
    makers.finish(folder / NAME)
    return folder / NAME


@pytest.mark.parametrize(
    ("keepers", "number", "noted"),
    [(True, "", True), (True, "github_id = 7\n", False), (False, "", False)],
)
def test_a_new_package_that_its_author_could_not_submit_is_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], keepers: bool, number: str, noted: bool
) -> None:
    file = f"packages/{NAME}.toml"
    (tmp_path / "packages").mkdir()
    (tmp_path / file).write_text(f'[[maintainers]]\nname = "Ana"\n{number}', "utf-8")
    if keepers:
        (tmp_path / "keepers.toml").write_text("schema = 1\n", "utf-8")
    submit._show(tmp_path, Submission(files=(file,), warnings=(), title="Title", text="Text"))
    assert ("has no github_id" in capsys.readouterr().err) is noted


OPTIONS = ("--no-isolation", "--github", "ana", "--github-id", "7")


@pytest.mark.slow
def test_from_an_empty_folder_to_installed_by_somebody_else(
    author,
    package: Path,
    tmp_path: Path,
    wheels: list[Path],
    third_party: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    started = time.perf_counter()
    registry = makers.Keeper(tmp_path / "registry")
    registry.package("neurogym-task-other", "1.0.0")
    registry.build()

    # The author: install, check, submit.
    author.run(
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "-e",
        package,
        check=True,
    )
    checked = author.ngym("check", "walk/Walk-v0", "--level", "full")
    assert checked.returncode == 0, checked.stdout
    submitted = author.ngym("submit", package, "--registry", registry.folder, *OPTIONS)
    assert submitted.returncode == 0, submitted.stderr
    for part in (
        f"Title: List {NAME} 0.1.0",
        f"packages/{NAME}.toml",
        f"releases/{NAME}/0.1.0/Walk-v0.svg",
        "0 failed",
    ):
        assert part in submitted.stdout
    assert author.ngym("registry", "validate", registry.folder).returncode == 0

    # The registry is merged, and pip finds the wheel. Another user searches and installs.
    other = environments.Environment(tmp_path / "other" / "venv", third_party)
    other.pip_install(wheels)
    where = {"NGYM_REGISTRY": registry.folder.as_uri(), "PIP_FIND_LINKS": str(package / "dist")}
    assert "Walk-v0" in other.ngym("search", "delay", **where).stdout
    installed = other.ngym("install", NAME, "--yes", **where)
    assert installed.returncode == 0, installed.stderr
    assert [row["id"] for row in json.loads(other.ngym("list", "--json").stdout)] == [
        "walk/Walk-v0"
    ]
    played = other.run(
        "-c",
        "import neurogym_core as n; print(n.run('Walk-v0', 'oracle', 5,"
        " seed=1)['performance'].mean())",
    )
    assert played.stdout.strip() == "1.0"
    assert "none failed" in installed.stdout
    with capsys.disabled():
        print(
            f" [from new to installed by somebody else: {time.perf_counter() - started:.0f} s]",
            end="",
        )

    # The next release: only the version changes.
    _raise_version(package)
    again = author.ngym("submit", package, "--registry", registry.folder, *OPTIONS)
    assert again.returncode == 0, again.stderr
    assert f"Title: Release {NAME} 0.2.0" in again.stdout
    assert f"packages/{NAME}.toml" not in again.stdout
    assert registry.index()["serial"] == 3


def _raise_version(package: Path) -> None:
    project = package / "pyproject.toml"
    project.write_text(project.read_text("utf-8").replace('"0.1.0"', '"0.2.0"'), "utf-8")


@pytest.mark.slow
def test_a_task_that_changed_behaviour_is_not_submitted(
    author, package: Path, tmp_path: Path
) -> None:
    registry = makers.Keeper(tmp_path / "registry")
    registry.build()
    before = sorted(registry.folder.rglob("*"))
    source = package / "neurogym_task_walk" / "walk.py"
    text = source.read_text("utf-8")
    source.write_text(text.replace('"delay": 600', '"delay": 700'), "utf-8")
    try:
        refused = author.ngym(
            "submit", package, "--registry", registry.folder, *OPTIONS, "--dist", tmp_path / "dist"
        )
    finally:
        source.write_text(text, "utf-8")
    assert refused.returncode == 1
    assert "R001" in refused.stderr
    assert sorted(registry.folder.rglob("*")) == before


def ngym(*arguments: object):
    return CliRunner().invoke(main, [str(one) for one in arguments], prog_name="ngym")


@pytest.fixture
def plain_wheel(tmp_path: Path) -> Path:
    """A wheel without tasks, which needs no checks."""
    metadata = (
        f"Metadata-Version: 2.4\nName: {NAME}\nVersion: 1.0.0\nSummary: Says"
        ' "walk".\nLicense-Expression: MIT\nRequires-Python: >=3.11\nRequires-Dist:'
        " neurogym-core>=1.0,<2\nAuthor: Ana, Bo\nAuthor-email: Cleo"
        " <cleo@example.org>\nProject-URL: Source, https://example.org/walk\n"
    )
    groups = {
        "neurogym.commands": {"walk": "neurogym_task_walk.tasks:walk"},
        "neurogym.plugins": {"watch": "neurogym_task_walk.tasks"},
        "neurogym.wrappers": {"Trim": "neurogym_task_walk.tasks:Trim"},
    }
    row = 'name = "Trim"\ntitle = "Trim"\nsummary = "Trims."\ntags = ["wrapper-timing"]\n'
    package = packages.Package(
        name=NAME,
        version="1.0.0",
        groups=groups,
        metadata=metadata,
        manifest=f"schema = 1\n[[wrapper]]\n{row}",
    )
    return packages.wheel(package, tmp_path)


def test_the_entry_is_written_from_the_wheel(keeper, plain_wheel: Path) -> None:
    keeper.build()
    result = ngym("submit", plain_wheel, "--registry", keeper.folder)
    assert result.exit_code == 0, result.output
    entry = tomllib.loads((keeper.folder / "packages" / f"{NAME}.toml").read_text("utf-8"))
    assert entry["summary"] == 'Says "walk".'
    assert entry["repository"] == "https://example.org/walk"
    assert [one["name"] for one in entry["maintainers"]] == ["Ana", "Bo", "Cleo"]
    again = ngym("submit", plain_wheel, "--registry", keeper.folder)
    assert again.exit_code == 1
    assert "released already" in again.stderr


def test_the_pull_request_says_what_a_package_does_besides_its_tasks(
    keeper, plain_wheel: Path
) -> None:
    said = ngym("submit", plain_wheel, "--registry", keeper.folder).stdout
    assert "\n- wrapper `Trim`: Trims.\n" in said
    assert "\n- **it adds commands to ngym: walk**\n" in said
    assert (
        "\n- **its hooks (watch) run in every `make`, for the tasks of all packages, in some"
        " commands, and on unknown names**\n"
    ) in said


@pytest.mark.parametrize("committed", [False, True])
def test_an_index_that_git_ignores_is_not_for_the_pull_request(
    tmp_path: Path, plain_wheel: Path, committed: bool
) -> None:
    registry = tmp_path / "registry"
    assert ngym("registry", "new", registry, "--keeper", "Ana", "--github-id", 7).exit_code == 0
    if committed:
        (registry / ".gitignore").unlink()
    subprocess.run(["git", "init", "--quiet", str(registry)], check=True)
    files = ngym("submit", plain_wheel, "--registry", registry).stdout.partition("Open a pull")[0]
    assert f"  releases/{NAME}/1.0.0.json\n" in files
    assert ("  index.json\n" in files) is committed


def test_only_the_files_of_the_package_are_read(keeper, plain_wheel: Path, tmp_path: Path) -> None:
    """A large registry has half a million files; its index is built when it is published."""
    broken = keeper.release("neurogym-task-other")
    broken.write_text("{", "utf-8")
    refused = ngym("submit", plain_wheel, "--registry", keeper.folder)
    assert refused.exit_code == 1
    assert "The index cannot be built" in refused.stderr
    assert not (keeper.folder / "packages").exists()
    subprocess.run(["git", "init", "--quiet", str(keeper.folder)], check=True)
    (keeper.folder / ".gitignore").write_text("/index.json*\n", "utf-8")
    result = ngym("submit", plain_wheel, "--registry", keeper.folder)
    assert result.exit_code == 0, result.output
    assert not (keeper.folder / "index.json").exists()


def test_a_name_is_compared_with_all_names_of_the_registry(keeper, plain_wheel: Path) -> None:
    keeper.entry("neurogym-task-wa1k")
    keeper.build()
    refused = ngym("submit", plain_wheel, "--registry", keeper.folder)
    assert refused.exit_code == 1
    assert "looks like 'neurogym-task-wa1k'" in refused.stderr


def test_what_breaks_a_rule_is_not_written(keeper, plain_wheel: Path) -> None:
    keeper.entry("neurogym-task-walks")
    keeper.build()
    before = {path: path.read_bytes() for path in keeper.folder.rglob("*") if path.is_file()}
    result = ngym(
        "submit", plain_wheel, "--registry", keeper.folder, "--repository", "https://example.org/x"
    )
    assert result.exit_code == 1
    assert "look-alike" in result.stderr
    assert "nothing was written" in result.stderr
    assert {
        path: path.read_bytes() for path in keeper.folder.rglob("*") if path.is_file()
    } == before


def test_a_wheel_that_does_not_say_where_it_is_from_needs_an_option(keeper, tmp_path: Path) -> None:
    path = packages.wheel(packages.Package(name=NAME, version="1.0.0"), tmp_path)
    result = ngym("submit", path, "--registry", keeper.folder)
    assert result.exit_code == 1
    assert "--repository" in result.stderr
    result = ngym(
        "submit", path, "--registry", keeper.folder, "--repository", "https://example.org/x"
    )
    assert "--maintainer" in result.stderr


def test_a_released_version_is_submitted_as_the_index_serves_it(
    keeper, plain_wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Building again gives another file, whose hash users would not find."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(plain_wheel.parent))
    keeper.build()
    result = ngym("submit", f"{NAME}==1.0.0", "--registry", keeper.folder)
    assert result.exit_code == 0, result.output
    release = json.loads((keeper.folder / "releases" / NAME / "1.0.0.json").read_text("utf-8"))
    digest = hashlib.sha256(plain_wheel.read_bytes()).hexdigest()
    assert [file["sha256"] for file in release["files"]] == [digest]
    missing = ngym("submit", f"{NAME}==2.0.0", "--registry", keeper.folder)
    assert missing.exit_code == 1
    assert "pip download failed" in missing.stderr
    neither = ngym("submit", NAME, "--registry", keeper.folder)
    assert "Expected NAME==VERSION" in neither.stderr


def task_wheel(folder: Path, source: str, **fields: str) -> Path:
    """A wheel with a task that ends the process if it is imported."""
    lines = {
        "Metadata-Version": "2.4",
        "Name": NAME,
        "Version": "1.0.0",
        "License-Expression": "MIT",
        "Requires-Python": ">=3.11",
        "Requires-Dist": "neurogym-core>=1.0,<2",
        "Author": "Ana",
        "Project-URL": "Source, https://example.org/walk",
        **fields,
    }
    package = packages.Package(
        name=NAME,
        version=lines["Version"],
        tasks={"Walk-v0": "neurogym_task_walk.walk:Walk"},
        files={"walk.py": f"{source}\nraise SystemExit('imported')\n"},
        manifest=packages.manifest_row("Walk-v0"),
        metadata="".join(f"{key}: {value}\n" for key, value in lines.items()),
    )
    return packages.wheel(package, folder)


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("License-Expression", "Mine", "[licence]"),
        ("Requires-Dist", "neurogym-core", "[core-bound]"),
        ("Requires-Python", "", "[python-bound]"),
        ("Version", "1.0.0.dev3", "a version from git tags needs a tag"),
    ],
)
def test_rules_that_need_no_code_are_checked_before_the_kit_runs(
    keeper, tmp_path: Path, field: str, value: str, rule: str
) -> None:
    keeper.build()
    result = ngym("submit", task_wheel(tmp_path, "", **{field: value}), "--registry", keeper.folder)
    assert result.exit_code == 1
    assert rule in result.stderr
    assert "imported" not in result.stderr
    assert not (keeper.folder / "releases").exists()


@pytest.mark.parametrize("text", TEMPLATE_TEXTS)
def test_a_text_of_the_template_is_refused(keeper, tmp_path: Path, text: str) -> None:
    keeper.build()
    wheel = task_wheel(tmp_path, f'class Walk:\n    """Walk.\n\n    {text}, and more.\n    """')
    result = ngym("submit", wheel, "--registry", keeper.folder)
    assert result.exit_code == 1
    assert "neurogym_task_walk/walk.py still has a text of the template" in result.stderr
    assert "imported" not in result.stderr


def test_every_task_of_the_template_has_these_texts() -> None:
    files = sorted((environments.REPOSITORY / "cookiecutter-task" / "templates").glob("task_*.py"))
    assert len(files) == 4
    for path in files:
        for text in TEMPLATE_TEXTS:
            assert text in path.read_text("utf-8"), path.name


def test_what_cannot_be_built(keeper, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = ngym("submit", tmp_path / "empty", "--registry", keeper.folder, "--no-isolation")
    assert result.exit_code == 1
    assert "No wheel could be built" in result.stderr
