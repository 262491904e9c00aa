"""Messages, docstrings, pages and templates name only verbs and members of classes that exist."""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from importlib import import_module
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


@cache
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


# ---- members of public classes ----

TIERS = ("neurogym_core", "neurogym_core.players", "neurogym_core.tools")
CLASSES = {
    name: value
    for tier in map(import_module, TIERS)
    for name in tier.__all__
    if inspect.isclass(value := getattr(tier, name))
}
MEMBER = re.compile(rf"(?<![\w./])({'|'.join(CLASSES)})\.([a-z_]\w*)")


@cache
def has(name: str, member: str) -> bool:
    """Whether a class has a member, or names an attribute of its objects."""
    return hasattr(CLASSES[name], member) or any(
        member in getattr(base, "__annotations__", ())
        or re.search(rf"^    [\w, ]*\b{member}\b[\w, ]*:", inspect.getdoc(base) or "", re.MULTILINE)
        or re.search(rf"\bself\.{member}\b", inspect.getsource(base))
        for base in CLASSES[name].__mro__
        if base.__module__.startswith("neurogym_core")
    )


def members_that_are_gone(texts: list[str]) -> set[str]:
    found = {
        pair for text in texts for pair in MEMBER.findall(text) if pair[1] not in {*FILES, "py"}
    }
    return {f"{name}.{member}" for name, member in found if not has(name, member)}


def test_texts_name_members_of_public_classes_that_exist():
    wrong = {}
    for path in SOURCES:
        jax = "neurogym_jax" in path.parts
        gone = members_that_are_gone(texts_of(path))
        wrong[str(path)] = {one for one in gone if not (jax and one.startswith("TaskEnv."))}
    for path in PAGES:
        if path.name != "CHANGELOG.md":  # which has former names
            wrong[str(path)] = members_that_are_gone([path.read_text("utf-8")])
    assert {path: names for path, names in wrong.items() if names} == {}


def test_a_member_that_does_not_exist_is_found():
    texts = ["`Task.sample` and `TrialRecord.to_csv` are there, and `TaskVectorEnv.num_envs`;"]
    assert members_that_are_gone(texts) == set()
    assert members_that_are_gone(["call `Task.sampel(3)`, or TrialRecord.from_csv"]) == {
        "Task.sampel",
        "TrialRecord.from_csv",
    }
