"""The reference lists every public name, as its docstring describes it; every example runs."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import numpy as np
import pytest
from scripts import loaded

import neurogym_core
from neurogym_core.tasks.state import interface_of, state_of
from neurogym_core.trials.builder import TrialBuilder
from neurogym_core.trials.compiling import compile_layout

DOCS = Path(__file__).resolve().parents[2] / "docs"
maker = loaded("api")

ENTRIES = maker.entries()
ALL = [entry for found in ENTRIES.values() for entry in found]


def test_the_page_is_fresh():
    assert maker.TARGET.read_text("utf-8") == maker.page(), (
        "run `python docs/_make/api.py`, and commit docs/api.md"
    )


def test_the_groups_hold_every_public_name_once():
    listed = [name for group in maker.GROUPS.values() for name in group]
    assert sorted(listed) == sorted(set(neurogym_core.__all__) - {"__version__"})


def test_there_are_at_most_40_public_names():
    assert len(neurogym_core.__all__) <= 40


def test_methods_and_properties_have_entries():
    known = {entry.name for entry in ALL}
    assert {"Task.sample", "TrialBuilder.show", "TaskEnv.step", "TrialBatch.path"} <= known
    assert "TaskEnv.metadata" not in known
    assert "TaskEnv.np_random" not in known  # Gymnasium's


def test_every_public_name_and_member_has_a_docstring():
    assert not [entry.name for entry in ALL if not entry.sections[""]]


def test_every_argument_is_named():
    """In the docstring, or in that of the class, for arguments that its methods share."""
    missing = []
    for entry in ALL:
        text = entry.doc + ENTRIES[entry.name.partition(".")[0]][0].doc
        named = set(re.findall(r"\w+", text))
        missing += [f"{entry.name}({name}=)" for name in entry.parameters if name not in named]
    assert not missing


def test_every_public_class_and_function_has_an_example():
    missing = [
        name
        for name, (first, *_) in ENTRIES.items()
        if first.kind != "constant"
        and ">>> from neurogym_core import" not in first.sections.get("Example", "")
    ]
    assert not missing


@pytest.mark.parametrize(
    "entry", [entry for entry in ALL if ">>>" in entry.doc], ids=lambda entry: entry.name
)
def test_every_example_runs(entry):
    verb = entry.name.startswith("TrialBuilder.")
    known = {"trial": _builder_of_the_example(), "np": np} if verb else {}
    test = doctest.DocTestParser().get_doctest(entry.doc, known, entry.name, None, 0)
    printed: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    result = runner.run(test, out=printed.append, clear_globs=False)
    assert result.attempted
    assert not result.failed, "".join(printed)
    if verb:
        compile_layout(known["trial"].layout)


def _builder_of_the_example():
    """Return the `trial` of the examples of verbs: 4 trials of the task in the class's example."""
    doc = ENTRIES["TrialBuilder"][0].doc
    test = doctest.DocTestParser().get_doctest(doc, {}, "TrialBuilder", None, 0)
    doctest.DocTestRunner(verbose=False).run(test, clear_globs=False)
    task = test.globs["Side"]()
    conditions = {"side": np.array([0, 1, 0, 1])}
    return TrialBuilder(
        interface_of(task),
        conditions,
        np.random.default_rng(0),
        4,
        timing=state_of(task).timing,
    )


def test_a_section_becomes_a_list_with_its_lines_joined():
    entry = maker.Entry("A.f", None, "property", "Say it.\n\nArgs:\n    a, b: one\n        two.\n")
    assert "**Arguments**\n\n- `a`, `b`: one two." in maker._written(entry, "###")


def test_signatures_have_no_quotes_and_break_where_they_are_long():
    (make, *_) = ENTRIES["make"]
    assert maker._call("make", make.signature).splitlines()[:3] == [
        "make(",
        "    task: TaskLike,",
        "    *,",
    ]
    (parse, *_) = ENTRIES["parse"]
    assert maker._call("parse", parse.signature) == "parse(spec: Any) -> Distribution"
