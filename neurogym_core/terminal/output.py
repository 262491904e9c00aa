"""Output of commands: JSON, text, and pages that fit 40 columns, pipes and ASCII terminals.

Text from packages and registries is cleaned of control characters, and is never read as markup.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any

import click

from neurogym_core.ecosystem.names import clean

UNBOUNDED = 1000  # columns in a pipe: each row stays one line, so that grep and cut work
_SECTION = re.compile(r"\w+:")
"""The head of a section of a docstring, as ``Args:``."""
_ASCII = str.maketrans({
    "–": "-", "—": "-", "−": "-", "…": "...", "‘": "'", "’": "'", "“": '"', "”": '"', "×": "x",
    "→": "->", "≤": "<=", "≥": ">=", "±": "+/-", "µ": "u", "μ": "u", "σ": "sigma", "°": " deg",
    "·": ".", "█": "#", "░": ".",
})  # fmt: skip


def print_json(value: Any, file: IO[str] | None = None) -> None:
    """Print a JSON value, in ASCII: a key of a mapping per line, a row of a list of mappings.

    NaN and infinity, which JSON does not have, become null; arrays lists, other objects texts.

    Args:
        value: mappings, sequences, arrays and single values.
        file: stream to print to; None: standard output.
    """
    plain = _plain(value)
    if isinstance(plain, dict):
        lines = (f"{json.dumps(key)}: {_rows(one)}" for key, one in plain.items())
        click.echo("{\n" + ",\n".join(lines) + "\n}", file=file)
    else:
        click.echo(_rows(plain), file=file)


def _rows(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(json.dumps(row, allow_nan=False) for row in value) + "\n]"
    return json.dumps(value, allow_nan=False)


def _plain(value: Any) -> Any:
    """Return a value as data for JSON, see `print_json`."""
    if hasattr(value, "tolist"):  # an array, or a number of NumPy
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)


def reflowed(text: str) -> list[tuple[int, str]]:
    """Return a docstring as (indent, line): one line for each paragraph, list item and entry."""
    lines: list[tuple[int, str]] = []
    going, code = False, None  # whether a paragraph goes on; indent of the text above some code
    for line in text.splitlines():
        bare, indent = line.strip(), len(line) - len(line.lstrip())
        if code is not None and (not bare or indent > code):
            lines.append((indent, bare))
            going = False
            continue
        first, said = lines[-1] if going else (0, "")
        item = bare.startswith(("- ", "* ", "|", ">>>"))
        inside = indent > first or (indent == first == 0 and not said.startswith(("- ", "* ")))
        if bare and going and inside and not item and not _SECTION.fullmatch(said):
            lines[-1] = first, f"{said} {bare}"
        else:
            lines.append((indent, bare))
        going = bool(bare)
        code = lines[-1][0] if bare.endswith("::") else None
    return lines


class Page:
    """The output of a command: headings, paragraphs and tables, printed together by `show`."""

    def __init__(self) -> None:
        # Imported here because `ngym --help` and `--json` print no page.
        import rich.console
        import rich.padding
        import rich.table
        import rich.text

        columns = os.environ.get("COLUMNS", "")
        known_width = sys.stdout.isatty() or (columns.isdecimal() and int(columns) > 0)
        self._rich = rich
        self.console = rich.console.Console(
            width=None if known_width else UNBOUNDED,
            # With NO_COLOR alone, rich would still write the escape sequences of bold text.
            color_system=None if os.environ.get("NO_COLOR") else "auto",
            markup=False,
            emoji=False,
            highlight=False,
            legacy_windows=False,
        )
        self.width = self.console.width  # columns of the terminal
        self.parts: list[Any] = []

    def prose(self, text: str, *, indent: int = 0) -> None:
        """Add a docstring; on a terminal its paragraphs get lines as long as the terminal's.

        Args:
            text: the docstring.
            indent: columns to the left of it.
        """
        if self.width == UNBOUNDED:
            self.text(text, indent=indent, keep_lines=True)
            return
        for deeper, line in reflowed(clean(text, keep_lines=True)):
            self.text(line, indent=indent + deeper)

    def heading(self, text: str, *, mark: str = "") -> None:
        """Add a line in bold, with a blank line before it unless it is the first.

        Args:
            text: the line.
            mark: a warning behind it, in red.
        """
        if self.parts:
            self.parts.append("")
        line = self._rich.text.Text(clean(text), style="bold", overflow="fold")
        if mark:
            line.append(f"  {clean(mark)}", style="bold red")
        self.parts.append(line)

    def text(
        self, text: str, *, indent: int = 0, style: str = "", keep_lines: bool = False
    ) -> None:
        """Add a paragraph; `keep_lines` keeps the line ends, for docstrings and drawings.

        Args:
            text: the paragraph.
            indent: columns to the left of it.
            style: a style of rich, such as ``dim``.
        """
        rich = self._rich
        body = rich.text.Text(clean(text, keep_lines=keep_lines), style=style, overflow="fold")
        self.parts.append(rich.padding.Padding(body, (0, 0, 0, indent)))

    def table(
        self, columns: Sequence[str], rows: Iterable[Sequence[Any]], *, heading: str = ""
    ) -> None:
        """Add rows under column heads; if the terminal is too narrow, stack the cells of a row.

        Args:
            columns: their heads; columns without values are left out.
            rows: values, one per column.
            heading: a heading, which is left out if there are no rows.
        """
        cells, used, widths = [], [], []
        for row in rows:
            cells.append([*map(clean, map(str, row))])
        for column in zip(columns, *cells, strict=True):
            if any(column[1:]):
                used.append(column)
                widths.append(max(map(len, column)))
        if not used:
            return
        if heading:
            self.heading(heading)
        heads, *body = zip(*used, strict=True)
        # The widest column needs 24 columns of the terminal at least, the others their full width.
        longest = max(widths)
        least = 2 + sum(widths) - longest + min(longest, 24) + 2 * len(heads)
        if least > self.width:
            self._stack(heads, body)
            return
        rich = self._rich
        table = rich.table.Table(
            box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim",
            show_header=any(heads),
        )  # fmt: skip
        for head, width in zip(heads, widths, strict=True):
            table.add_column(rich.text.Text(head), overflow="fold", no_wrap=width < longest)
        for row in body:
            table.add_row(*map(rich.text.Text, row))
        self.parts.append(rich.padding.Padding(table, (0, 0, 0, 2), expand=False))

    def facts(self, pairs: Iterable[tuple[str, Any]]) -> None:
        """Add ``label  value`` lines; pairs without a value are left out."""
        self.table(("", ""), [pair for pair in pairs if pair[1] not in (None, "", (), [])])

    def show(self) -> None:
        """Print the page, with ASCII spellings of characters that stdout cannot encode."""
        with self.console.capture() as capture:
            for part in self.parts:
                self.console.print(part)
        text = re.sub("[^\\S\n]+$", "", capture.get().rstrip("\n"), flags=re.MULTILINE)
        encoding = getattr(sys.stdout, "encoding", None) or "ascii"
        try:
            text.encode(encoding)
        except UnicodeEncodeError:
            text = text.translate(_ASCII).encode(encoding, "replace").decode(encoding)
        click.echo(text, color=self.console.is_terminal)

    def _stack(self, heads: Sequence[str], cells: Iterable[Sequence[str]]) -> None:
        for first, *rest in cells:
            self.text(first, indent=2, style="bold")
            for head, cell in zip(heads[1:], rest, strict=True):
                if cell:
                    named = head not in ("", "title", "doc")
                    self.text(f"{head}: {cell}" if named else cell, indent=4)


class Progress:
    """A progress bar on stderr that appears after one second, if stderr is a terminal.

    Args:
        label: name of the work, shown beside the bar.
        total: amount of the work.
    """

    def __init__(self, label: str, total: int) -> None:
        self._label, self._total, self._since = label, total, time.monotonic()
        self._bar: Any = None

    def __enter__(self) -> Progress:
        return self

    def show(self, done: int, label: str | None = None) -> None:
        """Move the bar to `done`, and replace its label if one is given."""
        if self._bar is None and sys.stderr.isatty() and time.monotonic() - self._since > 1:
            from rich import console, progress  # most commands end before they need a bar

            bar = progress.Progress(console=console.Console(stderr=True), transient=True)
            bar.add_task(self._label, total=self._total)
            bar.start()
            self._bar = bar
        if self._bar is not None:
            self._bar.update(
                self._bar.task_ids[0], completed=done, description=label or self._label
            )

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
