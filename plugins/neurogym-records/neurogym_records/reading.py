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
MICROSECONDS, HUNDREDTHS = 2e5, 100.0
"""Reaction times whose median is longer, in ms, are taken for microseconds; if that of all subjects
is shorter than the second number, they may be hundredths of a second."""
MIXED, FACTOR = 0.05, (300.0, 3000.0)
"""Least share of a subject's times that are in s where the others are in ms, and the factor between
the two medians."""
TENFOLD = 6.0
"""Medians of two subjects, or sessions of one, that differ by more may be in other units."""
CONTRARY, UNRELATED = 0.01, 0.3
"""Largest share of answers in which choice, correct side and outcome may contradict each other, and
that above which columns with other values are not about the same."""
RIGHTS, WRONGS = (
    ("correct", "hit", "right", "true", "1"),
    ("error", "incorrect", "wrong", "false", "0"),
)
"""Words for outcomes in files of laboratories, in any case."""
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
    if "outcome" in columns:
        _check_outcomes(columns["outcome"], source)
    if "subject" in columns:
        _check_subjects(columns["subject"], source)
    if "steps" not in columns:
        columns = _checked(columns, source, notes)
    # Of another's table, rows may have been left out, and numbers of trials renamed.
    events = events_of(path, columns) if recipe is None else None
    record = TrialRecord(columns, events=events)
    _check_copies(record, source)
    if "steps" not in record:
        notes += _check_times(record, source)
        _check_strengths(record, source)
        notes += contradictions(record)
    facts = {NOTES: tuple(notes), SOURCES: sources}
    meta = {**meta, **{k: v for k, v in facts.items() if v}}
    return TrialRecord(columns, meta=meta, events=events)


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


def _check_outcomes(outcome: np.ndarray, source: str) -> None:
    """Raise an error with a hint if a lab's outcomes have other words than ours."""
    words = {str(one) for one in np.unique(outcome.astype(str)).tolist()}
    if words & {"correct", "error"} or not words - {"", "none", "nan"}:
        return
    right = [one for one in sorted(words) if one.strip().lower() in RIGHTS]
    wrong = [one for one in sorted(words) if one.strip().lower() in WRONGS]
    if right or wrong:
        said = f"outcome == '{right[0]}'" if right else f"outcome != '{wrong[0]}'"
        raise InvalidValueError(
            f"Column 'outcome' of {source} has {listed(sorted(words)[:6])}. Expected 'correct' and"
            f" 'error', and other words where nothing was answered. Map it:"
            f' --map correct="{said}".'
        )


def contradictions(record: TrialRecord, side: str | None = None) -> list[str]:
    """Return a sentence if choices, correct sides and outcomes contradict each other.

    Of two sides, a correct choice is the correct side, and a wrong one the other; trials without
    evidence do not count. Where choices and sides have other values, such as 1, 2 and left, right,
    either may be the other; columns that have little to do with each other are no choice and side.

    Args:
        record: the trials.
        side: the column with the correct side; None: found by its name.
    """
    side = side or next((name for name in SIDES if name in record), None)
    if side is None or "choice" not in record or "outcome" not in record:
        return []
    choice, right = record["choice"].astype(str), record[side].astype(str)
    outcome = record["outcome"]
    used = np.isin(outcome, ("correct", "error"))
    for name in STRENGTHS:
        if name in record and record[name].dtype.kind in "iuf" and record[name].ndim == 1:
            used &= record[name] != 0
    first, second = np.unique(choice[used]).tolist(), np.unique(right[used]).tolist()
    if not used.any() or len(second) != 2 or len(first) > 2:
        return []
    hit = outcome[used] == "correct"
    if set(map(_plain, first)) <= set(map(_plain, second)):
        plain = [np.array([_plain(one) for one in each[used]]) for each in (choice, right)]
        against = int(((plain[0] == plain[1]) != hit).sum())
    else:
        same = (choice[used] == first[-1]) == (right[used] == second[-1])
        against = min(int((same != hit).sum()), int((same == hit).sum()))
        if against > UNRELATED * used.sum():
            return []
    if against <= CONTRARY * used.sum():
        return []
    return [
        f"WARNING: in {against:,} of {int(used.sum()):,} answered trials 'choice' is not {side!r}"
        " where the answer is correct, or is where it is wrong. Numbers by choice and numbers by"
        " outcome are then of different answers. If the correct side is another one, name it:"
        " --side COLUMN; if one of the columns is coded otherwise, map it."
    ]


def _plain(text: str) -> str:
    """Return a value of a side as it compares: 1 and 1.0 are the same, and so are Left and left."""
    try:
        return f"{float(text):g}"
    except ValueError:
        return text.strip().lower()


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


def _check_times(record: TrialRecord, source: str) -> list[str]:
    """Raise an error if reaction times, of all or of some trials, are not in ms.

    Returns:
        Sentences about times that may be in another unit.
    """
    notes = []
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
        _check_scale(name, times, medians, source)
        _check_mixed(name, record, times, source)
        notes += _doubts(name, record, times, medians)
    return notes


def _check_scale(name: str, times: np.ndarray, medians: Mapping[str, float], source: str) -> None:
    """Raise an error if the times of all or of some subjects are in s or in microseconds."""
    short = [who for who, median in medians.items() if 0 < median < SECONDS]
    long = [who for who, median in medians.items() if median > MICROSECONDS]
    for off, unit, factor, letter in (
        (short, "seconds", 1000.0, "s"), (long, "microseconds", 0.001, "us")
    ):  # fmt: skip
        if not off:
            continue
        if len(off) == len(medians):
            known = times[~np.isnan(times)]
            recipe = (
                f' Give --scale {name}={factor:g}, or in a recipe: [units] {name} = "{letter}".'
            )
            raise InvalidValueError(
                f"Column {name!r} of {source} has times from {known.min():g} to {known.max():g},"
                f" with a median of {np.median(known):g}. Expected ms; these look like {unit}."
                f"{recipe}"
            )
        others = [median for who, median in medians.items() if who not in off]
        raise InvalidValueError(
            f"Column {name!r} of {source} has a median of {medians[off[0]]:g} for subject"
            f" {listed(off)}, and of {np.median(others):g} for the others. Expected ms for all."
            f' Correct the file, or map an expression: --map reaction_time="where(isin(subject,'
            f" '{off[0]}'), {factor:g} * rt, rt)\"."
        )


def _check_mixed(name: str, record: TrialRecord, times: np.ndarray, source: str) -> None:
    """Raise an error if one subject has times in s and in ms."""
    for who, one in _of_subjects(record, times).items():
        known = one[one > 0]
        short, long = known[known < SECONDS], known[known >= SECONDS]
        if min(len(short), len(long)) < MIXED * len(one):
            continue
        factor = float(np.median(long) / np.median(short))
        if FACTOR[0] < factor < FACTOR[1]:
            raise InvalidValueError(
                f"Column {name!r} of {source} has a median of {np.median(short):.3g} in"
                f" {len(short):,} trials of {who or 'the file'}, and of {np.median(long):g} in the"
                f" other {len(long):,}. Expected one unit, ms; the short ones look like seconds."
                f' Correct the file, or map an expression: --map {name}="where(rt < {SECONDS:g},'
                ' 1000 * rt, rt)".'
            )


def _doubts(
    name: str, record: TrialRecord, times: np.ndarray, medians: Mapping[str, float]
) -> list[str]:
    """Return sentences about times that are ten times those of other subjects or sessions."""
    notes = []
    if medians and max(medians.values()) < HUNDREDTHS:
        middle = float(np.median(list(medians.values())))
        notes.append(
            f"WARNING: {name} has a median of {middle:g} ms. If these are hundredths of a second,"
            f" give --scale {name}=10."
        )
    groups = {"subjects": medians}
    if "session" in record:
        for who, rows in _rows_of_subjects(record).items():
            label = f"sessions of {who}" if who else "sessions"
            groups[label] = _medians_by(record["session"][rows], times[rows])
    for label, found in groups.items():
        ordered = sorted((median, who) for who, median in found.items() if median > 0)
        if len(ordered) > 1 and ordered[-1][0] > TENFOLD * ordered[0][0]:
            (low, one), (high, other) = ordered[0], ordered[-1]
            notes.append(
                f"WARNING: {label} differ in {name}: the median of {one} is {low:g} ms, that of"
                f" {other} {high:g} ms. Check that all are in ms."
            )
    return notes


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
    return _medians_by(record.get("subject"), values)


def _medians_by(groups: np.ndarray | None, values: np.ndarray) -> dict[str, float]:
    import pandas as pd

    who = np.full(len(values), "") if groups is None else groups
    found = pd.Series(values).groupby(who).median().dropna()
    return {str(name): float(median) for name, median in found.items()}


def _rows_of_subjects(record: TrialRecord) -> dict[str, np.ndarray]:
    """Return the rows of each subject; of a record without subjects, all by the name ""."""
    if "subject" not in record:
        return {"": np.arange(len(record))}
    names, which = np.unique(record["subject"], return_inverse=True)
    order = np.argsort(which, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(which))[:-1])
    return {str(name): rows for name, rows in zip(names.tolist(), parts, strict=True)}


def _of_subjects(record: TrialRecord, values: np.ndarray) -> dict[str, np.ndarray]:
    return {
        who: values[rows][~np.isnan(values[rows])]
        for who, rows in _rows_of_subjects(record).items()
    }
