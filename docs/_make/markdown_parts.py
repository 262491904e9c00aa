"""Parts of generated pages in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def escaped(text: str) -> str:
    """Return text in which Markdown has no meaning; backticks stay."""
    return re.sub(r"([\\*_\[\]<>$#|~{}])", r"\\\1", text)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def console(lines: Iterable[str]) -> str:
    """Return a block of command lines."""
    return "```console\n" + "\n".join(lines) + "\n```"
