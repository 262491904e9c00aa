"""A hundred installed packages, seven of them bad: all are listed, none runs, bad ones go."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import environments
import made_packages as packages
import pytest

Package = packages.Package
COUNT = 100

CANARY = (
    "import os\nif 'CANARY' in os.environ:\n    open(os.environ['CANARY'], 'a').write(__name__ +"
    " '\\n')\n"
)
TASK = """
import gymnasium


class Thing(gymnasium.Env):
    "Does nothing."
"""
HOOK = "from neurogym_core import hookimpl\n@hookimpl\ndef ngym_every_step(env): pass\n"


def package(name: str, source: str = TASK, **fields: Any) -> Any:
    """Make a package that writes a mark when its code runs."""
    module = name.replace("-", "_")
    row = packages.manifest_row("Thing-v0", tags='["perceptual"]')
    given = {"tasks": {"Thing-v0": f"{module}.thing:Thing"}, "manifest": row, **fields}
    return Package(name=name, files={"__init__.py": CANARY, "thing.py": CANARY + source}, **given)


BAD = {
    "neurogym-task-raises": package("neurogym-task-raises", "raise RuntimeError('on purpose')"),
    "neurogym-task-exits": package("neurogym-task-exits", "raise SystemExit('bye')"),
    "neurogym-task-prints": package("neurogym-task-prints", "print('hello')" + TASK),
    "neurogym-task-unreadable": package(
        "neurogym-task-unreadable", manifest="schema = 1\n[[task]\n"
    ),
    "neurogym-task-hooks": package(
        "neurogym-task-hooks",
        TASK + HOOK,
        groups={"neurogym.plugins": {"hooks": "neurogym_task_hooks.thing"}},
    ),
    "claims-anothers": package(
        "claims-anothers", tasks={"good0/Thing-v0": "claims_anothers.thing:Thing"}
    ),
    "neurogym-task-future": package("neurogym-task-future", requires=("neurogym-core>=2,<3",)),
}
GOOD = [f"neurogym-task-good{number}" for number in range(COUNT - len(BAD))]
# Part of the message of `doctor` for each, and whether it is an error.
SAID = {
    "neurogym-task-raises": ("RuntimeError: on purpose", True),
    "neurogym-task-exits": ("SystemExit: bye", True),
    "neurogym-task-prints": ("prints 6 bytes", False),
    "neurogym-task-unreadable": ("not valid TOML", True),
    "neurogym-task-hooks": ("unknown hooks 'ngym_every_step'", True),
    "claims-anothers": ("The namespace follows from the package's name", True),
    "neurogym-task-future": ("needs neurogym-core>=2,<3", True),
}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory, wheels: list[Path], third_party: Path):
    folder = tmp_path_factory.mktemp("hundred")
    (folder / "wheels").mkdir()
    hundred = [
        packages.wheel(one, folder / "wheels") for one in [*map(package, GOOD), *BAD.values()]
    ]
    made = environments.Environment(folder / "venv", third_party, CANARY=str(folder / "canary"))
    made.pip_install([*wheels, *hundred])
    made.canary = folder / "canary"
    return made


@pytest.fixture
def canary(town) -> Path:
    town.canary.unlink(missing_ok=True)
    return town.canary


def test_list_shows_all_with_the_right_marks_and_runs_none(town, canary: Path) -> None:
    rows = environments.as_json(town.ngym("list", "--json"))
    status = {row["package"]: row["status"] for row in rows}
    assert len(status) == COUNT
    bad = {"claims-anothers": "name", "neurogym-task-future": "incompatible"}
    assert {name: one for name, one in status.items() if one != "ok"} == bad
    marked = {row["package"] for row in rows if row["problems"]}
    assert marked == set(bad)
    table = town.ngym("list").stdout
    assert "neurogym-task-unreadable 1.0 (unreadable)  ! manifest" in table
    assert table.count("Thing-v0") >= COUNT
    assert "! incompatible" in table
    broken = environments.as_json(town.ngym("list", "--broken", "--json"))
    assert {row["package"] for row in broken} >= set(bad)
    assert not canary.exists()


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("info", "neurogym-task-raises"), ("search", "x"), ("doctor", "--no-import")],
)
def test_looking_runs_nothing(town, canary: Path, arguments: tuple[str, ...]) -> None:
    assert "Traceback" not in town.ngym(*arguments).stderr
    assert not canary.exists()


def test_the_canary_sings_when_code_runs(town, canary: Path) -> None:
    """The mark is written if code runs: otherwise the tests above could not fail."""
    town.ngym("info", "good0/Thing-v0", check=True)
    assert "neurogym_task_good0" in canary.read_text()


def test_doctor_names_the_culprits_and_what_removes_them(town) -> None:
    result = town.ngym("doctor", "--json")
    assert result.returncode == 1
    found: dict[str, list[dict[str, str]]] = {}
    for row in json.loads(result.stdout)["problems"]:
        found.setdefault(row["package"], []).append(row)
    assert set(found) == set(BAD)
    for name, (said, is_error) in SAID.items():
        (row,) = [row for row in found[name] if said in row["message"]]
        assert row["removal"] == f"python -m pip uninstall {name}"
        assert (row["level"] in ("error", "fatal")) is is_error


@pytest.mark.parametrize("name", BAD)
def test_each_culprit_is_removed_without_being_run(town, canary: Path, name: str) -> None:
    done = town.ngym("uninstall", name, "--yes")
    assert done.returncode == 0, done.stderr
    assert not canary.exists()
    assert name not in {row["package"] for row in environments.as_json(town.ngym("list", "--json"))}


def test_what_is_left_is_in_good_health(town) -> None:
    """Must run last: it removes the bad packages."""
    result = town.ngym("doctor", "--json")
    assert (result.returncode, json.loads(result.stdout)["problems"]) == (0, [])
