"""The performance of a subject between the best shortcut of its task and the ideal."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from neurogym_core.tools import TaskInfo

PARTIAL = (*TaskInfo.BLIND, "familiar", "waiter", "channel_counter", "reflex")
"""Shortcuts that leave something out, however much they earn."""
TOLD = ("oracle", "all", "held", "history", "winstay", "copied")
"""Measures that are no shortcuts of a subject: they see everything, or are given right answers."""
SAME = 0.03
"""Performances that differ by less count as equal."""


def best_shortcut(info: TaskInfo, *, admitted: bool = False) -> str | None:
    """Return the name of the best policy that leaves out something that counts; None if unknown.

    A classifier of a part leaves out nothing that counts if it is within `SAME` of the ideal (of
    the oracle, if the ideal is unknown) or of a classifier of everything that is as good; nor does
    one that the manifest admits. Nor does a classifier of everything but durations that is as good
    as one of everything, since durations then say nothing. Policies that are given right answers
    do not count.

    Args:
        info: the task, with the shortcuts of its manifest.
        admitted: whether policies count that the manifest admits.
    """
    known = info.shortcuts
    possible = info.ideal.get("value", known.get("oracle", 1.0))
    everything = max(known.get("all", 0.0), possible) - SAME
    partial = (
        name
        for name, score in known.items()
        if name in PARTIAL
        or (
            name not in TOLD
            and score < everything
            and (admitted or not any(fnmatchcase(name, pattern) for pattern in info.admitted))
            and not (name == "without.durations" and score > known.get("all", 1.0) - SAME)
        )
    )
    return max(partial, key=lambda name: known[name], default=None)


@dataclass(frozen=True)
class Way:
    """Performance between the best shortcut and the ideal of a task, with its default settings.

    Attributes:
        shortcut: performance of the best policy that leaves out a part of the task.
        ideal: the highest possible performance; without an ideal in the manifest, that of the best
            of all policies of the audit, as a rule the oracle, which is given the right answers.
        known: whether the manifest has the ideal.
    """

    shortcut: float
    ideal: float
    known: bool

    def share(self, performance: float) -> float:
        """Return the share of the way from the shortcut to the ideal that a subject has gone."""
        return (performance - self.shortcut) / (self.ideal - self.shortcut)


def way_of(info: TaskInfo, *, admitted: bool = False) -> Way | None:
    """Return the way from the best shortcut to the ideal; None if there is none to go.

    Args:
        info, admitted: as in `best_shortcut`.
    """
    best = best_shortcut(info, admitted=admitted)
    if best is None:
        return None
    shortcut, known = info.shortcuts[best], "value" in info.ideal
    ideal = info.ideal["value"] if known else max(info.shortcuts.values())
    return Way(shortcut, ideal, known) if ideal - shortcut > SAME else None


def relative(info: TaskInfo, performance: float) -> float | None:
    """Return (performance - best shortcut) / (ideal - best shortcut).

    0 is the best policy that leaves out a part of the task, 1 is possible and not more. None if
    the manifest has no ideal or no shortcuts, or if they hardly differ.
    """
    way = way_of(info)
    return way.share(performance) if way is not None and way.known else None
