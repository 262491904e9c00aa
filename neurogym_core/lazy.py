"""Packages whose names are imported on first use, so that importing the package is fast."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from neurogym_core.errors import MissingDependencyError

Lazy = tuple[Callable[[str], Any], Callable[[], list[str]]]


def lazy_names(package: str, homes: Mapping[str, str]) -> Lazy:
    """Return the functions `__getattr__` and `__dir__` of a package.

    For example: ``__getattr__, __dir__ = lazy_names(__name__, {"Task": "tasks.task"})``.

    Args:
        package: ``__name__`` of the package, which lists its public names in ``__all__``.
        homes: name -> module that defines it, relative to the package; a module is its own home.
    """
    return _lazy(package, {name: f"{package}.{home}" for name, home in homes.items()})


def names_of_stub(module: str, file: str) -> tuple[list[str], Lazy]:
    """Return a module's public names, which its stub imports, and its two functions."""
    stub = Path(file).with_suffix(".pyi").read_text("utf-8")
    found = re.findall(r"^from (\S+) import (\w+) as \2$", stub, re.MULTILINE)
    homes = {name: home for home, name in found}
    return [*homes], _lazy(module, homes)


def _lazy(module: str, homes: Mapping[str, str]) -> Lazy:
    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home = import_module(homes[name])
        is_home = home.__name__ == f"{module}.{name}" and not hasattr(home, name)
        value = home if is_home else getattr(home, name)
        setattr(sys.modules[module], name, value)
        return value

    return get, lambda: sorted(sys.modules[module].__all__)


def optional(module: str, *, needed_for: str) -> ModuleType:
    """Import `module`; if that fails, raise an error with the command that installs it.

    Args:
        module: dotted name, e.g. ``"scipy.optimize"``.
        needed_for: the subject of the error message, e.g. ``"Fitting a curve"``.

    Raises:
        MissingDependencyError: the package is not installed, or cannot be imported.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingDependencyError(
            f"{needed_for} needs {package}, which cannot be imported here ({error})."
            f" Install it: pip install {package}."
        ) from error
