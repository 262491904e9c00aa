"""What commands print: pages that work at 40 columns, in a pipe, without colour, and on an ASCII
terminal.

Text that others wrote is cleaned of control characters, and never read as markup.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click

from neurogym_core.ecosystem.names import clean

UNBOUNDED = 1000  # columns when piped: a row stays a line, so that grep and cut work
_ASCII = str.maketrans({
    "–": "-", "—": "-", "−": "-", "…": "...", "‘": "'", "’": "'", "“": '"', "”": '"', "×": "x", "→": "->", "≤": "<=",
    "≥": ">=", "±": "+/-", "µ": "u", "μ": "u", "σ": "sigma", "°": " deg", "·": ".", "█": "#", "░": ".",
})  # fmt: skip


def print_json(value: Any) -> None:
    """One JSON value on stdout, in ASCII: what is not ASCII, or controls a terminal, is escaped."""
    if (
        isinstance(value, list) and value
    ):  # a row a line: for grep, and written several times as fast
        click.echo("[\n" + ",\n".join(json.dumps(row) for row in value) + "\n]")
    else:
        click.echo(json.dumps(value, indent=2, ensure_ascii=True))


def print_text(text: str) -> None:
    """Lines as they are, as far as stdout can show them."""
    click.echo(encodable(clean(text, keep_lines=True), getattr(sys.stdout, "encoding", None)))


def encodable(text: str, encoding: str | None) -> str:
    """The text as far as the encoding can show it; what it cannot is written in ASCII, or as
    ``?``.
    """
    try:
        text.encode(encoding or "ascii")
    except UnicodeEncodeError:
        return (
            text.translate(_ASCII)
            .encode(encoding or "ascii", "replace")
            .decode(encoding or "ascii")
        )
    return text


class Page:
    """What a command shows, collected from top to bottom and printed at once by `show`."""

    def __init__(self) -> None:
        from rich.console import Console

        known_width = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdecimal()
        self.console = Console(
            width=None if known_width else UNBOUNDED,
            # With NO_COLOR alone rich would still print bold; a log file wants no escape sequence
            # at all.
            color_system=None if os.environ.get("NO_COLOR") else "auto",
            markup=False,
            emoji=False,
            highlight=False,
            legacy_windows=False,
        )
        self.parts: list[Any] = []

    @property
    def width(self) -> int:
        """Columns of the terminal."""
        return self.console.width

    def heading(self, text: str, *, mark: str = "") -> None:
        """A line in bold, with a blank line before it unless it is the first."""
        from rich.text import Text

        if self.parts:
            self.parts.append("")
        line = Text(clean(text), style="bold", overflow="fold")
        if mark:
            line.append(f"  {clean(mark)}", style="bold red")
        self.parts.append(line)

    def text(
        self, text: str, *, indent: int = 0, style: str = "", keep_lines: bool = False
    ) -> None:
        """A paragraph; `keep_lines` leaves the line ends of docstrings and drawings as they are."""
        from rich.padding import Padding
        from rich.text import Text

        body = Text(clean(text, keep_lines=keep_lines), style=style, overflow="fold")
        self.parts.append(Padding(body, (0, 0, 0, indent)))

    def table(
        self, columns: Sequence[str], rows: Iterable[Sequence[Any]], *, indent: int = 2
    ) -> None:
        """Rows under column heads where they fit; else each row as a line with the rest of it
        below.
        """
        body = [tuple(clean(str(cell)) for cell in row) for row in rows]
        used = [index for index in range(len(columns)) if any(row[index] for row in body)]
        if not body:
            return
        heads = [columns[index] for index in used]
        cells = [[row[index] for index in used] for row in body]
        if self._fits(heads, cells, indent):
            self.parts.append(self._grid(heads, cells, indent))
        else:
            self._stack(heads, cells, indent)

    def facts(self, pairs: Iterable[tuple[str, Any]]) -> None:
        """``label  value`` lines; pairs without a value are left out."""
        kept = [(label, str(value)) for label, value in pairs if value not in (None, "", (), [])]
        size = max((len(label) for label, _ in kept), default=0)
        if self.width >= 60:
            self.table(("", ""), [(label.ljust(size), value) for label, value in kept])
        else:
            self._stack(["", ""], [[label, value] for label, value in kept], 2)

    def show(self) -> None:
        """Print it all."""
        with self.console.capture() as capture:
            for part in self.parts:
                self.console.print(part)
        lines = [line.rstrip() for line in capture.get().rstrip("\n").split("\n")]
        text = encodable("\n".join(lines), getattr(sys.stdout, "encoding", None))
        click.echo(text, color=self.console.is_terminal)

    def _fits(self, heads: list[str], cells: list[list[str]], indent: int) -> bool:
        """Whether all but the longest column have their full width, and that one still 24
        columns.
        """
        widths = [max(len(row[index]) for row in [heads, *cells]) for index in range(len(heads))]
        longest = max(widths, default=0)
        return indent + sum(widths) - longest + min(longest, 24) + 2 * len(heads) <= self.width

    def _grid(self, heads: list[str], cells: list[list[str]], indent: int) -> Any:
        from rich.padding import Padding
        from rich.table import Table
        from rich.text import Text

        table = Table(
            box=None,
            pad_edge=False,
            padding=(0, 2, 0, 0),
            header_style="dim",
            show_header=any(heads),
        )
        widths = [max(len(row[index]) for row in [heads, *cells]) for index in range(len(heads))]
        for head, width in zip(heads, widths, strict=True):
            table.add_column(Text(head), overflow="fold", no_wrap=width < max(widths))
        for row in cells:
            table.add_row(*(Text(cell) for cell in row))
        return Padding(table, (0, 0, 0, indent), expand=False)

    def _stack(self, heads: list[str], cells: list[list[str]], indent: int) -> None:
        for first, *rest in cells:
            self.text(first, indent=indent, style="bold")
            for head, cell in zip(heads[1:], rest, strict=True):
                if cell:
                    self.text(
                        f"{head}: {cell}" if head not in ("", "title", "doc") else cell,
                        indent=indent + 2,
                    )
