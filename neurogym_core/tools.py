"""For packages with commands: options, pages in the terminal, files, installed packages, errors.

`tools.pyi` lists the names. Packages that only define tasks do without them.
"""

from __future__ import annotations

from neurogym_core.lazy import names_of_stub

__all__, (__getattr__, __dir__) = names_of_stub(__name__, __file__)
