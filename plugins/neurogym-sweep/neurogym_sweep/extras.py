"""Import the libraries of the package's extras."""

from __future__ import annotations

import importlib
from types import ModuleType

from neurogym_core.errors import MissingDependencyError


def extra(name: str, module: str, needed_for: str) -> ModuleType:
    """Import the module of an extra.

    Raises:
        MissingDependencyError: it is not installed; the message has the command that installs it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingDependencyError(
            f"{needed_for} needs {module.partition('.')[0]}, which cannot be imported here"
            f" ({error}). Expected the extra [{name}] of neurogym-sweep. Install it from the"
            f" checkout: pip install 'plugins/neurogym-sweep[{name}]'."
        ) from error
