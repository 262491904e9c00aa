"""Names of other libraries: installed packages add the new names to errors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from neurogym_core.ecosystem.discovery import declared

_ASKED = {
    "env": frozenset(
        ("new_trial", "ob", "ob_now", "gt", "gt_now", "trial", "start_ind", "end_ind", "start_t",
         "end_t", "in_period", "performance", "t", "t_ind", "num_tr", "dt", "timing", "rewards",
         "abort", "seed", "trial_length_stats")
    ),
    "dataset": frozenset(["env"]),
}  # fmt: skip
"""Attributes that packages are asked about. `hasattr` of any other name must stay fast."""


def former_name(kind: str, name: object, known: Iterable[str] = ()) -> str:
    """Return the sentence of an installed package about a name of another library, or "".

    It has a leading blank.

    Args:
        kind: "argument", "env", "dataset" or "module"; see the hook ``ngym_former_name``.
        name: the unknown name.
        known: the names of arguments that exist.
    """
    if not declared().former_names:
        return ""
    from neurogym_core.ecosystem.hooks import plugins  # imports pluggy

    hook = plugins("neurogym.former_names").manager.hook
    try:
        said = hook.ngym_former_name(kind=kind, name=str(name), known=tuple(known))
    except Exception:  # a failed hint must not replace the error
        return ""
    return f" {said}" if said else ""


def missing(owner: object, name: str, kind: str) -> Any:
    """Raise the error for a missing attribute; called by ``__getattr__``.

    Args:
        owner: the object.
        name: the attribute.
        kind: "env" or "dataset".
    """
    said = former_name(kind, name) if name in _ASKED[kind] else ""
    if not said:
        # Raises the error of Python, or of a property that failed.
        return object.__getattribute__(owner, name)
    message = f"{type(owner).__name__!r} has no attribute {name!r}.{said}"
    raise AttributeError(message, name=name, obj=owner)
