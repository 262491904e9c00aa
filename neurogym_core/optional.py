"""Import optional dependencies."""

from __future__ import annotations

import importlib
from types import ModuleType

from neurogym_core.errors import MissingDependencyError


def optional(module: str, *, needed_for: str) -> ModuleType:
    """Import `module`; if that fails, raise an error with the command that installs it.

    Args:
        module: dotted name, e.g. ``"scipy.optimize"``.
        needed_for: the subject of the error message, e.g. ``"Fitting a curve"``.

    Raises:
        MissingDependencyError: the package is not installed, or cannot be imported.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingDependencyError(
            f"{needed_for} needs {package}, which cannot be imported here ({error})."
            f" Install it: pip install {package}."
        ) from error
