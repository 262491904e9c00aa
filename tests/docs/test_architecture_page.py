"""Every name on the map exists, and imports run in its direction."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
CORE = ROOT / "neurogym_core"

LAYERS = ("errors", "trials", "tasks", "play", "wrappers", "plots")
LIGHT = ("ecosystem", "cli")  # import nothing of the layers but the errors


def drawn() -> list[Path]:
    """The files and folders of the map."""
    lines = re.search(r"## The map\n\n```\n(.*?)```", PAGE, re.DOTALL)[1].splitlines()
    found, above = [], []
    for line in lines:
        name = line.split()[0]
        depth = (len(line) - len(line.lstrip())) // 2
        above = [*above[:depth], name]
        found.append(ROOT.joinpath(*above))
    return found


def test_what_the_map_shows_exists():
    assert len(drawn()) > 40
    missing = [str(path.relative_to(ROOT)) for path in drawn() if not path.exists()]
    assert not missing


def test_the_map_shows_every_folder_of_the_core():
    folders = {path for path in CORE.iterdir() if path.is_dir() and (path / "__init__.py").exists()}
    assert folders <= set(drawn())


@pytest.mark.parametrize("layer", ["trials", "play"])
def test_the_map_shows_the_main_files_of_a_folder(layer):
    """Small helpers may be left out; a new module of some size belongs on the map."""
    large = {
        path for path in (CORE / layer).glob("*.py") if path.read_text("utf-8").count("\n") > 150
    }
    assert large <= set(drawn())


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


IMPORTED_WHEN_CALLED = {"_checkup.py", "_drawing.py", "_playing.py"}
"""The work of `doctor`, `plot` and `run`, which these commands import when they are called."""


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


ARROWS = {
    "neurogym_torch": {"neurogym_study"},
    "neurogym_jax": {"neurogym_study"},
    "neurogym_sb3": {"neurogym_study"},
    "neurogym_sweep": {"neurogym_study"},
    "neurogym_registry": {"neurogym_check"},
}
"""The packages that a package imports besides the core; the drawing of the packages has them."""


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
def test_packages_import_each_other_only_along_the_arrows(package):
    assert packages_imported(package) - {"neurogym_core"} <= ARROWS.get(package.name, set())


def test_the_drawing_of_the_packages_shows_every_package():
    names = {
        path.name for path in (ROOT / "plugins").iterdir() if (path / "pyproject.toml").exists()
    }
    assert len(names) > 10
    drawing = PAGE[PAGE.index("## Packages") : PAGE.index("## The map")]
    others = {name for name in names if not name.startswith("neurogym-task-")}
    assert not [name for name in others if name not in drawing]


def test_an_import_that_runs_the_wrong_way_would_be_seen(tmp_path, monkeypatch):
    module = tmp_path / "neurogym_core" / "trials" / "wrong.py"
    module.parent.mkdir(parents=True)
    module.write_text(
        "from ..play import env\nfrom neurogym_core.plots import x\nimport numpy\n", "utf-8"
    )
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert list(imported_at_the_top(module)) == ["play", "plots"]
