"""Parts of `TaskEnv` and `TaskVectorEnv`: spaces and the bound step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from neurogym_core.tasks.former_names import missing
from neurogym_core.tasks.task import Task


class BoundStep:
    """Bind the kernel's step as ``self.step`` if nothing is added to it, to save a call per step.

    Copies and pickles leave the bound step out, and bind that of the copied kernel.
    """

    def _kernel_step(self) -> Callable[..., Any] | None:
        """Return the kernel's step, or None if hooks, figures or a subclass add to it."""
        raise NotImplementedError

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            return missing(self, name, "env")

    def _bind(self) -> None:
        step = self._kernel_step()
        if step is not None:
            self.__dict__["step"] = step

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "step"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()


def observation_space(task: Task) -> spaces.Box:
    """Return the space of observations: float32 vectors, unbounded because noise is Gaussian."""
    return spaces.Box(-np.inf, np.inf, (task.channels.size,), np.float32)


def action_space(task: Task) -> spaces.Discrete | spaces.Box:
    """Return the space of actions: discrete ids, or float32 vectors in [-1, 1]."""
    if task.actions.continuous:
        return spaces.Box(-1.0, 1.0, (task.actions.size,), np.float32)
    return spaces.Discrete(task.actions.size)
