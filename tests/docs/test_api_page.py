"""The reference lists every public name, as its docstring describes it; every example runs."""

from __future__ import annotations

import ast
import doctest
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from scripts import loaded

from neurogym_core.tasks.state import interface_of, state_of
from neurogym_core.trials.builder import TrialBuilder
from neurogym_core.trials.lay_out import lay_out

DOCS = Path(__file__).resolve().parents[2] / "docs"
PLUGINS = DOCS.parent / "plugins"
maker = loaded("api")

TIERS = {page: import_module(module) for page, (module, *_) in maker.TIERS.items()}
FOUND = {page: maker.entries(tier) for page, tier in TIERS.items()}
ENTRIES = FOUND["api"]
ALL = [entry for entries in FOUND.values() for found in entries.values() for entry in found]


@pytest.mark.parametrize("page", TIERS)
def test_the_page_is_fresh(page):
    assert (DOCS / f"{page}.md").read_text("utf-8") == maker.page(page), (
        "run `python docs/_make/api.py`, and commit docs/api*.md"
    )


@pytest.mark.parametrize("page", TIERS)
def test_the_groups_hold_every_public_name_once(page):
    listed = [name for group in maker.groups(TIERS[page]).values() for name in group]
    assert sorted(listed) == sorted(set(TIERS[page].__all__) - {"__version__"})


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
    for found in (found for entries in FOUND.values() for found in entries.values()):
        for entry in found:
            named = set(re.findall(r"\w+", entry.doc + found[0].doc))
            missing += [f"{entry.name}({name}=)" for name in entry.parameters if name not in named]
    assert not missing


def test_every_class_and_function_for_authors_has_an_example():
    """The wrappers' pages have theirs."""
    elsewhere = maker.groups(TIERS["api"])["Wrappers of the core"]
    missing = [
        name
        for name, (first, *_) in ENTRIES.items()
        if first.kind != "constant"
        and not name.endswith("Error")
        and name not in elsewhere
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
        lay_out(known["trial"].layout)


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


# ---- pages of the packages ---------------------------------------------------------------------

WRITE = """import sys
sys.path.insert(0, "docs/_make")
import api, absent
absent.stand_in_for = lambda packages: None
from pathlib import Path
api.write_packages(Path(sys.argv[1]))"""
"""Write the pages without stand-ins."""


def pages_of_packages(*command: str, folder: Path) -> dict[str, str]:
    folder.mkdir()
    subprocess.run([sys.executable, *command, str(folder)], check=True, cwd=DOCS.parent)
    return {path.stem: path.read_text("utf-8") for path in folder.iterdir()}


def names_in(package: str) -> set[str]:
    """Names in the list `__all__` of a package, and the keys of `_HOMES` that it contains."""
    source = PLUGINS / package.replace("_", "-") / package / "__init__.py"
    found = {
        node.targets[0].id: node.value
        for node in ast.parse(source.read_text("utf-8")).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    listed = found["__all__"].elts
    if any(isinstance(one, ast.Starred) for one in listed):
        listed = [one for one in listed if not isinstance(one, ast.Starred)]
        listed += found["_HOMES"].keys
    return {ast.literal_eval(one) for one in listed}


def test_packages_have_pages_without_what_they_import(tmp_path):
    """The environment of the site has neither torch nor JAX nor pytest."""
    pages = pages_of_packages(maker.__file__, folder=tmp_path / "pages")
    assert set(pages) == set(maker.PACKAGES)
    for package, page in pages.items():
        assert set(re.findall(r"^## (\w+)$", page, re.MULTILINE)) == names_in(package), package
    torch = pages["neurogym_torch"]
    assert re.search(
        r"^GRU\(n_inputs: int, n_outputs: int, hidden: int = 128, ", torch, re.MULTILINE
    )
    assert "### LeakyRNN.read\n\n```python\nread(hidden: Tensor) -> Tensor\n```" in torch
    assert "- `inputs`: (B, T, U) float32." in pages["neurogym_jax"]


@pytest.mark.slow
def test_stand_ins_leave_nothing_out_of_the_pages_of_packages(tmp_path):
    for name in ("torch", "jax", "sb3_contrib", "joblib", "pyarrow"):
        pytest.importorskip(name)
    real = pages_of_packages("-c", WRITE, folder=tmp_path / "real")
    assert pages_of_packages(maker.__file__, folder=tmp_path / "pages") == real
