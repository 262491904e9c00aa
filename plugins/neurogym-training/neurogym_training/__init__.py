"""Train networks and agents, and open their runs.

Names are imported on first use. Other packages provide trainers through the entry-point group
``neurogym.trainers``; this package does not import torch."""

from __future__ import annotations

from neurogym_core.tools import lazy_names

_HOMES = {
    "Experiment": "experiment",
    "OptunaPruning": "callbacks",
    "Run": "runs",
    "TaskExperiment": "task_experiment",
    "TensorBoard": "callbacks",
    "Trained": "trained",
    "Trainer": "training",
    "Watch": "training",
    "WeightsAndBiases": "callbacks",
    "best_shortcut": "levels",
    "check_artefact": "artefacts",
    "files_named_in": "artefacts",
    "load": "task_experiment",
    "play_run": "playing",
    "play_task": "playing",
    "trainer_named": "trainers",
}

__all__ = [*_HOMES]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
