"""Graded rewards fall with the error from the most to the least, and are numbers beyond it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogym_core import InverseSquare, PowerLaw

SHARE = st.floats(0, 1)


@given(
    st.floats(0.1, 4),
    SHARE,
    st.floats(0.1, 10),
    st.floats(0.1, 100),
    st.lists(st.floats(0, 2), min_size=1),
)
def test_a_power_law_falls_from_the_most_to_the_least(exponent, least, most, tolerance, errors):
    pays = PowerLaw(exponent, least, most)
    errors = np.sort(errors)
    paid = pays(errors * tolerance, np.array(tolerance))
    assert (np.diff(paid) <= 1e-9).all()
    assert (paid >= least * most - 1e-9).all()
    np.testing.assert_allclose(paid[errors == 0], most)
    np.testing.assert_allclose(paid[errors >= 1], least * most, atol=1e-9)


@pytest.mark.parametrize("exponent", [1, 2, 1.5])
def test_the_exponent_is_that_of_the_distance_to_the_border(exponent):
    paid = PowerLaw(exponent, least=0.1, most=3)(np.array([0, 25.0, 50.0, 99.0]), np.array(100.0))
    np.testing.assert_allclose(paid, [3, 3 * 0.75**exponent, 3 * 0.5**exponent, 0.3])


def test_an_inverse_square_does_not_know_the_tolerance():
    for tolerance in (1, 100):
        paid = InverseSquare(most=4)(np.array([0, 1.0, 3]), np.array(tolerance))
        assert paid.tolist() == [4, 1, 0.25]
        assert InverseSquare(most=4)(1, tolerance) == 1
    assert PowerLaw(exponent=1)(0.5, 1) == 0.5
