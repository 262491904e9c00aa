"""Records as text: the columns that a reader looks at first, cells, and the tables of `repr`."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

LEFT_OUT = frozenset(("subject", "env", "session", "performance", "aborts", "steps"))
"""Columns that short tables leave out, as well as moments and durations of periods."""
ITEMS = 12
"""Maximum number of values of a cell."""
WIDTH = 100
"""Maximum number of characters of a line of `repr`."""
ROWS, HTML_ROWS = 5, 10
"""Maximum number of rows of `repr`, and of the table in a notebook."""


def cell(value: Any) -> str:
    """Return a value as the text of a cell; NaN is a dash."""
    if isinstance(value, list):
        more = ["…"] if len(value) > ITEMS else []
        return f"({', '.join([cell(item) for item in value[:ITEMS]] + more)})"
    if isinstance(value, float):
        return "–" if value != value else number(value)
    return str(value)


def number(value: float, digits: int = 4) -> str:
    """Return a number with at least `digits` digits, without an exponent if it has few of them."""
    value = round(value, 12) + 0.0  # -1 and ten times 0.1 give 0, without a sign
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.{digits}g}"


def text_of(columns: Mapping[str, np.ndarray], first: Sequence[str], n: int) -> str:
    """Return a record of n trials as text: rows of the columns `first`, other names."""
    head = f"<TrialRecord: {n} trials x {len(columns.keys())} columns>"
    shown: list[list[str]] = []
    width = 0
    for name in first:
        values = [cell(value) for value in columns[name][:ROWS].tolist()]
        wide = max(map(len, [name, *values])) + 2
        if width + wide > WIDTH:
            break
        width += wide
        shown.append([one.rjust(wide) for one in [name, *values]])
    lines = ["".join(line).rstrip() for line in zip(*shown, strict=True)]
    lines += [f"  … and {n - ROWS} more"] if n > ROWS and shown else []
    others = [name for name in columns if name not in first[: len(shown)]]
    lines += [f"Other columns: {', '.join(others)}"] if others else []
    return "\n".join([head, *lines])


def html_of(columns: Mapping[str, np.ndarray], first: Sequence[str], n: int) -> str:
    """Return a record as an HTML table, with the arguments of `text_of`; all texts are escaped."""
    rows = zip(*([cell(v) for v in columns[name][:HTML_ROWS].tolist()] for name in first),
               strict=True)  # fmt: skip
    head = "".join(f"<th>{html.escape(name)}</th>" for name in first)
    body = "".join(
        f"<tr>{''.join(f'<td>{html.escape(one)}</td>' for one in row)}</tr>" for row in rows
    )
    others = [html.escape(name) for name in columns if name not in first]
    more = f"{n} trials, {len(columns.keys())} columns"
    more += f"; the first {HTML_ROWS} trials are shown" if n > HTML_ROWS else ""
    more += f". Other columns: {', '.join(others)}" if others else ""
    return (
        f'<div style="overflow-x: auto"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div><p>{more}.</p>"
    )
