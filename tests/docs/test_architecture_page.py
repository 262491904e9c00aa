"""The folders, files and names on the page of the architecture exist; imports run as it says."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest

from neurogym_core.ecosystem.scan import GROUPS, MANIFEST_GROUP

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
MAP = re.search(r"## The map\n\n```\n(.*?)```", PAGE, re.DOTALL)[1].splitlines()
CORE = ROOT / "neurogym_core"

TIERS = ("neurogym_core", "neurogym_core.players", "neurogym_core.tools")
LAYERS = ("errors", "trials", "tasks", "play", "wrappers")
LIGHT = ("ecosystem", "cli")  # import nothing of the layers but the errors
WORDS = 920
"""The page is one page: more words than these need another place."""


def drawn() -> list[Path]:
    """The folders of the map."""
    found, above = [], []
    for line in MAP:
        name = line.split()[0]
        depth = (len(line) - len(line.lstrip())) // 2
        above = [*above[:depth], name]
        found.append(ROOT.joinpath(*above))
    return found


def test_the_page_is_one_page():
    assert len(PAGE.split()) <= WORDS
    assert PAGE.count("```") == 4, "one drawing, and the map"


def test_the_map_shows_folders_that_exist():
    assert len(drawn()) > 20
    assert not [str(path.relative_to(ROOT)) for path in drawn() if not path.is_dir()]


def test_the_map_shows_every_folder_of_the_core_and_of_the_repository():
    folders = {path for path in CORE.iterdir() if (path / "__init__.py").exists()}
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    folders |= {ROOT / path.split("/")[0] for path in tracked if "/" in path and path[0] != "."}
    assert not folders - set(drawn())


def test_the_files_of_the_drawing_exist():
    files = set(re.findall(r"\b\w+/\w+\.py\b", PAGE))
    assert len(files) > 6
    assert not [
        file for file in files if not (CORE / file).is_file() and not (ROOT / file).is_file()
    ]


def test_the_names_behind_files_are_in_them():
    named = re.findall(r"\b(\w+/\w+)\.py: ([\w.]+\w)", PAGE)
    assert len(named) > 10
    for file, name in named:
        module = import_module(f"neurogym_core.{file.replace('/', '.')}")
        assert attrgetter(name)(module), f"{file}.py has no {name}"


def test_the_page_names_the_tiers():
    assert [name for name in TIERS if f"\n| `{name}` |" not in PAGE] == []


def test_the_page_names_the_groups_of_entry_points():
    assert set(re.findall(r"`(neurogym\.[a-z]+)`", PAGE)) == {*GROUPS, MANIFEST_GROUP}


def test_the_order_of_the_layers_is_that_of_the_page():
    assert " → ".join(LAYERS) in PAGE


def imported_at_the_top(path: Path) -> Iterator[str]:
    """The parts of the core that a module imports when it is imported, not for types only."""
    package = path.relative_to(ROOT).parts[:-1]
    for node in _running(ast.parse(path.read_text("utf-8")).body):
        if isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level:
                module = ".".join(
                    [*package[: len(package) - node.level + 1], *filter(None, [module])]
                )
            names = (
                [f"{module}.{alias.name}" for alias in node.names]
                if module == "neurogym_core"
                else [module]
            )
        else:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        yield from (name.split(".")[1] for name in names if name.startswith("neurogym_core."))


def _running(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, ast.If):
            yield from _running(
                [*([] if "TYPE_CHECKING" in ast.unparse(node.test) else node.body), *node.orelse]
            )
        elif isinstance(node, ast.Try | ast.With):
            yield from _running(node.body)
        else:
            yield node


@pytest.mark.parametrize("layer", LAYERS[1:-1])
def test_imports_run_one_way(layer):
    above = set(LAYERS[LAYERS.index(layer) + 1 :]) | {"testing", "cli"}
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in (CORE / layer).rglob("*.py")
        for name in imported_at_the_top(path)
        if name in above
    ]
    assert not wrong


IMPORTED_WHEN_CALLED = {"_playing.py"}
"""The work of `run`, which the command imports when it is called."""


@pytest.mark.parametrize("part", LIGHT)
def test_listing_tasks_imports_none_of_the_layers(part):
    heavy = set(LAYERS[1:])
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in (CORE / part).rglob("*.py")
        for name in imported_at_the_top(path)
        if name in heavy and path.name not in IMPORTED_WHEN_CALLED
    ]
    assert not wrong


def arrows() -> dict[str, set[str]]:
    """The packages that a package imports besides the core, as the map says."""
    return {
        line.split()[0].strip("/").replace("-", "_"): {
            name.replace("-", "_")
            for name in re.findall(r"neurogym-[a-z0-9]+", line.partition("imports ")[2])
        }
        for line in MAP
    }


def packages_imported(package: Path) -> set[str]:
    """The other packages of this project that a package imports, anywhere in its code."""
    imported = set()
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and not node.level:
                imported.add(str(node.module).split(".")[0])
            elif isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
    return {name for name in imported if name.startswith("neurogym_")} - {package.name}


def test_the_core_imports_no_package():
    assert packages_imported(CORE) == set()


@pytest.mark.parametrize(
    "package", sorted((ROOT / "plugins").glob("*/neurogym_*")), ids=lambda package: package.name
)
def test_packages_import_each_other_as_the_map_says(package):
    imported = packages_imported(package) - {"neurogym_core"}
    assert imported == arrows().get(package.name, set())


def test_the_map_shows_every_package():
    names = {
        path.name for path in (ROOT / "plugins").iterdir() if (path / "pyproject.toml").exists()
    }
    assert len(names) > 10
    others = {name for name in names if not name.startswith("neurogym-task-")}
    assert others <= {path.name for path in drawn()}


def test_an_import_that_runs_the_wrong_way_would_be_seen(tmp_path, monkeypatch):
    module = tmp_path / "neurogym_core" / "trials" / "wrong.py"
    module.parent.mkdir(parents=True)
    module.write_text(
        "from ..play import env\nfrom neurogym_core.subjects import x\nimport numpy\n", "utf-8"
    )
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert list(imported_at_the_top(module)) == ["play", "subjects"]
