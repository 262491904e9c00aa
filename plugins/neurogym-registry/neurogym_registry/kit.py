"""Check whether the conformance kit, which is a separate package, is installed."""

from __future__ import annotations

from importlib.util import find_spec

from neurogym_core import MissingDependencyError
from neurogym_core.tools import comes_with

MISSING = comes_with("ngym check", "neurogym-check")


def has_kit() -> bool:
    """Whether the conformance kit is installed."""
    return find_spec("neurogym_check") is not None


def require_kit() -> None:
    """Raise an error unless the conformance kit is installed.

    Raises:
        MissingDependencyError: it is not installed; the message names its package.
    """
    if not has_kit():
        raise MissingDependencyError(
            "A release was to be made without the conformance kit, whose results are part of it."
            f" Expected the kit to be installed: {MISSING}"
        )
