"""Docstrings and long lines on a terminal: lines end between words, not in the middle of one."""

from __future__ import annotations

import pytest

from neurogym_core.terminal.output import Page, reflowed

DOCSTRING = """Report a side as fast as possible, and
withhold if a stop signal follows.

Deviations from
the paper:

- rewards are ours;
- an interval before fixation is
  part of it.

Example::

    a = 1
    b = 2

Args:
    p_stop: proportion of stop
        trials.
    first_ssd: ms.
"""


def test_paragraphs_items_and_entries_get_one_line_each_and_code_keeps_its_lines():
    assert reflowed(DOCSTRING) == [
        (0, "Report a side as fast as possible, and withhold if a stop signal follows."),
        (0, ""),
        (0, "Deviations from the paper:"),
        (0, ""),
        (0, "- rewards are ours;"),
        (0, "- an interval before fixation is part of it."),
        (0, ""),
        (0, "Example::"),
        (0, ""),
        (4, "a = 1"),
        (4, "b = 2"),
        (0, ""),
        (0, "Args:"),
        (4, "p_stop: proportion of stop trials."),
        (4, "first_ssd: ms."),
    ]


@pytest.mark.parametrize(("columns", "lines"), [("40", 6), (None, 1)])
def test_a_paragraph_fits_a_terminal_and_is_one_line_in_a_pipe(capsys, monkeypatch, columns, lines):
    if columns is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", columns)
    words = ["threshold"] * 16
    page = Page()
    page.text(" ".join(words), indent=2)
    page.show()
    printed = capsys.readouterr().out
    assert printed.split() == words
    assert len(printed.splitlines()) == lines
    assert all(line.startswith("  t") for line in printed.splitlines())
