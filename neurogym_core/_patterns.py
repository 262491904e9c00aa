"""Regular expressions that are compiled on first use, because compiling them all takes a while."""

from __future__ import annotations

import re
from typing import Any


class Pattern:
    """Like ``re.compile(text, flags)``, but compiled on first use; `re` caches the result."""

    __slots__ = ("flags", "text")

    def __init__(self, text: str, flags: int = 0) -> None:
        self.text, self.flags = text, flags

    def __call__(self) -> re.Pattern[str]:
        return re.compile(self.text, self.flags)

    def __getattr__(self, name: str) -> Any:
        return getattr(self(), name)
