"""Help, listing and completion import only modules of an allow-list, so that they are fast."""

from __future__ import annotations

import pytest
from light_imports import ALLOWED, imported


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["list"],
        ["list", "--json", "--all"],
        ["list", "--tag", "memory"],
        ["list", "--help"],
        ["info", "--help"],
        ["info", "neurogym-core"],
        ["completion", "bash"],
        ["run", "--help"],
    ],
)
def test_commands_that_only_look_import_nothing_heavy(arguments: list[str]) -> None:
    modules, printed = imported(*arguments)
    assert modules <= ALLOWED, modules - ALLOWED
    assert printed


def test_completing_imports_nothing_heavy() -> None:
    modules, printed = imported(
        _NGYM_COMPLETE="bash_complete", COMP_WORDS="ngym info ", COMP_CWORD="2"
    )
    assert modules <= ALLOWED, modules - ALLOWED
    assert "ReactionTime" in printed


def test_help_needs_no_rich() -> None:
    modules, _ = imported("--help")
    assert "rich" not in modules
