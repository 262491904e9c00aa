"""The page of the conformance kit says what the checks say themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
from neurogym_check.run_checks import all_checks
from scripts import loaded

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def maker():
    return loaded("conformance")


def test_the_page_is_fresh(maker):
    written = maker.TARGET.read_text("utf-8")
    assert written == maker.page(), (
        "run `python docs/_make/conformance.py`, and commit docs/conformance.md"
    )


def test_every_check_has_a_row(maker):
    rows = [line for line in maker.page().splitlines() if line.startswith("| ")]
    for one in all_checks():
        assert any(
            row.startswith(f"| {one.code} | ") and one.rule in row and one.advice in row
            for row in rows
        ), one
