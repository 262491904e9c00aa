"""`read_record`: read trials from this project's CSV, a lab's CSV or TSV, NWB, or BIDS events."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from neurogym_core import InvalidValueError, TrialRecord
from neurogym_core.tools import listed, unknown
from neurogym_study.csv_files import gathered, record_of, text_of
from neurogym_study.recipes import Recipe, evaluated, names_in, read_recipe, unit_factor

SUFFIXES = (".csv", ".tsv", ".nwb", ".parquet")
SECONDS = 20.0
"""Reaction times that are all shorter, in ms, are taken for seconds."""


def read_record(
    path: str | Path,
    recipe: str | Path | Recipe | Mapping[str, str] | None = None,
    *,
    scales: Mapping[str, float] | None = None,
) -> TrialRecord:
    """Return the trials of a file as a record, with our names and units.

    A file that already has the column ``outcome`` needs no recipe. Other tables need ``correct`` (1
    or 0; empty: not answered), by a recipe or by name. Columns that a recipe neither defines nor
    reads keep their names.

    Args:
        path: .csv, .tsv (also BIDS events), .nwb (its trials; needs pynwb), or .parquet.
        recipe: a `Recipe`, the name of one of this package ("ibl", "bids"), a .toml file, or name
            -> expression.
        scales: name -> factor, such as 1000 for reaction times in s; after the recipe.

    Raises:
        UnknownNameError: no such recipe, or a column that the file lacks.
        InvalidValueError: not a table, no outcomes, or reaction times that are not in ms.
        MissingDependencyError: pynwb is not installed.
    """
    path = Path(path)
    table, meta = _table(path)
    source = str(path)
    if isinstance(recipe, Mapping):
        recipe = Recipe("", "", dict(recipe))
    elif recipe is not None and not isinstance(recipe, Recipe):
        recipe = read_recipe(recipe)
    if table and not len(next(iter(table.values()))):
        raise InvalidValueError(
            f"{source} has a header and no trials. Expected a row per trial. Give a file with"
            " trials."
        )
    columns = dict(table)
    if recipe is not None:
        recipe = recipe.of(table)
        columns |= {
            name: evaluated(expression, table, source)
            for name, expression in recipe.columns.items()
        }
        read = {name for text in recipe.columns.values() for name in names_in(text, table)}
        columns = {
            name: values
            for name, values in columns.items()
            if name not in read or name in recipe.columns
        }
        for name, unit in recipe.units.items():
            values = _numeric(name, columns, source) * unit_factor(unit)
            # To the ns, so that files with times in s give the same numbers again.
            columns[name] = np.round(values, 6)
    for name, factor in (scales or {}).items():
        columns[name] = _numeric(name, columns, source) * factor
    renewed = recipe is not None and "correct" in recipe.columns
    if "correct" in columns and ("outcome" not in columns or renewed):
        columns["outcome"] = _outcomes(columns["correct"], source)
    if not any(name == "outcome" or name.endswith(".outcome") for name in columns):
        raise InvalidValueError(
            f"{source} has no column 'outcome' or 'correct', but {', '.join(list(table)[:12])}."
            " Expected one of them. Name it: --map correct=THEIRS, or give a --recipe."
        )
    record = TrialRecord(columns, meta=meta)
    _check_copies(record, source)
    if "steps" not in record:
        _check_times(record, source)
    return record


def with_columns(recipe: Recipe | None, columns: Mapping[str, str]) -> Recipe | None:
    """Return a recipe with further expressions, which override those of the same name."""
    if not columns:
        return recipe
    if recipe is None:
        return Recipe("", "", dict(columns))
    units = {name: unit for name, unit in recipe.units.items() if name not in columns}
    return replace(recipe, columns={**recipe.columns, **columns}, units=units)


def _table(path: Path) -> tuple[dict[str, np.ndarray], Mapping[str, Any]]:
    """Return the columns of a file, and the facts that lie beside it."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InvalidValueError(
            f"{str(path)!r} was given. Expected trials in a file that ends in"
            f" {', '.join(SUFFIXES)}. Convert it to one of them."
        )
    if not path.is_file():
        raise InvalidValueError(
            f"There is no file {str(path)!r}. Expected trials ({', '.join(SUFFIXES)}). Check the"
            " path."
        )
    if suffix == ".nwb":
        from neurogym_study.exchange import nwb_table  # needs pynwb

        return nwb_table(path)
    from neurogym_study.exchange import bids_columns, is_ours, read_meta

    meta = read_meta(path)
    if suffix == ".parquet":
        return gathered(_by_pandas(path)), meta
    text = text_of(path)
    if suffix == ".csv":
        try:
            record = record_of(text, str(path), meta)
            if "outcome" in record:
                return dict(record), meta
        except InvalidValueError:
            pass  # other programs write CSV files that `to_csv` would not
        return _by_pandas(path, text, *_dialect(text)), meta
    table = _by_pandas(path, text, "\t", ours=is_ours(path))
    return bids_columns(table, path) or table, meta


def _by_pandas(
    path: Path,
    text: str | None = None,
    separator: str = ",",
    decimal: str = ".",
    *,
    ours: bool = False,
) -> dict[str, np.ndarray]:
    """Return the columns of a text, or of a Parquet file.

    In files of `to_bids` (`ours`), texts such as "NA" are no missing values."""
    import pandas as pd

    names: list[str] = []
    try:
        if text is None:
            frame = pd.read_parquet(path)
        else:
            # pandas before 3.1 rounds the last digit of some numbers unless it is asked not to;
            # later versions warn when they are asked.
            version = tuple(int(part) for part in pd.__version__.split(".")[:2])
            exact: dict[str, Any] = {"float_precision": "round_trip"} if version < (3, 1) else {}
            header = pd.read_csv(
                io.StringIO(text), sep=separator, header=None, nrows=1, dtype=str
            )
            names = [str(name).strip() for name in header.iloc[0]]
            frame = pd.read_csv(
                io.StringIO(text),
                sep=separator,
                decimal=decimal,
                na_values=["n/a"],
                keep_default_na=not ours,
                skipinitialspace=not ours,
                **exact,
            )
    except ValueError as error:  # pandas's errors are ValueErrors
        raise InvalidValueError(
            f"{path} is not a table ({str(error)[:80]}). Expected a header line and one row per"
            " trial. Correct the file."
        ) from error
    twice = sorted({name for name in names if names.count(name) > 1})  # pandas renames them
    if twice:
        raise InvalidValueError(
            f"{path} has the column {listed(twice)} more than once. Expected a name for each"
            " column. Rename or remove one."
        )
    # In files of `to_bids` an empty text is an empty cell, so that "n/a" is the text.
    return of_frame(frame, missing="n/a" if ours else "")


def _dialect(text: str) -> tuple[str, str]:
    """Return the separator and the decimal sign of a .csv file: those of Europe, or of the US."""
    head, _, rows = text[:20_000].partition("\n")
    if ";" not in head or "," in head:
        return ",", "."
    return ";", "," if re.search(r"\d,\d", rows) else "."


def of_frame(frame: Any, missing: str = "") -> dict[str, np.ndarray]:
    """Return the columns of a pandas frame as arrays of numbers, bools or texts.

    Missing texts are `missing`."""
    columns = {}
    for name in frame.columns:
        values = frame[name]
        if values.dtype.kind in "biuf":
            columns[str(name)] = values.to_numpy()
        elif len(values) and isinstance(values.iloc[0], np.ndarray | list | tuple):
            columns[str(name)] = np.stack([np.asarray(one) for one in values])
        else:
            columns[str(name)] = np.array(
                [missing if one is None or one != one else str(one) for one in values], dtype=str
            )
    return columns


def _numeric(name: str, columns: Mapping[str, np.ndarray], source: str) -> np.ndarray:
    if name not in columns or columns[name].dtype.kind not in "iuf":
        known = [other for other in columns if columns[other].dtype.kind in "iuf"]
        raise unknown("numeric column", name, known, of=source)
    return columns[name]


def _outcomes(correct: np.ndarray, source: str) -> np.ndarray:
    values = correct.astype(float) if correct.dtype.kind in "biuf" else np.full(len(correct), 2.0)
    if not np.isin(values[~np.isnan(values)], (0, 1)).all():
        raise InvalidValueError(
            f"Column 'correct' of {source} has values other than 0, 1 and empty. Expected these."
            " Map another column to it, or an expression: correct = 'feedbackType > 0'."
        )
    return np.where(np.isnan(values), "miss", np.where(values == 1, "correct", "error"))


def _check_copies(record: TrialRecord, source: str) -> None:
    """Raise an error if rows of a file are the same trial: its numbers must occur once."""
    keys = [name for name in ("subject", "env", "session", "trial") if name in record]
    if "trial" not in keys:
        return
    if record["trial"].dtype.kind == "f":  # practice trials may have no number
        record = record[~np.isnan(record["trial"])]
    codes = np.stack([np.unique(record[name], return_inverse=True)[1].reshape(-1) for name in keys])
    copies = len(record) - len(np.unique(codes, axis=1).T)
    if copies:
        raise InvalidValueError(
            f"{copies:,} of {len(record):,} rows of {source} have the same {', '.join(keys)} as"
            " another. Expected each trial once. Leave copies out, or give the column in which"
            " these trials differ: --map session=THEIRS."
        )


def _check_times(record: TrialRecord, source: str) -> None:
    for name in record.columns:
        if name.rpartition(".")[2] != "reaction_time" or record[name].dtype.kind not in "iuf":
            continue
        if np.isinf(record[name].astype(float)).any():
            raise InvalidValueError(
                f"Column {name!r} of {source} has infinite times. Expected ms, and empty cells"
                " where nothing was answered. Correct the file."
            )
        times = record[name][np.isfinite(record[name].astype(float))]
        if len(times) and 0 < times.max() < SECONDS:
            raise InvalidValueError(
                f"Column {name!r} of {source} has times from {times.min():g} to {times.max():g}."
                " Expected ms; these look like seconds. Give --scale reaction_time=1000, or in a"
                ' recipe: [units] reaction_time = "s".'
            )
