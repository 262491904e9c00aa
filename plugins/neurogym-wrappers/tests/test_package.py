"""The package's wrappers, their manifest, and its use of the core."""

from __future__ import annotations

import ast
import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import neurogym_wrappers
import pytest

from neurogym_core import UnknownTaskError
from neurogym_core.tools import brought, find_wrapper, installed, load_wrapper, parse_manifest

FOLDER = Path(neurogym_wrappers.__file__).parent
OFFERED = [one for one in installed().wrappers if one.distribution == "neurogym-wrappers"]
FORMER = [(alias, one) for one in OFFERED for alias in one.aliases]


def test_every_wrapper_is_offered_described_and_exported():
    manifest = parse_manifest((FOLDER / "ngym.toml").read_text("utf-8"))
    assert manifest.all_problems == ()
    names = {one.name for one in OFFERED}
    assert names == {row.name for row in manifest.rows} == set(neurogym_wrappers.__all__)
    for one in OFFERED:
        assert one.id == f"wrappers/{one.name}"
        assert load_wrapper(one.id) is getattr(neurogym_wrappers, one.name)


def test_the_core_knows_the_names_and_the_former_names():
    assert {*brought("wrappers")} == {one.name for one in OFFERED}
    assert {*brought("former wrappers")} == {alias for alias, _ in FORMER}


@pytest.mark.parametrize(("alias", "one"), FORMER)
@pytest.mark.parametrize("prefix", ["", "wrappers/"])
def test_a_former_name_is_answered_with_the_id(prefix, alias, one):
    with pytest.raises(UnknownTaskError, match=f"is now '{one.id}' with "):
        find_wrapper(prefix + alias)


def test_no_private_name_of_the_core_is_used():
    defined, used = set(), set()
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                defined.add(node.name)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                defined.add(node.id)
            if isinstance(node, ast.Attribute):
                (defined if isinstance(node.ctx, ast.Store) else used).add(node.attr)
            if isinstance(node, ast.ImportFrom) and node.module.startswith("neurogym_core"):
                names = [*node.module.split("."), *(one.name for one in node.names)]
                assert not [name for name in names if name.startswith("_")], (path.name, names)
    private = {name for name in used if re.match("_(?!_)", name)}
    assert private
    assert private <= defined


def test_the_example_of_the_readme_prints_what_it_says():
    text = (FOLDER.parent / "README.md").read_text("utf-8")
    code, printed = re.search(r"```python\n(.*?)```\n```text\n(.*?)```", text, re.DOTALL).groups()
    out = io.StringIO()
    with redirect_stdout(out):
        exec(code, {})
    assert out.getvalue() == printed
