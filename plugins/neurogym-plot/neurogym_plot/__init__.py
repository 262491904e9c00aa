"""Figures of trials and sessions, frames of envs, and films of a subject at play.

Names are imported on first use; ``ngym plot`` is made from them."""

from __future__ import annotations

from neurogym_core.tools import lazy_names

_HOMES = {
    "TrialTrace": "trial",
    "env_figure": "plain_envs",
    "figure_style": "styles",
    "frame_of": "frames",
    "frames_of": "film",
    "magnified": "styles",
    "save_figure": "styles",
    "save_film": "film",
    "session_figure": "session",
    "trace_of": "trial",
    "trace_so_far": "trial",
    "trial_figure": "trial",
}

__all__ = [*_HOMES]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
