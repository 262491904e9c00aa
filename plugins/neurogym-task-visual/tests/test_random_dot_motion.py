"""RandomDotMotion: direction and coherence, measured in the images."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_visual.random_dot_motion import RandomDotMotion

from neurogym_core import InvalidValueError

SPEED = 1.5625 * 0.016 * 100  # pixels per step at 100 pixels
LIVES = np.exp(-16 / 160)


def moved_on(images, direction):
    """Fraction of the dots that move in a direction (degrees).

    Computed from the correlation of successive images at the displacement of coherent dots,
    relative to that of an image with itself, both minus that of unrelated images.
    """
    dots = images[:, :, :, 1] / 255  # the cross is red
    dots = dots - dots.mean(axis=(1, 2), keepdims=True)
    x, y = SPEED * np.cos(np.deg2rad(direction)), SPEED * np.sin(np.deg2rad(direction))
    spectrum = np.fft.fft2(dots)
    fx, fy = np.fft.fftfreq(dots.shape[2]), np.fft.fftfreq(dots.shape[1])
    shift = np.exp(2j * np.pi * (fx[None, :] * x - fy[:, None] * y))
    across = (spectrum[1:] * spectrum[:-1].conj() * shift).real.sum(axis=(1, 2))
    return across.sum() / (np.abs(spectrum[:-1]) ** 2).sum(axis=(1, 2)).sum()


@pytest.mark.parametrize("direction", [0, 1, 2, 3])
def test_dots_move_in_the_direction_of_the_trial(seen, direction):
    """Angles are counter-clockwise from the right and converted to motion once."""
    images = seen(RandomDotMotion(directions=4), direction=direction, coherence=51.2)["stimulus"]
    shares = [moved_on(images, degrees) for degrees in (0, 90, 180, 270)]
    assert int(np.argmax(shares)) == direction
    assert np.delete(shares, direction).max() < 0.1


@pytest.mark.parametrize("coherence", [0, 12.8, 51.2])
def test_the_share_of_dots_that_move_on_is_the_coherence(seen, coherence):
    """125 steps of 30 dots: the SD of a fraction is below 0.009.

    Smoothing over pixels takes up to a fifth of it.
    """
    images = seen(RandomDotMotion(), direction=0, coherence=coherence)["stimulus"]
    share = moved_on(images, 0)
    assert share == pytest.approx(coherence / 100 * LIVES, abs=0.05 + 0.1 * coherence / 100)


def test_more_coherence_is_more_motion(seen):
    env = RandomDotMotion()
    shares = [
        moved_on(seen(env, direction=1, coherence=c)["stimulus"], 180)
        for c in (0, 12.8, 25.6, 51.2)
    ]
    assert (np.diff(shares) > 0.04).all()


def test_the_number_of_dots_does_not_change(seen):
    images = seen(RandomDotMotion(size=200), coherence=25.6)["stimulus"]
    light = images[:, :, :, 1].sum(axis=(1, 2)) / 255
    # 30 dots, minus those under the cross and overlaps.
    assert light.max() <= 30.3
    assert light.mean() > 28


def test_the_cross_is_on_until_the_answer_is_asked(seen):
    images = seen(RandomDotMotion(), coherence=51.2)
    for period, on in (("fixation", True), ("stimulus", True), ("decision", False)):
        red = (images[period] == (255, 0, 0)).all(axis=3)
        assert (red.sum(axis=(1, 2)) > 20).all() == on
        assert red.any() == on
        middle = images[period][:, 49:51, 49:51]
        assert (middle == (255, 0, 0)).all() == on
    assert not images["decision"].any()
    assert not images["fixation"][:, :, :, 1].any()  # no dots


def test_a_motion_detector_finds_the_correct_direction():
    """A comparison of leftward and rightward motion is nearly always correct at 51.2 %."""
    env = RandomDotMotion(conditions={"coherence": 51.2}, timing={"stimulus": 320})
    image, _ = env.reset(seed=1)
    right = 0
    for _ in range(20):
        images, info = [], {"new_trial": False}
        while not info["new_trial"]:
            if env.period == "stimulus":
                images.append(image.astype(float))
            stack = np.array(images)
            action = 1 + int(moved_on(stack, 180) > moved_on(stack, 0)) if env.asked else 0
            image, *_, info = env.step(action)
        right += info["trial"]["outcome"] == "correct"
    assert right >= 19  # every trial is a comparison of 0.46 with 0, SD 0.04


def test_conditions_are_the_published_ones():
    env = RandomDotMotion(size=16)
    assert env.declared["coherence"].support().tolist() == [0, 6.4, 12.8, 25.6, 51.2]
    assert {name: spec.value for name, spec in env.durations.items()} == {
        "fixation": 100,
        "stimulus": 2000,
        "decision": 100,
    }
    assert env.action_space.n == 3


@pytest.mark.parametrize("wrong", [{"directions": 1}, {"dots": 0}, {"speed": -1.0}, {"life": 0.0}])
def test_impossible_dots_are_refused(wrong):
    with pytest.raises(InvalidValueError):
        RandomDotMotion(**wrong)


@pytest.mark.parametrize(("dt", "share"), [(16, 0.463), (100, 0.274)])
def test_shown_coherence_falls_with_the_life_of_dots(dt, share):
    """Counted in the positions: 3,000 dots, SE 0.009, limits of 0.04 (p < 1e-4)."""
    env = RandomDotMotion(dt=dt, dots=3000, size=16, timing={"fixation": dt, "decision": dt})
    env.reset(seed=3, options={"conditions": {"coherence": 51.2, "direction": 0}})
    before = env._places.copy()
    env._move()
    step = (env._places - before) % 1
    stayed = np.abs(step[:, 0] - (1.5625 * dt / 1000) % 1) + step[:, 1] < 1e-9
    assert abs(stayed.mean() - share) < 0.04
