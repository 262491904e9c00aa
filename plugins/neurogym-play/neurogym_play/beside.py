"""Results of others, beside which the page shows those of a person."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from neurogym_core import UnknownTaskError
from neurogym_core.tools import TaskInfo, find_task, is_file_reference

DEFAULTS = "The others did the task with its default settings."


def beside_of(task: Any, *, changed: bool) -> dict[str, Any]:
    """Return results of the ideal, of networks and of animals in a task, as `add_task` takes them.

    Networks and curves are those of the gallery and of published summaries at the time of the
    release; the ideal and chance are those of the manifest.

    Args:
        task: as it was named.
        changed: whether it has other settings than by default, which the page then says.
    """
    info = _info_of(task)
    known = json.loads(files(__package__).joinpath("beside.json").read_text("utf-8"))
    shown = assembled(info, known.get(info.id, {}) if info else {})
    says = changed and (shown["performance"] or shown["curves"])
    return {**shown, "note": DEFAULTS if says else ""}


def assembled(info: TaskInfo | None, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return results in the form of the page.

    Args:
        info: the task; None: it has no manifest.
        known: "networks", pairs of name and mean performance, and "curves".

    Returns:
        "performance", "curves", and "missing", of "networks" and "animals" those without results.
    """
    rows, curves = [*known.get("networks", [])], [*known.get("curves", [])]
    has = {"networks": bool(rows), "animals": any("times" in one for one in curves)}
    if info is not None and isinstance(info.ideal.get("value"), int | float):
        rows.insert(0, [f"ideal ({info.ideal['by']})", info.ideal["value"]])
    if info is not None and info.chance is not None:
        rows.append(["chance", info.chance])
    missing = [who for who, is_known in has.items() if not is_known]
    return {"performance": rows, "curves": curves, "missing": missing}


def _info_of(task: Any) -> TaskInfo | None:
    """Return the installed task of a name; None for a file or a class."""
    if not isinstance(task, str) or is_file_reference(task):
        return None
    try:
        return find_task(task)
    except UnknownTaskError:
        return None
