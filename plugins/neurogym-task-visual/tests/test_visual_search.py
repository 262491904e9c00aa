"""VisualSearch: angle, colour and place of the lines, measured in the images."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_visual.visual_search import ANGLES, COLOURS, PLACES, VisualSearch


def line_in(image, place):
    """Angle (degrees, 0 to 180) and colour of the line around a place.

    From its second moments, and its mean colour.
    """
    size = len(image)
    at = (np.arange(size) + 0.5) / size * 2 - 1
    near = (np.abs(at[None] - place[0]) < 0.25) & (np.abs(-at[:, None] - place[1]) < 0.25)
    weight = image.max(axis=2) * near
    weight = weight / weight.sum()
    x, y = np.broadcast_to(at[None], weight.shape), np.broadcast_to(-at[:, None], weight.shape)
    dx, dy = x - (weight * x).sum(), y - (weight * y).sum()
    angle = 0.5 * np.arctan2(2 * (weight * dx * dy).sum(), (weight * (dx**2 - dy**2)).sum())
    mean = (image * weight[:, :, None]).sum(axis=(0, 1))
    colour = min(
        COLOURS, key=lambda name: np.abs(mean / mean.max() - np.array(COLOURS[name]) / 255).sum()
    )
    return np.rad2deg(angle) % 180, colour


def same_angle(one, other):
    return abs((one - other + 90) % 180 - 90) < 4


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("colour", list(COLOURS))
def test_the_target_is_shown_in_the_middle_and_again_at_its_place(seen, angle, colour):
    location = ANGLES.index(angle)
    images = seen(VisualSearch(), angle=angle, colour=colour, location=location)
    for picture, place in (
        (images["sample"][0], (0, 0)),
        (images["decision"][0], PLACES[location]),
    ):
        shown, hue = line_in(picture, place)
        assert same_angle(shown, angle), (shown, angle)
        assert hue == colour


@pytest.mark.parametrize("kind", ["search", "pop_out"])
def test_distractors_differ_from_the_target_as_their_kind_says(seen, kind):
    env = VisualSearch(timing={"fixation": 16, "sample": 16, "delay": 32, "decision": 16})
    by_angle = 0
    for seed in range(12):
        picture = seen(env, seed=seed, kind=kind, location=seed % 4, angle=45, colour="red")[
            "decision"
        ][0]
        others = [line_in(picture, place) for k, place in enumerate(PLACES) if k != seed % 4]
        differs = [(not same_angle(angle, 45), colour != "red") for angle, colour in others]
        if kind == "pop_out":
            assert differs == [(True, True)] * 3
            assert len({colour for _, colour in others}) == 1
            assert all(same_angle(angle, others[0][0]) for angle, _ in others)
        else:
            assert all(sum(one) == 1 for one in differs)
            by_angle += sum(one[0] for one in differs)
    if kind == "search":
        assert 6 <= by_angle <= 30  # of 36, half expected: SD 3


def test_only_one_line_is_the_sample():
    """A subject that compares the four lines with the remembered one finds the target."""
    env = VisualSearch(timing={"fixation": 16, "sample": 16, "delay": 32})
    image, _ = env.reset(seed=2)
    right = 0
    for _ in range(30):
        info = {"new_trial": False}
        while not info["new_trial"]:
            if env.period == "sample":
                angle, colour = line_in(image.astype(float), (0, 0))
            action = np.zeros(2, np.float32)
            if env.asked:
                lines = [line_in(image.astype(float), place) for place in PLACES]
                fits = [same_angle(a, angle) and c == colour for a, c in lines]
                assert sum(fits) == 1
                action = PLACES[fits.index(True)].astype(np.float32)
            image, *_, info = env.step(action)
        right += info["trial"]["outcome"] == "correct"
    assert right == 30


def test_the_cross_is_off_when_the_answer_is_asked(seen):
    images = seen(VisualSearch())
    for period, on in (("fixation", True), ("delay", True), ("decision", False)):
        assert (images[period][:, 49:51, 49:51] == 255).all() == on


@pytest.mark.parametrize(("offset", "outcome"), [(0.0, "correct"), (0.09, "correct"), (0.11, None)])
def test_a_look_within_the_tolerance_is_an_answer(offset, outcome):
    env = VisualSearch()
    env.reset(seed=3)
    while not env.asked:
        assert env.step(np.array([0.09, 0.0], np.float32))[1] == 0  # near enough to the middle
    x, y = PLACES[env.trial["location"]]
    *_, info = env.step(np.array([x - np.sign(x) * offset, y], np.float32))
    assert (info["trial"]["outcome"] if info["new_trial"] else None) == outcome


def test_looking_at_another_line_is_wrong():
    env = VisualSearch()
    env.reset(seed=4, options={"conditions": {"location": 1}})
    while not env.asked:
        env.step(env.target)
    _, reward, *_, info = env.step(PLACES[2].astype(np.float32))
    assert (reward, info["trial"]["outcome"]) == (0, "error")


def test_looking_away_too_early_costs():
    env = VisualSearch()
    env.reset(seed=5)
    assert env.step(np.array([0.11, 0.0], np.float32))[1] == pytest.approx(-0.016)


def test_durations_of_visual_search():
    expected = {"fixation": 500, "sample": 1000, "delay": 500, "decision": 500}
    assert {name: spec.value for name, spec in VisualSearch(size=16).durations.items()} == expected


@pytest.mark.parametrize(("kind", "share"), [("pop_out", 1.0), ("search", 0.867)])
def test_the_display_alone_mostly_finds_the_target(kind, share):
    """The odd line, or one that shares exactly one feature with each other, as the docstring says.

    800 displays: SE 0.011, limits of 0.045 (p < 1e-4).
    """
    env = VisualSearch(size=16)
    found = []
    for seed in range(800):
        env.reset(seed=seed, options={"conditions": {"kind": kind}})
        lines = env.lines
        once = [k for k in range(4) if lines.count(lines[k]) == 1]
        alike = max(lines.count(line) for line in lines)
        shared = [
            [sum(a == b for a, b in zip(line, other, strict=True)) for other in lines]
            for line in lines
        ]
        one_each = [k for k in range(4) if sorted(shared[k]) == [1, 1, 1, 2]]
        best = once if alike == 3 else one_each
        found.append((env.trial["location"] in best) / len(best))
    assert abs(np.mean(found) - share) < 0.045
