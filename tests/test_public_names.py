"""The names of the core for type checkers and editors."""

from __future__ import annotations

import ast
from pathlib import Path

import neurogym_core


def test_type_checkers_see_every_name_that_is_imported_on_first_use() -> None:
    tree = ast.parse(Path(neurogym_core.__file__).read_text("utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    assert ast.unparse(block.test) == "TYPE_CHECKING"
    seen = {
        alias.asname: f"{node.module}.{alias.name}"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    homes = neurogym_core._HOMES
    assert seen == {name: f"neurogym_core.{home}.{name}" for name, home in homes.items()}
