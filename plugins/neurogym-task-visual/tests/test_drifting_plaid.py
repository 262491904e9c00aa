"""DriftingPlaid: direction, speed, contrast and size, measured in the images."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_visual.drifting_plaid import DriftingPlaid

from neurogym_core import InvalidValueError

PER_DEGREE = 100 / 16
"""Pixels."""


def velocity(images):
    """Least-squares estimate of motion from brightness changes, (x, y) pixels per step, y up."""
    light = images[:, :, :, 0]
    middle = 0.5 * (light[1:] + light[:-1])
    dx = np.gradient(middle, axis=2)
    dy = -np.gradient(middle, axis=1)
    dt = np.diff(light, axis=0)
    gradients = np.stack([dx.ravel(), dy.ravel()], axis=1)
    return -np.linalg.lstsq(gradients, dt.ravel(), rcond=None)[0]


@pytest.mark.parametrize("direction", [0, 1, 2, 3])
@pytest.mark.parametrize("contrast", [0.05, 0.99])
def test_the_plaid_drifts_in_the_direction_of_the_trial(seen, direction, contrast):
    images = seen(DriftingPlaid(), direction=direction, contrast=contrast, diameter=8.0)["stimulus"]
    x, y = velocity(images)
    turned = np.rad2deg(np.arctan2(y, x)) - 90 * direction
    assert abs((turned + 180) % 360 - 180) < 5
    # Gratings of 4 degrees/s, 45 degrees to either side: the plaid moves at 4 sqrt(2). Differences
    # of pixels blur it.
    expected = 4 * np.sqrt(2) * PER_DEGREE / 100
    assert np.hypot(x, y) == pytest.approx(expected, rel=0.2)


@pytest.mark.parametrize("contrast", [0.05, 0.99])
def test_the_contrast_is_that_of_the_trial(seen, contrast):
    images = seen(DriftingPlaid(), contrast=contrast, diameter=8.0)["stimulus"][:, :, :, 0]
    low, high = images.min(), images.max()
    assert (high - low) / (high + low) == pytest.approx(contrast, rel=0.1)


@pytest.mark.parametrize("diameter", [2.0, 8.0])
def test_the_window_has_the_diameter_of_the_trial(seen, diameter):
    """Measured as the extent of brightness changes over time, in the row with the largest."""
    task = DriftingPlaid(timing={"stimulus": 1000})
    images = seen(task, direction=0, contrast=0.99, diameter=diameter)["stimulus"][:, :, :, 0]
    spread = images.std(axis=0)
    row = 47 + int(np.argmax(spread[47:53, 50]))
    width = (spread[row] > 0.5 * spread[row].max()).sum() / PER_DEGREE
    # The Gaussian edge falls to one half 0.59 degrees outside of the window.
    assert width == pytest.approx(diameter + 2 * 0.5 * np.sqrt(2 * np.log(2)), abs=0.35)


def test_two_gratings_of_the_published_frequency(seen):
    """The spectrum peaks at 0.8 cycles per degree, 45 degrees to either side of the direction."""
    images = seen(DriftingPlaid(), direction=0, contrast=0.99, diameter=8.0)["stimulus"][:, :, :, 0]
    power = np.abs(np.fft.fft2(images[0] - images[0].mean())) ** 2
    frequency = np.fft.fftfreq(100) * PER_DEGREE  # cycles / degree
    for sign in (1, -1):
        half = (frequency[None] > 0) & (sign * -frequency[:, None] > 0)
        row, column = np.unravel_index(np.argmax(power * half), power.shape)
        at = np.array([frequency[column], -frequency[row]])
        assert np.hypot(*at) == pytest.approx(0.8, abs=0.07)
        assert np.rad2deg(np.arctan2(at[1], at[0])) == pytest.approx(45 * sign, abs=8)


def test_grey_with_a_cross_before_and_without_after(seen):
    images = seen(DriftingPlaid())
    assert (images["fixation"][:, 49:51, 49:51] == (255, 0, 0)).all()
    assert np.unique(images["decision"]).tolist() == [128]


def test_the_stimulus_lasts_300_ms(seen):
    for dt in (5, 10, 20):
        assert len(seen(DriftingPlaid(dt=dt, size=16))["stimulus"]) * dt == 300


@pytest.mark.parametrize(
    "wrong", [{"contrasts": (2.0,)}, {"diameters": (0.0,)}, {"frequency": 0.0}, {"edge": 0.0}]
)
def test_impossible_plaids_are_refused(wrong):
    with pytest.raises(InvalidValueError):
        DriftingPlaid(**wrong)
