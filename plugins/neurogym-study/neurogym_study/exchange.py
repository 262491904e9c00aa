"""Write trial records to files that other laboratories read, and read them back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from neurogym_core import TrialRecord
from neurogym_core.errors import InvalidValueError
from neurogym_core.files import replacing


def write_csv(record: TrialRecord, path: str | Path) -> None:
    """Write a record to a CSV file, and its `meta`, if any, to a .json file of the same name."""
    path = Path(path)
    record.to_csv(path)
    if record.meta and path.suffix:  # not for pipes and devices
        write_meta(record.meta, path)


def write_meta(meta: Mapping[str, Any], path: Path) -> None:
    """Write facts about a record beside its file."""
    with replacing(path.with_suffix(".json")) as temporary:
        temporary.write_text(
            json.dumps(dict(meta), indent=2, default=_plain) + "\n", encoding="utf-8"
        )


def read_meta(path: Path) -> dict[str, Any]:
    """Return the facts beside a file of trials; {} without any."""
    try:
        found = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    known = isinstance(found, dict) and "schema" in found
    return {name: _frozen(value) for name, value in found.items()} if known else {}


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    return str(value)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def nwb_table(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the trials of an NWB file as columns, and the facts that this package wrote."""
    raise InvalidValueError(f"{path} cannot be read yet. Convert its trials to CSV.")
