"""References for comparisons: published summaries, and a lab's own trials."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from neurogym_core import TrialRecord
from neurogym_core.errors import InvalidValueError, unknown
from neurogym_study.behaviour import Behaviour, CannotTellError, Roles
from neurogym_study.chronometric import reaction_times
from neurogym_study.proportions import accuracy

PUBLISHED = Path(__file__).parent / "published"
SUBJECT_KEYS = {
    "name",
    "strengths",
    "correct",
    "n",
    "reaction_time",
    "parameters",
    "deviations",
    "blocks",
}
KEYS = {"title", "citation", "doi", "task", "strength", "notes", "subject"}


@dataclass(frozen=True)
class Subject:
    """Summary of one subject or one group.

    Attributes:
        strengths: unsigned strength of the evidence, (k,).
        correct: fraction correct at each, (k,); None if it was not reported.
        n: trials at each, (k,); None if they were not reported.
        reaction_time: mean, ms, (k,), NaN or None if it was not reported.
        parameters, deviations: name -> value, and its standard deviation between subjects.
        blocks: block -> choices to the right where the evidence was weakest.
    """

    name: str
    strengths: np.ndarray | None = None
    correct: np.ndarray | None = None
    n: np.ndarray | None = None
    reaction_time: np.ndarray | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)
    deviations: Mapping[str, float] = field(default_factory=dict)
    blocks: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Reference:
    """Subjects to compare a record with, and their source."""

    name: str
    title: str
    subjects: tuple[Subject, ...]
    citation: str = ""
    doi: str = ""
    strength: str = ""
    notes: tuple[str, ...] = ()


def published_names() -> list[str]:
    """Return the names of the published summaries in this package."""
    return sorted(file.stem for file in PUBLISHED.glob("*.toml"))


def published(name: str) -> Reference:
    """Return a published summary of this package.

    Raises:
        UnknownNameError: no summary has this name.
    """
    if name not in published_names():
        raise unknown("published summary", name, published_names())
    return read_summary(PUBLISHED / f"{name}.toml")


def read_summary(path: Path) -> Reference:
    """Read a summary from a TOML file in the format of this package's summaries.

    Raises:
        InvalidValueError: not TOML, or not a valid summary.
    """
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidValueError(f"{path} is not TOML: {error}. Correct it.") from error
    _check_keys(said, KEYS, path)
    if not said.get("subject"):
        raise InvalidValueError(f"{path} has no [[subject]]; a summary needs at least one. Add it.")
    subjects = tuple(_subject(entry, path) for entry in said["subject"])
    texts = {name: said.get(name, "") for name in ("citation", "doi", "strength")}
    return Reference(
        path.stem,
        said.get("title", path.stem),
        subjects,
        notes=tuple(said.get("notes", ())),
        **texts,
    )


def _subject(said: Mapping[str, Any], path: Path) -> Subject:
    _check_keys(said, SUBJECT_KEYS, path)
    arrays = {
        name: np.asarray(said[name], float)
        for name in ("strengths", "correct", "n", "reaction_time")
        if name in said
    }
    lengths = {name: len(values) for name, values in arrays.items()}
    if len(set(lengths.values())) > 1 or (arrays and "strengths" not in arrays):
        raise InvalidValueError(
            f"{path} gives lists of lengths {lengths}; it needs strengths, and one number for each."
        )
    if "correct" in arrays and not ((arrays["correct"] >= 0) & (arrays["correct"] <= 1)).all():
        raise InvalidValueError(
            f"{path} gives correct = {said['correct']}; it needs fractions from 0 to 1."
        )
    rest = {name: dict(said.get(name, {})) for name in ("parameters", "deviations", "blocks")}
    return Subject(str(said.get("name", path.stem)), **arrays, **rest)


def _check_keys(said: Mapping[str, Any], known: set[str], path: Path) -> None:
    for name in said:
        if name not in known:
            raise unknown("key", name, sorted(known), of=str(path))


# ---- a lab's own trials ----


def read_trials(
    path: Path, columns: Mapping[str, str], scales: Mapping[str, float], roles: Roles
) -> tuple[Reference, TrialRecord]:
    """Read a lab's CSV file as a reference, and as a trial record.

    Args:
        path: one row per trial, with a header line.
        columns: our name -> theirs: the strength and the side as in the compared record,
            ``correct`` (1 or 0, empty: not answered) or ``outcome`` (correct, error, …),
            ``choice``, ``reaction_time`` (ms), ``subject``; other columns keep their names.
        scales: our name -> factor, such as 1000 for reaction times in s.
        roles: the roles of our columns.

    Raises:
        UnknownNameError: a column that the file lacks.
        InvalidValueError: not a table, or neither ``correct`` nor ``outcome`` in it.
    """
    record = mapped(TrialRecord.from_csv(path), columns, scales, str(path))
    names = (
        np.full(len(record), path.stem)
        if "subject" not in record
        else record["subject"].astype(str)
    )
    subjects = tuple(
        summarised(record[names == name], roles, name) for name in np.unique(names).tolist()
    )
    return Reference(path.stem, path.name, subjects, strength=roles.strength or ""), record


def mapped(
    record: TrialRecord, columns: Mapping[str, str], scales: Mapping[str, float], source: str
) -> TrialRecord:
    """Return the record with our names and units."""
    table = {name: record[name] for name in record.columns}
    for ours, theirs in columns.items():
        if theirs not in record:
            raise unknown("column", theirs, record.columns, of=source)
        table[ours] = record[theirs]
    for ours, factor in scales.items():
        if ours not in table or table[ours].dtype.kind not in "iuf":
            raise unknown(
                "numeric column",
                ours,
                [name for name in table if table[name].dtype.kind in "iuf"],
                of=source,
            )
        table[ours] = table[ours] * factor
    if "correct" in table and "outcome" not in table:
        table["outcome"] = _outcomes(table["correct"], source)
    if "outcome" not in table:
        raise InvalidValueError(
            f"{source} has no column 'correct' or 'outcome'. Expected one of them. Name it:"
            " --map correct=THEIRS."
        )
    return TrialRecord(table)


def _outcomes(correct: np.ndarray, source: str) -> np.ndarray:
    values = correct.astype(float) if correct.dtype.kind in "biuf" else np.full(len(correct), 2.0)
    if not np.isin(values[~np.isnan(values)], (0, 1)).all():
        raise InvalidValueError(
            f"Column 'correct' of {source} has values other than 0, 1 and empty. Map another column"
            " to it."
        )
    return np.where(np.isnan(values), "miss", np.where(values == 1, "correct", "error"))


def summarised(record: TrialRecord, roles: Roles, name: str) -> Subject:
    """Summarise a record like a published subject, without the values that it lacks."""
    behaviour = Behaviour(record, roles)
    try:
        level = np.round(behaviour.level, 9)
        rows = [row for row in accuracy(behaviour.record, level, slot=behaviour.slot) if row.n]
        times = {
            row.value: row.mean for row in _times(behaviour, level) if row.outcome == "correct"
        }
    except CannotTellError:
        return Subject(name, parameters={"correct": share_correct(behaviour)})
    strengths = np.array([row.value for row in rows], float)
    return Subject(
        name,
        strengths,
        np.array([row.fraction for row in rows]),
        np.array([row.n for row in rows], float),
        np.array([times.get(value, np.nan) for value in strengths.tolist()]) if times else None,
        parameters={"correct": share_correct(behaviour)},
    )


def _times(behaviour: Behaviour, level: np.ndarray) -> list[Any]:
    name = "reaction_time" if behaviour.slot is None else f"{behaviour.slot}.reaction_time"
    return (
        reaction_times(behaviour.record, level, slot=behaviour.slot)
        if name in behaviour.record
        else []
    )


def share_correct(behaviour: Behaviour) -> float:
    """Return the fraction of correct answers among the answered trials; NaN without any."""
    return (
        float(behaviour.correct[behaviour.answered].mean())
        if behaviour.answered.any()
        else float("nan")
    )
