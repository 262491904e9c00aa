"""Structure of the modules of trials and tasks: no cycles of imports, no large classes."""

from __future__ import annotations

import ast
import inspect
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from neurogym_core import Task

CORE = Path(__file__).resolve().parents[2] / "neurogym_core"
MODULES = sorted(path for folder in ("trials", "tasks") for path in (CORE / folder).glob("*.py"))
MOST_METHODS = 30


def imported(path: Path) -> set[str]:
    """Modules of the core that a module imports anywhere: at its top, within functions, for
    types.
    """
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("neurogym_core."):
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("neurogym_core.")}
    return found


def named(path: Path) -> str:
    return f"neurogym_core.{path.parent.name}.{path.stem}"


def test_task_has_the_signature_of_a_bare_task():
    assert inspect.signature(Task) == inspect.signature(type("Bare", (Task,), {}))
    assert "dt" in inspect.signature(Task).parameters


@pytest.mark.parametrize("path", sorted((CORE / "trials").glob("*.py")), ids=lambda path: path.stem)
def test_trials_do_not_import_tasks_or_players(path):
    above = ("tasks", "play", "wrappers", "plots", "testing", "cli")
    assert not [name for name in imported(path) if name.split(".")[1] in above]


def test_there_is_no_cycle_of_imports_not_even_in_functions_or_for_types():
    known = {named(path) for path in MODULES}
    graph = {named(path): (imported(path) & known) - {named(path)} for path in MODULES}
    assert (
        set(TopologicalSorter(graph).static_order()) == known
    )  # raises CycleError where there is one


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_no_class_has_more_than_thirty_methods(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ClassDef):
            methods = [one for one in node.body if isinstance(one, ast.FunctionDef)]
            assert len(methods) <= MOST_METHODS, f"{node.name}: {len(methods)}"
