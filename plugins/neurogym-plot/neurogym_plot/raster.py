"""`RasterFigure`: draws the figure of a trial as pixels, for films, in a few milliseconds.

It has the methods of matplotlib's figures and axes that `neurogym_plot.canvas` and
`neurogym_plot.trial` call for a trial, with the same arguments, so that a frame of a film is drawn
by the code of the figure. Everything in that figure is a rectangle, an image or a text: rectangles
and images are slices of one array, and texts are masks that are kept. Pillow draws them, with
matplotlib's font and colour maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib import colors, font_manager
from PIL import Image, ImageDraw, ImageFont

_POINTS = 72
_GREY, _INK = "#777777", "#222222"
_NICE = (1.0, 2.0, 2.5, 5.0, 10.0)  # steps of ticks, times a power of ten
_MOST_TICKS = 9


class RasterFigure:
    """A white figure of pixels.

    Args:
        width, height: size in inches.
        dpi: pixels per inch.

    Attributes:
        packed: (height, width) uint32, the four bytes of each pixel: red, green, blue, opacity.
    """

    def __init__(self, width: float, height: float, dpi: int) -> None:
        self.size, self.dpi = (width, height), dpi
        # One number for a pixel: rectangles are filled four times as fast as with three.
        self.packed = np.full((round(height * dpi), round(width * dpi)), _packed("white"))
        self._axes: list[RasterAxes] = []
        self._texts: list[tuple[Any, ...]] = []

    def get_size_inches(self) -> tuple[float, float]:
        return self.size

    def add_axes(self, place: Sequence[float]) -> RasterAxes:
        self._axes.append(RasterAxes(self, *place))
        return self._axes[-1]

    def text(
        self, x: float, y: float, text: str, *, fontsize: float, color: str, va: str,
        fontweight: str = "normal",
    ) -> None:  # fmt: skip
        at = x * self.packed.shape[1], (1 - y) * self.packed.shape[0]
        self._texts.append((*at, text, fontsize, color, "left", va, fontweight))

    def colorbar(self, image: _Image, cax: RasterAxes, ticks: Sequence[float]) -> None:
        cax.scale = image, ticks

    def draw(self) -> np.ndarray:
        """Draw everything; return the pixels, (height, width, 3) uint8."""
        for axes in self._axes:
            axes.draw()
        for text in self._texts:
            self.write(*text)
        parts = _bytes(self.packed)
        pixels = np.empty((*self.packed.shape, 3), np.uint8)
        for part in range(3):  # one copy of three parts takes five times as long
            pixels[:, :, part] = parts[:, :, part]
        return pixels

    # ---- pixels ----

    def scaled(self, points: float) -> float:
        """Return a length in pixels."""
        return points * self.dpi / _POINTS

    def fill(self, left: float, top: float, right: float, bottom: float, colour: str) -> None:
        """Fill a rectangle, given in pixels, at least one pixel wide and high."""
        if colour == "none":
            return
        x, y = max(round(left), 0), max(round(top), 0)
        to = max(round(bottom), y + 1), max(round(right), x + 1)
        self.packed[y : to[0], x : to[1]] = _packed(colour)

    def write(
        self, x: float, y: float, text: str, size: float, colour: str, ha: str, va: str,
        weight: str = "normal",
    ) -> None:  # fmt: skip
        """Write lines of text at a place in pixels."""
        masks = [_mask(line, round(self.scaled(size)), weight) for line in text.split("\n")]
        step = 1.2 * self.scaled(size)
        height = masks[0].shape[0] + step * (len(masks) - 1)
        top = y - {"top": 0.0, "center": height / 2, "bottom": height}[va]
        for line, mask in enumerate(masks):
            left = x - {"left": 0.0, "center": mask.shape[1] / 2, "right": mask.shape[1]}[ha]
            self._blend(round(left), round(top + line * step), mask, colour)

    def _blend(self, left: int, top: int, mask: np.ndarray, colour: str) -> None:
        x, y = max(left, 0), max(top, 0)
        part = _bytes(self.packed)[
            y : max(top + mask.shape[0], 0), x : max(left + mask.shape[1], 0)
        ]
        mask = mask[y - top : y - top + part.shape[0], x - left : x - left + part.shape[1], None]
        wanted = _parts(colour)
        part[:] = (part * (255 - mask) + wanted * mask) // 255


class _Image(NamedTuple):
    """A colour map and its limits."""

    colours: np.ndarray  # (256,) uint32
    low: float
    high: float


class _Position(NamedTuple):
    """Place of axes, in fractions of the figure."""

    x0: float
    y0: float
    width: float
    height: float

    @property
    def x1(self) -> float:
        return self.x0 + self.width


class _Spine:
    """An edge of axes; only whether the lower one is visible is kept."""

    def __init__(self, visible: list[bool], kept: bool) -> None:
        self._visible, self._kept = visible, kept

    def set_visible(self, visible: bool) -> None:
        if self._kept:
            self._visible[0] = visible

    def set_color(self, colour: str) -> None:
        """Do nothing: edges have one colour."""

    def set_linewidth(self, width: float) -> None:
        """Do nothing: edges have one width."""


class _Spines:
    def __init__(self) -> None:
        self.bottom = [True]

    def __getitem__(self, name: str | list[str]) -> _Spine:
        return _Spine(self.bottom, name == "bottom")


class _Ticks:
    """The vertical axis of a colour scale."""

    def __init__(self) -> None:
        self.format: Callable[[float, Any], str] = lambda value, _: f"{value:g}"

    def set_major_formatter(self, form: Callable[[float, Any], str]) -> None:
        self.format = form


class RasterAxes:
    """A panel; its parts wait for `draw`, when its limits are known."""

    transAxes = "axes"  # noqa: N815

    def __init__(
        self, figure: RasterFigure, x: float, y: float, width: float, height: float
    ) -> None:
        self.figure, self._place = figure, _Position(x, y, width, height)
        high, wide = figure.packed.shape
        self._left, self._top = x * wide, (1 - y - height) * high
        self._width, self._height = width * wide, height * high
        self._x, self._y = (0.0, 1.0), (0.0, 1.0)
        self.spines, self.yaxis = _Spines(), _Ticks()
        self._ticks: tuple[Sequence[float], Sequence[str]] = ((), ())
        self._label, self._is_on, self._labels_below = "", True, True
        self._tick_size = 7.5
        self._waiting: list[tuple[float, int, Callable[[], None]]] = []
        self._inside: list[RasterAxes] = []
        # The colour map that the panel is the scale of, with its ticks.
        self.scale: tuple[_Image, Sequence[float]] | None = None

    # ---- methods of matplotlib's axes ----

    def get_position(self) -> _Position:
        return self._place

    def set_xlim(self, low: float, high: float) -> None:
        self._x = (low, high)

    def set_ylim(self, low: float, high: float) -> None:
        self._y = (low, high)

    def set_yticks(self, places: Sequence[float], labels: Sequence[str] | None = None) -> None:
        self._ticks = places, [f"{place:g}" for place in places] if labels is None else labels

    def set_xlabel(self, label: str, **style: Any) -> None:
        self._label = label

    def set_axis_off(self) -> None:
        self._is_on = False

    def tick_params(self, *, labelbottom: bool = True, labelsize: float = 0, **style: Any) -> None:
        self._labels_below, self._tick_size = labelbottom, labelsize or self._tick_size

    def inset_axes(self, place: Sequence[float]) -> RasterAxes:
        x, y, width, height = place
        outer = self._place
        self._inside.append(
            RasterAxes(
                self.figure,
                outer.x0 + x * outer.width,
                outer.y0 + y * outer.height,
                width * outer.width,
                height * outer.height,
            )
        )
        return self._inside[-1]

    def axvspan(self, start: float, stop: float, *, color: str, zorder: float, lw: float) -> None:
        self._wait(zorder, lambda: self._rectangle(start, stop, *self._y, color))

    def axvline(self, x: float, *, color: str, lw: float, zorder: float) -> None:
        self._wait(zorder, lambda: self._stroke([x, x], list(self._y), color, lw))

    def axhline(self, y: float, *, color: str, lw: float, zorder: float, ls: Any = None) -> None:
        if ls is None:
            self._wait(zorder, lambda: self._stroke(list(self._x), [y, y], color, lw))
        else:
            self._wait(zorder, lambda: self._dashes(y, color, lw, *ls[1]))

    def hlines(
        self, y: Any, start: Any, stop: Any, *, color: str, lw: float, zorder: float, **style: Any
    ) -> None:
        def draw() -> None:
            for value, left, right in zip(y, start, stop, strict=True):
                if np.isfinite(value):
                    self._stroke([left, right], [value, value], color, lw)

        self._wait(zorder, draw)

    def step(
        self, edges: Any, values: Any, *, where: str, color: str, lw: float, zorder: float,
        **style: Any,
    ) -> None:  # fmt: skip
        self._wait(zorder, lambda: self._stairs(np.asarray(edges), np.asarray(values), color, lw))

    def bar(
        self, left: Any, heights: Any, width: float, *, align: str, color: Any, zorder: float
    ) -> None:
        def draw() -> None:
            for start, height, colour in zip(left, heights, color, strict=True):
                self._rectangle(start, start + width, 0.0, height, str(colour))

        self._wait(zorder, draw)

    def fill_between(self, x: Any, low: float, high: float, *, color: str, lw: float) -> None:
        self._wait(1, lambda: self._rectangle(x[0], x[-1], low, high, color))

    def imshow(
        self, values: np.ndarray, *, cmap: str, vmin: float, vmax: float, extent: Any,
        zorder: float, **style: Any,
    ) -> _Image:  # fmt: skip
        image = _Image(_colour_map(cmap), vmin, vmax)
        self._x, self._y = extent[:2], extent[2:]
        self._wait(zorder, lambda: self._paint(values, image))
        return image

    def plot(
        self, x: Sequence[float], y: Sequence[float], *, color: str, lw: float,
        transform: Any = None, **style: Any,
    ) -> None:  # fmt: skip
        self._wait(2, lambda: self._stroke(x, y, color, lw, within=transform is not None))

    def text(
        self, x: float, y: float, text: str, *, fontsize: float, color: str, va: str,
        ha: str = "left", transform: Any = None,
    ) -> None:  # fmt: skip
        def draw() -> None:
            at = self._at(x, y, within=transform is not None)
            self.figure.write(*at, text, fontsize, color, ha, va)

        self._wait(3, draw)

    def annotate(
        self, text: str, at: tuple[float, float], offset: tuple[float, float], *, fontsize: float,
        color: str, ha: str, va: str, fontweight: str, **style: Any,
    ) -> None:  # fmt: skip
        def draw() -> None:
            x, y = self._at(*at, within=True)
            x, y = x + self.figure.scaled(offset[0]), y - self.figure.scaled(offset[1])
            self.figure.write(x, y, text, fontsize, color, ha, va, fontweight)

        self._wait(3, draw)

    def _wait(self, order: float, draw: Callable[[], None]) -> None:
        self._waiting.append((order, len(self._waiting), draw))

    # ---- drawing ----

    def draw(self) -> None:
        """Draw the panel, in the order of `zorder`, then its edges and ticks."""
        if self.scale is not None:
            self._draw_scale(*self.scale)
            return
        for _, _, draw in sorted(self._waiting, key=lambda one: one[:2]):
            draw()
        if self._is_on:
            self._draw_edges()
        for axes in self._inside:
            axes.draw()

    def _at(self, x: float, y: float, *, within: bool = False) -> tuple[float, float]:
        """Return the pixel of a place in data, or, with `within`, in fractions of the panel."""
        (left, right), (low, high) = ((0.0, 1.0),) * 2 if within else (self._x, self._y)
        return (
            self._left + (x - left) / (right - left) * self._width,
            self._top + (high - y) / (high - low) * self._height,
        )

    def _rectangle(self, x: float, x2: float, y: float, y2: float, colour: str) -> None:
        (left, top), (right, bottom) = self._at(x, y), self._at(x2, y2)
        left, right = sorted((left, right))
        top, bottom = sorted((top, bottom))
        edge = self._left + self._width, self._top + self._height
        self.figure.fill(
            max(left, self._left), max(top, self._top), min(right, edge[0]), min(bottom, edge[1]),
            colour,
        )  # fmt: skip

    def _stroke(
        self, x: Sequence[float], y: Sequence[float], colour: str, width: float, *,
        within: bool = False,
    ) -> None:  # fmt: skip
        """Draw a horizontal or vertical line; `width` is in points."""
        (left, top), (right, bottom) = (self._at(x[i], y[i], within=within) for i in (0, -1))
        half = max(self.figure.scaled(width), 1) / 2
        if abs(right - left) >= abs(bottom - top):
            self.figure.fill(left, top - half, right, top + half, colour)
        else:
            self.figure.fill(left - half, min(top, bottom), left + half, max(top, bottom), colour)

    def _dashes(self, y: float, colour: str, width: float, on: float, off: float) -> None:
        start, stop = self._x
        length = (stop - start) / self._width
        period = self.figure.scaled((on + off) * width) * length
        for left in np.arange(start, stop, period):
            right = min(left + period * on / (on + off), stop)
            self._stroke([left, right], [y, y], colour, width)

    def _stairs(self, edges: np.ndarray, values: np.ndarray, colour: str, width: float) -> None:
        """Draw values between edges, each column of pixels from its lowest to its highest value.

        NaN leaves a gap. The last value is that of the last edge, which has no extent.
        """
        columns = np.arange(round(self._left), round(self._left + self._width))
        low, high = self._x
        times = low + (columns + 0.5 - self._left) / self._width * (high - low)
        index = np.searchsorted(edges, times, side="right") - 1
        drawn = (index >= 0) & (index < len(values) - 1)
        heights = np.full(len(columns), np.nan)
        heights[drawn] = self._at(0.0, values[index[drawn]])[1]
        half = max(self.figure.scaled(width), 1) / 2
        # A column also covers the way from the value before, unless that is missing.
        before = np.concatenate([heights[:1], heights[:-1]])
        before = np.where(np.isfinite(before), before, heights)
        above, below = np.minimum(heights, before), np.maximum(heights, before)
        top, bottom = above.copy(), below.copy()
        for shift in range(1, round(2 * half)):  # risers are as broad as the line
            top[shift:] = np.fmin(top[shift:], above[:-shift])
            bottom[shift:] = np.fmax(bottom[shift:], below[:-shift])
        first, last = round(self._top), round(self._top + self._height)
        rows = np.arange(first, last)[:, None] + 0.5
        with np.errstate(invalid="ignore"):
            covered = (rows >= top - half) & (rows <= bottom + half)
        part = self.figure.packed[first:last, columns[0] : columns[-1] + 1]
        part[covered[: part.shape[0], : part.shape[1]]] = _packed(colour)

    def _paint(self, values: np.ndarray, image: _Image) -> None:
        top, left = round(self._top), round(self._left)
        part = self.figure.packed[
            top : round(self._top + self._height), left : round(self._left + self._width)
        ]
        row, column = (
            np.arange(pixels) * count // pixels
            for pixels, count in zip(part.shape, values.shape, strict=True)
        )
        scaled = (values - image.low) / (image.high - image.low) * 256
        part[:] = image.colours[np.clip(scaled, 0, 255).astype(int)][:, column][row]

    def _draw_edges(self) -> None:
        figure, one = self.figure, self.figure.scaled(0.8)
        bottom, length = self._top + self._height, self.figure.scaled(3)
        figure.fill(self._left - one / 2, self._top, self._left + one / 2, bottom, _GREY)
        for place, label in zip(*self._ticks, strict=True):
            _, y = self._at(0.0, place)
            figure.fill(self._left - length, y - one / 2, self._left, y + one / 2, _GREY)
            x = self._left - length - figure.scaled(3.5)
            figure.write(x, y, label, self._tick_size, _INK, "right", "center")
        if not self.spines.bottom[0]:
            return
        right = self._left + self._width
        figure.fill(self._left, bottom - one / 2, right, bottom + one / 2, _GREY)
        if not self._labels_below:
            return
        below = bottom + length + figure.scaled(3.5)
        for place in _nice_ticks(*self._x):
            x, _ = self._at(place, 0.0)
            figure.fill(x - one / 2, bottom, x + one / 2, bottom + length, _GREY)
            figure.write(x, below, f"{place:g}", self._tick_size, _INK, "center", "top")
        middle, down = self._left + self._width / 2, below + figure.scaled(self._tick_size + 4)
        figure.write(middle, down, self._label, 8.5, _INK, "center", "top")

    def _draw_scale(self, image: _Image, ticks: Sequence[float]) -> None:
        self._y = image.low, image.high
        shown = np.linspace(image.high, image.low, 256)[:, None]
        self._paint(shown, image)
        right = self._left + self._width
        for place in ticks:
            _, y = self._at(0.0, place)
            self.figure.fill(right, y - 0.5, right + self.figure.scaled(2), y + 0.5, _INK)
            label = self.yaxis.format(place, None)
            at = right + self.figure.scaled(3.5)
            self.figure.write(at, y, label, self._tick_size, _INK, "left", "center")


@lru_cache(maxsize=64)
def _nice_ticks(low: float, high: float) -> tuple[float, ...]:
    """Return round numbers in a range, at most nine intervals apart."""
    rough = (high - low) / _MOST_TICKS
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(nice * power for nice in _NICE if nice * power >= rough * (1 - 1e-9))
    first = np.ceil(low / step - 1e-9)
    count = int(np.floor(high / step + 1e-9) - first) + 1
    return tuple(float((first + k) * step) for k in range(count))


@lru_cache(maxsize=256)
def _parts(colour: str) -> np.ndarray:
    """Return red, green, blue and opacity of a colour, (4,) uint8."""
    return np.round(255 * np.array(colors.to_rgba(colour))).astype(np.uint8)


@lru_cache(maxsize=256)
def _packed(colour: str) -> Any:
    """Return the pixel of a colour, uint32."""
    return _parts(colour).view(np.uint32)[0]


def _bytes(packed: np.ndarray) -> np.ndarray:
    """Return the bytes of pixels (height, width) uint32, a view (height, width, 4) uint8."""
    return packed.view(np.uint8).reshape(*packed.shape, 4)


@lru_cache(maxsize=8)
def _colour_map(name: str) -> np.ndarray:
    """Return the pixels of a colour map, (256,) uint32."""
    colour_map = matplotlib.colormaps[name]
    colours: np.ndarray = np.ascontiguousarray(colour_map(np.arange(256), bytes=True))
    return colours.view(np.uint32)[:, 0]


@lru_cache(maxsize=16)
def _font(size: int, weight: str) -> Any:
    properties = font_manager.FontProperties(weight=weight)
    return ImageFont.truetype(font_manager.findfont(properties), size)


@lru_cache(maxsize=512)
def _mask(text: str, size: int, weight: str) -> np.ndarray:
    """Return the opacity of a line of text, (height, width) int; all lines of a size are as high.

    Args:
        text: the line.
        size: pixels.
        weight: "normal" or "bold".
    """
    font = _font(size, weight)
    _, top, _, bottom = font.getbbox("lp", anchor="ls")
    left, _, right, _ = font.getbbox(text, anchor="ls") if text else (0, 0, 1, 1)
    image = Image.new("L", (max(int(right - left), 1), int(bottom - top)))
    ImageDraw.Draw(image).text((-left, -top), text, fill=255, font=font, anchor="ls")
    return np.asarray(image).astype(np.int32)
