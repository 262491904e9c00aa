"""Packages, the template, pages, benchmarks and generators of pages use public names only."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TIERS = ("neurogym_core", "neurogym_core.players", "neurogym_core.tools")
OUTSIDE = ("plugins", "cookiecutter-task", "docs", "benchmarks", "tests_common", "README.md")
"""Folders and files that use the core; the core's tests may use private names."""
FORMER = ("docs/decisions",)
"""Pages in the words of their time."""

IMPORT = re.compile(
    r"^[ \t>.]*(?:from[ ]+(neurogym_core[.\w]*)[ ]+import[ ]+(\([^)]*\)|[^\n#;]+)"
    r"|import[ ]+(neurogym_core(?:\.\w+)+))",
    re.MULTILINE,
)
DOTTED = re.compile(r"(neurogym_core(?:\.\w+)+):?(\w*)")
FENCE = re.compile(r"^[ ]*(```|~~~)[^\n]*\n(.*?)^[ ]*\1", re.MULTILINE | re.DOTALL)
JINJA = re.compile(r"\{%.*?%\}|\{#.*?#\}", re.DOTALL)


def imports_in_text(text: str) -> Iterator[str]:
    """Find imports in text that may be no Python: code blocks, doctests, templates, strings."""
    for module, names, whole in IMPORT.findall(text):
        if whole:
            yield whole
        for name in re.sub(r"[()\n>]|[.]{3}|#.*", " ", names).split(","):
            if name.strip():
                yield f"{module}.{name.split()[0]}"


def imports_in_python(text: str) -> Iterator[str]:
    """Find imports, attributes of imported modules, and names in strings."""
    tree = ast.parse(text)
    bound = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and is_core(node.module or ""):
            yield from (f"{node.module}.{one.name}" for one in node.names)
        elif isinstance(node, ast.Import):
            for one in node.names:
                if is_core(one.name):
                    bound[one.asname or "neurogym_core"] = one.name if one.asname else TIERS[0]
                    yield one.name
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from imports_in_text(node.value)
            if found := DOTTED.fullmatch(node.value):
                yield ".".join(part for part in found.groups() if part)
    for node in ast.walk(tree):
        name = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
        base, _, rest = name.partition(".")
        if base in bound and re.fullmatch(r"\w+(\.\w+)?", rest) and not rest.startswith("__"):
            yield f"{bound[base]}.{rest}"


def is_core(module: str) -> bool:
    return module.partition(".")[0] == "neurogym_core"


def imports_of(path: Path) -> Iterator[str]:
    text = path.read_text("utf-8")
    if path.suffix == ".md":
        for _, block in FENCE.findall(text):
            yield from imports_in_text(block)
    elif path.suffix == ".toml":
        yield from (".".join(filter(None, found)) for found in DOTTED.findall(text))
    elif "cookiecutter-task" in path.parts:
        yield from imports_in_text(JINJA.sub("", text))
    else:
        yield from imports_in_python(text)


@cache
def public() -> frozenset[str]:
    """The names of the three tiers, with their modules."""
    names = {f"{tier}.{name}" for tier in TIERS for name in import_module(tier).__all__}
    return frozenset({*TIERS, *names})


def is_public(used: str) -> bool:
    """Whether a name, or the object that it is an attribute of, is public."""
    parts = used.split(".")
    return used in public() or any(
        ".".join(parts[:k]) in public() - set(TIERS) for k in range(2, len(parts))
    )


def private_uses() -> dict[str, list[str]]:
    """Private name -> the files that use it."""
    found: dict[str, list[str]] = {}
    for path in files():
        where = path.relative_to(ROOT).as_posix()
        for used in imports_of(path):
            if not is_public(used):
                found.setdefault(used, []).append(where)
    return found


def files() -> Iterator[Path]:
    for entry in OUTSIDE:
        path = ROOT / entry
        for one in [path] if path.is_file() else sorted(path.rglob("*")):
            where = one.relative_to(ROOT)
            built = any(part in {"build", "dist", "_build", "node_modules"} for part in where.parts)
            former = where.as_posix().startswith(FORMER)
            if one.suffix in {".py", ".md", ".toml"} and not built and not former:
                yield one


def test_everything_outside_the_core_uses_public_names_only():
    assert not private_uses(), (
        "these names are private; use a name of neurogym_core, neurogym_core.players or"
        " neurogym_core.tools, or do without"
    )


@pytest.mark.parametrize("tier", TIERS)
def test_every_public_name_can_be_imported(tier):
    module = import_module(tier)
    assert sorted(set(module.__all__)) == sorted(module.__all__)
    assert not [name for name in module.__all__ if not hasattr(module, name)]
    assert set(module.__all__) <= set(dir(module))


def test_no_name_is_in_two_tiers():
    names = [name for tier in TIERS for name in import_module(tier).__all__]
    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("from neurogym_core.play.env import TaskEnv, x as y", "play.env.TaskEnv play.env.x"),
        ("import neurogym_core.plots", "plots"),
        ("import neurogym_core as ng\nng.make\nng.plots.trace_of", "make plots.trace_of plots"),
        ("import neurogym_core\nneurogym_core.play.env.TaskEnv", "play.env play"),
        ("import_module('neurogym_core.plots')", "plots"),
        ("code = '''\nfrom neurogym_core.a import b\n'''", "a.b"),
        (
            "def f():\n    from neurogym_core.a import (\n        b,  # x\n        c,\n    )",
            "a.b a.c",
        ),
        ("x = 'neurogym_core.a:b'", "a.b"),
        ("'''Do.\n\n>>> from neurogym_core.a import b\n'''", "a.b"),
        ("import numpy\nnumpy.random", ""),
    ],
)
def test_imports_of_every_form_are_found(text, used):
    found = {one.removeprefix("neurogym_core").removeprefix(".") for one in imports_in_python(text)}
    assert found - {""} == set(used.split())


def test_imports_in_pages_and_templates_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        textwrap.dedent("""\
            Text about `from neurogym_core.no import thing`.

            ```pycon
            >>> from neurogym_core.a import (
            ...     b,
            ... )
            ```
            """)
    )
    assert list(imports_of(page)) == ["neurogym_core.a.b"]
    folder = tmp_path / "cookiecutter-task"
    folder.mkdir()
    template = folder / "task.py"
    template.write_text("{% if x %}from neurogym_core.a import b{% endif %}\nclass {{ y }}: ...\n")
    assert list(imports_of(template)) == ["neurogym_core.a.b"]
