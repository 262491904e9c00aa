"""A digest holds subjects out, their trials lie apart, and no reference code reads them."""

from __future__ import annotations

import ast
import dataclasses
import importlib.util
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from neurogym_data import data, data_names, data_set, sets

PACKAGE = Path(__file__).parents[1]
ROOT = PACKAGE.parents[1]
ALLOWED = ("plugins/neurogym-data/", "plugins/neurogym-likeness/neurogym_likeness/benchmarks.py")
"""The package with its tests, which fits, trains and scores nothing; and the loader of benchmarks,
which opens the files for ``ngym likeness --last-test`` alone."""
every = pytest.mark.parametrize("name", data_names())


@pytest.fixture(scope="module")
def common() -> ModuleType:
    """The parts that the conversion scripts share."""
    spec = importlib.util.spec_from_file_location("common", PACKAGE / "sources" / "common.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@every
def test_a_digest_of_their_names_holds_out_a_fifth(name: str, common: ModuleType) -> None:
    facts = data_set(name)
    shown, hidden = (
        {str(one) for one in np.unique(data(name, held_out=held)["subject"])}
        for held in (False, True)
    )
    assert hidden == set(facts.held_out) == set(common.held_out(name, shown | hidden))
    assert not shown & hidden
    assert len(hidden) == -(-len(shown | hidden) // 5)


@every
def test_the_file_of_the_held_out_is_opened_on_request_only(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    facts = data_set(name)
    gone = dataclasses.replace(facts.held_out_table, path=tmp_path / "gone.csv.gz")
    monkeypatch.setattr(sets, "data_set", lambda _: dataclasses.replace(facts, held_out_table=gone))
    assert len(data(name)) == facts.table.trials
    with pytest.raises(FileNotFoundError):
        data(name, held_out=True)


# ---- no reference code reads them ----


def readings(path: str, text: str) -> Iterator[str]:
    """Yield the calls, options and names of tables by which a file reads held-out subjects."""
    if not re.search("held.out|last-test", text):
        return
    code = [text]
    if path.endswith(".md"):  # outputs and prose may name the option
        code = re.findall(r"^```(?:python|console|sh|bash)\n(.*?)^```$", text, re.S | re.M)
    for block in code:
        yield from re.findall(r"[\w-]+\.held-out\b|--held-out\b", block)
        if not path.endswith(".py"):
            yield from re.findall(r"--last-test\b", block)
        if not path.endswith((".py", ".md")):
            continue
        try:
            tree = ast.parse(block)
        except SyntaxError:  # a template, or commands
            yield from re.findall(r"\bheld_out\b", block)
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword) and node.arg == "held_out":
                yield "held_out="
            elif isinstance(node, ast.Constant) and node.value == "held_out":
                yield "'held_out'"
            elif isinstance(node, ast.Attribute) and node.attr == "held_out_table":
                yield ast.unparse(node)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("fit.py", "from neurogym_data import data\nfit(data('luo-2025', held_out=True))"),
        ("fit.py", "data('luo-2025', **{'held_out': True})"),
        ("fit.py", "read_csv(data_set('luo-2025').held_out_table.path)"),
        ("fit.py", "read_csv(TABLES / 'luo-2025.held-out.csv.gz')"),
        ("{{ template }}.py", "class {{ name }}:\n    trials = data(held_out=True)"),
        ("page.md", "```console\n$ ngym data luo-2025 --out x.csv --held-out\n```"),
        ("page.md", "```python\ndata('luo-2025', held_out=True)\n```"),
        ("page.md", "```console\n$ ngym likeness x --benchmark clicks-rats --last-test\n```"),
        ("Makefile", "fit:\n\tngym data luo-2025 --held-out -o x.csv"),
    ],
)
def test_the_search_finds_code_that_reads_them(path: str, text: str) -> None:
    assert list(readings(path, text))


def test_the_search_passes_code_that_does_not() -> None:
    assert not list(readings("fit.py", "fit(data('luo-2025'), hidden=128)"))


def test_no_code_of_this_repository_reads_them() -> None:
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard"],
        capture_output=True, text=True, check=False,
    ).stdout  # fmt: skip
    if not listed:
        pytest.skip("this is no Git checkout")
    files = [
        path for path in listed.splitlines()
        if path.endswith((".py", ".md", ".toml", ".sh", "Makefile", "/run"))
        and not path.startswith(ALLOWED)
    ]  # fmt: skip
    assert len(files) > 300
    found = {path: [*readings(path, (ROOT / path).read_text("utf-8"))] for path in files}
    assert not {path: one for path, one in found.items() if one}
