"""`read_record`: read trials from this project's files, or from those of laboratories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from neurogym_behaviour.behaviour import SIDES, STRENGTHS

from neurogym_core import InvalidValueError, TrialRecord
from neurogym_core.tools import listed, unknown
from neurogym_records.csv_files import TextTable, gathered
from neurogym_records.exchange import bids_columns, events_of, is_ours, nwb_table, read_meta
from neurogym_records.lab_files import PYCONTROL, lab_table, of_pycontrol
from neurogym_records.recipes import Recipe, evaluated, names_in, read_recipe, unit_factor

SUFFIXES = (".csv", ".tsv", ".txt", ".parquet", ".pqt", ".xlsx", ".json", ".mat", ".nwb")
LARGEST = 1e12
"""Largest number of a strength, a time or a trial."""
PERCENT = 100.0
"""Strengths of a subject that differ from those of the others by about this factor are in another
unit."""
SECONDS = 20.0
"""Reaction times whose median is shorter, in ms, are taken for seconds."""
NOTES = "notes"
"""Key of `meta`: sentences on rows that were left out, and on the encoding of the file."""
SOURCES = "sources"
"""Key of `meta`: columns of the file that expressions read, and that are no conditions."""


def read_record(
    path: str | Path,
    recipe: str | Path | Recipe | Mapping[str, str] | None = None,
    *,
    scales: Mapping[str, float] | None = None,
) -> TrialRecord:
    """Return the trials of a file as a record, with our names and units.

    A file that already has the column ``outcome`` needs no recipe. Other tables need ``correct`` (1
    or 0; empty: not answered), by a recipe or by name. The columns of the file keep their names,
    unless a recipe renames or redefines them. Without a recipe, events are read too.
    ``meta["notes"]`` says what was left out or inferred.

    Args:
        path: .csv, .tsv, .txt (separated by commas, semicolons, tabs or bars; UTF-8, UTF-16 or
            Windows-1252; also BIDS events and sessions of pyControl), .parquet or .pqt, .xlsx (its
            first sheet), .json (jsPsych), .mat (Bpod, or a vector per column), or .nwb (its
            trials).
        recipe: a `Recipe`, the name of one of this package ("ibl", "bids", "jspsych", "psychopy",
            "pycontrol", "bpod", "neurogym-jspsych"), a .toml file, or name -> expression.
        scales: name -> factor, such as 1000 for reaction times in s; after the recipe.

    Raises:
        UnknownNameError: no such recipe, or a column that the file lacks.
        InvalidValueError: not a table, no outcomes, the same trial twice, reaction times that are
            not in ms, or a subject in other units than the others.
        MissingDependencyError: pynwb (NWB), pyarrow (Parquet) or openpyxl (Excel) is not installed.
    """
    path = Path(path)
    table, meta, notes = _table(path)
    source = str(path)
    if isinstance(recipe, Mapping):
        recipe = Recipe("", "", dict(recipe))
    elif recipe is not None and not isinstance(recipe, Recipe):
        recipe = read_recipe(recipe)
    _check_rows(table, source)
    columns = dict(table)
    sources: tuple[str, ...] = ()
    if recipe is not None:
        recipe = recipe.of(table)
        trials = recipe.trials(table, source)
        if not trials.all():
            left_out = int((~trials).sum())
            notes.append(f"{left_out:,} rows that are no trials ({recipe.rows}) were left out.")
            table = {name: values[trials] for name, values in table.items()}
            _check_rows(table, source)
            if path.suffix.lower() == ".json":
                # Again, with columns and types of the trials alone: true and false are numbers in
                # a column that the other rows lack.
                table = gathered(lab_table(path, trials))
        columns, sources = _by_recipe(recipe, table, source)
    for name, factor in (scales or {}).items():
        columns[name] = _numeric(name, columns, source) * factor
    renewed = recipe is not None and "correct" in recipe.columns
    if "correct" in columns and ("outcome" not in columns or renewed):
        columns["outcome"] = _outcomes(columns["correct"], source)
        if missing := int((columns["outcome"] == "miss").sum()):
            notes.append(
                f"{missing:,} of {len(columns['outcome']):,} trials have no 'correct': they count"
                " as not answered."
            )
    if not any(name == "outcome" or name.endswith(".outcome") for name in columns):
        raise InvalidValueError(
            f"{source} has no column 'outcome' or 'correct', but {', '.join(list(table)[:12])}."
            " Expected one of them. Name it: --map correct=THEIRS, or give a --recipe."
        )
    if "subject" in columns:
        _check_subjects(columns["subject"], source)
    if "steps" not in columns:
        columns = _checked(columns, source, notes)
    facts = {NOTES: tuple(notes), SOURCES: sources}
    meta = {**meta, **{k: v for k, v in facts.items() if v}}
    # Of another's table, rows may have been left out, and numbers of trials renamed.
    events = events_of(path, columns) if recipe is None else None
    record = TrialRecord(columns, meta=meta, events=events)
    _check_copies(record, source)
    if "steps" not in record:
        _check_times(record, source)
        _check_strengths(record, source)
    return record


def _by_recipe(
    recipe: Recipe, table: Mapping[str, np.ndarray], source: str
) -> tuple[dict[str, np.ndarray], tuple[str, ...]]:
    """Return the columns of the record, and those of the file that expressions read.

    A column of the file that is only renamed does not keep its former name.
    """
    columns = dict(table)
    for name, text in recipe.columns.items():
        columns[name] = evaluated(text, table, source)
    renamed = {text for name, text in recipe.columns.items() if text in table}
    read = {name for text in recipe.columns.values() for name in names_in(text, table)}
    for name in renamed - set(recipe.columns):
        del columns[name]
    for name, unit in recipe.units.items():
        values = _numeric(name, columns, source) * unit_factor(unit)
        # To the ns, so that files with times in s give the same numbers again.
        columns[name] = np.round(values, 6)
    read = read - renamed - set(recipe.columns)
    return columns, tuple(sorted(read | set(recipe.no_conditions)))


def _check_rows(table: Mapping[str, np.ndarray], source: str) -> None:
    if not table or not len(next(iter(table.values()))):
        found = "a header and no trials" if table else "no header and no trials"
        raise InvalidValueError(
            f"{source} has {found}. Expected a row per trial. Give a file with trials."
        )


def with_columns(recipe: Recipe | None, columns: Mapping[str, str]) -> Recipe | None:
    """Return a recipe with further expressions, which override those of the same name."""
    if not columns:
        return recipe
    if recipe is None:
        return Recipe("", "", dict(columns))
    units = {name: unit for name, unit in recipe.units.items() if name not in columns}
    return replace(recipe, columns={**recipe.columns, **columns}, units=units)


def _table(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any], list[str]]:
    """Return the columns of a file, the facts that lie beside it, and notes on reading it."""
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
        return *nwb_table(path), []
    if suffix not in (".csv", ".tsv", ".txt"):
        return gathered(lab_table(path)), {} if suffix == ".json" else read_meta(path), []
    text = TextTable(path, "\t" if suffix == ".tsv" else None)
    meta = read_meta(path)
    if suffix == ".csv" and text.is_record():
        return text.own_columns(), meta, text.notes
    if suffix == ".tsv" and is_ours(path):
        table = text.columns(ours=True)
        return bids_columns(table, path) or table, meta, text.notes
    table = text.columns()
    if set(table) >= PYCONTROL and np.isin("variable", table["type"].astype(str)):
        table = of_pycontrol(table, str(path))
    return gathered(table), meta, text.notes


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
            " Map another column to it, or an expression: --map correct='feedbackType > 0'."
        )
    return np.where(np.isnan(values), "miss", np.where(values == 1, "correct", "error"))


def _checked(
    columns: Mapping[str, np.ndarray], source: str, notes: list[str]
) -> dict[str, np.ndarray]:
    """Return the columns of a lab's table with missing choices as such; refuse unusable cells."""
    found = dict(columns)
    for name, values in columns.items():
        last = name.rpartition(".")[2]
        if values.dtype.kind == "U" and (last == "choice" or name in SIDES):
            found[name] = values = np.char.strip(values)
        if last == "choice":
            found[name] = _choices(values)
        elif last == "reaction_time" or name in STRENGTHS or name == "trial":
            _check_numbers(name, values, source)
    for name in found:
        if name.rpartition(".")[2] == "reaction_time":
            early = int((found[name] <= 0).sum())
            if early:
                notes.append(
                    f"{early:,} of {len(found[name]):,} trials have a {name} of 0 ms or less, and"
                    " count with it."
                )
    return found


def _check_subjects(who: np.ndarray, source: str) -> None:
    """Raise an error if some rows have no subject: they would count as an animal."""
    lacking = np.isnan(who) if who.dtype.kind == "f" else who == ""
    if lacking.any() and not lacking.all():
        raise InvalidValueError(
            f"{int(lacking.sum()):,} of {len(who):,} rows of {source} have no subject: the"
            f" first is row {int(np.flatnonzero(lacking)[0]) + 1}. Expected one in each row."
            " Correct the file, or leave these rows out."
        )


def _choices(values: np.ndarray) -> np.ndarray:
    """Return choices in which missing ones are no answers, and not a further choice."""
    if values.dtype.kind == "U":
        return np.where(values == "", "none", values)
    if values.dtype.kind == "f" and np.isnan(values).any():
        known = values[~np.isnan(values)]
        if (known == np.round(known)).all() and (known >= 0).all():
            return np.where(np.isnan(values), -1, values).astype(np.int64)
    return values


def _check_numbers(name: str, values: np.ndarray, source: str) -> None:
    """Raise an error that names the first cell which is no number, or none that can be used."""
    if values.dtype.kind not in "biuf":
        texts = values.astype(str)
        wrong = [k for k, one in enumerate(texts.ravel()) if one and not _is_number(one)]
        row = wrong[0] if wrong else 0
        raise InvalidValueError(
            f"Column {name!r} of {source} has {str(texts.ravel()[row])!r} in row {row + 1}."
            " Expected numbers, and empty cells where there are none. Correct the file, or map a"
            f" column of numbers: --map {name}=THEIRS."
        )
    known = np.abs(values.astype(float))
    if name not in STRENGTHS:
        known = known[~np.isinf(known)]  # _check_times refuses these
    if (known[~np.isnan(known)] > LARGEST).any():
        most = float(np.nanmax(known))
        raise InvalidValueError(
            f"Column {name!r} of {source} has {most:g}. Expected numbers below {LARGEST:g}. Correct"
            " the file."
        )


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def _check_copies(record: TrialRecord, source: str) -> None:
    """Raise an error if rows of a file are the same trial: its numbers must occur once."""
    keys = [name for name in ("subject", "env", "session", "trial") if name in record]
    if "trial" not in keys:
        return
    import pandas as pd

    if record["trial"].dtype.kind == "f":  # practice trials may have no number
        record = record[~np.isnan(record["trial"])]
    copies = int(pd.DataFrame({name: record[name] for name in keys}).duplicated().sum())
    if copies:
        raise InvalidValueError(
            f"{copies:,} of {len(record):,} rows of {source} have the same {', '.join(keys)} as"
            " another. Expected each trial once. Leave copies out, or give the column in which"
            " these trials differ: --map session=THEIRS."
        )


def _check_times(record: TrialRecord, source: str) -> None:
    """Raise an error if reaction times, of all or of some subjects, are not in ms."""
    for name in record.columns:
        if name.rpartition(".")[2] != "reaction_time" or record[name].dtype.kind not in "iuf":
            continue
        times = record[name].astype(float)
        if np.isinf(times).any():
            raise InvalidValueError(
                f"Column {name!r} of {source} has infinite times. Expected ms, and empty cells"
                " where nothing was answered. Correct the file."
            )
        medians = _medians(record, times)
        short = [who for who, median in medians.items() if 0 < median < SECONDS]
        if not short:
            continue
        if len(short) == len(medians):
            known = times[~np.isnan(times)]
            raise InvalidValueError(
                f"Column {name!r} of {source} has times from {known.min():g} to {known.max():g},"
                f" with a median of {np.median(known):g}. Expected ms; these look like seconds."
                " Give --scale reaction_time=1000, or in a recipe:"
                ' [units] reaction_time = "s".'
            )
        long = [median for median in medians.values() if median >= SECONDS]
        raise InvalidValueError(
            f"Column {name!r} of {source} has a median of {medians[short[0]]:g} for subject"
            f" {listed(short)}, and of {np.median(long):g} for the others. Expected ms for all."
            ' Correct the file, or map an expression: --map reaction_time="where(isin(subject,'
            f" '{short[0]}'), 1000 * rt, rt)\"."
        )


def _check_strengths(record: TrialRecord, source: str) -> None:
    """Raise an error if the strengths of a subject are in another unit than those of the others."""
    for name in set(STRENGTHS) & set(record.columns):
        if record[name].dtype.kind not in "iuf" or record[name].ndim > 1:
            continue
        values = np.abs(record[name].astype(float))
        values[values == 0] = np.nan
        medians = _medians(record, values)
        common = float(np.median(list(medians.values()))) if medians else 0.0
        other = [
            who for who, one in medians.items()
            if one * PERCENT / 2 < common or common * PERCENT / 2 < one
        ]  # fmt: skip
        if other:
            raise InvalidValueError(
                f"Column {name!r} of {source} has a median of {medians[other[0]]:g} for subject"
                f" {listed(other)}, where that of all subjects is {common:g}. Expected one unit."
                " Correct the file, or map an expression."
            )


def _medians(record: TrialRecord, values: np.ndarray) -> dict[str, float]:
    """Return the median of the values of each subject that has any, NaN left out."""
    import pandas as pd

    who = record["subject"] if "subject" in record else np.full(len(values), "")
    found = pd.Series(values).groupby(who).median().dropna()
    return {str(name): float(median) for name, median in found.items()}
