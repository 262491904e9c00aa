"""How references of manifests are cited, in a text and in BibTeX."""

from __future__ import annotations

import pytest

from neurogym_core.ecosystem.records import Reference

CITED = [
    ("Milner, Brenda", "Milner (1963)"),
    ("Kiani, Roozbeh and Shadlen, Michael N.", "Kiani & Shadlen (1963)"),
    ("Logan, G. and Cowan, W. and Davis, K.", "Logan, Cowan & Davis (1963)"),
    ("Mante, V. and Sussillo, D. and Shenoy, K. and Newsome, W.", "Mante et al. (1963)"),
    ("Bari, Andrea and others", "Bari et al. (1963)"),
    ("International Brain Laboratory", "International Brain Laboratory (1963)"),
    ("", ""),
]


@pytest.mark.parametrize(("authors", "said"), CITED)
def test_authors_and_year_are_cited_as_in_a_text(authors: str, said: str) -> None:
    assert Reference(doi="10.1/x", authors=authors, year=1963).cited == said


def test_without_a_year_the_authors_are_cited() -> None:
    assert Reference(doi="10.1/x", authors="Milner, Brenda").cited == "Milner"


def test_a_group_of_authors_is_one_name_in_bibtex() -> None:
    group = Reference(doi="10.1/x", authors="International Brain Laboratory", year=2021)
    assert "  author = {{International Brain Laboratory}},\n" in group.bibtex
    person = Reference(doi="10.1/x", authors="Milner, Brenda", year=1963)
    assert "@article{Milner1963,\n  author = {Milner, Brenda},\n" in person.bibtex
