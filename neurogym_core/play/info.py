"""What a vector env's step tells besides, as dicts of which what few look at is worked out when somebody does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from neurogym_core.play.finished import FinishedTrials
from neurogym_core.play.player import Scored, scored_period, scored_target


class LazyDict(dict):
    """A dict to which something is added when it, or all keys, are looked at.

    It is equal to the dict that holds everything, and copies and pickles as one.

    Args:
        facts: what the rest is worked out from.
    """

    __slots__ = ("_facts",)

    def __init__(self, facts: Any) -> None:
        self._facts: Any = facts

    def work_out(self, facts: Any) -> dict[str, Any]:
        """What is to be added."""
        raise NotImplementedError

    def _complete(self) -> LazyDict:
        facts, self._facts = self._facts, None
        if facts is not None:
            for name, value in self.work_out(facts).items():
                dict.setdefault(self, name, value)
        return self

    def __missing__(self, name: str) -> Any:
        if self._facts is None:
            raise KeyError(name)
        return self._complete()[name]

    def __reduce__(self) -> tuple[type[dict], tuple[dict]]:
        return dict, (self.copy(),)

    def copy(self) -> dict[str, Any]:
        """A plain dict."""
        return dict(dict.items(self._complete()))


def _complete_first(name: str) -> Callable[..., Any]:
    method = getattr(dict, name)

    def completed(self: LazyDict, *args: Any, **kwargs: Any) -> Any:
        return method(self._complete(), *args, **kwargs)

    completed.__name__, completed.__doc__ = name, method.__doc__
    return completed


for _name in (
    "__contains__", "__delitem__", "__eq__", "__ior__", "__iter__", "__len__", "__ne__", "__or__", "__repr__", "__reversed__", "__ror__",
    "get", "items", "keys", "pop", "popitem", "clear", "setdefault", "values",
):  # fmt: skip
    setattr(LazyDict, _name, _complete_first(_name))


class StepInfo(LazyDict):
    """``info`` of a vector env: `gt` and `period` of the step that was scored are worked out when looked at."""

    __slots__ = ()

    def work_out(self, facts: Scored) -> dict[str, Any]:
        return {"gt": scored_target(facts), "period": scored_period(facts)}


class TrialInfo(LazyDict):
    """``info["trial"]`` of a vector env: column -> (N,) array, filled in where `_trial` is True.

    Reaction times have a mask of their own, ``_reaction_time``.

    Attributes:
        finished: the trials that ended.
    """

    __slots__ = ("finished",)

    def __init__(self, finished: FinishedTrials, n: int) -> None:
        self.finished, self._facts = finished, n

    def work_out(self, facts: int) -> dict[str, Any]:
        wide = {}
        for name, values in self.finished.columns.items():
            if name.endswith("reaction_time"):
                wide[f"{name[: -len('reaction_time')]}_reaction_time"] = self._spread(~np.isnan(values), facts)
                values = np.nan_to_num(values, nan=0.0)
            wide[name] = self._spread(values, facts)
        return wide

    def _spread(self, values: np.ndarray, n: int) -> np.ndarray:
        out = np.zeros((n, *values.shape[1:]), values.dtype)
        out[self.finished.envs] = values
        return out
