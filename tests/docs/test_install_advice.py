"""No text advises readers to install a package of this project that is not on the package index.

The owner of that name on the index could run code on the computers of those who follow it."""

from __future__ import annotations

import ast
import io
import re
import shlex
import subprocess
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from installs import named, ours

from neurogym_core.ecosystem import names, published

ROOT = Path(__file__).resolve().parents[2]
SUFFIXES = {".py", ".md", ".toml", ".yml", ".yaml", ".cff", ".html", ".sh", ".txt", ".json", ".rst"}
SKIPPED = re.compile(r"\.venv.*|\.git|_?build|dist|site|node_modules|\.mypy_cache|\.ruff_cache")
"""Names of folders that are not sources: of environments (`.venv-site`), of tools, of results."""
KNOWS = "neurogym_core/ecosystem/published.py"
NAMES_BY_VARIABLE = "neurogym_core/lazy.py"  # of libraries of others; another test reads calls
PLUGINS = sorted(path.parent.name for path in ROOT.glob("plugins/*/pyproject.toml"))


def files() -> list[Path]:
    return [
        path
        for path in sorted(ROOT.rglob("*"))
        if (path.suffix in SUFFIXES or path.name == "Makefile")
        and not any(SKIPPED.fullmatch(part) for part in path.relative_to(ROOT).parts)
        and path not in (Path(__file__), ROOT / KNOWS)
        and path.is_file()
    ]


def texts(path: Path) -> Iterator[str]:
    """The strings and comments of Python code, whose strings may be put together; or the text."""
    text = path.read_text("utf-8")
    if not re.search(r"\b(pip|uv|conda|mamba)", text):
        return
    template = "cookiecutter-task" in path.parts or "templates" in path.parts
    if path.suffix != ".py" or template:
        yield text
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("run `pip install neurogym-training` now", ["neurogym-training"]),
        ("$ python -m pip install -U neurogym_core[plot]\n", ["neurogym-core[plot]"]),
        ("`pip install -e . -e\nneurogym-training torch`, then neurogym-training", ["torch"]),
        ("pip install -q \\\n  'neurogym-registry[sign]'", ["neurogym-registry[sign]"]),
        ("comes with x: pip install neurogym-x.", ["neurogym-x."]),
        ("pip install torch. Then neurogym-training is used", ["torch."]),
        ("uv add neurogym-jax && neurogym", ["neurogym-jax"]),
        ("pip install ./plugins/neurogym-sweep", []),
    ],
)
def test_the_names_in_a_command_are_found(text: str, names: list[str]) -> None:
    assert named(text) == names


def test_no_text_names_a_package_of_this_project_to_an_installer() -> None:
    if published.PUBLISHED:
        pytest.skip("the packages are on the index")
    found = files()
    assert {"README.md", "Makefile", "NEXTSTEPS.md", "conf.py"} <= {path.name for path in found}
    wrong = []
    for path in found:
        place = path.relative_to(ROOT).as_posix()
        for text in texts(path):
            by_variable = path.suffix == ".py" and place != NAMES_BY_VARIABLE
            bad = [*ours(text), *(one for one in named(text) if by_variable and "{" in one)]
            wrong += [f"{place}: {one}" for one in bad]
    assert wrong == [], "use neurogym_core.ecosystem.published, or print the path of the sources"


def test_libraries_of_others_are_asked_for_by_a_function_that_takes_no_package_of_ours() -> None:
    for path in (path for path in files() if path.suffix == ".py"):
        assert not re.search(r"\boptional\(\s*f?[\"']neurogym", path.read_text("utf-8")), path


@pytest.mark.parametrize("package", sorted(PLUGINS))
@pytest.mark.parametrize("where", ["checkout", "wheel", "index"])
def test_messages_print_the_command_that_works(
    package: str, where: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if where == "wheel":
        monkeypatch.setattr(published, "__file__", str(tmp_path / "a" / "b" / "published.py"))
    monkeypatch.setattr(published, "PUBLISHED", where == "index")
    message = names.comes_with("x", package)
    if where == "index":
        assert message == f"'x' comes with {package}: `pip install {package}`"
        return
    assert ours(message) == []
    start = "." if where == "wheel" else str(ROOT)
    folders = re.findall(r"-e (\S+?)(?:`|\s)", message)
    assert folders[-1] == f"{start}/plugins/{package}"
    assert all((ROOT / folder / "pyproject.toml").is_file() for folder in folders)
    assert ("in a checkout of neurogym-core" in message) is (where == "wheel")
    # pip looks for their requirements on the index, unless the command or the core has it.
    given = {"neurogym-core", *(Path(folder).name for folder in folders)}
    for name in given - {"neurogym-core"}:
        project = tomllib.loads((ROOT / "plugins" / name / "pyproject.toml").read_text("utf-8"))
        needed = {re.match(r"[\w-]+", one)[0] for one in project["project"]["dependencies"]}
        assert {one for one in needed if one.startswith("neurogym")} <= given


@pytest.mark.parametrize("folder", ["/lab", "/my lab", "/lab (2)", "/ana's", "/a;b", "/a&$b"])
def test_a_path_can_be_pasted_into_a_shell(folder: str) -> None:
    line = published.install_command("neurogym-task-motor", "neurogym-core", checkout=folder)
    words = ["pip", "install", "-e", f"{folder}/plugins/neurogym-task-motor", "-e", folder]
    assert shlex.split(line) == words
    echoed = subprocess.run(
        ["sh", "-c", f"printf '%s\\n' {line}"], capture_output=True, text=True, check=True
    )
    assert echoed.stdout.splitlines() == words
