"""The rule that makes 82 tasks of twenty: their names and meanings.

- A *base task* is one of the twenty of Yang et al. (2019), in lower case.
- *int*: the right answer turns by one unit of the ring for every 100 ms of the delay, which differs
  from trial to trial. It is defined for the eleven base tasks with a delay.
- *seq*: the right answer turns by one unit every 100 ms during the decision, which lasts for ten of
  them. It is defined for all twenty.
- Both go *r* (to the next unit) or *l* (to the one before).

20 + 11 x 2 + 20 x 2 = 82.
"""

from __future__ import annotations

BASE = (
    "go", "rtgo", "dlygo", "anti", "rtanti", "dlyanti", "dm1", "dm2", "ctxdm1", "ctxdm2", "multidm",
    "dlydm1", "dlydm2", "ctxdlydm1", "ctxdlydm2", "multidlydm", "dms", "dnms", "dmc", "dnmc",
)  # fmt: skip
"""The twenty base tasks."""
DELAYED = tuple(name for name in BASE if "dly" in name or name in ("dms", "dnms", "dmc", "dnmc"))
"""The eleven with a delay."""
TURNS = {"r": 1, "l": -1}
"""Units per 100 ms."""
NAMES = (
    *BASE,
    *(f"{base}int{turn}" for base in DELAYED for turn in TURNS),
    *(f"{base}seq{turn}" for base in BASE for turn in TURNS),
)
"""The 82 names, in the order of their rule units."""


def meaning(name: str) -> tuple[str, int, int]:
    """Return base task, turn during the delay, and turn during the decision, of one of `NAMES`.

    Example:
        >>> from neurogym_task_modcog.rule import meaning
        >>> meaning("dlygointr"), meaning("dmsseql"), meaning("go")
        (('dlygo', 1, 0), ('dms', 0, -1), ('go', 0, 0))
    """
    kind, turn = name[-4:-1], TURNS.get(name[-1], 0)
    if name in BASE:
        return name, 0, 0
    return name[:-4], turn * (kind == "int"), turn * (kind == "seq")


__all__ = ["BASE", "DELAYED", "NAMES", "TURNS", "meaning"]
