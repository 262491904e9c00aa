"""Version specifiers, compared with the reference implementation on release numbers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from neurogym_core.ecosystem.scan import core_specifier, release, satisfies

NUMBER = st.lists(st.integers(0, 3), min_size=1, max_size=3).map(
    lambda parts: ".".join(map(str, parts))
)
PLAIN = st.tuples(st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), NUMBER).map("".join)
STARRED = st.tuples(st.sampled_from(["==", "!="]), NUMBER).map(lambda pair: f"{pair[0]}{pair[1]}.*")
COMPATIBLE = st.tuples(NUMBER, st.integers(0, 3)).map(lambda pair: f"~={pair[0]}.{pair[1]}")
SPECIFIER = st.lists(st.one_of(PLAIN, STARRED, COMPATIBLE), max_size=3).map(",".join)


@settings(deadline=None)
@given(NUMBER, SPECIFIER)
def test_release_numbers_are_compared_as_packaging_does(version: str, specifier: str) -> None:
    assert satisfies(version, specifier) is SpecifierSet(specifier).contains(version)


@pytest.mark.parametrize("version", ["1.0.0rc1", "1.0.0.dev3", "1.0.0+local", "v1.0.0"])
def test_only_the_release_number_counts(version: str) -> None:
    assert release(version) == (1, 0, 0)
    assert satisfies(version, ">=1.0,<2") is True


@pytest.mark.parametrize("specifier", ["@ somewhere", ">=x", "1.0", "=>1.0"])
def test_an_unreadable_specifier_gives_none(specifier: str) -> None:
    assert satisfies("1.0", specifier) is None


@pytest.mark.parametrize(
    ("requirements", "specifier"),
    [
        (["numpy>=1", "neurogym-core>=1.0,<2"], ">=1.0,<2"),
        (["Neurogym_Core [plot] (>=1.0, <2) ; python_version > '3'"], ">=1.0,<2"),
        (["neurogym-core"], ""),
        (["neurogym-core>=9; extra == 'test'", "neurogym-core-tools<1"], None),
        ([], None),
    ],
)
def test_the_core_requirement_is_found_among_the_others(
    requirements: list[str], specifier: str | None
) -> None:
    assert core_specifier(requirements, "neurogym-core") == specifier
