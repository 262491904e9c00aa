"""Parts of generated pages in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from neurogym_core.tools import clean, how_to_install

ROOT = Path(__file__).resolve().parents[2]


def continued(page: Path, body: str) -> str:
    """Return a page whose part below the mark "Written below" is replaced."""
    head, mark, _ = page.read_text("utf-8").partition(": do not edit it here. -->\n\n")
    if not mark:
        raise ValueError(
            f"{page.name} has no mark '<!-- Written below by …: do not edit it here. -->'."
        )
    return f"{head}{mark}{body.strip()}\n"


def below_title(page: Path, part: str) -> None:
    """Put a part below the title of a page.

    Raises:
        ValueError: the page has no title.
    """
    title, mark, rest = page.read_text("utf-8").partition("\n\n")
    if not title.startswith("# ") or not mark:
        raise ValueError(f"{page.name} begins with {title[:60]!r}. Expected its title.")
    page.write_text(f"{title}\n\n{part}\n\n{rest}", "utf-8")


def installing(*packages: str) -> str:
    """Return the command that installs packages of this repository, in its folder."""
    return how_to_install(*packages).strip("`").replace(str(ROOT), ".")


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
    lines = ["| " + " | ".join(cells) + " |" for cells in (heads, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(heads), *lines[1:]])


def console(lines: Iterable[str]) -> str:
    """Return a block of command lines."""
    return "```console\n" + "\n".join(lines) + "\n```"
