"""The glossary and the architecture page name code that exists."""

from __future__ import annotations

import importlib
import importlib.util
import re
from functools import reduce
from pathlib import Path

import pytest
from scripts import loaded

from neurogym_core.trials.builder import VERBS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
GLOSSARY = (DOCS / "glossary.md").read_text("utf-8")
ARCHITECTURE = (DOCS / "architecture.md").read_text("utf-8")

_ROW = re.compile(r"^\| (?P<term>[^|]+) \| (?P<meaning>[^|]+) \| (?P<code>[^|]+) \|$", re.MULTILINE)
_PLACE = re.compile(r"(?P<file>[\w/]+)\.py(?:: (?P<name>[A-Za-z_][\w.]*\w))?")


def sections() -> list[list[re.Match]]:
    """The rows of every section of the glossary."""
    parts = re.split(r"^## ", GLOSSARY, flags=re.MULTILINE)[1:]
    return [[row for row in _ROW.finditer(part) if row["term"] != "Term"] for part in parts]


def named(file: str, name: str | None) -> object:
    """The module or object of a place: ``trials/layout.py: Slot``, for example."""
    module = file.replace("/", ".")
    package = module if module.startswith("neurogym_") else f"neurogym_core.{module}"
    found = importlib.import_module(package)
    return reduce(getattr, name.split("."), found) if name else found


def test_every_row_of_the_glossary_names_code_that_exists():
    rows = [row for section in sections() for row in section]
    assert len(rows) > 60
    for row in rows:
        places = list(_PLACE.finditer(row["code"]))
        assert places, row["term"]
        for place in places:
            named(place["file"], place["name"])


def test_every_term_has_one_row_in_alphabetical_order():
    terms = [[row["term"].lower() for row in section] for section in sections()]
    assert all(section == sorted(section) for section in terms)
    all_terms = [term for section in terms for term in section]
    assert len(set(all_terms)) == len(all_terms)


def test_the_glossary_lists_the_verbs():
    (row,) = (row for section in sections() for row in section if row["term"] == "verb")
    assert set(re.findall(r"`(\w+)`", row["meaning"])) >= set(VERBS)


def test_the_places_on_the_architecture_page_exist():
    places = [place for place in _PLACE.finditer(ARCHITECTURE) if place["name"]]
    assert len(places) > 6
    for place in places:
        named(place["file"], place["name"])


def test_a_place_that_does_not_exist_would_be_seen():
    with pytest.raises(AttributeError):
        named("trials/layout", "Slott")
    with pytest.raises(ModuleNotFoundError):
        named("trials/layouts", None)


def test_the_sites_page_parts_public_names_to_the_api():
    module = loaded("page_parts")
    row = "| x | y | `tasks/task.py: Task.vary`, `play/kernel.py: Kernel` |"
    assert module.linked(row, "### Task\n\n### make\n") == (
        "| x | y | [`tasks/task.py: Task.vary`](api.md#task), `play/kernel.py: Kernel` |"
    )
