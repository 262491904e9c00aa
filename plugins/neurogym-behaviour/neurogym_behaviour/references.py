"""References for comparisons: published summaries, and summaries of records."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from neurogym_behaviour.behaviour import Behaviour, CannotTellError, Roles
from neurogym_behaviour.chronometric import reaction_times
from neurogym_behaviour.proportions import accuracy
from neurogym_core import InvalidValueError, TrialRecord
from neurogym_core.tools import unknown

PUBLISHED = Path(__file__).parent / "published"
LISTS = (
    "strengths",
    "hits",
    "correct",
    "n",
    "reaction_time",
    "reaction_time_se",
    "reaction_time_n",
)
SUBJECT_KEYS = {"name", *LISTS, "parameters", "blocks", "source", "tasks"}
KEYS = {
    "title", "citation", "doi", "kind", "species", "tasks", "axis", "unit", "notes", "sources",
    "subject",
}  # fmt: skip
SOURCE_KEYS = {"file", "commit", "figure", "licence", "how"}
NUMBER_KEYS = {"value", "deviation", "se", "n", "source"}
KINDS = ("animals", "people", "criteria")


@dataclass(frozen=True)
class Number:
    """A published number.

    Attributes:
        deviation: standard deviation between subjects.
        se: standard error.
        n: trials, or subjects for a mean over subjects.
        source: name of its source in the summary.
    """

    value: float
    deviation: float | None = None
    se: float | None = None
    n: float | None = None
    source: str = ""


@dataclass(frozen=True)
class Subject:
    """Summary of one subject or one group.

    Attributes:
        strengths: unsigned strength of the evidence, (k,).
        correct: fraction correct at each, (k,); None if it was not reported.
        n: trials at each, (k,); None if they were not reported.
        reaction_time: mean of the correct trials, ms, (k,), NaN or None if it was not reported.
        reaction_time_se, reaction_time_n: its standard error and its number of trials, (k,).
        parameters: name -> published number.
        blocks: block -> choices to the right where the evidence was weakest, and trials.
        source: name of the source of these numbers in the summary.
        tasks: as in `Reference`, if the subject did another task than the others.
    """

    name: str
    strengths: np.ndarray | None = None
    correct: np.ndarray | None = None
    n: np.ndarray | None = None
    reaction_time: np.ndarray | None = None
    reaction_time_se: np.ndarray | None = None
    reaction_time_n: np.ndarray | None = None
    parameters: Mapping[str, Number] = field(default_factory=dict)
    blocks: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    source: str = ""
    tasks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reference:
    """Subjects to compare a record with, and their sources.

    Attributes:
        kind: "animals", "people", or "criteria" (of training, no behaviour).
        tasks: parts of the names of the tasks that it can be compared with; empty: any.
        axis: name of the condition that is the strength of the evidence; empty: any.
        unit: of the strength.
        sources: name -> file and commit, or figure; licence; how the numbers were computed.
    """

    name: str
    title: str
    subjects: tuple[Subject, ...]
    citation: str = ""
    doi: str = ""
    kind: str = "animals"
    species: str = ""
    tasks: tuple[str, ...] = ()
    axis: str = ""
    unit: str = ""
    notes: tuple[str, ...] = ()
    sources: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def strength(self) -> str:
        """Label of the strength axis: name and unit."""
        return f"{self.axis} ({self.unit})" if self.unit else self.axis


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
    sources = dict(said.get("sources", {}))
    for source in sources.values():
        _check_keys(source, SOURCE_KEYS, path)
    if said.get("kind", KINDS[0]) not in KINDS:
        raise unknown("kind", said["kind"], KINDS, of=str(path))
    texts = ("citation", "doi", "kind", "species", "axis", "unit")
    return Reference(
        path.stem,
        said.get("title", path.stem),
        tuple(_subject(entry, sources, path) for entry in said["subject"]),
        tasks=tuple(said.get("tasks", ())),
        notes=tuple(said.get("notes", ())),
        sources=sources,
        **{name: said[name] for name in texts if name in said},
    )


def _subject(said: Mapping[str, Any], sources: Mapping[str, Any], path: Path) -> Subject:
    _check_keys(said, SUBJECT_KEYS, path)
    arrays = {name: np.asarray(said[name], float) for name in LISTS if name in said}
    lengths = {name: len(values) for name, values in arrays.items()}
    if len(set(lengths.values())) > 1 or (arrays and "strengths" not in arrays):
        raise InvalidValueError(
            f"{path} gives lists of lengths {lengths}; it needs strengths, and one number for each."
        )
    if "hits" in arrays:
        if "n" not in arrays or (arrays["hits"] > arrays["n"]).any():
            raise InvalidValueError(
                f"{path} gives hits = {said['hits']}; it needs n, and not more hits than trials."
            )
        arrays["correct"] = arrays.pop("hits") / arrays["n"]
    if "correct" in arrays and not ((arrays["correct"] >= 0) & (arrays["correct"] <= 1)).all():
        raise InvalidValueError(
            f"{path} gives correct = {said['correct']}; it needs fractions from 0 to 1."
        )
    source = str(said.get("source", ""))
    parameters = {
        name: _number(value, source, path) for name, value in said.get("parameters", {}).items()
    }
    for name in {source, *(number.source for number in parameters.values())} - {""}:
        if name not in sources:
            raise unknown("source", name, sources, of=str(path))
    blocks = {
        name: (float(counts[0]), float(counts[1]))
        for name, counts in said.get("blocks", {}).items()
    }
    return Subject(
        str(said.get("name", path.stem)),
        **arrays,
        parameters=parameters,
        blocks=blocks,
        source=source,
        tasks=tuple(said.get("tasks", ())),
    )


def _number(said: Any, source: str, path: Path) -> Number:
    if not isinstance(said, Mapping):
        return Number(float(said), source=source)
    _check_keys(said, NUMBER_KEYS, path)
    return Number(**{"source": source, **said})


def _check_keys(said: Mapping[str, Any], known: set[str], path: Path) -> None:
    for name in said:
        if name not in known:
            raise unknown("key", name, sorted(known), of=str(path))


# ---- records as references ----


def of_record(record: TrialRecord, roles: Roles, name: str) -> Reference:
    """Return a record as a reference, with one subject for each of its subjects."""
    behaviour = Behaviour(record, roles)
    parts = behaviour.per_subject()
    try:
        axis = behaviour.strength
    except CannotTellError:
        axis = ""
    subjects = tuple(
        summarised(part.record, roles, name if list(parts) == ["record"] else one)
        for one, part in parts.items()
    )
    return Reference(name, name, subjects, axis=axis)


def summarised(record: TrialRecord, roles: Roles, name: str) -> Subject:
    """Summarise a record like a published subject, without the values that it lacks."""
    behaviour = Behaviour(record, roles)
    found: dict[str, Any] = {}
    try:
        found["parameters"] = {"correct": Number(share_correct(behaviour))}
        level = np.round(behaviour.level, 9)
        rows = [row for row in accuracy(behaviour.record, level, slot=behaviour.slot) if row.n]
    except CannotTellError:
        return Subject(name, **found)
    strengths = [row.value for row in rows]
    found |= {
        "strengths": np.array(strengths, float),
        "correct": np.array([row.fraction for row in rows]),
        "n": np.array([row.n for row in rows], float),
    }
    times = {row.value: row for row in _times(behaviour, level) if row.outcome == "correct"}
    if times:
        for key, attribute in (("", "mean"), ("_se", "sem"), ("_n", "n")):
            found[f"reaction_time{key}"] = np.array(
                [
                    getattr(times[value], attribute) if value in times else np.nan
                    for value in strengths
                ],
                float,
            )
    return Subject(name, **found)


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
