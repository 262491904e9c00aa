"""`StepInfo`: the info of a vector env's step, of which what few look at is worked out when somebody does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from neurogym_core.play.player import Scored, scored_period, scored_target


class StepInfo(dict):
    """A dict to which `gt` and `period` are added when they, or all keys, are looked at.

    It is equal to the dict that holds them, and copies and pickles as one.

    Args:
        scored: the step that was scored.
    """

    __slots__ = ("_scored",)

    def __init__(self, scored: Scored) -> None:
        self._scored: Scored | None = scored

    def _complete(self) -> StepInfo:
        scored, self._scored = self._scored, None
        if scored is not None:
            dict.setdefault(self, "gt", scored_target(scored))
            dict.setdefault(self, "period", scored_period(scored))
        return self

    def __missing__(self, name: str) -> Any:
        if self._scored is None:
            raise KeyError(name)
        return self._complete()[name]

    def __reduce__(self) -> tuple[type[dict], tuple[dict]]:
        return dict, (self.copy(),)

    def copy(self) -> dict[str, Any]:
        """A plain dict."""
        return dict(dict.items(self._complete()))


def _complete_first(name: str) -> Callable[..., Any]:
    method = getattr(dict, name)

    def completed(self: StepInfo, *args: Any, **kwargs: Any) -> Any:
        return method(self._complete(), *args, **kwargs)

    completed.__name__, completed.__doc__ = name, method.__doc__
    return completed


for _name in (
    "__contains__", "__delitem__", "__eq__", "__ior__", "__iter__", "__len__", "__ne__", "__or__", "__repr__", "__reversed__", "__ror__",
    "get", "items", "keys", "pop", "popitem", "clear", "setdefault", "values",
):  # fmt: skip
    setattr(StepInfo, _name, _complete_first(_name))
