"""Write a report: findings as a self-contained HTML page, and a CSV file for each."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from neurogym_plot.styles import save_figure

from neurogym_behaviour.findings import Finding
from neurogym_core.tools import replacing

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem;
  color: #222 }
table { border-collapse: collapse; font-size: 0.85rem; display: block; overflow-x: auto }
th, td { text-align: right; padding: 0.15rem 0.6rem; border-bottom: 1px solid #ddd }
img { max-width: 100% } .not { color: #777 } dt { font-weight: 600 } dd { margin: 0 0 0.3rem 1rem }
"""
DPI = 110
"""Pixels per inch of the figures on the page; they are drawn twice as sharp."""
ROWS = 60
"""Maximum number of rows of a table on the page; the CSV file has all rows."""


def write_report(
    folder: Path, title: str, facts: Mapping[str, Any], findings: Sequence[Finding]
) -> Path:
    """Write ``report.html`` and ``<name>.csv`` for each finding; return the path of the page."""
    folder.mkdir(parents=True, exist_ok=True)
    for finding in findings:
        if finding.table is not None:
            with replacing(folder / f"{finding.name}.csv") as temporary:
                finding.table.to_csv(temporary, index=False, encoding="utf-8", lineterminator="\n")
    target = folder / "report.html"
    with replacing(target) as temporary:
        temporary.write_text(page(title, facts, findings), encoding="utf-8")
    return target


def write_figures(path: Path, findings: Sequence[Finding]) -> list[Path]:
    """Write each figure as SVG, PDF or PNG, and return the paths.

    A single figure is written to `path`. Several have the names of their findings: those of
    ``fig.pdf`` are written to ``fig-psychometric.pdf``, ``fig-history.pdf`` etc.

    Raises:
        InvalidValueError: the path has another suffix.
        FileNotWrittenError (OSError): a file cannot be written.
    """
    drawn = [one for one in findings if one.figure is not None]
    path.parent.mkdir(parents=True, exist_ok=True)
    targets = [
        path if len(drawn) == 1 else path.with_name(f"{path.stem}-{one.name}{path.suffix}")
        for one in drawn
    ]
    return [save_figure(one.figure, target) for one, target in zip(drawn, targets, strict=True)]


SCHEMA = 1
"""Version of the JSON of commands that write a report."""


def findings_data(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """Return findings as data for JSON, with all rows of their tables."""
    return [
        {
            "name": one.name,
            "title": one.title,
            "skipped": one.why_not,
            "notes": list(one.notes),
            "table": None if one.table is None else one.table.to_dict("records"),
        }
        for one in findings
    ]


def page(title: str, facts: Mapping[str, Any], findings: Sequence[Finding]) -> str:
    """Return the whole page, with every text of a record or task escaped."""
    listed = "".join(
        f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in facts.items()
    )
    parts = "\n".join(_section(finding) for finding in findings)
    return (
        '<!doctype html>\n<html lang="en">\n<head><meta'
        f' charset="utf-8"><title>{_text(title)}</title>'
        f"<style>{STYLE}</style></head>\n<body>\n<h1>{_text(title)}</h1>\n<dl>{listed}</dl>\n{parts}\n</body>\n</html>\n"
    )


def _section(finding: Finding) -> str:
    head = f'<h2 id="{_text(finding.name)}">{_text(finding.title)}</h2>'
    if finding.why_not is not None:
        return f'{head}\n<p class="not">Skipped: {_text(finding.why_not)}</p>'
    notes = "".join(f"<p>{_text(note)}</p>" for note in finding.notes)
    return "\n".join([head, _picture(finding), notes, _table(finding)])


def _picture(finding: Finding) -> str:
    if finding.figure is None:
        return ""
    buffer = io.BytesIO()
    finding.figure.savefig(buffer, format="png", dpi=2 * DPI)
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    width = round(DPI * finding.figure.get_size_inches()[0])
    return f'<img alt="{_text(finding.title)}" width="{width}" src="data:image/png;base64,{data}">'


def _table(finding: Finding) -> str:
    if finding.table is None:
        return ""
    shown = finding.table.head(ROWS).astype(object)
    shown = shown.where(shown.notna(), "–")  # `na_rep` leaves out columns of objects
    text = shown.to_html(
        index=False, escape=True, border=0, float_format=lambda value: f"{value:.4g}"
    )
    left = len(finding.table) - len(shown)
    return text + (f"<p>… and {left} more rows in {_text(finding.name)}.csv.</p>" if left else "")


def _text(value: Any) -> str:
    return html.escape(str(value), quote=True)
