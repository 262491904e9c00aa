"""Core of NeuroGym: the protocol of neuroscience tasks, their players, and their discovery.

`__init__.pyi` lists the names. They are imported on first access, so that listing tasks stays fast.
"""

from __future__ import annotations

from neurogym_core.lazy import names_of_stub

__version__ = "1.0.0"

_names, (_named, __dir__) = names_of_stub(__name__, __file__)
__all__ = ["__version__", *_names]


def __getattr__(name: str) -> object:
    try:
        return _named(name)
    except AttributeError as error:
        if name.startswith("_"):
            raise
        from neurogym_core.ecosystem.discovery import elsewhere  # imported for this error only

        if not (said := elsewhere("module", name)):
            raise
        raise AttributeError(f"{error}.{said}") from None
