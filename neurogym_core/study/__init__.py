"""Analyses of trial records, and figures. Everything is imported on first use.

Proportions and their intervals need NumPy only; fitting and reaction times need SciPy, figures need
matplotlib."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neurogym_core.study.chronometric import ReactionTimeRow, reaction_times
    from neurogym_core.study.figures import (
        TrialTrace,
        chronometric_figure,
        demo_figure,
        psychometric_figure,
        save_figure,
        trial_figure,
    )
    from neurogym_core.study.proportions import (
        ProportionRow,
        accuracy,
        choice_proportions,
        signed_strength,
        wilson_interval,
    )
    from neurogym_core.study.psychometric import PsychometricFit, fit_curve, fit_psychometric
    from neurogym_core.study.traces import trace_of

_WHERE = {
    "ReactionTimeRow": "chronometric",
    "ProportionRow": "proportions",
    "PsychometricFit": "psychometric",
    "TrialTrace": "figures",
    "accuracy": "proportions",
    "choice_proportions": "proportions",
    "reaction_times": "chronometric",
    "chronometric_figure": "figures",
    "demo_figure": "figures",
    "fit_curve": "psychometric",
    "fit_psychometric": "psychometric",
    "psychometric_figure": "figures",
    "save_figure": "figures",
    "trace_of": "traces",
    "signed_strength": "proportions",
    "trial_figure": "figures",
    "wilson_interval": "proportions",
}

__all__ = [  # noqa: RUF022
    "ProportionRow",
    "accuracy",
    "choice_proportions",
    "signed_strength",
    "wilson_interval",
    "PsychometricFit",
    "fit_curve",
    "fit_psychometric",
    "ReactionTimeRow",
    "reaction_times",
    "TrialTrace",
    "trace_of",
    "trial_figure",
    "psychometric_figure",
    "chronometric_figure",
    "demo_figure",
    "save_figure",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
