"""The scene beside a film: the observation of a step as lamps, and the action on it."""

from __future__ import annotations

import math

import numpy as np
from matplotlib import font_manager
from PIL import Image, ImageDraw, ImageFont

from neurogym_plot.trial import TrialTrace

SCENE_WIDTH = 240
"""Width of the scene, pixels."""
_BACK, _INK, _DIM = (64, 64, 64), (255, 255, 255), (190, 190, 190)
_HIGH, _LOW = (255, 216, 77), (90, 169, 255)  # lamps of values above and below zero
_OFF = (88, 88, 88)
_TEXT, _LINE, _EDGE = 12, 20, 12  # size of text, height of a line, margin, pixels
_MOST = 16  # lamps of a row; a channel of more units is an image of them


def scene_of(trace: TrialTrace, step: int, height: int) -> np.ndarray:
    """Return the observation of a step, and the action on it, (height, `SCENE_WIDTH`, 3) uint8.

    A channel whose units are directions is a circle of lamps, any other a row. The brightness of a
    lamp is its value, relative to the largest value of channels of that size in the trial:
    yellow above zero, blue below.

    Args:
        trace: the whole trial.
        step: from 0 to T - 1.
        height: pixels.
    """
    image = Image.new("RGB", (SCENE_WIDTH, height), _BACK)
    pen, font = ImageDraw.Draw(image), _font()
    pen.text((_EDGE, _EDGE), f"observed at {step * trace.dt:g} ms", _INK, font)
    foot = height - 2 * _LINE
    top = _EDGE + 1.5 * _LINE
    tall = (foot - top) / len(trace.channels)
    for name, part in trace.channels.items():
        values = trace.observations[:, part].astype(float)
        limit = _limit(trace, values.shape[1])
        pen.text((_EDGE, top), name.replace("_", " "), _DIM, font)
        shown = values[step] / limit
        box = (_EDGE, top + _LINE, SCENE_WIDTH - _EDGE, top + tall - 4)
        if _is_circle(trace, name):
            _circle(pen, shown, box)
        else:
            _row(pen, shown, box)
        top += tall
    pen.text((_EDGE, foot + _LINE / 2), f"action: {_action(trace, step)}", _INK, font)
    return np.asarray(image)


def _limit(trace: TrialTrace, units: int) -> float:
    """Return the value of a bright lamp, for all channels with as many units."""
    alike = [trace.observations[:, part] for part in trace.channels.values()]
    return max(float(np.abs(one).max()) for one in alike if one.shape[1] == units) or 1.0


def _font() -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(font_manager.findfont("DejaVu Sans"), _TEXT)


def _is_circle(trace: TrialTrace, name: str) -> bool:
    names = trace.unit_names.get(name, ())
    return len(names) > 2 and all(str(one).endswith("°") for one in names)


def _colour(value: float) -> tuple[int, ...]:
    lit, share = (_HIGH if value > 0 else _LOW), min(abs(value), 1.0)
    return tuple(round(off + share * (on - off)) for off, on in zip(_OFF, lit, strict=True))


def _lamp(pen: ImageDraw.ImageDraw, x: float, y: float, radius: float, value: float) -> None:
    pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=_colour(value))


def _circle(
    pen: ImageDraw.ImageDraw, values: np.ndarray, box: tuple[float, float, float, float]
) -> None:
    left, top, right, bottom = box
    n = len(values)
    outer = max(min(right - left, bottom - top) / 2, 4)
    lamp = outer * math.sin(math.pi / n) / (1 + math.sin(math.pi / n)) * 0.9
    for k, value in enumerate(values):
        angle = 2 * math.pi * k / n
        x = (left + right) / 2 + (outer - lamp) * math.cos(angle)
        y = (top + bottom) / 2 - (outer - lamp) * math.sin(angle)
        _lamp(pen, x, y, max(lamp, 1), value)


def _row(
    pen: ImageDraw.ImageDraw, values: np.ndarray, box: tuple[float, float, float, float]
) -> None:
    left, top, right, bottom = box
    n, middle = len(values), (top + bottom) / 2
    step = min((right - left) / n, 36)
    if n > _MOST:
        for k, value in enumerate(values):
            x = left + k * step
            pen.rectangle((x, middle - 6, x + step, middle + 6), fill=_colour(value))
        return
    radius = max(min(step * 0.45, (bottom - top) / 2, 14), 2)
    for k, value in enumerate(values):
        _lamp(pen, left + (k + 0.5) * step, middle, radius, value)


def _action(trace: TrialTrace, step: int) -> str:
    """Return the name of a choice, or the values of a continuous action."""
    assert trace.actions is not None
    action = trace.actions[step]
    if trace.discrete:
        return str(trace.action_names[int(action)]) if trace.action_names else str(int(action))
    return ", ".join(f"{value:.2f}" for value in np.ravel(action))
