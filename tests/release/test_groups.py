"""`.ci/group.py` lists dependency groups as `pip install --group` reads them."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from scripts import loaded

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / ".ci" / "group.py"
TABLES = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]


@pytest.mark.parametrize("name", sorted(TABLES))
def test_a_group_is_listed_as_packaging_reads_it(name: str) -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT, name], capture_output=True, text=True, check=True
    )
    reader = pytest.importorskip(
        "packaging.dependency_groups", reason="an older packaging reads no dependency groups"
    )
    known = [str(one) for one in reader.DependencyGroupResolver(TABLES).resolve(name)]
    assert sorted(set(done.stdout.split())) == sorted(set(known))


def test_an_included_group_is_listed_once() -> None:
    group = loaded(SCRIPT)
    groups = {"a": ["x>=1", {"include-group": "b"}], "b": ["y", "x>=1"]}
    assert group.requirements(groups, "a") == ["x>=1", "y"]


def test_the_makefile_and_the_page_ask_for_groups_that_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for name in ("test", "dev", "mutants", "release"):
        assert f"$(VENV)/installed-{name}" in makefile
        assert name in TABLES
    assert ".ci/group.py site" in makefile
    assert "site" in TABLES
    assert ".ci/group.py test)" in (ROOT / "CONTRIBUTING.md").read_text("utf-8")
