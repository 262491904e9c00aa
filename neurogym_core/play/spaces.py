"""Gymnasium spaces of a task's observations and actions."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from neurogym_core.tasks.task import Task


def observation_space(task: Task) -> spaces.Box:
    """Unbounded float32 vector: noise is Gaussian."""
    return spaces.Box(-np.inf, np.inf, (task.channels.size,), np.float32)


def action_space(task: Task) -> spaces.Discrete | spaces.Box:
    """Discrete action ids, or a float32 vector in [-1, 1]."""
    if task.actions.continuous:
        return spaces.Box(-1.0, 1.0, (task.actions.size,), np.float32)
    return spaces.Discrete(task.actions.size)
