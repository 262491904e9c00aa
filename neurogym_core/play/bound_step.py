"""`BoundStep`: base of the envs that use the kernel's step as their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class BoundStep:
    """Bind the kernel's step as ``self.step`` if nothing is added to it, to save a call per step.

    Copies and pickles leave the bound step out, and bind that of the copied kernel.
    """

    def _kernel_step(self) -> Callable[..., Any] | None:
        """Return the kernel's step, or None if hooks, figures or a subclass add to it."""
        raise NotImplementedError

    def _bind(self) -> None:
        step = self._kernel_step()
        if step is not None:
            self.__dict__["step"] = step

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "step"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()
