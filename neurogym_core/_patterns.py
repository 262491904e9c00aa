"""Regular expressions that are compiled when they are first used: those of the core take a while,
and few use all.
"""

from __future__ import annotations

import re


class Pattern:
    """As ``re.compile(text, flags)``; `re` keeps what it compiled."""

    __slots__ = ("flags", "text")

    def __init__(self, text: str, flags: int = 0) -> None:
        self.text, self.flags = text, flags

    def __call__(self) -> re.Pattern[str]:
        return re.compile(self.text, self.flags)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """A match of all of the text, or None."""
        return self().fullmatch(text)

    def match(self, text: str, position: int = 0) -> re.Match[str] | None:
        """A match from a position on, or None."""
        return self().match(text, position)

    def sub(self, replacement: str, text: str) -> str:
        """The text with all matches replaced."""
        return self().sub(replacement, text)
