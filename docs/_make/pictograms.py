"""Pictograms of tasks, for the list of tasks: a small scene of the stimuli, as SVG.

They are drawn from the stimuli that the manifest declares, each with a typical value, and else from the
channels, as lamps. They show the kind of a task, and no trial of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 8, 6
"""Of the stage, in its units, as in neurogym-play."""
BACK, INK, DIM = "#404040", "#ffffff", "#8a8a8a"
INKS = {"red": "#ff5c5c", "green": "#3ddc84", "blue": "#5aa9ff", "yellow": "#ffd84d",
        "orange": "#ff9d3b", "violet": "#c79bff", "cyan": "#4fe3e3", "magenta": "#ff7ae0",
        "black": "#000000", "white": INK, "grey": "#a0a0a0"}  # fmt: skip
SIZES = {"cross": 0.35, "dots": 1.8, "grating": 1.2, "words": 1, "arrow": 0.8, "symbol": 0.6,
         "target": 0.35, "point": 0.3, "bar": 3, "clicks": 1, "sound": 0.6, "wheel": 0.35}  # fmt: skip
SIDES = {"square": 4, "diamond": 4, "triangle": 3, "hexagon": 6, "star": 5}
MOST_LAMPS = 8
"""Most lamps of a channel in a row."""
MOST_WORDS = 12
"""Most words of a channel beside other stimuli; of more, such as the names of all tasks of a package,
none is drawn."""
FILLING = ("dots", "grating", "words", "arrow", "symbol", "sound")
"""Drawings one of which is drawn at a place."""


def pictogram(view: Mapping[str, Any], channels: Sequence[Mapping[str, Any]]) -> str:
    """Return the pictogram of a task.

    Args:
        view: as in the manifest; {}: none.
        channels: of the task's description.
    """
    named = {one["name"]: one for one in channels}
    parts: list[str] = []
    if view:
        taken: set[tuple[float, float]] = set()
        others = any(one["draw"] not in ("cross", "words") for one in view["stimuli"])
        for number, one in enumerate(view["stimuli"]):
            many = one["draw"] == "words" and len(_names(one, named)) > MOST_WORDS
            if not (many and others):
                parts.append(_stimulus(one, named, number, taken))
    else:
        parts = [_lamps(one, row, len(channels)) for row, one in enumerate(channels)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-WIDTH / 2:g} {-HEIGHT / 2:g}'
        f' {WIDTH} {HEIGHT}"><rect x="{-WIDTH / 2:g}" y="{-HEIGHT / 2:g}" width="{WIDTH}"'
        f' height="{HEIGHT}" fill="{BACK}"/>{"".join(parts)}</svg>\n'
    )


def _names(one: Mapping[str, Any], channels: Mapping[str, Any]) -> Sequence[str]:
    return one.get("words") or channels.get(one.get("channel", ""), {}).get("names") or ()


def _stimulus(
    one: Mapping[str, Any],
    channels: Mapping[str, Any],
    number: int,
    taken: set[tuple[float, float]],
) -> str:
    """Return a stimulus with a typical value: of several places, some are weaker or empty.

    Of several stimuli at a place the first is drawn, since the next one would hide it; `taken` are
    the places of stimuli.
    """
    draw, places = one["draw"], _places(one)
    channel = channels.get(one.get("channel", ""), {})
    size = one.get("size", SIZES.get(draw, 1))
    if one.get("place_by") or (one.get("moving") and len(places) > 1):
        places = [places[-1]]
    several = "channel" in one and len(places) > 3
    parts = []
    for k, (x, y) in enumerate(places):
        if draw in FILLING and not one.get("outline"):
            if (x, y) in taken:
                continue
            taken.add((x, y))
        # Of many places that one channel fills, a third is lit.
        light = 1.0 if not several else (1.0, 0.35, 0.12)[(k + number) % 3]
        colour = _colour(one.get("colour"), k)
        drawn = DRAWN.get(draw, _symbol)(one, size, colour, k, channel)
        parts.append(f'<g transform="translate({x:g} {-y:g})" opacity="{light:g}">{drawn}</g>')
    return "".join(parts)


def _colour(given: Any, k: int) -> str:
    name = given[k % len(given)] if isinstance(given, list) else given
    return INKS.get(name, name or INK)


def _places(one: Mapping[str, Any]) -> list[tuple[float, float]]:
    if "grid" in one:
        columns, rows = one["grid"]
        dx, dy = (WIDTH - 0.8) / columns, (HEIGHT - 1) / rows
        return [
            ((i % columns - (columns - 1) / 2) * dx, ((rows - 1) / 2 - i // columns) * dy)
            for i in range(columns * rows)
        ]
    if "ring" in one:
        return [_polar(one.get("radius", 2.2), 360 * k / one["ring"]) for k in range(one["ring"])]
    at = one.get("at", [0, 0])
    return [tuple(each) for each in at] if isinstance(at[0], list) else [tuple(at)]


def _polar(radius: float, degrees: float) -> tuple[float, float]:
    angle = math.radians(degrees)
    return radius * math.cos(angle), radius * math.sin(angle)


def _polygon(corners: Sequence[tuple[float, float]], style: str) -> str:
    return f'<polygon points="{" ".join(f"{x:.2f},{-y:.2f}" for x, y in corners)}" {style}/>'


def _text(said: str, size: float, colour: str) -> str:
    return (
        f'<text font-family="sans-serif" font-size="{size:g}" text-anchor="middle"'
        f' dominant-baseline="central" fill="{colour}">{escape(said)}</text>'
    )


def _cross(one: Any, size: float, colour: str, k: int, channel: Any) -> str:
    style = f'stroke="{colour}" stroke-width="{size / 3:.2f}"'
    return f'<path d="M{-size:g} 0H{size:g}M0 {-size:g}V{size:g}" {style}/>'


def _dots(one: Any, size: float, colour: str, k: int, channel: Any) -> str:
    golden = math.pi * (3 - math.sqrt(5))
    places = [_polar(size * math.sqrt((i + 0.5) / 60), math.degrees(i * golden)) for i in range(60)]
    inks = (INKS["red"], INKS["green"]) if one.get("colour_by") else (colour, colour)
    return "".join(
        f'<circle cx="{x:.2f}" cy="{y:.2f}" r="0.07" fill="{inks[i % 3 == 0]}"/>'
        for i, (x, y) in enumerate(places)
    )


def _grating(one: Any, size: float, colour: str, k: int, channel: Any) -> str:
    bars = "".join(
        f'<path d="M{x / 10 * size:.2f} {-h:.2f}V{h:.2f}" stroke="{INK}" opacity="0.8"'
        f' stroke-width="{0.12 * size:.2f}"/>'
        for x in range(-8, 9, 3)
        if (h := size * math.sqrt(1 - (x / 10) ** 2)) > 0
    )
    return f'<circle r="{size:g}" fill="#666"/>{bars}'


def _words(one: Any, size: float, colour: str, k: int, channel: Any) -> str:
    words = one.get("words", channel.get("names") or [channel.get("name", "A")])
    word = words[k % len(words)] if isinstance(words, list) else words
    return _text(str(word), min(size, 7 / max(len(str(word)), 1)), colour)


def _arrow(one: Any, size: float, colour: str, k: int, channel: Any) -> str:
    angles = one.get("angles")
    turned = angles[k % len(angles)] if isinstance(angles, list) else angles or 0
    corners = [(-1, 0.2), (0.1, 0.2), (0.1, 0.55), (1, 0), (0.1, -0.55), (0.1, -0.2), (-1, -0.2)]
    drawn = _polygon([(x * size, y * size) for x, y in corners], f'fill="{colour}"')
    return f'<g transform="rotate({-turned:g})">{drawn}</g>'


def _symbol(one: Any, size: float, colour: str, k: int, channel: Any) -> str:
    symbols = one.get("symbols", "circle")
    kind = symbols[k % len(symbols)] if isinstance(symbols, list) else symbols
    if one.get("hue"):
        colour = INKS["violet"]
    style = f'fill="{colour}"'
    if one.get("outline"):
        style = f'fill="none" stroke="{colour}" stroke-width="0.08"'
    if kind == "cross":
        return _cross(one, size, colour, k, channel)
    if kind not in SIDES:
        return f'<circle r="{size:g}" {style}/>'
    n, first = SIDES[kind], 45 if kind == "square" else 90
    corners = [_polar(1.15 * size, first + 360 * i / n) for i in range(n)]
    if kind == "star":
        corners = [
            _polar((0.48 if i % 2 else 1.15) * size, first + 180 * i / n) for i in range(2 * n)
        ]
    return _polygon(corners, style)


def _target(one: Any, size: float, colour: str, k: int, channel: Any) -> str:
    x, y = _polar(one.get("radius", 2.2), 40 + 100 * (one.get("channel", "") > "m"))
    return f'<g transform="translate({x:.2f} {-y:.2f})">{_symbol(one, size, colour, k, {})}</g>'


def _point(one: Any, size: float, colour: str, k: int, channel: Any) -> str:
    nearer = {**one, "radius": 0.6 * one.get("radius", 2.2)}
    return _target(nearer, size, colour, k, channel)


def _bar(one: Any, size: float, colour: str, k: int, channel: Any) -> str:
    tall = size * (0.75, 0.45)[k % 2]
    return f'<rect x="-0.4" y="{-tall:g}" width="0.8" height="{tall:g}" fill="{colour}"/>'


def _clicks(one: Any, size: float, colour: str, k: int, channel: Any) -> str:
    times = (-0.8, -0.5, 0, 0.15, 0.6, 0.9) if k % 2 else (-0.6, 0.1, 0.7)
    path = "".join(f"M{size * time:.2f} {-size / 2:g}V{size / 2:g}" for time in times)
    return f'<path d="{path}" stroke="{colour}" stroke-width="0.1"/>'


def _sound(one: Any, size: float, colour: str, k: int, channel: Any) -> str:
    return f'<circle r="{size:g}" fill="{colour}"/>{_text("♪", 1.3 * size, "#000")}'


def _wheel(one: Any, size: float, colour: str, k: int, channel: Any) -> str:
    radius = one.get("radius", 2.2) - size / 2
    parts = []
    for part in range(24):
        (x, y), (u, v) = (_polar(radius, 15 * part + turn) for turn in (-0.5, 15))
        parts.append(
            f'<path d="M{x:.2f} {-y:.2f}L{u:.2f} {-v:.2f}" stroke="hsl({15 * part} 90% 76%)"'
            f' stroke-width="{size:g}"/>'
        )
    return "".join(parts)


DRAWN = {
    "cross": _cross, "dots": _dots, "grating": _grating, "words": _words, "arrow": _arrow,
    "symbol": _symbol, "target": _target, "point": _point, "bar": _bar, "clicks": _clicks,
    "sound": _sound, "wheel": _wheel,
}  # fmt: skip
"""Drawing -> function that returns it; drawings of packages are a circle."""


def _lamps(channel: Mapping[str, Any], row: int, rows: int) -> str:
    """Return the lamps of a channel: a circle of a ring, and else a row."""
    n = channel["stop"] - channel["start"]
    tall = (HEIGHT - 0.8) / rows
    y = -HEIGHT / 2 + 0.4 + (row + 0.5) * tall
    if channel["kind"] == "Ring" and n > 2:
        n, radius = min(n, 16), min(tall * 0.4, 2)
        places = [_polar(radius, 360 * k / n) for k in range(n)]
        size = min(0.3, math.pi * radius / n * 0.8)
    else:
        n = min(n, MOST_LAMPS)
        size = min(0.35, tall * 0.35)
        places = [((k - (n - 1) / 2) * 2.6 * size, 0.0) for k in range(n)]
    lit = (2 * row + 1) % n if n > 1 else 0
    return "".join(
        f'<circle cx="{x:.2f}" cy="{y - up:.2f}" r="{size:.2f}"'
        f' fill="{INKS["yellow"] if k == lit else DIM}"/>'
        for k, (x, up) in enumerate(places)
    )
