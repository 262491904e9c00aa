"""Gymnasium's check that `reset` comes before `step`, without a cost on every step."""

from __future__ import annotations

from typing import Any

from gymnasium.wrappers import OrderEnforcing


class OrderEnforcingOnce(OrderEnforcing):
    """Refuse `step` and `render` before the first `reset`.

    After it there is nothing left to check, and `step` is that of the wrapped env.
    """

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        result = super().reset(seed=seed, options=options)
        self.step = self.env.step  # type: ignore[method-assign]
        return result

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "step"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._has_reset:
            self.step = self.env.step  # type: ignore[method-assign]
