"""Whether the conformance kit is there, which comes with a package of its own."""

from __future__ import annotations

from importlib.util import find_spec

from neurogym_core.ecosystem.companions import COMMANDS, comes_with
from neurogym_core.errors import MissingDependencyError

MISSING = comes_with("ngym check", COMMANDS["check"])


def has_kit() -> bool:
    """Whether tasks can be checked here."""
    return find_spec("neurogym_check") is not None


def require_kit() -> None:
    """Raise where tasks cannot be checked.

    Raises:
        MissingDependencyError: the kit is not installed; names the package that brings it.
    """
    if not has_kit():
        raise MissingDependencyError(
            f"A release says what the conformance kit found, and the kit is not here: {MISSING}"
        )
