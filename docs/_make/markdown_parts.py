"""Parts of generated pages in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from neurogym_core.ecosystem.names import clean


def escaped(text: str) -> str:
    """Return text in which Markdown has no meaning; backticks stay."""
    return re.sub(r"([\\*_\[\]<>$#|~{}])", r"\\\1", text)


def literal(text: object) -> str:
    """Return text of a package that is not installed, on one line, as it is shown.

    No character has a meaning in Markdown: every punctuation mark is escaped, backticks included,
    and the line begins with none of the marks of lists, fences, headings or targets.
    """
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", clean(str(text)))


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def console(lines: Iterable[str]) -> str:
    """Return a block of command lines."""
    return "```console\n" + "\n".join(lines) + "\n```"
