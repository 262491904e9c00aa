"""Films of a subject at play: frames of the figure of a trial, step by step, and their files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from neurogym_core import InvalidValueError
from neurogym_core.tools import optional, replacing
from neurogym_plot.frames import frame_of
from neurogym_plot.scene import scene_of
from neurogym_plot.trial import steps_played

FILM_SUFFIXES = (".mp4", ".gif")
FPS = 10
"""Frames per second by default."""
_COLOUR_ERROR = 24
"""Largest difference of a colour in a GIF, of 255, before a frame gets another palette."""


def frames_of(
    task: Any,
    subject: Any = "late_oracle",
    n_trials: int = 1,
    seed: int | None = 0,
    conditions: Mapping[str, Any] | None = None,
    *,
    wrap: Any = (),
    progress: Callable[[int], object] | None = None,
    **params: Any,
) -> Iterator[np.ndarray]:
    """Yield one frame for each step of `n_trials` trials, (height, width, 3) uint8 of one size.

    The frames of a trial have the axes of the whole trial, in which it appears step by step, behind
    a line at the time. Beside them are its observation and action on the step (`scene_of`).

    Args:
        task, subject, seed, conditions, wrap, params: as in `neurogym_plot.trace_of`.
        n_trials: number of trials.
        progress: called with the number of trials so far, after each.
    """
    done = 0
    for step in steps_played(task, subject, seed, conditions, wrap=wrap, **params):
        if step.ended:
            whole, before = step.trace(), step._replace(outcome="").trace().subtitle
            for shown in range(1, whole.steps + 1):
                last = shown == whole.steps
                drawn = whole if last else replace(whole, shown=shown, subtitle=before)
                frame = frame_of(step.task, drawn)
                yield np.hstack([frame, scene_of(whole, shown - 1, len(frame))])
            done += 1
            if progress is not None:
                progress(done)
            if done == n_trials:
                return


def save_film(
    frames: Iterable[np.ndarray], path: str | os.PathLike[str], *, fps: float = FPS
) -> Path:
    """Write frames as a film, by the suffix of the path; return the path.

    MP4 (H.264) needs the package imageio-ffmpeg, the extra ``mp4`` of neurogym-plot.

    Args:
        frames: (height, width, 3) uint8, all of one size; at least one.
        path: file name that ends in .mp4 or .gif.
        fps: frames per second.

    Raises:
        InvalidValueError: the path has another suffix, or there are no frames.
        MissingDependencyError: imageio-ffmpeg is not installed.
        FileNotWrittenError (OSError): the file cannot be written; an existing one is unchanged.
    """
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in FILM_SUFFIXES:
        raise InvalidValueError(
            f"A film was to be saved as {target.name!r}. Expected a name that ends in .mp4 or .gif."
            " Choose one of these suffixes."
        )
    coming = iter(frames)
    first = next(coming, None)
    if first is None:
        raise InvalidValueError(
            "A film was to be saved without frames. Expected at least one. Play at least one step."
        )
    write = _write_mp4 if kind == ".mp4" else _write_gif
    with replacing(target) as temporary:
        write(chain([first], coming), temporary, fps)
    return target


def _write_mp4(frames: Iterator[np.ndarray], path: Path, fps: float) -> None:
    ffmpeg = optional("imageio_ffmpeg", needed_for="Writing an .mp4 film")
    first = next(frames)
    height, width, _ = first.shape
    writer = ffmpeg.write_frames(
        str(path),
        (width, height),
        fps=fps,
        codec="libx264",
        macro_block_size=2,  # only even sizes, which all frames have
        output_params=["-preset", "ultrafast", "-crf", "18", "-f", "mp4"],
    )
    writer.send(None)
    try:
        for frame in chain([first], frames):
            writer.send(np.ascontiguousarray(frame))
    finally:
        writer.close()


def _write_gif(frames: Iterator[np.ndarray], path: Path, fps: float) -> None:
    images = _with_palettes(frames)
    next(images).save(
        path,
        format="GIF",
        save_all=True,
        append_images=images,
        duration=1000 / fps,
        loop=0,
        optimize=False,
        disposal=1,
    )


def _with_palettes(frames: Iterator[np.ndarray]) -> Iterator[Any]:
    """Yield frames as images of 255 colours.

    A frame has the palette of the one before it, which need not be found again, unless one of its
    colours is missing there: the reward, for instance, is on the last frame of a trial only.
    """
    plain, palette = Image.Dither.NONE, None
    for frame in frames:
        full = Image.fromarray(frame)
        image = None if palette is None else full.quantize(palette=palette, dither=plain)
        if image is None or _error(image, frame) > _COLOUR_ERROR:
            image = palette = full.quantize(255, dither=plain)
        yield image


def _error(image: Any, frame: np.ndarray) -> int:
    """Return the largest difference between an image and its frame, 0 to 255."""
    shown = np.asarray(image.convert("RGB"))
    return int((np.maximum(shown, frame) - np.minimum(shown, frame)).max())
