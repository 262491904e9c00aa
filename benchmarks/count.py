"""Count the core beside the aims of its design: ``python -m benchmarks.count``.

Lines, files, public names, private names used outside, groups of entry points, and walks: the
functions of the core that a call enters. The walks need neurogym-task-perceptual.
"""

from __future__ import annotations

import ast
import contextlib
import io
import platform
import re
import runpy
import sys
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import click

from neurogym_core import Dataset, make, run
from neurogym_core.tools import main as ngym

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "neurogym_core"
TASK = "perceptual/PerceptualDecisionMaking-v0"
HAVE_DOCSTRINGS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
SHORT = 60
"""Modules with fewer lines are short."""


class Count(NamedTuple):
    """A number, and the largest one that the design allows; None: the design names none."""

    name: str
    value: int
    aim: int | None = None

    @property
    def missed(self) -> bool:
        """Whether the number is above its aim."""
        return self.aim is not None and self.value > self.aim


def kinds_of_lines(source: str) -> Counter[str]:
    """Return the number of lines of each kind: docstring, comment, blank, code.

    Lines within a docstring are docstring; a line with code and a comment is code, and so is a
    text below an attribute.
    """
    inside: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, HAVE_DOCSTRINGS) and ast.get_docstring(node) is not None:
            text = node.body[0]
            inside |= set(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    kinds: Counter[str] = Counter()
    for number, line in enumerate(source.splitlines(), 1):
        bare = line.strip()
        kinds[
            "docstring" if number in inside
            else "blank" if not bare
            else "comment" if bare.startswith("#")
            else "code"
        ] += 1  # fmt: skip
    return kinds


def sizes(folder: Path) -> list[Count]:
    """Count lines and files of a package."""
    texts = {path: path.read_text("utf-8") for path in sorted(folder.rglob("*")) if _counted(path)}
    modules = [text for path, text in texts.items() if path.suffix == ".py"]
    kinds = sum((kinds_of_lines(text) for text in modules), Counter[str]())

    def lines(*suffixes: str) -> int:
        return sum(len(text.splitlines()) for p, text in texts.items() if p.suffix in suffixes)

    return [
        Count("lines of Python (.py)", lines(".py"), 15_000),
        Count("  code", kinds["code"], 9_800),
        Count("  docstrings", kinds["docstring"]),
        Count("  blank", kinds["blank"]),
        Count("  comments", kinds["comment"]),
        Count("lines of stubs (.pyi)", lines(".pyi")),
        Count("lines of C (.c, .h)", lines(".c", ".h"), 400),
        Count("lines of Cython (.pxd)", lines(".pxd")),
        Count("modules", len(modules)),
        Count(f"  under {SHORT} lines", sum(len(text.splitlines()) < SHORT for text in modules)),
    ]


def _counted(path: Path) -> bool:
    return path.suffix in {".py", ".pyi", ".c", ".h", ".pxd"}


def groups(folder: Path) -> set[str]:
    """Return the entry-point groups that are strings in the code of a package."""
    return {
        node.value
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"neurogym\.[a-z]+", node.value)
    }


def names() -> list[Count]:
    """Count public names, private names used outside of the core, and groups of entry points."""
    contract = runpy.run_path(str(ROOT / "tests" / "test_contract.py"))
    aims = {"neurogym_core": 45, "neurogym_core.players": 25, "neurogym_core.tools": 25}
    return [
        *(
            Count(f"public names of {tier}", len(import_module(tier).__all__), aims[tier])
            for tier in contract["TIERS"]
        ),
        Count("private names used outside", len(contract["private_uses"]()), 0),
        Count("groups of entry points", len(groups(CORE)), 6),
    ]


def walked(call: Callable[[], Any], folder: Path = CORE) -> tuple[int, int]:
    """Call, and return how many functions and files of a folder were entered, each counted once.

    Bodies of modules do not count, comprehensions do where they are functions (Python 3.11). The
    compiled kernel is not seen.
    """
    entered = set()
    inside = str(folder / "_")[:-1]

    def note(frame: Any, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>" and code.co_filename.startswith(inside):
            entered.add((code.co_filename, code.co_qualname))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return len(entered), len({file for file, _ in entered})


def walks() -> list[Count]:
    """Count the functions and files of the core that common calls enter.

    Every call but that of the command was made once before, with other objects.
    """
    played, env = make(TASK), make(TASK)
    played.reset(seed=0)
    dict(_ended(played))
    info = _ended(played)
    next(Dataset(TASK, 16, 100, seed=0))
    run(TASK, "oracle", 20, seed=0)
    dataset = Dataset(TASK, 16, 100, seed=1)
    calls: list[tuple[str, Callable[[], Any], int | None, int | None]] = [
        ("make(id), warm", lambda: make(TASK), 120, 18),
        ("first env.reset(seed)", lambda: env.reset(seed=0), 90, 12),
        ('dict(info["trial"])', lambda: dict(info), None, None),
        ("next(dataset)", lambda: next(dataset), None, None),
        ('run(id, "oracle", 20)', lambda: run(TASK, "oracle", 20, seed=1), None, None),
        ("ngym list", lambda: ngym(["list"], standalone_mode=False), 60, 8),
    ]
    counts = []
    for name, call, functions, files in calls:
        with contextlib.redirect_stdout(io.StringIO()):
            entered = walked(call)
        counts += [
            Count(f"{name}: functions", entered[0], functions),
            Count(f"{name}: files", entered[1], files),
        ]
    return counts


def _ended(env: Any) -> Any:
    """Rest until the trial has ended; return its results."""
    info: dict[str, Any] = {}
    while "trial" not in info:
        info = env.step(0)[4]
    return info["trial"]


@click.command()
def main() -> None:
    """Print the counts of the core beside their aims; a missed aim is marked MISSED."""
    click.echo(f"Python {platform.python_version()}")
    for count in (*sizes(CORE), *names(), *walks()):
        aim = "" if count.aim is None else f"at most {count.aim:,}"
        missed = "MISSED" if count.missed else ""
        click.echo(f"{count.name:42}{count.value:8,}  {aim:15} {missed}".rstrip())


if __name__ == "__main__":
    main()
