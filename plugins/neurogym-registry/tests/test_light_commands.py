"""Commands that only read import neither NumPy nor packages of tasks."""

from __future__ import annotations

import environments
import pytest
from light_imports import ALLOWED, imported


@pytest.mark.parametrize(
    "arguments",
    [
        ["search", "memory"],
        ["install", "--help"],
        ["uninstall", "--help"],
        ["submit", "--help"],
        ["registry", "--help"],
        ["registry", "validate", str(environments.REPOSITORY / "registry")],
    ],
)
def test_commands_that_only_look_import_nothing_heavy(arguments: list[str]) -> None:
    modules, printed = imported(*arguments)
    assert modules <= {*ALLOWED, "neurogym_registry", "packaging"}
    assert printed
