"""Gymnasium spaces of a task's observations and actions."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from neurogym_core.tasks.task import Task


def observation_space(task: Task) -> spaces.Box:
    """Return the space of observations: float32 vectors, unbounded because noise is Gaussian."""
    return spaces.Box(-np.inf, np.inf, (task.channels.size,), np.float32)


def action_space(task: Task) -> spaces.Discrete | spaces.Box:
    """Return the space of actions: discrete ids, or float32 vectors in [-1, 1]."""
    if task.actions.continuous:
        return spaces.Box(-1.0, 1.0, (task.actions.size,), np.float32)
    return spaces.Discrete(task.actions.size)
