"""Seven tasks were written from their papers, to show how short tasks are."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

from neurogym_core import make_task
from neurogym_core.tools import installed, load

MOST = 45
"""Lines of code of a task."""
WRITTEN = [
    "perceptual/PoissonClicks-v0",
    "control/StopSignal-v0",
    "value/ProbabilisticReversal-v0",
    "memory/NBack-v0",
    "control/CardSorting-v0",
    "memory/ColourWheel-v0",
    "memory/GradedComparison-v0",
]
SUITES = {"cognition", "driscoll24", "dynamics", "learning", "motivation"}
FILE = 60
"""Lines of code of a file with tasks of the suites; those of modcog are one table."""
FORAGING = ["value/PatchLeaving-v0", "value/SelfInitiatedChoice-v0"]


def lines_of(node: ast.AST) -> set[int]:
    """Numbers of the lines of code of a node: neither docstrings nor blank lines nor comments."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef
    texts = {
        one.body[0]
        for one in ast.walk(node)
        if isinstance(one, documented) and ast.get_docstring(one) is not None
    }
    left_out = {line for text in texts for line in range(text.lineno, text.end_lineno + 1)}
    return {
        line
        for one in ast.walk(node)
        if hasattr(one, "lineno")
        for line in (one.lineno, one.end_lineno)
    } - left_out


@pytest.mark.parametrize("task_id", [*WRITTEN, *FORAGING])
def test_a_task_takes_at_most_45_lines(task_id):
    task = type(make_task(task_id))
    tree = ast.parse(Path(inspect.getfile(task)).read_text("utf-8"))
    node = next(
        one for one in tree.body if isinstance(one, ast.ClassDef) and one.name == task.__name__
    )
    assert len(lines_of(node)) <= MOST


@pytest.mark.parametrize("task_id", [*WRITTEN, *FORAGING])
def test_a_task_cites_its_paper_and_states_where_it_deviates(task_id):
    text = " ".join(inspect.getdoc(type(make_task(task_id))).split())
    assert "doi:10." in text
    assert "Deviations from the paper:" in text
    assert "Performance is" in text or "performance is" in text


@pytest.mark.parametrize("suite", sorted(SUITES))
def test_a_file_of_tasks_of_the_suites_takes_at_most_60_lines(suite):
    files = {inspect.getfile(load(one)) for one in installed().tasks if one.namespace == suite}
    lines = {
        Path(file).name: len(lines_of(ast.parse(Path(file).read_text("utf-8")))) for file in files
    }
    assert {name: n for name, n in lines.items() if n > FILE} == {}
