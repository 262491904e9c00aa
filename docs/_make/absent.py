"""Stand-ins for packages that are imported while the reference is written, and not used.

The reference reads signatures and docstrings, and needs neither torch nor JAX for that."""

from __future__ import annotations

import sys
from abc import ABCMeta
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import FunctionType, ModuleType
from typing import Any


class _AnyName(ABCMeta):
    """Type of the stand-ins of names: each has all attributes, and is written as its name."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return _name(f"{cls.__name__}.{name}")

    def __repr__(cls) -> str:
        return cls.__name__


class _Anything:
    """Base of the stand-ins of names: classes to derive from, decorators, and values."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Return the decorated object; else another stand-in."""
        if "__module__" in vars(cls) and cls.__module__ != __name__:  # a class derived from one
            return super().__new__(cls)
        decorated = args and isinstance(args[0], FunctionType | type)
        return args[0] if decorated else _name(f"{cls.__name__}()")

    def __class_getitem__(cls, _: Any) -> Any:
        return cls


def _name(name: str) -> Any:
    return _AnyName(name, (_Anything,), {"__module__": __name__})


class _Module(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return _name(f"{self.__name__}.{name}")


class _Finder:
    def __init__(self, packages: Sequence[str]) -> None:
        self.packages = packages

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name.partition(".")[0] not in self.packages:
            return None
        return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module empty."""


def stand_in_for(packages: Sequence[str]) -> None:
    """Let the first import of each of these packages, in this process, get a stand-in."""
    sys.meta_path.insert(0, _Finder(packages))
