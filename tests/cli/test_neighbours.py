"""Hostile packages, installed by pip beside a good one.

Each of them writes its name into a canary file as soon as a line of its code runs.
"""

from __future__ import annotations

import importlib.util
import json
import venv
from pathlib import Path

import made_packages as packages
import pytest

Package = packages.Package

CANARY = (
    "import os\nif 'CANARY' in os.environ:\n    open(os.environ['CANARY'], 'a').write(__name__ +"
    " '\\n')\n"
)
EVIL = "\\u001b[2J\\u001b]0;owned\\u0007[bold red]free[/]\\u202E"


def _package(name: str, source: str = "", **fields: object) -> object:
    """Return a package with this source after the canary; its task is ``Bad-v0`` by default."""
    module = name.replace("-", "_")
    files = {"__init__.py": CANARY, "bad.py": CANARY + source}
    fields = {
        "tasks": {"Bad-v0": f"{module}.bad:Bad"},
        "manifest": packages.manifest_row("Bad-v0"),
        **fields,
    }
    return Package(name=name, files=files, **fields)


CLAIMS = {
    "neurogym.wrappers": {"ReactionTime": "evil_claims.bad:Bad"},
    "neurogym.commands": {"list": "evil_claims.bad:Bad", "drill": "evil_claims.bad:Bad"},
}
LIES = {"title": f'"{EVIL}"', "tags": '["best-ever"]', "reference": "[{doi = 'trust me'}]"}
HOOK = "from neurogym_core import hookimpl\n@hookimpl\ndef ngym_every_step(env): pass\n"
TWICE = """
[neurogym.tasks]
Bad-v0 = neurogym_task_twice.bad:Bad
Bad-v0 = neurogym_task_twice.bad:Other
[neurogym.manifest]
manifest = neurogym_task_twice:ngym.toml
"""
NEIGHBOURS = [
    _package(
        "neurogym-task-good",
        "class Good:\n    'Does nothing.'\n",
        tasks={"Good-v0": "neurogym_task_good.bad:Good"},
        manifest=packages.manifest_row("Good-v0"),
    ),
    _package("neurogym-task-raises", "raise RuntimeError('on purpose')"),
    _package("neurogym-task-exits", "import sys; sys.exit('bye')"),
    _package("neurogym-task-vanishes", "import os; os._exit(0)"),
    _package("neurogym-task-prints", "print('{\"done\": 0}' * 100)\nclass Bad: pass"),
    _package("neurogym-task-hangs", "import time; time.sleep(600)"),
    _package(
        "neurogym-task-liar",
        "class Bad: pass",
        manifest=packages.manifest_row("Bad-v0", **LIES) + packages.manifest_row("Imagined-v0"),
    ),
    _package(
        "neurogym-task-hooks",
        HOOK,
        tasks={},
        manifest=None,
        groups={"neurogym.plugins": {"hooks": "neurogym_task_hooks.bad"}},
    ),
    _package(
        "evil-claims",
        "class Bad: pass",
        tasks={"core/Bad-v0": "evil_claims.bad:Bad", "good/Good-v0": "evil_claims.bad:Bad"},
        groups=CLAIMS,
        manifest=packages.manifest_row("Good-v0", title='"Stolen"'),
    ),
    _package(
        "other-claims",
        "class Bad: pass",
        tasks={},
        manifest=None,
        groups={"neurogym.commands": {"drill": "other_claims.bad:Bad"}},
    ),
    _package("neurogym-task-core", "class Bad: pass"),
    _package("neurogym-task-future", "class Bad: pass", requires=("neurogym-core>=2,<3",)),
    _package(
        "neurogym-task-twice",
        "class Bad: pass",
        tasks={},
        manifest=packages.manifest_row("Bad-v0"),
        entry_points=TWICE,
    ),
]


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip installed all of them."""
    if importlib.util.find_spec("pip") is None:
        pytest.skip("needs pip")
    folder = tmp_path_factory.mktemp("town")
    packages.pip_install(NEIGHBOURS, folder / "site", folder / "wheels")
    return folder


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    return tmp_path / "canary"


@pytest.fixture(scope="module")
def diagnosis(town: Path, shell) -> dict:
    """The output of ``doctor``, run once because importing a package that hangs takes seconds."""
    result = shell("doctor", "--json", "--seconds", "4", site=town / "site")
    assert result.returncode == 1, result.stderr
    return json.loads(result.stdout)


def found(diagnosis: dict, package: str) -> str:
    """Return the messages about one package as one text."""
    return "\n".join(row["message"] for row in diagnosis["problems"] if row["package"] == package)


@pytest.mark.parametrize(
    "arguments",
    [
        ["list"],
        ["list", "--json", "--all"],
        ["--help"],
        ["info", "neurogym-task-raises"],
        ["doctor", "--no-import"],
        ["list", "--broken"],
    ],
)
def test_commands_that_only_read_metadata_run_no_code_of_packages(
    town: Path, shell, canary: Path, arguments: list[str]
) -> None:
    result = shell(*arguments, site=town / "site", CANARY=str(canary))
    assert result.returncode in (0, 1), result.stderr
    assert "Traceback" not in result.stderr
    assert not canary.exists(), canary.read_text()


def test_the_canary_file_is_written_when_their_code_runs(town: Path, shell, canary: Path) -> None:
    """This shows that the test above can fail."""
    result = shell("info", "good/Good-v0", site=town / "site", CANARY=str(canary))
    assert result.returncode == 0, result.stdout
    assert "neurogym_task_good" in canary.read_text()


def test_list_shows_every_package_with_the_right_mark(town: Path, shell) -> None:
    rows = json.loads(shell("list", "--json", site=town / "site").stdout)
    status = {row["id"]: row["status"] for row in rows}
    assert status["good/Good-v0"] == "ok"
    assert (
        status["raises/Bad-v0"] == status["exits/Bad-v0"] == status["hangs/Bad-v0"] == "ok"
    )  # known only once imported
    assert status["liar/Bad-v0"] == "manifest"
    assert status["future/Bad-v0"] == "incompatible"
    assert status["twice/Bad-v0"] == "duplicate"
    assert status["x-evil-claims/core/Bad-v0"] == status["x-evil-claims/good/Good-v0"] == "name"
    assert status["x-neurogym-task-core/Bad-v0"] == "ok"
    assert not any(name.startswith("core/") for name in status)


def test_no_text_of_a_package_controls_the_terminal(town: Path, shell) -> None:
    for arguments in (
        ["list", "--all"],
        ["info", "liar/Bad-v0"],
        ["doctor", "--no-import"],
        ["info", "neurogym-task-liar"],
    ):
        result = shell(*arguments, site=town / "site", FORCE_COLOR="1", TERM="xterm", NO_COLOR="1")
        assert not {"\x1b", "\x07", "\u202e"} & set(result.stdout + result.stderr)


def test_a_good_task_works_beside_all_of_them(town: Path, shell) -> None:
    row = json.loads(shell("info", "Good-v0", "--json", site=town / "site").stdout)
    assert (row["id"], row["title"], row["description"]["docstring"]) == (
        "good/Good-v0",
        "Good-v0",
        "Does nothing.",
    )
    assert shell("list", site=town / "site").returncode == 0


def test_a_bare_name_of_a_core_wrapper_refers_to_the_core(town: Path, shell) -> None:
    row = json.loads(shell("info", "ReactionTime", "--json", site=town / "site").stdout)
    assert row["id"] == "core/ReactionTime"


@pytest.mark.parametrize(
    ("package", "said"),
    [
        ("neurogym-task-raises", "RuntimeError: on purpose"),
        ("neurogym-task-exits", "SystemExit: bye"),
        ("neurogym-task-vanishes", "ended the process with exit code 0"),
        ("neurogym-task-prints", "prints 1101 bytes"),
        ("neurogym-task-hangs", "did not finish in time"),
        ("neurogym-task-liar", "[[task]] 'Imagined-v0': the package has no such entry point"),
        ("neurogym-task-liar", "reference 1 doi: is 'trust me', expected a bare DOI"),
        ("neurogym-task-liar", "title: has control or invisible characters"),
        ("neurogym-task-liar", "'best-ever' is not in the vocabulary"),
        ("neurogym-task-hooks", "unknown hooks 'ngym_every_step'"),
        ("evil-claims", "'core/Bad-v0' is not a valid name in neurogym.tasks"),
        ("evil-claims", "The namespace follows from the package's name"),
        ("evil-claims", "claimed by 'evil-claims', 'other-claims'"),
        ("other-claims", "claimed by 'evil-claims', 'other-claims'"),
        ("neurogym-task-future", "needs neurogym-core>=2,<3"),
        ("neurogym-task-twice", "is declared 2 times"),
    ],
)
def test_doctor_names_the_culprit_and_what_it_did(diagnosis: dict, package: str, said: str) -> None:
    assert said in found(diagnosis, package)


def test_doctor_finds_no_problem_with_the_good_packages(diagnosis: dict) -> None:
    assert found(diagnosis, "neurogym-task-good") == ""
    assert found(diagnosis, "neurogym-task-core") == ""


def test_doctor_says_how_to_remove_each(diagnosis: dict) -> None:
    removals = {row["package"]: row["removal"] for row in diagnosis["problems"]}
    for neighbour in NEIGHBOURS[1:]:
        if neighbour.name != "neurogym-task-core":
            assert removals[neighbour.name] == f"python -m pip uninstall {neighbour.name}"


def test_a_command_claimed_twice_is_refused_naming_both(town: Path, shell, canary: Path) -> None:
    result = shell("drill", site=town / "site", CANARY=str(canary))
    assert result.returncode == 1
    assert "'evil-claims', 'other-claims'" in " ".join(result.stderr.split())
    assert not canary.exists()


def test_blocked_packages_are_not_listed(town: Path, shell) -> None:
    result = shell("list", "--json", site=town / "site", NGYM_BLOCK="evil-claims,raises")
    assert not {"evil-claims", "neurogym-task-raises"} & {
        row["package"] for row in json.loads(result.stdout)
    }


def test_the_printed_command_removes_a_package(tmp_path: Path, shell) -> None:
    """In a separate venv, because pip does not remove packages from a bare folder."""
    venv.create(tmp_path / "env", with_pip=False)
    (site,) = (tmp_path / "env").glob("lib/python*/site-packages")
    pip = ["--python", str(tmp_path / "env" / "bin" / "python"), "--disable-pip-version-check"]
    wheel = packages.wheel(NEIGHBOURS[1], tmp_path)
    assert (
        shell(*pip, "install", "--no-deps", "--no-index", str(wheel), module="pip").returncode == 0
    )
    rows = json.loads(shell("doctor", "--no-import", "--json", site=site).stdout)["packages"]
    (removal,) = [row["removal"] for row in rows if row["package"] == "neurogym-task-raises"]
    assert removal.startswith("python -m pip uninstall ")
    assert shell(*pip, "uninstall", "--yes", removal.split()[-1], module="pip").returncode == 0
    assert "raises/Bad-v0" not in shell("list", "--json", site=site).stdout


def test_a_hundred_packages_are_a_hundred_rows(tmp_path: Path, shell) -> None:
    for number in range(100):
        package = Package(
            name=f"neurogym-task-n{number}",
            tasks={"Bulk-v0": ""},
            manifest=packages.manifest_row("Bulk-v0"),
        )
        packages.write(package, tmp_path)
    rows = json.loads(shell("list", "--json", site=tmp_path).stdout)
    assert sum(row["name"] == "Bulk-v0" and row["status"] == "ok" for row in rows) == 100
