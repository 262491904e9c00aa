"""From an empty folder to a task that another user has installed, with real pip and real wheels."""

from __future__ import annotations

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
from neurogym_registry.submission import Change
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
    release = makers.release(NAME)
    submit._show(tmp_path, Change(files=(file,), warnings=(), release=release), first=True)
    assert ("has no github_id" in capsys.readouterr().err) is noted


OPTIONS = ("--github", "ana", "--github-id", "7")


def released(package: Path, folder: Path) -> dict[str, str]:
    """Build the wheel of a package into a folder; return the variables by which pip finds it."""
    environments.build_wheel(package, folder)
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder)}


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
    index = tmp_path / "index"
    found = released(package, index)
    submitted = author.ngym(
        "submit", f"{NAME}==0.1.0", "--registry", registry.folder, *OPTIONS, **found
    )
    assert submitted.returncode == 0, submitted.stderr
    for part in (
        f"Title: List {NAME} 0.1.0",
        f"packages/{NAME}.toml",
        "0 failed",
        f"`ngym registry accept {NAME}==0.1.0`",
    ):
        assert part in submitted.stdout
    assert not (registry.folder / "releases" / NAME).exists()

    # The keeper: accept.
    accepted = author.ngym(
        "registry", "accept", "--registry", registry.folder, "--no-sandbox", **found
    )
    assert accepted.returncode == 0, accepted.stderr
    assert (registry.folder / "releases" / NAME / "0.1.0" / "Walk-v0.svg").is_file()
    assert author.ngym("registry", "validate", registry.folder).returncode == 0

    # The registry is merged, and pip finds the wheel. Another user searches and installs.
    other = environments.Environment(tmp_path / "other" / "venv", third_party)
    other.pip_install(wheels)
    where = {"NGYM_REGISTRY": registry.folder.as_uri(), "PIP_FIND_LINKS": str(index)}
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
    found = released(package, index)
    again = author.ngym(
        "submit", f"{NAME}==0.2.0", "--registry", registry.folder, *OPTIONS, **found
    )
    assert again.returncode == 0, again.stderr
    assert f"Title: Release {NAME} 0.2.0" in again.stdout
    entry = tomllib.loads((registry.folder / "packages" / f"{NAME}.toml").read_text("utf-8"))
    assert entry["versions"] == ["0.2.0"]
    author.ngym(
        "registry", "accept", "--registry", registry.folder, "--no-sandbox", check=True, **found
    )
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
        found = released(package, tmp_path / "dist")
        refused = author.ngym(
            "submit", f"{NAME}==0.1.0", "--registry", registry.folder, *OPTIONS, **found
        )
    finally:
        source.write_text(text, "utf-8")
    assert refused.returncode == 1
    assert "R001" in refused.stderr
    assert sorted(registry.folder.rglob("*")) == before


def ngym(*arguments: object, **variables: str):
    words = [str(one) for one in arguments]
    return CliRunner().invoke(main, words, prog_name="ngym", env=variables)


def submit_wheel(wheel: Path, folder: Path, *options: object):
    """Submit the version of a wheel, which pip finds in the wheel's folder."""
    version = wheel.name.split("-")[1]
    arguments = ("submit", f"{NAME}=={version}", "--registry", folder, *options)
    return ngym(*arguments, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheel.parent))


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
    result = submit_wheel(plain_wheel, keeper.folder)
    assert result.exit_code == 0, result.output
    entry = tomllib.loads((keeper.folder / "packages" / f"{NAME}.toml").read_text("utf-8"))
    assert entry["summary"] == 'Says "walk".'
    assert entry["repository"] == "https://example.org/walk"
    assert [one["name"] for one in entry["maintainers"]] == ["Ana", "Bo", "Cleo"]
    assert entry["versions"] == ["1.0.0"]
    assert keeper.accept(plain_wheel).exit_code == 0
    again = submit_wheel(plain_wheel, keeper.folder)
    assert again.exit_code == 1
    assert "released already" in again.stderr


def test_the_pull_request_says_what_a_package_does_besides_its_tasks(
    keeper, plain_wheel: Path
) -> None:
    said = submit_wheel(plain_wheel, keeper.folder).stdout
    assert "\n- wrapper `Trim`: Trims.\n" in said
    assert "\n- **it adds commands to ngym: walk**\n" in said
    assert (
        "\n- **its hooks (watch) run for the tasks of all packages: in `make` with a render mode,"
        " in some commands, and on unknown names**\n"
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
    files = submit_wheel(plain_wheel, registry).stdout.partition("Open a pull")[0]
    assert f"  packages/{NAME}.toml\n" in files
    assert ("  index.json\n" in files) is committed


def test_only_the_files_of_the_package_are_read(keeper, plain_wheel: Path, tmp_path: Path) -> None:
    """A large registry has half a million files; its index is built when it is published."""
    broken = keeper.release("neurogym-task-other")
    broken.write_text("{", "utf-8")
    refused = submit_wheel(plain_wheel, keeper.folder)
    assert refused.exit_code == 1
    assert "The index cannot be built" in refused.stderr
    assert not (keeper.folder / "packages").exists()
    subprocess.run(["git", "init", "--quiet", str(keeper.folder)], check=True)
    (keeper.folder / ".gitignore").write_text("/index.json*\n", "utf-8")
    result = submit_wheel(plain_wheel, keeper.folder)
    assert result.exit_code == 0, result.output
    assert not (keeper.folder / "index.json").exists()


def test_a_name_is_compared_with_all_names_of_the_registry(keeper, plain_wheel: Path) -> None:
    keeper.entry("neurogym-task-wa1k")
    keeper.build()
    refused = submit_wheel(plain_wheel, keeper.folder)
    assert refused.exit_code == 1
    assert "looks like 'neurogym-task-wa1k'" in refused.stderr


def test_what_breaks_a_rule_is_not_written(keeper, plain_wheel: Path) -> None:
    keeper.entry("neurogym-task-walks")
    keeper.build()
    before = {path: path.read_bytes() for path in keeper.folder.rglob("*") if path.is_file()}
    result = submit_wheel(plain_wheel, keeper.folder, "--repository", "https://example.org/x")
    assert result.exit_code == 1
    assert "look-alike" in result.stderr
    assert "nothing was written" in result.stderr
    assert {
        path: path.read_bytes() for path in keeper.folder.rglob("*") if path.is_file()
    } == before


def test_a_wheel_that_does_not_say_where_it_is_from_needs_an_option(keeper, tmp_path: Path) -> None:
    path = packages.wheel(packages.Package(name=NAME, version="1.0.0"), tmp_path)
    result = submit_wheel(path, keeper.folder)
    assert result.exit_code == 1
    assert "--repository" in result.stderr
    result = submit_wheel(path, keeper.folder, "--repository", "https://example.org/x")
    assert "--maintainer" in result.stderr


def test_what_pip_does_not_find_is_not_submitted(keeper, plain_wheel: Path) -> None:
    keeper.build()
    arguments = ("--registry", keeper.folder)
    places = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(plain_wheel.parent)}
    missing = ngym("submit", f"{NAME}==2.0.0", *arguments, **places)
    assert missing.exit_code == 1
    assert "pip download failed" in missing.stderr
    for text in (NAME, str(plain_wheel), "==1", f"{NAME}=="):
        neither = ngym("submit", text, *arguments, **places)
        assert "Expected NAME==VERSION" in neither.stderr
    assert not (keeper.folder / "packages").exists()


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
    result = submit_wheel(task_wheel(tmp_path, "", **{field: value}), keeper.folder)
    assert result.exit_code == 1
    assert rule in result.stderr
    assert "imported" not in result.stderr
    assert not (keeper.folder / "releases").exists()


@pytest.mark.parametrize("text", TEMPLATE_TEXTS)
def test_a_text_of_the_template_is_refused(keeper, tmp_path: Path, text: str) -> None:
    keeper.build()
    wheel = task_wheel(tmp_path, f'class Walk:\n    """Walk.\n\n    {text}, and more.\n    """')
    result = submit_wheel(wheel, keeper.folder)
    assert result.exit_code == 1
    assert "neurogym_task_walk/walk.py still has a text of the template" in result.stderr
    assert "imported" not in result.stderr


def test_every_task_of_the_template_has_these_texts() -> None:
    files = sorted((environments.REPOSITORY / "cookiecutter-task" / "templates").glob("task_*.py"))
    assert len(files) == 4
    for path in files:
        for text in TEMPLATE_TEXTS:
            assert text in path.read_text("utf-8"), path.name
