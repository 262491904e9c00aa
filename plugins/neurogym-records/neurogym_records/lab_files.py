"""Tables of trials in the files of other programs: Parquet, Excel, jsPsych, Bpod, pyControl."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from neurogym_core import InvalidValueError, NeurogymError
from neurogym_core.tools import optional
from neurogym_records.csv_files import of_frame

BPOD = "SessionData"
"""Variable of the .mat files that Bpod writes."""
PYCONTROL = {"time", "type", "subtype", "content"}
"""Columns of the .tsv files that pyControl writes."""


def lab_table(path: Path, rows: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """Return the columns of a .parquet, .pqt, .xlsx, .json or .mat file.

    Args:
        path: the file.
        rows: of a .json file, the rows to read, bool (n,); None: all.

    Raises:
        InvalidValueError: the file has no table of trials.
        MissingDependencyError: Parquet needs pyarrow, and Excel openpyxl.
    """
    suffix = path.suffix.lower()
    if suffix in (".parquet", ".pqt"):
        optional("pyarrow", needed_for="Reading Parquet")
    if suffix == ".xlsx":
        optional("openpyxl", needed_for="Reading Excel files")
    read = {".json": partial(_of_json, rows=rows), ".mat": _of_mat, ".xlsx": _of_excel}.get(
        suffix, _of_parquet
    )
    try:
        return read(path)
    except NeurogymError:
        raise
    except Exception as error:  # readers of damaged files raise errors of many kinds
        raise InvalidValueError(
            f"{path} cannot be read as {suffix} ({type(error).__name__}: {str(error)[:80]})."
            " Expected a table of trials. Copy the file again, or save it as CSV."
        ) from error


def _of_parquet(path: Path) -> dict[str, np.ndarray]:
    import pandas as pd

    return of_frame(pd.read_parquet(path))


def _of_excel(path: Path) -> dict[str, np.ndarray]:
    """Return the first sheet; columns without a name are left out."""
    import pandas as pd

    frame = pd.read_excel(path)
    named = [name for name in frame.columns if not str(name).startswith("Unnamed: ")]
    return of_frame(frame[named].dropna(how="all"))


def _of_json(path: Path, rows: np.ndarray | None) -> dict[str, np.ndarray]:
    """Return a list of trials, as jsPsych saves it; JATOS has one such list per line."""
    import pandas as pd

    text = path.read_text(encoding="utf-8-sig")
    try:
        lists = [json.loads(text)]
    except json.JSONDecodeError:
        lists = [json.loads(line) for line in text.splitlines() if line.strip()]
    found = [(k, row) for k, one in enumerate(lists) for row in _trials_of(one, path)]
    if rows is not None:
        found = [one for one, is_read in zip(found, rows.tolist(), strict=True) if is_read]
    several = {"session": [k for k, _ in found]} if len(lists) > 1 else {}
    frame = pd.DataFrame([row for _, row in found]).assign(**several)
    # Without any value: missing numbers, such as the times of a subject who never answered.
    empty = {name: float for name in frame.columns if frame[name].isna().all()}
    return of_frame(frame.astype(empty))


def _trials_of(found: Any, path: Path) -> list[dict[str, Any]]:
    trials = found.get("trials", found.get("data")) if isinstance(found, dict) else found
    if not isinstance(trials, list) or not all(isinstance(one, dict) for one in trials):
        raise InvalidValueError(
            f"{path} has no list of trials. Expected JSON such as"
            ' [{"rt": 512, "correct": true}, …], as jsPsych saves it. Export it again, or as CSV.'
        )
    return trials


# ---- MATLAB, Bpod ----


def _of_mat(path: Path) -> dict[str, np.ndarray]:
    """Return Bpod's trials, or else the vectors of the most frequent length."""
    from scipy.io import loadmat

    try:
        found = loadmat(path, simplify_cells=True)
    except NotImplementedError as error:
        raise InvalidValueError(
            f"{path} is a MATLAB file of version 7.3. Expected version 7 or earlier. Save it with"
            " save(name, 'SessionData', '-v7')."
        ) from error
    if isinstance(found.get(BPOD), Mapping):
        return _of_bpod(found[BPOD], path)
    vectors = {name: np.atleast_1d(value) for name, value in found.items() if name[:2] != "__"}
    lengths = Counter(len(one) for one in vectors.values() if one.ndim == 1)
    if not lengths:
        raise InvalidValueError(
            f"{path} has no vector. Expected Bpod's {BPOD}, or a vector per column of the trials."
            " Save these, or a CSV file."
        )
    n = lengths.most_common(1)[0][0]
    return {name: _typed(one) for name, one in vectors.items() if one.shape == (n,)}


def _of_bpod(session: Mapping[str, Any], path: Path) -> dict[str, np.ndarray]:
    """Return the vectors of a session with a value per trial, and the onsets of the states.

    Fields of structs are ``struct.field``; ``States.<name>`` is the time in s from the start of
    the trial at which the state began, NaN if it was not visited.
    """
    n = int(session.get("nTrials", 0))
    if n < 1:
        raise InvalidValueError(
            f"{BPOD} of {path} has no trials (nTrials is {n}). Expected a finished session. Give"
            " another file."
        )
    columns: dict[str, np.ndarray] = {"trial": np.arange(1, n + 1)}
    flat = dict(session)
    for name, value in session.items():
        if isinstance(value, Mapping) and name != "RawEvents":
            flat |= {f"{name}.{inner}": one for inner, one in value.items()}
    for name, value in flat.items():
        values = np.atleast_1d(np.asarray(value, dtype=object if _mixed(value) else None))
        if values.ndim == 1 and len(values) >= n and values.dtype.kind in "biufU":
            columns[name] = values[:n]  # a list of types is drawn for more trials than are played
    trials = np.atleast_1d(session.get("RawEvents", {}).get("Trial", []))
    states = [one.get("States", {}) for one in trials.tolist() if isinstance(one, Mapping)]
    if len(states) == n:
        for name in dict.fromkeys(name for one in states for name in one):
            columns[f"States.{name}"] = np.array([_onset(one.get(name)) for one in states])
    return columns


def _mixed(value: Any) -> bool:
    return isinstance(value, list | Mapping)


def _onset(times: Any) -> float:
    values = np.ravel(np.asarray(np.nan if times is None else times, float))
    return float(values[0]) if len(values) else np.nan


def _typed(values: np.ndarray) -> np.ndarray:
    return values if values.dtype.kind in "biuf" else np.array([str(one) for one in values])


# ---- pyControl ----


def of_pycontrol(table: Mapping[str, np.ndarray], source: str) -> dict[str, np.ndarray]:
    """Return the trials of a session of pyControl: the variables that each trial printed.

    Args:
        table: the rows of its .tsv file: time, type, subtype and content.
        source: name of the file, for errors.

    Raises:
        InvalidValueError: the session printed no variables.
    """
    import pandas as pd

    if table["time"].dtype.kind not in "iuf":
        raise InvalidValueError(
            f"{source} is a session of pyControl whose column 'time' has texts. Expected seconds."
            " Copy the file again, or remove the damaged rows."
        )
    kind, subtype, content = (table[name].astype(str) for name in ("type", "subtype", "content"))
    rows = np.flatnonzero((kind == "variable") & (subtype == "print")).tolist()
    try:
        found = [json.loads(content[row]) for row in rows]
    except ValueError as error:
        raise InvalidValueError(
            f"{source} has a row of variables that is no JSON ({str(error)[:60]}). Expected"
            ' {"name": value, …}. Copy the file again.'
        ) from error
    if not found or not all(isinstance(one, dict) for one in found):
        raise InvalidValueError(
            f"{source} is a session of pyControl without printed variables. Expected a row per"
            " trial of the type variable and the subtype print. Call print_variables at the end of"
            " each trial, or write a table with a row per trial from the events."
        )
    columns = of_frame(pd.DataFrame(found))
    columns["time"] = table["time"][rows]
    said = dict(
        zip(subtype[kind == "info"].tolist(), content[kind == "info"].tolist(), strict=True)
    )
    named = {"subject": said.get("subject_id"), "session": said.get("start_time")}
    constants: dict[str, Sequence[Any]] = {
        name: np.full(len(rows), value) for name, value in named.items() if value is not None
    }
    return {"trial": np.arange(len(rows)), **constants, **columns}
