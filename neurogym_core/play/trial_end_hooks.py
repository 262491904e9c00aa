"""`TrialEndHooks`: the env wrapper that calls plug-ins after each trial (``ngym_trial_end``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium


class TrialEndHooks(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Call every listener with the env and the record of each trial that ended."""

    def __init__(
        self, env: gymnasium.Env[Any, Any], listeners: Sequence[Callable[..., Any]]
    ) -> None:
        super().__init__(env)
        self._listeners = tuple(listeners)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        result = self.env.step(action)
        if "trial" in result[4]:
            for listener in self._listeners:
                listener(env=self, trial=result[4]["trial"])
        return result
