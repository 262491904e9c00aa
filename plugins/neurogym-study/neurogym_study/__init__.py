"""Analyse trial records, draw figures, train networks and agents, compare with real subjects.

Names are imported on first use. The commands ``ngym train``, ``ngym evaluate`` and ``ngym compare``
are built from them.

Other packages provide trainers through the entry-point group ``neurogym.trainers``; this package
does not import torch.
"""

from __future__ import annotations

from neurogym_core.tools import lazy_names

_HOMES = {
    "AnimalFacts": "animals",
    "Behaviour": "behaviour",
    "DiffusionObserver": "learners",
    "Experiment": "experiment",
    "Hybrid": "learners",
    "ProportionRow": "proportions",
    "PsychometricFit": "psychometric",
    "Integrator": "learners",
    "MatchingFit": "events",
    "OptunaPruning": "callbacks",
    "QLearner": "learners",
    "ReactionTimeRow": "chronometric",
    "Reference": "references",
    "Roles": "behaviour",
    "Run": "runs",
    "TaskExperiment": "task_experiment",
    "TensorBoard": "callbacks",
    "Trained": "trained",
    "Trainer": "training",
    "Watch": "training",
    "WeightsAndBiases": "callbacks",
    "WinStayLoseShift": "learners",
    "accuracy": "proportions",
    "analyse": "analyses",
    "choice_proportions": "proportions",
    "chronometric_figure": "figures",
    "compare_with": "comparison",
    "cumulative_record": "events",
    "demo_figure": "figures",
    "fit_curve": "psychometric",
    "fit_psychometric": "psychometric",
    "inter_event_intervals": "events",
    "learning_curve_figure": "figures",
    "load": "task_experiment",
    "matching_slope": "events",
    "play_run": "playing",
    "play_task": "playing",
    "psychometric_figure": "figures",
    "published": "references",
    "reaction_times": "chronometric",
    "record_steps": "steps",
    "read_csv": "csv_files",
    "read_recipe": "recipes",
    "read_record": "reading",
    "signed_strength": "proportions",
    "to_bids": "exchange",
    "to_nwb": "exchange",
    "trainer_named": "trainers",
    "wilson_interval": "proportions",
    "write_report": "report",
}

__all__ = [*_HOMES]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
