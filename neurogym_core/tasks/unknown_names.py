"""Errors about unknown names, with the advice of plug-ins."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from neurogym_core.ecosystem.discovery import elsewhere


def former_name(kind: str, name: object, known: Iterable[str] = ()) -> str:
    """Return " " and the sentence of a plug-in (hook ``ngym_unknown_name``) on a name, or ""."""
    said = elsewhere(kind, str(name), known)
    return f" {said}" if said else ""


def missing(owner: object, name: str, kind: str) -> Any:
    """Raise the error for a missing attribute of an "env" or "dataset"; for ``__getattr__``."""
    # A property that failed comes here too, and must not be reported as a missing name.
    said = "" if name.startswith("_") or hasattr(type(owner), name) else former_name(kind, name)
    if not said:
        # Raises the error of Python, or of a property that failed.
        return object.__getattribute__(owner, name)
    message = f"{type(owner).__name__!r} has no attribute {name!r}.{said}"
    raise AttributeError(message, name=name, obj=owner)
