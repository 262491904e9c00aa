"""Analyse trial records, draw figures, read published summaries.

Names are imported on first use."""

from __future__ import annotations

from neurogym_core.tools import lazy_names

_HOMES = {
    "Behaviour": "behaviour",
    "ProportionRow": "proportions",
    "PsychometricFit": "psychometric",
    "MatchingFit": "events",
    "ReactionTimeRow": "chronometric",
    "Reference": "references",
    "Roles": "behaviour",
    "accuracy": "proportions",
    "analyse": "analyses",
    "choice_proportions": "proportions",
    "chronometric_figure": "figures",
    "cumulative_record": "events",
    "demo_figure": "figures",
    "fit_curve": "psychometric",
    "fit_psychometric": "psychometric",
    "inter_event_intervals": "events",
    "learning_curve_figure": "figures",
    "matching_slope": "events",
    "psychometric_figure": "figures",
    "published": "references",
    "reaction_times": "chronometric",
    "signed_strength": "proportions",
    "wilson_interval": "proportions",
    "write_report": "report",
}

__all__ = [*_HOMES]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
