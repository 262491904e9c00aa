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
    if path.is_file()
    and path.suffix in (".md", ".py", ".toml")
    # Decisions name rejected and former verbs too; `test_decisions.py` reads those that hold.
    and not {"_build", "decisions"} & set(path.parts)
]
KNOWN = {*VERBS, *(name for name in dir(TrialBuilder) if not name.startswith("_"))}
MENTION = re.compile(r"(?<![.\w])trial\.([a-z_]+)\b")
FILES = {"md", "js", "png", "gif", "pdf", "svg"}
OTHERS = {"suggest_float", "suggest_int", "suggest_categorical", "update", *FILES}
"""Those of Optuna's trials, of dicts, and names of files."""


def texts_of(path: Path) -> list[str]:
    return [
        node.value
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def unknown_in(texts: list[str]) -> set[str]:
    found = {name for text in texts for name in MENTION.findall(text)}
    return found - KNOWN - OTHERS


def test_texts_of_sources_name_verbs_that_exist():
    assert {"builder.py", "miss_penalty.py", "reaction_time.py"} <= {one.name for one in SOURCES}
    wrong = {}
    for path in SOURCES:
        wrong[str(path)] = unknown_in(texts_of(path))
    assert {path: names for path, names in wrong.items() if names} == {}


def test_pages_and_templates_name_verbs_that_exist():
    assert {"README.md", "trial.md", "task_table.py"} <= {one.name for one in PAGES}
    wrong = {str(path): unknown_in([path.read_text("utf-8")]) for path in PAGES}
    assert {path: names for path, names in wrong.items() if names} == {}
