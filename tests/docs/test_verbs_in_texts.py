"""Messages, docstrings, pages and templates name only verbs that a trial has."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from neurogym_core.trials.builder import VERBS, TrialBuilder

ROOT = Path(__file__).parents[2]
SOURCES = [
    path
    for folder in ("neurogym_core", "plugins")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if not {"tests", ".venv", "build"} & set(path.relative_to(ROOT).parts)
]
PAGES = [
    path
    for pattern in ("*.md", "docs/**/*.md", "plugins/*/README.md", "cookiecutter-task/**/*.*")
    for path in sorted(ROOT.glob(pattern))
    if path.is_file() and path.suffix in (".md", ".py", ".toml")
]
KNOWN = {*VERBS, *(name for name in dir(TrialBuilder) if not name.startswith("_"))}
CALL = re.compile(r"\btrial\.([a-z_]+)\(")
MENTION = re.compile(r"\btrial\.([a-z_]+)\b(?!\()")
ARRAYS = {"any", "astype", "copy", "tolist", "mean", "sum", "items", "keys", "values", "get"}
"""Methods of the trial of a record, `info["trial"]`, and of arrays."""
OTHERS = {"suggest_float", "suggest_int", "suggest_categorical", "update", "md", "png"}
"""Those of Optuna's trials, of dicts, and names of files."""


def texts_of(path: Path) -> tuple[list[str], list[str]]:
    """All texts of a module, and those that are no docstrings (which have `trial.side`, …)."""
    tree = ast.parse(path.read_text("utf-8"))
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    texts = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return [one.value for one in texts], [one.value for one in texts if id(one) not in docstrings]


def unknown_in(texts: list[str], pattern: re.Pattern[str]) -> set[str]:
    found = {name for text in texts for name in pattern.findall(text)}
    return found - KNOWN - ARRAYS - OTHERS


def test_texts_of_sources_name_verbs_that_exist():
    assert {"builder.py", "miss_penalty.py", "reaction_time.py"} <= {one.name for one in SOURCES}
    wrong = {}
    for path in SOURCES:
        texts, messages = texts_of(path)
        wrong[str(path)] = unknown_in(texts, CALL) | unknown_in(messages, MENTION)
    assert {path: names for path, names in wrong.items() if names} == {}


def test_pages_and_templates_name_verbs_that_exist():
    assert {"README.md", "trial.md", "task_table.py"} <= {one.name for one in PAGES}
    wrong = {str(path): unknown_in([path.read_text("utf-8")], CALL) for path in PAGES}
    assert {path: names for path, names in wrong.items() if names} == {}
