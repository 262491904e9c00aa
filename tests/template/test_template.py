"""`ngym new`: clean files for every combination of answers, a working package for every kind."""

from __future__ import annotations

import ast
import itertools
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import environments
import installs
import pytest
import yaml
from click.testing import CliRunner
from neurogym_check import new, template

from neurogym_core.ecosystem import published
from neurogym_core.tools import main, parse_manifest

AUTHORS = ("Ana O'Neil", "Zoë Žižek-李")
COMBINATIONS = list(itertools.product(new.LICENCES, new.KINDS, AUTHORS))


GIVEN = {
    "task": "SideMemory",
    "lab": "my-lab",
    "author": "Ana",
    "licence": "MIT",
    "kind": "table",
}


def answers(**more: str) -> list[str]:
    return [part for key, value in {**GIVEN, **more}.items() for part in (f"--{key}", value)]


def ngym_new(folder: Path, **given: str):
    return CliRunner().invoke(main, ["new", str(folder), *answers(**given)], prog_name="ngym")


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str, str], Path]:
    """A package for each combination of answers."""
    made = {}
    for number, (licence, kind, author) in enumerate(COMBINATIONS):
        given = {
            "task_name": "SideMemory",
            "lab": f"my-lab{number}",
            "author": author,
            "licence": licence,
            "kind": kind,
            "repository": "https://example.org/lab/repository",
        }
        made[licence, kind, author] = new.render(given, tmp_path_factory.getbasetemp())
    return made


@pytest.mark.parametrize("combination", COMBINATIONS, ids=str)
def test_every_combination_makes_files_that_can_be_read(
    rendered: dict, combination: tuple[str, str, str]
) -> None:
    licence, kind, author = combination
    folder = rendered[combination]
    module = folder.name.replace("-", "_")
    files = {
        path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()
    }
    wanted = {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "CITATION.cff",
        "NEXTSTEPS.md",
        ".gitignore",
        ".github/workflows/test.yml",
        ".github/workflows/release.yml",
        ".github/dependabot.yml",
        f"{module}/__init__.py",
        f"{module}/ngym.toml",
        f"{module}/digests.toml",
        f"{module}/py.typed",
        f"{module}/side_memory.py",
        "tests/test_conformance.py",
        "tests/test_side_memory.py",
    }
    assert set(files) == wanted
    for name, path in files.items():
        text = path.read_text("utf-8")
        assert "cookiecutter" not in text, name
        assert "{%" not in text, name
        assert text.endswith("\n") or name.endswith("py.typed"), name
        assert not text.endswith("\n\n"), name
        if name.endswith(".py"):
            ast.parse(text)
        if name.endswith((".yml", ".cff")):
            assert yaml.safe_load(text)
    project = tomllib.loads(files["pyproject.toml"].read_text("utf-8"))["project"]
    assert (project["license"], project["authors"]) == (licence, [{"name": author}])
    assert project["entry-points"]["neurogym.tasks"] == {
        "SideMemory-v0": f"{module}.side_memory:SideMemory"
    }
    assert author in files["CITATION.cff"].read_text("utf-8")
    assert "neurogym-core>=1.0,<2" in project["dependencies"]
    (row,) = parse_manifest(files[f"{module}/ngym.toml"].read_text("utf-8")).rows
    assert (row.name, row.problems) == ("SideMemory-v0", ())
    assert (author in files["LICENSE"].read_text("utf-8")) is (licence != "Apache-2.0")
    assert ("closed" in files[f"{module}/ngym.toml"].read_text("utf-8")) is (kind == "closed-loop")


def test_all_combinations_pass_the_linter(
    rendered: dict, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folders = [str(path) for path in rendered.values()]
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--no-cache", *folders],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout


def test_no_text_claims_that_a_package_of_the_project_is_on_an_index(rendered: dict) -> None:
    for folder in rendered.values():
        for path in folder.rglob("*"):
            text = path.read_text("utf-8") if path.is_file() else ""
            assert installs.ours(text) == [], path


HOSTILE = [
    {"task": "sideMemory"},
    {"task": "Side Memory"},
    {"task": "SideMemory-v0"},
    {"task": "../Evil"},
    {"task": "Überlegung"},
    {"task": "Task"},
    {"task": "TrialBuilder"},
    {"task": "Session", "kind": "session"},
    {"task": "Class"},
    {"task": "TestTask"},
    {"task": "{{cookiecutter.lab}}"},
    {"task": ""},
    {"lab": "My-Lab"},
    {"lab": "my_lab"},
    {"lab": "my--lab"},
    {"lab": "../evil"},
    {"lab": "core"},
    {"lab": "wrappers"},
    {"lab": "x-other"},
    {"lab": "1st"},
    {"author": 'A"; import os #'},
    {"author": "A\nB"},
    {"author": "{{ 1 }}"},
    {"author": "</script>"},
    {"author": " "},
    {"author": "A\u202e"},
    {"repository": "http://example.org/a"},
    {"repository": 'https://example.org/a"]'},
]


@pytest.mark.parametrize("given", HOSTILE, ids=str)
def test_answers_that_cannot_become_a_package_are_refused_before_anything_is_written(
    tmp_path: Path, given: dict
) -> None:
    result = ngym_new(tmp_path / "here", **given)
    assert result.exit_code == 1, result.output
    assert "Nothing was written." in result.stderr
    assert not (tmp_path / "here").exists()


def test_without_a_registry_one_line_says_that_names_were_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NGYM_DISABLE_PLUGIN_AUTOLOAD", "1")
    result = ngym_new(tmp_path)
    assert result.exit_code == 0, result.output
    assert "'ngym registry' comes with neurogym-registry" in result.stderr
    assert (tmp_path / "neurogym-task-my-lab").is_dir()


@pytest.mark.parametrize("given", [{"licence": "Mine"}, {"kind": "cube"}])
def test_unknown_choices_are_usage_errors(tmp_path: Path, given: dict) -> None:
    assert ngym_new(tmp_path, **given).exit_code == 2


def test_plain_cookiecutter_refuses_them_too(tmp_path: Path) -> None:
    from cookiecutter.exceptions import FailedHookException

    with pytest.raises(FailedHookException):
        new.render(
            {
                "task_name": "SideMemory",
                "lab": "Bad Lab",
                "author": "'''",
                "licence": "MIT",
                "kind": "table",
                "repository": "here",
            },
            tmp_path,
        )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", new.KINDS)
def test_plain_cookiecutter_writes_the_files_of_ngym_new(tmp_path: Path, kind: str) -> None:
    assert ngym_new(tmp_path / "ngym", kind=kind).exit_code == 0
    given = {**GIVEN, "kind": kind}
    command = [sys.executable, "-m", "cookiecutter", "--no-input", "-o", tmp_path / "plain"]
    words = [f"task_name={given.pop('task')}", *(f"{key}={one}" for key, one in given.items())]
    home = {**os.environ, "HOME": str(tmp_path / "home")}  # for its replay file
    subprocess.run([*map(str, command), str(new.template_folder()), *words], env=home, check=True)

    def files(folder: str) -> dict[str, bytes]:
        made = (path for path in (tmp_path / folder).rglob("*") if path.is_file())
        return {str(path.relative_to(tmp_path / folder)): path.read_bytes() for path in made}

    assert files("plain") == files("ngym") != {}


def test_an_existing_folder_is_left_unchanged(tmp_path: Path) -> None:
    (tmp_path / "neurogym-task-my-lab").mkdir()
    result = ngym_new(tmp_path)
    assert result.exit_code == 1
    assert "exists already" in result.stderr


def test_missing_options_are_prompted_for(tmp_path: Path) -> None:
    typed = "SideMemory\nmy-lab\nAna\n\n\n"
    result = CliRunner().invoke(main, ["new", str(tmp_path)], input=typed, prog_name="ngym")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "neurogym-task-my-lab" / "neurogym_task_my_lab" / "digests.toml").is_file()
    assert f"Made {tmp_path / 'neurogym-task-my-lab'}" in result.output


def test_the_first_next_step_is_to_install_the_packages_that_a_classic_task_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "pip install -e /" not in ngym_new(tmp_path / "with", kind="classic").stdout
    monkeypatch.setattr(new, "installed", lambda: SimpleNamespace(packages=()))
    monkeypatch.setenv("NGYM_DISABLE_PLUGIN_AUTOLOAD", "1")
    root = str(Path(__file__).resolve().parents[2])
    both = published.install_command("neurogym-classic", "neurogym-plot", checkout=root)
    assert f"\n  {both}\n" in ngym_new(tmp_path / "b", kind="classic").stdout
    monkeypatch.setattr(published, "__file__", str(tmp_path / "x" / "y" / "published.py"))
    line = "-e ./plugins/neurogym-plot  # in a checkout"
    assert line in ngym_new(tmp_path / "c", kind="classic").stdout


def test_the_template_is_that_of_the_checkout_or_of_the_wheel(tmp_path, monkeypatch) -> None:
    assert template.template_folder() == Path(__file__).resolve().parents[2] / "cookiecutter-task"
    monkeypatch.setattr(template, "_PACKAGE", tmp_path / "a" / "b" / "neurogym_check")
    with pytest.raises(FileNotFoundError, match="Install neurogym-check again"):
        template.template_folder()
    (tmp_path / "a" / "b" / "neurogym_check" / "_template").mkdir(parents=True)
    assert template.template_folder().name == "_template"


def test_without_cookiecutter_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cookiecutter.main", None)
    result = ngym_new(tmp_path)
    assert result.exit_code == 1
    assert "`ngym new` needs cookiecutter" in result.stderr


def test_a_template_that_pip_has_compiled_leaves_no_byte_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "template"
    shutil.copytree(new.template_folder(), copy)
    caches = [path.parent / "__pycache__" for path in copy.rglob("__init__.py")]
    for cache in caches:
        cache.mkdir()
        (cache / "__init__.cpython-311.pyc").write_bytes(b"\x00")
    assert caches
    monkeypatch.setattr(new, "template_folder", lambda: copy)
    assert ngym_new(tmp_path / "here").exit_code == 0
    assert list((tmp_path / "here").rglob("__pycache__")) == []


def test_nothing_is_left_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert ngym_new(tmp_path / "here").exit_code == 0
    assert not (tmp_path / "home").exists()


def needed(kind: str, folder: Path) -> list[Path]:
    """Return the wheels that a task of this kind needs in addition to the core."""
    sources = Path(__file__).parents[2] / "plugins" / "neurogym-classic"
    return [environments.build_wheel(sources, folder / "needed")] if kind == "classic" else []


def test_a_classic_task_needs_the_packages_that_play_and_draw_it(rendered: dict) -> None:
    for (_, kind, _), package in rendered.items():
        project = tomllib.loads((package / "pyproject.toml").read_text("utf-8"))["project"]
        assert ("neurogym-classic>=1.0,<2" in project["dependencies"]) is (kind == "classic")
        drawing = project["optional-dependencies"]["test"]
        assert "neurogym-plot>=1.0,<2" in drawing


def test_the_claims_of_the_template_hold(rendered: dict, tmp_path: Path) -> None:
    """The tests of each kind of task pass, with its file in place of the installed task."""
    for kind in new.KINDS:
        package = rendered["MIT", kind, AUTHORS[0]]
        source = package / package.name.replace("-", "_") / "side_memory.py"
        text = (package / "tests" / "test_side_memory.py").read_text("utf-8")
        of_file = re.sub(r'^TASK = ".*"$', f"TASK = {f'{source}:SideMemory'!r}", text, flags=re.M)
        assert of_file != text
        (tmp_path / f"test_{kind.replace('-', '_')}.py").write_text(of_file, "utf-8")
    options = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-c", os.devnull)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, f"--rootdir={tmp_path}", tmp_path],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("kind", new.KINDS)
def test_a_package_of_each_kind_works_as_a_wheel(environment, tmp_path: Path, kind: str) -> None:
    """It is built, installed and tested, and list, info and doctor show it."""
    made = environment.ngym("new", tmp_path, *answers(task="MyTask", lab=f"of-{kind}", kind=kind))
    assert made.returncode == 0, made.stderr
    package = tmp_path / f"neurogym-task-of-{kind}"
    wheel = environments.build_wheel(package, tmp_path / "dist")
    environment.pip_install([*needed(kind, tmp_path), wheel])
    try:
        tested = environment.run(
            "-P",
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-W",
            "error",
            str(package / "tests"),
        )
        assert tested.returncode == 0, tested.stdout
        (row,) = environments.as_json(environment.ngym("list", "--json"))
        assert (row["id"], row["status"], row["problems"]) == (f"of-{kind}/MyTask-v0", "ok", [])
        assert "cannot be imported" not in environment.ngym("info", row["id"], check=True).stdout
        environment.ngym("doctor", check=True)
    finally:
        environment.run("-m", "pip", "uninstall", "--yes", "--quiet", package.name)


@pytest.mark.parametrize("kind", ["table", "session", "closed-loop"])
def test_the_template_ships_the_digest_of_its_task(rendered: dict, kind: str) -> None:
    from neurogym_check.digest import agree, digest_of, stored

    from neurogym_core.tools import load_task

    folder = rendered["MIT", kind, AUTHORS[0]]
    module = folder / folder.name.replace("-", "_")
    known = stored(module / "digests.toml")["SideMemory-v0"]
    fresh = digest_of(load_task(f"{module / 'side_memory.py'}:SideMemory")())
    assert known.keys() == fresh.keys()
    assert all(agree(known[part], fresh[part]) for part in known)


def test_the_workflows_pin_every_action_to_a_commit(rendered: dict) -> None:
    folder = next(iter(rendered.values()))
    used = [
        step["uses"]
        for path in (folder / ".github/workflows").iterdir()
        for job in yaml.safe_load(path.read_text("utf-8"))["jobs"].values()
        for step in job["steps"]
        if "uses" in step
    ]
    assert len(used) == 7
    for action in used:
        assert len(action.partition("@")[2]) == 40, action


def test_nothing_is_published_before_its_owner_allows_it(rendered: dict) -> None:
    folder = next(iter(rendered.values()))
    release = yaml.safe_load((folder / ".github/workflows/release.yml").read_text("utf-8"))
    assert release["jobs"]["publish"]["if"] == "vars.PUBLISH == 'yes'"
    assert release["jobs"]["build"]["permissions"] == {"contents": "read"}
