"""What starts fast stays fast: help, listing and completion import nothing outside an
allow-list.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from neurogym_core._bundled import bundled

ALLOWED = {"neurogym_core", "click", "rich", "importlib_metadata", "zipp", "lazy_importer"}
CODE = """
import io, json, os, sys
before = set(sys.modules)
sys.stdout, out = io.TextIOWrapper(io.BytesIO(), "utf-8"), sys.stdout
from neurogym_core.cli import main
try:
    main(prog_name="ngym")
except SystemExit:
    pass
sys.stdout.flush()
printed, sys.stdout = sys.stdout.buffer.getvalue().decode(), out
print(json.dumps({"modules": sorted(set(sys.modules) - before), "printed": printed}))
"""


def imported(*arguments: str, **environment: str) -> tuple[set[str], str]:
    """The top-level modules outside the standard library that a command imports, and what it
    printed.
    """
    completed = subprocess.run(
        [sys.executable, "-c", CODE, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    found = json.loads(completed.stdout.splitlines()[-1])
    tops = {name.partition(".")[0] for name in found["modules"]}
    return {
        name for name in tops - set(sys.stdlib_module_names) if not name.startswith("_")
    }, found["printed"]


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
        ["search", "memory"],
        ["install", "--help"],
        ["uninstall", "--help"],
        ["registry", "--help"],
        ["registry", "validate", str(bundled("registry"))],
        ["run", "--help"],
        ["plot", "--help"],
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
