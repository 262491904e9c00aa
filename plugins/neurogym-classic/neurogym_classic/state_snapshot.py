"""`StateSnapshot`: an object that can return to its state before the first trial.

This makes everything after a seed reproducible.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

GYMNASIUM_NAMES = frozenset(
    {"spec", "metadata", "render_mode", "action_space", "observation_space", "env"}
)
"""Attributes of an env that are not state of the task."""


class StateSnapshot:
    """Remembers the author's attributes before the first trial; a seed restores them.

    Attributes assigned from outside become part of the initial state; those assigned by the
    author's methods do not.
    """

    # `timing` and `rewards` are settings, which a seed does not restore.
    _KEPT = GYMNASIUM_NAMES | {"timing", "rewards"}

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        state = self.__dict__.get("_remembered")
        if state is not None and not self._running and self._is_state(name):
            state[name] = self._copied(value)

    def _is_state(self, name: str) -> bool:
        return name in self.__dict__ and name not in self._KEPT and name not in _OWN_STATE

    def _copied(self, value: Any) -> Any:
        try:
            return copy.deepcopy(value, {id(self): self})
        except Exception:  # open files, modules and the like are shared
            return value

    def _remember(self) -> None:
        if self.__dict__.get("_remembered") is None:
            self.__dict__["_remembered"] = {
                name: self._copied(value)
                for name, value in vars(self).items()
                if self._is_state(name)
            }

    def _restore(self) -> None:
        state = self.__dict__.get("_remembered")
        if state is None:
            return
        for name in [name for name in vars(self) if self._is_state(name) and name not in state]:
            del self.__dict__[name]
        for name, value in state.items():
            self.__dict__[name] = self._copied(value)

    @property
    def _running(self) -> int:
        """Number of the author's methods that are running, nested in each other."""
        depth: int = self.__dict__.get("_depth", 0)
        return depth

    def _run(self, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self.__dict__["_depth"] = self._running + 1
        try:
            return method(*args, **kwargs)
        finally:
            self.__dict__["_depth"] -= 1


_OWN_STATE = frozenset(
    {"_remembered", "_depth", "_play", "_top", "_np_random", "_np_random_seed"}
    | {
        "_action_space",
        "_observation_space",
        "_metadata",
        "_cached_spec",
        "_saved_kwargs",
    }  # attributes of Gymnasium's wrappers
)
