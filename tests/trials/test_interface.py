"""Interface: names of units, the units of axes, errors on the circle, and limits of trials."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogym_core import Angle, Axis, OneHot, Ring
from neurogym_core.errors import TaskDefinitionError
from neurogym_core.trials.interface import Actions, Channels, Interface

FINITE = st.floats(-100, 100)


@st.composite
def axes(draw) -> Axis:
    """Draw an axis of one to three dimensions."""
    low = draw(FINITE)
    high = low + draw(st.floats(0.1, 100))
    return Axis(low, high, rest=(low + high) / 2, size=draw(st.integers(1, 3)))


def interface(actions: Actions, limits: tuple[float | None, ...] = (None,)) -> Interface:
    return Interface("T", 10.0, Channels.declare({"light": 1}, "T"), actions, {}, limits=limits)


def test_a_unit_is_called_by_its_name_by_that_of_its_part_or_by_both_where_that_is_not_enough():
    parts = {
        "fixate": 1,  # one unit: that of the part
        "choose": ("left", "right"),
        "confirm": ("yes", "left"),  # "left" is taken
        "look": 2,  # no names
        "reach": Ring(2),
    }
    assert Actions.declare(parts, "T").labels() == [
        *("fixate", "choose left", "right", "yes", "confirm left", "look 0", "look 1"),
        *("reach 0°", "reach 180°"),
    ]


def test_choices_of_joined_groups_are_counted_on():
    actions = Actions.declare({"rest": 1, "choose": ("left", "right"), "sure": 1, "other": 1}, "T")
    assert actions.choices(slice(1, 3)) == ("left", "right")
    assert actions.choices(slice(1, 4)) == ("left", "right", "sure")
    assert actions.choices(slice(1, 5)) == ("left", "right", "sure", "other")
    assert actions.choices(slice(3, 4)) == ("sure",)
    assert Actions.declare({"rest": 1, "choose": 2}, "T").choices(slice(1, 3)) == ()


def test_the_target_of_a_ring_is_its_bump_and_of_others_one_unit():
    actions = Actions.declare({"fixate": 1, "choose": 2, "reach": Ring(8), "look": Ring(4)}, "T")
    expected = np.eye(15, dtype=np.float32)
    expected[3:11, 3:11] = Ring(8).bump(np.arange(8))
    expected[11:, 11:] = Ring(4).bump(np.arange(4))
    np.testing.assert_array_equal(actions.unit_targets(), expected)


@pytest.mark.parametrize("rest", [{}, {"fixate": 1}], ids=["no rest", "rest"])
@pytest.mark.parametrize("group", [Ring(8), 3, ("a", "b")], ids=["ring", "number", "names"])
def test_units_that_show_their_own_target_are_read_as_it(rest, group):
    actions = Actions.declare(rest | {"choose": group}, "T")
    targets = actions.unit_targets()
    assert actions.decode_units(targets).tolist() == list(range(actions.size))
    assert actions.decode_units(targets[None, 1]).tolist() == [1]


def test_rest_is_read_above_a_half_whatever_the_others_are():
    actions = Actions.declare({"fixate": 1, "choose": 2}, "T")
    outputs = np.array([[0.51, 0, 9], [0.5, 0, 9], [0.5, 9, 0]])
    assert actions.decode_units(outputs).tolist() == [0, 2, 1]


def test_only_a_single_ring_is_read_by_its_population_vector():
    """Of two active neighbours, the mean; of two rings, the largest unit."""
    outputs = np.array([0, 2.0, 1.9, 1.9, 0, 0, 0, 0])  # the largest is 1, the mean close to 2
    assert Actions.declare({"reach": Ring(8)}, "T").decode_units(outputs) == 2
    two = Actions.declare({"reach": Ring(4), "look": Ring(4)}, "T")
    assert two.decode_units(outputs) == 1


@given(axes(), axes(), st.integers(0, 2**32 - 1))
def test_the_bounds_of_an_action_are_those_of_its_axes_and_units_go_both_ways(one, other, seed):
    actions = Actions.declare({"one": one, "other": other}, "T")
    low = [one.low] * one.size + [other.low] * other.size
    high = [one.high] * one.size + [other.high] * other.size
    scale = max(map(abs, (*low, *high)))
    np.testing.assert_allclose(actions.to_task_units(np.full(actions.size, -1)), low)
    np.testing.assert_allclose(
        actions.to_task_units(np.full(actions.size, 1)), high, atol=1e-12 * scale
    )
    np.testing.assert_allclose(actions.to_task_units(np.zeros(actions.size)), actions.rest_value)
    given = np.random.default_rng(seed).uniform(-1, 1, (5, actions.size))
    back = actions.from_task_units(actions.to_task_units(given))
    np.testing.assert_allclose(back, given, atol=1e-6)
    # Values outside are cut off.
    assert (actions.from_task_units(np.array(high) + 1) == 1).all()
    assert (actions.from_task_units(np.array(low) - 1) == -1).all()
    np.testing.assert_allclose(actions.ranges(), np.subtract(high, low))


@given(st.floats(-10, 10), st.floats(-10, 10), FINITE, FINITE)
def test_an_angle_is_off_by_its_distance_on_the_circle_and_an_axis_by_the_difference(a, b, x, y):
    actions = Actions.declare({"go": Axis(-100, 100), "report": Angle()}, "T")
    values, targets = ([one, *Angle.points(angle)] for one, angle in ((x, a), (y, b)))
    values, targets = np.array([values]), np.array([targets])
    away = abs((a - b + np.pi) % (2 * np.pi) - np.pi)
    both = slice(0, 3)
    np.testing.assert_allclose(actions.errors(values, targets, both), [[x - y, away]], atol=1e-6)
    np.testing.assert_allclose(actions.errors(values, targets, slice(1, 3)), [[away]], atol=1e-6)
    assert actions.errors(values, targets, slice(0, 1)).shape == (1, 1)
    read = actions.read(values, both)
    assert read[0, 0] == x
    np.testing.assert_allclose(np.exp(1j * read[0, 1]), np.exp(1j * a), atol=1e-9)
    # The middle has no direction.
    middle = np.array([[x, 0, 0]])
    assert np.isnan(actions.read(middle, both)[0, 1])
    assert actions.errors(middle, targets, both)[0, 1] == np.pi
    np.testing.assert_array_equal(actions.ranges(), [200, np.pi])


def test_tolerances_have_one_entry_per_axis_of_which_an_angle_is_one():
    actions = Actions.declare({"go": Axis(0, 9, size=2, tolerance=2), "at": Angle(0.5)}, "T")
    assert actions.traced
    np.testing.assert_allclose(actions.tolerances(), [2, 2, 0.5], atol=1e-5)
    # A float32 on the border is on target.
    assert (actions.tolerances() > [2, 2, 0.5]).all()


def test_payoffs_have_a_column_per_action_or_for_resting_and_acting():
    declare = Actions.declare
    assert declare({"fixate": 1, "choose": 3}, "T").n_table == 4
    assert declare({"go": Axis(size=3)}, "T").n_table == 1
    triggered = declare({"at": Axis(size=2), "go": Axis(trigger=0.5)}, "T")
    assert triggered.n_table == 2
    assert triggered.trigger == (2, 0.5)


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"go": Axis(), "choose": 2}, "mixes Axis and discrete"),
        ({"a": Axis(trigger=0), "b": Axis(trigger=0)}, "2 axes with a trigger"),
        ({"a": Axis(tolerance=1), "b": Axis()}, "beside an axis without one"),
        ({"a": Axis(tolerance=1, trigger=0)}, "or with a trigger"),
        ({"choose": ("left", "none")}, "stands for no answer"),
        ({"choose": 0}, "at least 1"),
        ({"choose": True}, "at least 1"),
        ({"choose": 1.0}, "at least 1"),
    ],
)
def test_actions_that_cannot_be_are_refused(declared, said):
    with pytest.raises(TaskDefinitionError, match=said):
        Actions.declare(declared, "T")


def test_encoders_numbers_and_names_declare_the_units_of_a_part():
    channels = Channels.declare(
        {"cue": OneHot(3), "go": 1, "at": np.int64(2), "tone": ["high"]}, ""
    )
    assert [channels.width(name) for name in channels] == [3, 1, 2, 1]
    assert channels["tone"] == slice(6, 7)
    assert channels.size == 7
    assert channels.units("tone") == ("high",)
    assert channels.units("at") == ("0", "1")


@pytest.mark.parametrize(
    ("limits", "steps"),
    [
        ((None,), 50),
        ((300,), 30),
        ((2,), 1),
        ((4,), 1),
        ((16,), 2),
        ((300, None), 50),
        ((900, 2), 90),
    ],
)
def test_the_limit_is_ten_times_the_drawn_length_or_the_nearest_step_and_at_least_one(
    limits, steps
):
    actions = Actions.declare({"choose": 2}, "T")
    found = interface(actions, limits).max_steps_of(np.array([5, 5]))
    assert found.tolist() == [steps, steps]
    assert found.dtype == np.int64
