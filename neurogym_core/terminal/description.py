"""Descriptions of classes: read from a class, and added to a page."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import Any

from neurogym_core.ecosystem.names import clean
from neurogym_core.ecosystem.records import Reference
from neurogym_core.terminal.output import Page
from neurogym_core.terminal.timeline import timeline, written

_TABLES: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    ("parameters", (("name", ""), ("type", "type"), ("default", "default"), ("doc", "doc"))),
    (
        "channels",
        (("name", ""), ("start", "from"), ("stop", "to"), ("kind", "encoder"), ("names", "units")),
    ),
    (
        "actions",
        (
            ("name", ""),
            ("size", "size"),
            ("kind", "kind"),
            ("names", "choices"),
            ("axis", "range"),
            ("rest", "rest"),
            ("trigger", "trigger"),
        ),
    ),
    ("conditions", (("name", ""), ("distribution", "drawn from"))),
)


def describe_class(found: type) -> dict[str, Any]:
    """Return docstring and parameters of any class."""
    return {"docstring": inspect.getdoc(found) or "", "parameters": _parameters(found)}


def _parameters(found: type) -> list[dict[str, Any]]:
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return []
    named = (
        one
        for one in signature.parameters.values()
        if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    )
    return [_parameter(one) for one in named]


def _parameter(one: inspect.Parameter) -> dict[str, Any]:
    kind = inspect.formatannotation(one.annotation) if one.annotation is not one.empty else ""
    row: dict[str, Any] = {"name": one.name, "type": kind.strip("'\""), "doc": ""}
    if one.default is not one.empty:
        row["default"] = (
            one.default if isinstance(one.default, int | float | str | None) else repr(one.default)
        )
    return row


def citation(reference: Reference) -> str:
    """Return a reference in one line."""
    year = f"({reference.year})" if reference.year else ""
    parts = (
        reference.authors,
        year,
        reference.title,
        reference.journal,
        f"https://doi.org/{reference.doi}",
    )
    return " ".join(part for part in parts if part)


def add_description(page: Page, description: Mapping[str, Any]) -> None:
    """Add a description from `describe_class` or `neurogym_core.tasks.describe.describe` to a page.

    A value of an unexpected form is left out, because the description may come from the code of a
    package or from a registry.
    """
    docstring = description.get("docstring")
    if isinstance(docstring, str) and docstring.strip():
        page.heading("description")
        page.text(docstring, indent=2, keep_lines=True)
    for key, columns in _TABLES:
        if key == "conditions":
            _show_periods(page, description.get("periods"))
        rows = _rows(description.get(key), [name for name, _ in columns])
        if rows:
            page.heading(key)
            page.table([head for _, head in columns], rows)
    rewards = description.get("rewards")
    if isinstance(rewards, dict) and rewards:
        page.heading("rewards")
        page.facts([(clean(str(name)), _value(amount)) for name, amount in rewards.items()])
    if isinstance(description.get("payoff"), str) and description["payoff"]:
        page.text(description["payoff"], indent=2)
    _show_session(page, description)


def _show_session(page: Page, description: Mapping[str, Any]) -> None:
    facts = [
        ("step", written(description.get("dt"))),
        ("supervised", {"True": "yes", "False": "no"}.get(str(description.get("supervised")))),
        ("trials per session", _value(description.get("trials_per_session"))),
    ]
    if any(value for _, value in facts):
        page.heading("session")
        page.facts(facts)


def _show_periods(page: Page, periods: Any) -> None:
    rows = [one for one in periods if isinstance(one, dict)] if isinstance(periods, list) else []
    if rows:
        page.heading("periods of a trial")
        pairs = [(clean(str(row.get("name", "?"))), row.get("duration")) for row in rows]
        for line in timeline(pairs, min(page.width, 100) - 2):
            page.text(line, indent=2, keep_lines=True)


def _rows(value: Any, keys: list[str]) -> list[list[str]]:
    if not isinstance(value, list):
        return []
    return [[_value(row.get(key)) for key in keys] for row in value if isinstance(row, dict)]


def _value(value: Any) -> str:
    """Return a JSON value as text; a distribution becomes ``uniform(500, 1500)``."""
    if value is None:
        return ""
    if isinstance(value, dict) and len(value) == 1:
        return written(value).removesuffix(" ms")
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return clean(", ".join(value))
    if isinstance(value, list) and value and all(_is_number(one) for one in value):
        return f"[{', '.join(f'{one:g}' for one in value)}]"
    if isinstance(value, dict | list | bool):
        return json.dumps(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
