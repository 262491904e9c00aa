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

_TABLES: dict[str, dict[str, str]] = {
    "parameters": {"name": "", "type": "type", "default": "default", "doc": "doc"},
    "channels": {"name": "", "start": "from", "stop": "to", "kind": "encoder", "names": "units"},
    "actions": {
        "name": "",
        "size": "size",
        "kind": "kind",
        "names": "choices",
        "axis": "range",
        "rest": "rest",
        "trigger": "trigger",
    },
    "periods": {},
    "conditions": {"name": "", "distribution": "drawn from"},
}
"""{part of a description: {field: head of the column}}"""
_NAMES = 24
"""Most names in a cell; of more, the first two and the last one are shown."""


def describe_class(found: type) -> dict[str, Any]:
    """Return docstring and parameters of any class."""
    try:
        parameters = inspect.signature(found).parameters.values()
    except (TypeError, ValueError):
        parameters = {}.values()  # type: ignore[assignment]
    rows = []
    for one in parameters:
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            continue
        kind = inspect.formatannotation(one.annotation) if one.annotation is not one.empty else ""
        row: dict[str, Any] = {"name": one.name, "type": kind.strip("'\""), "doc": ""}
        if one.default is not one.empty:
            plain = isinstance(one.default, int | float | str | None)
            row["default"] = one.default if plain else repr(one.default)
        rows.append(row)
    return {"docstring": inspect.getdoc(found) or "", "parameters": rows}


def citation(reference: Reference) -> str:
    """Return a reference in one line."""
    parts = (
        reference.cited,
        reference.title,
        reference.journal,
        f"https://doi.org/{reference.doi}",
    )
    return ". ".join(part.rstrip(".") for part in parts if part)


def add_description(page: Page, description: Mapping[str, Any]) -> None:
    """Add a description from `describe_class` or `neurogym_core.tasks.describe.describe` to a page.

    A value of an unexpected form is left out, because the description may come from the code of a
    package or from a registry.
    """
    docstring = description.get("docstring")
    if isinstance(docstring, str) and docstring.strip():
        page.heading("description")
        page.prose(docstring, indent=2)
    for key, columns in _TABLES.items():
        found = description.get(key)
        rows = [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []
        if not rows:
            continue
        if key == "periods":
            page.heading("periods of a trial")
            pairs = [(clean(str(row.get("name", "?"))), row.get("duration")) for row in rows]
            for line in timeline(pairs, min(page.width, 100) - 2):
                page.text(line, indent=2, keep_lines=True)
            if repeated := [clean(str(row.get("name"))) for row in rows if row.get("repeats")]:
                page.text(f"A trial may visit several times: {', '.join(repeated)}.", indent=2)
        else:
            page.heading(key)
            cells = [[_value(row.get(name)) for name in columns] for row in rows]
            page.table(list(columns.values()), cells)
    rewards = description.get("rewards")
    if isinstance(rewards, dict) and rewards:
        page.heading("rewards")
        page.facts([(clean(str(name)), _value(amount)) for name, amount in rewards.items()])
    if isinstance(description.get("payoff"), str) and description["payoff"]:
        page.text(description["payoff"], indent=2)
    facts = [
        ("step", written(description.get("dt"))),
        ("supervised", {"True": "yes", "False": "no"}.get(str(description.get("supervised")))),
        ("trials per session", _value(description.get("trials_per_session"))),
    ]
    if any(value for _, value in facts):
        page.heading("session")
        page.facts(facts)


def _value(value: Any) -> str:
    """Return a JSON value as text; a distribution becomes ``uniform(500, 1500)``."""
    if value is None:
        return ""
    if isinstance(value, dict) and len(value) == 1:
        return written(value).removesuffix(" ms")
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        shown = value if len(value) <= _NAMES else [*value[:2], "…", value[-1]]
        return clean(", ".join(shown))
    if isinstance(value, list) and value and all(type(one) in (int, float) for one in value):
        return f"[{', '.join(f'{one:g}' for one in value)}]"
    if isinstance(value, dict | list | bool):
        return json.dumps(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
