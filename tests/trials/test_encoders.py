"""Encoders: a direction on a ring is the index of a unit, or an angle in radians."""

import numpy as np
import pytest

from neurogym_core import OneHot, Ring
from neurogym_core.errors import InvalidValueError

CURVES = ("cosine", "bump", "von_mises", "encode")


@pytest.mark.parametrize("curve", CURVES)
def test_a_direction_is_given_by_index_or_by_angle(curve):
    ring = Ring(8)
    show = getattr(ring, curve)
    every = np.arange(8)
    np.testing.assert_allclose(show(every), show(angle=every * np.pi / 4), atol=1e-6)
    for one in (0, 1, 7):
        np.testing.assert_allclose(show(one), show(every)[one], atol=1e-6)
    # An angle may be a whole number: 1 radian is no unit.
    assert not np.allclose(show(angle=1), show(1), atol=0.01)
    np.testing.assert_allclose(show(angle=[1, 2]), show(angle=[1.0, 2.0]))
    assert (show(every).argmax(axis=1) == every).all()


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("index", [0.5, 1.0, [0.0, 1.0], "left"])
def test_an_index_is_a_whole_number(curve, index):
    with pytest.raises(InvalidValueError, match=r"was given the index .*Give an angle as angle="):
        getattr(Ring(4), curve)(index)


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("given", [{}, {"index": 1, "angle": 0.5}], ids=["none", "both"])
def test_a_direction_is_given_once(curve, given):
    with pytest.raises(InvalidValueError, match=r"index=.* and angle=.*Expected one of them"):
        getattr(Ring(4), curve)(**given)


def test_the_angle_of_a_unit_is_its_preferred_one():
    ring = Ring(4)
    np.testing.assert_array_equal(ring.angle([0, 3, 1]), ring.angles[[0, 3, 1]])
    with pytest.raises(InvalidValueError, match="indices of units"):
        ring.angle(np.pi)


def test_the_nearest_unit_and_the_units_within_a_tolerance_are_those_of_an_angle():
    ring = Ring(4)
    assert ring.nearest([0.7, 0.8, -0.1, 6.2, 3]).tolist() == [0, 1, 0, 0, 2]
    assert ring.within(np.pi / 4, np.pi / 4).tolist() == [True, True, False, False]
    assert ring.within([0.0, 3.0], 0.2).tolist() == [
        [True, False, False, False],
        [False, False, True, False],
    ]


@pytest.mark.parametrize("wrong", [5, 2, -2, 0.5, np.nan, [0, 7]])
def test_an_index_beyond_the_units_is_refused(wrong):
    with pytest.raises(InvalidValueError, match="Expected whole numbers from 0 to 1"):
        OneHot(2).encode(wrong)
    assert OneHot(2).encode(np.array([-1, 0, 1])).tolist() == [[0, 0], [1, 0], [0, 1]]


def test_an_index_goes_on_around_the_circle():
    np.testing.assert_array_equal(Ring(8).cosine([9, -1]), Ring(8).cosine([1, 7]))
