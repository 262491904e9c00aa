"""`AnimalFacts`: facts about the animal or person of a session, as NWB and DANDI ask for them."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

from neurogym_core import InvalidValueError, TrialRecord

SEXES = ("M", "F", "U", "O")
_AGE = re.compile(r"P(?=\d)(\d+(\.\d+)?Y)?(\d+(\.\d+)?M)?(\d+(\.\d+)?W)?(\d+(\.\d+)?D)?")


@dataclass(frozen=True)
class AnimalFacts:
    """Facts about an animal or person; "": unknown.

    Args:
        species: Latin name, such as "Mus musculus".
        age: ISO 8601 duration, such as "P90D" or "P12W".
        sex: "M", "F", "O" (other) or "U" (unknown).
        date_of_birth: ISO 8601 date, such as "2026-01-31".
        session_id: name of the session.
        session_start: ISO 8601 moment with a time zone, such as "2026-05-01T10:30+02:00".

    Raises:
        InvalidValueError: a text that is not of its form.
    """

    species: str = ""
    age: str = ""
    sex: str = ""
    date_of_birth: str = ""
    session_id: str = ""
    session_start: str = ""

    def __post_init__(self) -> None:
        if self.age and not _AGE.fullmatch(self.age):
            raise _wrong("age", self.age, "an ISO 8601 duration", "P90D, 90 days")
        if self.sex and self.sex not in SEXES:
            raise _wrong("sex", self.sex, "one of M, F, O (other) and U (unknown)", "F")
        if self.species and not re.fullmatch(r"[A-Z][a-z]+ [a-z]+.*", self.species):
            raise _wrong("species", self.species, "a Latin name", "Mus musculus")
        self.born, self.start  # noqa: B018 - they check

    @property
    def born(self) -> datetime.datetime | None:
        """Date of birth, at midnight UTC."""
        if not self.date_of_birth:
            return None
        try:
            day = datetime.date.fromisoformat(self.date_of_birth)
        except ValueError:
            raise _wrong("date of birth", self.date_of_birth, "a date", "2026-01-31") from None
        return datetime.datetime(day.year, day.month, day.day, tzinfo=datetime.UTC)

    @property
    def start(self) -> datetime.datetime | None:
        """Start of the session."""
        if not self.session_start:
            return None
        example = "2026-05-01T10:30+02:00"
        try:
            found = datetime.datetime.fromisoformat(self.session_start)
        except ValueError:
            raise _wrong("session start", self.session_start, "a moment", example) from None
        if found.tzinfo is None:
            raise _wrong("session start", self.session_start, "a time zone", example)
        return found

    @classmethod
    def of(cls, record: TrialRecord, given: Mapping[str, str]) -> AnimalFacts:
        """Return the `given` facts, and those in columns of the record that have one value.

        Raises:
            InvalidValueError: a text that is not of its form.
        """
        found = {}
        for name in (one.name for one in fields(cls)):
            column = "session" if name == "session_id" else name
            known = np.unique(record[column]).tolist() if column in record else []
            found[name] = given.get(name) or (str(known[0]) if len(known) == 1 else "")
        return cls(**found)


def _wrong(what: str, given: str, expected: str, example: str) -> InvalidValueError:
    return InvalidValueError(
        f"The {what} {given!r} was given. Expected {expected}. Write it as in {example}."
    )
