"""Probabilities of `Choice` are probabilities, or whole numbers that are weights."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogym_core import Choice, parse
from neurogym_core.errors import InvalidValueError


@pytest.mark.parametrize("p", [(0.5, 0.6), (0.7, 0.1, 0.1, 0.01), (0.5, 0.499), (1.0, 0.5)])
def test_probabilities_that_do_not_sum_to_1_are_refused(p):
    with pytest.raises(InvalidValueError, match=r"p=.* whose sum is .*sum of 1, or whole numbers"):
        Choice(len(p), p=p)


@given(weights=st.lists(st.integers(0, 50), min_size=1, max_size=8).filter(any))
def test_whole_numbers_are_weights(weights):
    found = Choice(len(weights), p=weights).probabilities
    assert found.tolist() == pytest.approx([one / sum(weights) for one in weights])


@given(p=st.lists(st.floats(0.01, 1), min_size=1, max_size=8))
def test_probabilities_are_kept_as_they_are_given(p):
    p = [one / sum(p) for one in p]
    assert Choice(len(p), p=p).probabilities.tolist() == pytest.approx(p, rel=1e-9)
    again = parse(Choice(len(p), p=p).to_plain())
    assert again == Choice(len(p), p=p)


def test_one_number_that_is_no_integer_is_refused_in_words():
    with pytest.raises(InvalidValueError, match=r"Choice\(\) was given 2\.0\. Expected several"):
        Choice(2.0)
    with pytest.raises(InvalidValueError, match="was given 'left'"):
        Choice("left")


def test_a_range_is_a_list_of_values():
    assert parse(range(3)) == Choice([0, 1, 2])
