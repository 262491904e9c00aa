"""Regular expressions that are compiled on first use, because compiling them all takes a while."""

from __future__ import annotations

import re


class Pattern:
    """Like ``re.compile(text, flags)``, but compiled on first use; `re` caches the result."""

    __slots__ = ("flags", "text")

    def __init__(self, text: str, flags: int = 0) -> None:
        self.text, self.flags = text, flags

    def __call__(self) -> re.Pattern[str]:
        return re.compile(self.text, self.flags)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Return a match of the whole text, or None."""
        return self().fullmatch(text)

    def match(self, text: str, position: int = 0) -> re.Match[str] | None:
        """Return a match at a position, or None."""
        return self().match(text, position)

    def sub(self, replacement: str, text: str) -> str:
        """Return the text with all matches replaced."""
        return self().sub(replacement, text)
