"""Errors about unknown names, with the advice of plug-ins."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from neurogym_core.ecosystem.discovery import elsewhere


def former_name(kind: str, name: object, known: Iterable[str] = ()) -> str:
    """Return the sentence of a plug-in about an unknown name, with a leading blank, or "".

    Args:
        kind: "argument", "env", "dataset" or "module"; see the hook ``ngym_unknown_name``.
        name: the unknown name.
        known: the names of arguments that exist.
    """
    said = elsewhere(kind, str(name), known)
    return f" {said}" if said else ""


def missing(owner: object, name: str, kind: str) -> Any:
    """Raise the error for a missing attribute; called by ``__getattr__``.

    Args:
        owner: the object.
        name: the attribute.
        kind: "env" or "dataset".
    """
    # A property that failed comes here too, and must not be reported as a missing name.
    said = "" if name.startswith("_") or hasattr(type(owner), name) else former_name(kind, name)
    if not said:
        # Raises the error of Python, or of a property that failed.
        return object.__getattribute__(owner, name)
    message = f"{type(owner).__name__!r} has no attribute {name!r}.{said}"
    raise AttributeError(message, name=name, obj=owner)
