"""For packages that play or render trials: their tables, how they are dealt, noise, splits.

`players.pyi` lists the names. Task packages and wrappers rarely need them; see `neurogym_core`.
"""

from __future__ import annotations

from neurogym_core.lazy import names_of_stub

__all__, (__getattr__, __dir__) = names_of_stub(__name__, __file__)
