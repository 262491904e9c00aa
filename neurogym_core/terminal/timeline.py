"""The periods of a trial drawn with characters, for `ngym info`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Period = tuple[str, Any]


def written(duration: Any) -> str:
    """Return a duration as text: ``300 ms``, ``uniform(500, 1500) ms``, or the given text."""
    if isinstance(duration, bool) or duration is None:
        return ""
    if isinstance(duration, int | float):
        return f"{duration:g} ms"
    if isinstance(duration, dict) and len(duration) == 1:
        ((name, arguments),) = duration.items()
        inside = arguments if isinstance(arguments, list) else [arguments]
        return f"{name}({', '.join(map(_number, inside))}) ms"
    return str(duration)


def typical(duration: Any) -> float | None:
    """Return the length to draw, in ms: of a distribution about its centre; None if unknown."""
    if isinstance(duration, bool):
        return None
    if isinstance(duration, int | float):
        return max(0.0, float(duration))
    if not isinstance(duration, dict) or len(duration) != 1:
        return None
    ((name, arguments),) = duration.items()
    numbers = _numbers(arguments)
    if not numbers:
        return None
    first_is_centre = name in ("truncated_exponential", "constant")
    return max(0.0, numbers[0] if first_is_centre else sum(numbers) / len(numbers))


def timeline(periods: Sequence[Period], width: int) -> list[str]:
    """Return one line per period; its bar begins where the previous one ends.

    Args:
        periods: name and duration of each period, in the order of the trial.
        width: columns of the terminal; the bars have at least 8 of them.
    """
    lengths = [typical(duration) for _, duration in periods]
    known = [length for length in lengths if length]
    middle = sum(known) / len(known) if known else 1.0
    filled = [length if length is not None else middle for length in lengths]
    names = max((len(name) for name, _ in periods), default=0)
    texts = [written(duration) for _, duration in periods]
    labels = [f"{name:<{names}}  {text}" for (name, _), text in zip(periods, texts, strict=True)]
    left = max(map(len, labels), default=0)
    room = width - left - 2
    if room < 8:  # too narrow: each bar goes below its label
        bars = _bars(lengths, filled, max(width - 2, 8))
        pairs = zip(labels, bars, strict=True)
        return [line for label, bar in pairs for line in (label, f"  {bar}")]
    return [
        f"{label:<{left}}  {bar}"
        for label, bar in zip(labels, _bars(lengths, filled, min(room, 60)), strict=True)
    ]


def _bars(lengths: Sequence[float | None], filled: Sequence[float], room: int) -> list[str]:
    """Return a bar of ``█`` per length; of ``~`` if the length is unknown, ``|`` if it is 0."""
    scale = room / (sum(filled) or 1.0)
    bars, start = [], 0.0
    for length, drawn in zip(lengths, filled, strict=True):
        first, last = round(start * scale), round((start + drawn) * scale)
        sign = "~" if length is None else "█"
        bars.append(" " * min(first, room - 1) + (sign * (last - first) or "|"))
        start += drawn
    return bars


def _numbers(arguments: Any) -> list[float]:
    inside = arguments if isinstance(arguments, list) else [arguments]
    if inside and isinstance(inside[0], list):  # choice([values], [probabilities])
        inside = inside[0]
    return [
        float(one) for one in inside if isinstance(one, int | float) and not isinstance(one, bool)
    ]


def _number(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_number, value)) + "]"
    return str(value)
