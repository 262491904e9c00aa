"""The table of a sweep: a Parquet file with one row per run and test."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from neurogym_core.tools import replacing
from neurogym_sweep.store import TABLE_FILE, Store

FIRST = {"key": pa.string(), "status": pa.string(), "error": pa.string()}
TESTS = {"test": pa.int64(), "last": pa.bool_()}
LAST = {
    "run_seconds": pa.float64(),
    "started": pa.string(),
    "host": pa.string(),
    "versions": pa.string(),
}
FIXED = {**FIRST, **TESTS, **LAST}
PART = 5000
"""Rows that are in memory at a time."""


def write_table(store: Store) -> Path:
    """Write the results of the runs of the newest command, in the order of its rows.

    Columns: ``key`` (the folder of the run), ``status``, ``error``; the settings that vary;
    ``test`` (number of the test of the run), ``last`` (whether it is the last one); the results;
    ``run_seconds``, ``started``, ``host`` and ``versions``. A run that failed has one row with its
    error. A result with the name of another column is called ``result.NAME``.
    """
    runs = store.read_plan()["runs"]
    settings, results = _schema(store, runs)
    columns = {
        **FIRST,
        **settings,
        **TESTS,
        **{_renamed(name, settings): kind for name, kind in results.items()},
        **LAST,
    }
    schema = pa.schema(list(columns.items()))
    target = store.folder / TABLE_FILE
    with replacing(target) as temporary, pq.ParquetWriter(temporary, schema) as writer:
        part: list[dict[str, Any]] = []
        for row in _rows(store, runs, settings):
            part.append({name: _cell(row.get(name), kind) for name, kind in columns.items()})
            if len(part) >= PART:
                writer.write_table(pa.Table.from_pylist(part, schema))
                part = []
        writer.write_table(pa.Table.from_pylist(part, schema))
    return target


def settings_of(store: Store) -> list[str]:
    """Return the names of the settings that vary, in order."""
    return list(
        dict.fromkeys(name for run in store.read_plan()["runs"] for name in run["settings"])
    )


def _rows(store: Store, runs: Iterable[Any], settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for run in runs:
        result = store.result(run["key"])
        if result is None:
            continue
        common = {name: run["settings"].get(name) for name in settings}
        common |= {"key": run["key"], "versions": json.dumps(result["versions"], sort_keys=True)}
        common |= {
            name: result[name] for name in ("status", "error", "run_seconds", "started", "host")
        }
        tests = result["rows"] or [{}]
        for number, test in enumerate(tests):
            measured = {_renamed(name, settings): value for name, value in test.items()}
            at = {"test": number, "last": number == len(tests) - 1} if result["rows"] else {}
            yield {**measured, **common, **at}


def _schema(store: Store, runs: Iterable[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the types of the settings and of the results."""
    settings: dict[str, set[str]] = {}
    results: dict[str, set[str]] = {}
    for run in runs:
        for name, value in run["settings"].items():
            settings.setdefault(name, set()).add(_kind(value))
        for row in (store.result(run["key"]) or {"rows": []})["rows"]:
            for name, value in row.items():
                results.setdefault(name, set()).add(_kind(value))
    return (
        {name: _type(kinds) for name, kinds in settings.items()},
        {name: _type(kinds) for name, kinds in results.items()},
    )


def _renamed(name: str, settings: dict[str, Any]) -> str:
    return f"result.{name}" if name in settings or name in FIXED else name


def _kind(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int" if -(2**63) <= value < 2**63 else "text"
    return "float" if isinstance(value, float) else "text"


def _type(kinds: set[str]) -> Any:
    kinds = kinds - {"none"}
    if kinds == {"bool"}:
        return pa.bool_()
    if kinds == {"int"}:
        return pa.int64()
    if kinds and kinds <= {"int", "float"}:
        return pa.float64()
    return pa.string()


def _cell(value: Any, kind: Any) -> Any:
    if value is None:
        return None
    if kind == pa.string() and not isinstance(value, str):
        return json.dumps(value)
    return float(value) if kind == pa.float64() else value
