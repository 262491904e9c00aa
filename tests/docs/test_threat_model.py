"""The page on threats names, for each promise, tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "threat-model.md").read_text("utf-8")
TABLES = PAGE[PAGE.index("## Promises") : PAGE.index("## What is not checked")]
ROWS = [line.strip("|").split("|") for line in TABLES.splitlines() if line.startswith("| ")]
PROMISES = [(one.strip(), tests) for one, tests in ROWS if one.strip() != "promise"]
FILES = [*ROOT.glob("tests/**/test_*.py"), *ROOT.glob("plugins/*/tests/**/test_*.py")]


def test_there_are_promises() -> None:
    assert len(PROMISES) > 20


@pytest.mark.parametrize(("promise", "tests"), PROMISES, ids=[one for one, _ in PROMISES])
def test_each_promise_names_tests_that_exist(promise: str, tests: str) -> None:
    named = re.findall(r"`(test_\w+\.py)::(test_\w+)`", tests)
    assert named, promise
    assert re.sub(r"`[^`]*`", "", tests).strip(" ,") == "", "the column has only names of tests"
    for file, function in named:
        paths = [path for path in FILES if path.name == file]
        assert paths, file
        assert any(function in functions_of(path) for path in paths), f"{file}::{function}"


def functions_of(path: Path) -> set[str]:
    """Return the names of all functions in a file."""
    tree = ast.parse(path.read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
