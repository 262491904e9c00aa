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
    name, arguments = "constant", duration
    if isinstance(duration, dict) and len(duration) == 1:
        ((name, arguments),) = duration.items()
    inside = arguments if isinstance(arguments, list) else [arguments]
    if inside and isinstance(inside[0], list):  # choice([values], [probabilities])
        inside = inside[0]
    numbers = [one for one in inside if isinstance(one, int | float) and not isinstance(one, bool)]
    if not numbers:
        return None
    first_is_centre = name in ("truncated_exponential", "constant")
    return max(0.0, numbers[0] if first_is_centre else sum(numbers) / len(numbers))


def timeline(periods: Sequence[Period], width: int) -> list[str]:
    """Return one line per period; its bar begins where the previous one ends.

    A bar is made of ``█``, or ``~`` if the length is unknown; a length of 0 is ``|``.

    Args:
        periods: name and duration of each period, in the order of the trial.
        width: columns of the terminal; the bars have at least 8 of them.
    """
    lengths = [typical(duration) for _, duration in periods]
    known = [length for length in lengths if length]
    middle = sum(known) / len(known) if known else 1.0
    filled = [length if length is not None else middle for length in lengths]
    size = max((len(name) for name, _ in periods), default=0)
    labels = [f"{name:<{size}}  {written(duration)}" for name, duration in periods]
    left = max(map(len, labels), default=0)
    narrow = width - left - 2 < 8  # each bar goes below its label
    room = max(width - 2, 8) if narrow else min(width - left - 2, 60)
    scale = room / (sum(filled) or 1.0)
    lines, start = [], 0.0
    for label, length, drawn in zip(labels, lengths, filled, strict=True):
        first, last = round(start * scale), round((start + drawn) * scale)
        sign = "~" if length is None else "█"
        bar = " " * min(first, room - 1) + (sign * (last - first) or "|")
        lines += [label, f"  {bar}"] if narrow else [f"{label:<{left}}  {bar}"]
        start += drawn
    return lines


def _number(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_number, value)) + "]"
    return str(value)
