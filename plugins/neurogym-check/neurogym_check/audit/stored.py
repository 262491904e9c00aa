"""Write measured shortcuts into manifests, and compare them with the stored ones.

The numbers of a task are the table ``[task.shortcuts]`` of its row. It belongs to
``ngym check --write-shortcuts``; the rest of the manifest stays as it is.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from neurogym_check.audit.measures import Audit
from neurogym_core import InvalidValueError
from neurogym_core.tools import TaskInfo, replacing

TOLERANCE = 0.03
"""Largest difference from a stored number. Seeds are fixed, but the last bits of a fit depend on
the processor, and may turn some of a thousand answers."""
_HEADER = "[task.shortcuts]"
_INLINE = re.compile(r"\s*shortcuts\s*=")


Stored = tuple[float, float, float]
"""Performance, and the ends of its interval."""


def to_store(audit: Audit) -> dict[str, Stored]:
    """Return performances and intervals of an audit as they are stored, with three digits."""
    return {
        name: (round(one.score, 3) + 0.0, round(one.low, 3) + 0.0, round(one.high, 3) + 0.0)
        for name, one in audit.measures.items()
    }


def differences(known: Mapping[str, float], fresh: Mapping[str, Stored]) -> list[str]:
    """Return the differences between stored performances and measured ones, in words."""
    found = []
    for name in dict.fromkeys((*known, *fresh)):
        if name not in known:
            found.append(f"{name} is not stored ({fresh[name][0]:.3f})")
        elif name not in fresh:
            found.append(f"{name} is stored, but not measured")
        elif abs(known[name] - fresh[name][0]) > TOLERANCE:
            found.append(f"{name} is {fresh[name][0]:.3f}, stored {known[name]:.3f}")
    return found


def manifest_path(info: TaskInfo) -> Path:
    """Return the path of the manifest with the row of a task; imports nothing of its package.

    Raises:
        InvalidValueError: the package has no manifest.
    """
    points = metadata.distribution(info.distribution).entry_points
    for point in points.select(group="neurogym.manifest"):
        package, _, file = point.value.partition(":")
        top, *inner = package.split(".")
        spec = find_spec(top)
        for folder in (spec and spec.submodule_search_locations) or ():
            path = Path(folder, *inner, file)
            if path.is_file():
                return path
    raise InvalidValueError(
        f"{info.distribution} has no manifest. Expected ngym.toml with a row for {info.name}. Write"
        " one, and name it in the entry-point group neurogym.manifest."
    )


def write(path: Path, numbers: Mapping[str, Mapping[str, Stored]]) -> list[str]:
    """Replace the shortcuts of tasks in a manifest, and return the names of changed rows.

    Args:
        path: the manifest.
        numbers: task -> shortcut -> performance and interval.

    Raises:
        InvalidValueError: the manifest has no row of one of these tasks.
    """
    before = path.read_text("utf-8")
    lines = before.splitlines()
    changed = []
    for task, shortcuts in numbers.items():
        first, after = _row(lines, task, path.name)
        row = _with_shortcuts(lines[first:after], shortcuts)
        if row != lines[first:after]:
            changed.append(task)
            lines[first:after] = row
    text = "\n".join(lines) + "\n"
    if changed:
        tomllib.loads(text)  # a manifest of a form that this function does not expect
        with replacing(path) as temporary:
            Path(temporary).write_text(text, "utf-8")
    return changed


def _row(lines: list[str], task: str, file: str) -> tuple[int, int]:
    """Return the first line of the row of a task, and the line after its last."""
    heads = [k for k, line in enumerate(lines) if re.match(r"\s*\[\[(task|wrapper)\]\]", line)]
    for first, after in zip(heads, [*heads[1:], len(lines)], strict=True):
        fields = next(
            (k for k in range(first + 1, after) if lines[k].lstrip().startswith("[")), after
        )
        named = (re.match(r"\s*name\s*=\s*[\"'](.*?)[\"']", lines[k]) for k in range(first, fields))
        if "task" in lines[first] and any(found and found[1] == task for found in named):
            return first, after
    raise InvalidValueError(
        f"{file} has no row of {task}. Expected [[task]] and name = {task!r} on separate lines."
        " Add the row, and write the shortcuts again."
    )


def _with_shortcuts(row: list[str], shortcuts: Mapping[str, Stored]) -> list[str]:
    """Return the lines of a row with another table of shortcuts.

    It takes the place of the old one; a new one comes before the other tables.
    """
    table = [_HEADER, *(f"{name} = {list(numbers)}" for name, numbers in shortcuts.items())]
    kept = [line for line in row if not _INLINE.match(line)]
    start = next((k for k, line in enumerate(kept) if line.strip() == _HEADER), None)
    stop = _next_table(kept, 1 if start is None else start + 1)
    if start is not None:
        return [*kept[:start], *table, *kept[stop:]]
    rest = kept[stop:]
    while rest and not rest[0].strip():
        rest = rest[1:]
    # A manifest ends with one newline; between rows and tables is an empty line.
    ends = [""] if rest or row[-1:] == [""] else []
    return [*kept[:stop], "", *table, *ends, *rest]


def _next_table(lines: list[str], after: int) -> int:
    """Return where the next table begins, with the comments and empty lines above it."""
    place = next((k for k in range(after, len(lines)) if _begins_table(lines[k])), len(lines))
    while not lines[place - 1].strip() or lines[place - 1].lstrip().startswith("#"):
        place -= 1
    return place


def _begins_table(line: str) -> bool:
    return line.lstrip().startswith("[")


__all__ = ["differences", "manifest_path", "to_store", "write"]
