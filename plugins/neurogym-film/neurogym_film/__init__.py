"""Frames of the figure of a trial, and films of a subject at play."""

from __future__ import annotations

from neurogym_core.lazy import lazy_names

_HOMES = {
    "env_figure": "plain_envs",
    "frame_of": "frames",
    "frames_of": "film",
    "save_film": "film",
}

__all__ = [*_HOMES]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
