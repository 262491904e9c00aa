"""Reads ``ngym.toml``, a package's description of its tasks and wrappers.

::

    schema = 1
    [[task]]
    name = "ContextDM-v0"             # the entry point's name
    title = "Context-dependent decision making"
    summary = "Two modalities; a cue says which one to integrate."
    tags = ["decision-making", "context"]
    species = ["monkey"]
    aliases = ["ContextDecisionMaking-v0"]      # former names, for the error "is now"
    [[task.reference]]
    doi = "10.1038/nature12742"
    kind = "original"
    [task.expected]
    chance = 0.5

A ``[[wrapper]]`` row has the same fields except ``expected``. Its ``[wrapper.presets]`` may give,
for each alias, the settings that reproduce the former wrapper (``Old = "p=0.8"``). Reading a
manifest raises no exceptions: a broken rule becomes a problem with file, row and field, and the
valid rest is kept.
"""

from __future__ import annotations

import functools
import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from neurogym_core.ecosystem.names import TASK_NAME, WRAPPER_NAME, clean, said_by, tag_key
from neurogym_core.ecosystem.records import Level, Problem, Reference
from neurogym_core.errors import ManifestError, did_you_mean, listed

SCHEMA = 1
TITLE_LENGTH = 100
SUMMARY_LENGTH = 200
MAX_BYTES = 65_536  # the largest manifest of this project has 9,000; a larger file is a mistake
MAX_DOTS = 300  # in a line; a DOI has three

_DOI = re.compile(r"10\.\d{4,9}/[^\s\x00-\x1f{}\\]+")
_FIELDS = ("name", "title", "summary", "tags", "species", "aliases", "reference")
_KINDS = {"task": (*_FIELDS, "expected"), "wrapper": (*_FIELDS, "presets")}
_REFERENCE_FIELDS = ("doi", "kind", "title", "authors", "journal", "year")


class Row(NamedTuple):
    """The valid fields of one ``[[task]]`` or ``[[wrapper]]`` row, and its problems."""

    kind: str
    name: str
    title: str = ""
    summary: str = ""
    tags: tuple[str, ...] = ()
    species: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()
    aliases: tuple[str, ...] = ()
    expected: Mapping[str, Any] = MappingProxyType({})
    presets: Mapping[str, str] = MappingProxyType({})
    problems: tuple[Problem, ...] = ()


class Manifest(NamedTuple):
    """The rows of a manifest, and the problems of the file; each row has its own problems."""

    file: str
    rows: tuple[Row, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def all_problems(self) -> tuple[Problem, ...]:
        """Problems of the file and of its rows."""
        return (*self.problems, *(problem for row in self.rows for problem in row.problems))

    def row(self, kind: str, name: str) -> Row | None:
        """Return the row of this kind and name, or None."""
        return next((row for row in self.rows if (row.kind, row.name) == (kind, name)), None)

    def require_valid(self) -> None:
        """Raise a `ManifestError` that lists all errors, if there are any; ignore warnings."""
        broken = [
            str(problem) for problem in self.all_problems if problem.level in ("fatal", "error")
        ]
        if broken:
            raise ManifestError("\n".join([f"{self.file} breaks {len(broken)} rule(s):", *broken]))


class Vocabulary(NamedTuple):
    """Controlled words by kind (``tags``, ``species``, ``reference``, ``expected``).

    ``spellings`` has the word for each of its spellings.
    """

    words: Mapping[str, tuple[str, ...]]
    spellings: Mapping[str, Mapping[str, str]]

    def resolve(self, kind: str, text: str) -> str | None:
        """Return ``working-memory`` for ``working memory``; None if the word is unknown."""
        return self.spellings[kind].get(tag_key(text))


@functools.cache
def vocabulary() -> Vocabulary:
    """Return the controlled vocabulary of the core; cached."""
    tables = tomllib.loads(Path(__file__).with_name("vocabulary.toml").read_text("utf-8"))
    words, spellings = {}, {}
    for kind in ("tags", "species", "reference", "expected"):
        words[kind] = tuple(tables[kind])
        spellings[kind] = {
            tag_key(also): word
            for word, row in tables[kind].items()
            for also in row.get("also", ())
        }
        spellings[kind].update({tag_key(word): word for word in tables[kind]})
    return Vocabulary(words, spellings)


def read_manifest(path: Path) -> Manifest:
    """Return the manifest in a file; an unreadable file gives a problem and no rows."""
    try:
        # The size is checked first: ``file.read(MAX_BYTES)`` would allocate that many bytes, which
        # takes longer than the rest of `ngym list`.
        if path.stat().st_size > MAX_BYTES:
            raise ValueError(f"it is larger than {MAX_BYTES} bytes")
        text = path.read_bytes().decode("utf-8")
    except (OSError, ValueError) as error:
        return _unreadable(path.name, f"It cannot be read: {clean(said_by(error))}.")
    return parse_manifest(text, path.name)


def parse_manifest(text: str, file: str = "ngym.toml") -> Manifest:
    """Return the manifest in a text; an invalid text gives problems, no exception."""
    # tomllib's time grows with the square of the parts of a dotted key.
    if max(line.count(".") for line in text.split("\n")) > MAX_DOTS:
        return _unreadable(file, f"It has a line with more than {MAX_DOTS} dots.")
    try:
        tables = tomllib.loads(text.removeprefix("\ufeff"))  # some editors begin files with it
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        return _unreadable(file, f"It is not valid TOML: {clean(said_by(error))}.")
    if tables.get("schema", SCHEMA) != SCHEMA:
        return _unreadable(
            file,
            f"schema is {tables['schema']!r}; this core reads schema {SCHEMA}. Use a newer core.",
        )
    problems = [_unknown_table(file, key) for key in tables if key not in ("schema", *_KINDS)]
    rows: list[Row] = []
    for kind in _KINDS:
        _read_rows(file, kind, tables.get(kind, []), rows, problems)
    return Manifest(file=file, rows=tuple(rows), problems=tuple(problems))


def _unknown_table(file: str, key: str) -> Problem:
    message = f"unknown table.{did_you_mean(key, _KINDS)} Known: {listed(_KINDS)}."
    return _problem(file, "", clean(key), message, "warning")


def _unreadable(file: str, message: str) -> Manifest:
    return Manifest(file=file, problems=(_problem(file, "", "", message),))


def _problem(
    file: str, row: str, field: str, message: str, level: Level = "error", code: str = "manifest"
) -> Problem:
    return Problem(level=level, code=code, message=message, file=file, row=row, field=field)


def _read_rows(file: str, kind: str, tables: Any, rows: list[Row], problems: list[Problem]) -> None:
    """Append the rows of one kind; a row without a usable name becomes a problem of the file."""
    if not isinstance(tables, list):
        problems.append(
            _problem(file, "", kind, f"is {_type(tables)}, expected rows written as [[{kind}]].")
        )
        return
    names = set()
    for index, table in enumerate(tables):
        where = f"[[{kind}]] number {index + 1}"
        name = table.get("name") if isinstance(table, dict) else None
        if not isinstance(name, str) or not name.strip():
            problems.append(
                _problem(file, where, "name", "is missing; expected the entry point's name.")
            )
            continue
        if name in names:
            problems.append(
                _problem(
                    file,
                    where,
                    "name",
                    f"{clean(name)!r} has a row already; only the first is used.",
                )
            )
            continue
        names.add(name)
        rows.append(_RowReader(file, kind, name, table).read())


class _RowReader:
    """Reads one row, and collects its problems."""

    def __init__(self, file: str, kind: str, name: str, table: dict[str, Any]):
        self.file, self.kind, self.name, self.table = file, kind, name, table
        self.where = f"[[{kind}]] {clean(name)!r}"
        self.problems: list[Problem] = []

    def read(self) -> Row:
        self.check_fields("", self.table, _KINDS[self.kind])
        grammar = TASK_NAME if self.kind == "task" else WRAPPER_NAME
        if grammar.fullmatch(self.name) is None:
            form = "CapitalizedWords-v0" if self.kind == "task" else "CapitalizedWords"
            self.note("name", f"is {clean(self.name)!r}, expected a name of the form {form}.")
        return Row(
            kind=self.kind,
            name=self.name,
            title=self.line("title", TITLE_LENGTH),
            summary=self.line("summary", SUMMARY_LENGTH),
            tags=self.words("tags"),
            species=self.words("species"),
            aliases=self.strings("aliases"),
            references=self.references(),
            expected=self.expected(),
            presets=self.presets(),
            problems=tuple(self.problems),
        )

    def note(
        self, field: str, message: str, level: Level = "error", code: str = "manifest"
    ) -> None:
        self.problems.append(_problem(self.file, self.where, field, message, level, code))

    def check_fields(self, prefix: str, table: Mapping[str, Any], known: Iterable[str]) -> None:
        known = tuple(known)
        for key in table:
            if key not in known:
                hint = did_you_mean(key, known)
                self.note(
                    f"{prefix}{clean(key)}",
                    f"unknown field.{hint} Known: {listed(known)}.",
                    "warning",
                )

    def line(self, field: str, length: int) -> str:
        """Return a required text of one line."""
        text = self.table.get(field)
        if not isinstance(text, str) or not text.strip():
            found = "is missing" if text is None else f"is {_type(text)}"
            self.note(
                field,
                f"{found}; expected one line of text.",
                "error" if text is not None else "warning",
            )
            return ""
        return self.plain(field, text, length)

    def plain(self, field: str, text: str, length: int) -> str:
        """Return the text, cleaned and cut; note a problem if that changed it."""
        tidy = clean(text)
        if "\n" in text.strip() or "\r" in text.strip():
            self.note(field, "has several lines; expected one.")
        elif tidy != " ".join(text.split()):
            self.note(
                field,
                "has control or invisible characters, which are removed; expected plain text.",
            )
        if len(tidy) > length:
            self.note(field, f"has {len(tidy)} characters; at most {length} are shown.")
        return tidy[:length]

    def strings(self, field: str) -> tuple[str, ...]:
        values = self.table.get(field, [])
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            self.note(field, f"is {_type(values)}, expected a list of strings.")
            return ()
        return tuple(self.plain(field, value, TITLE_LENGTH) for value in values)

    def words(self, field: str) -> tuple[str, ...]:
        """Return the controlled words of a field; keep unknown words, with a warning."""
        return tuple(dict.fromkeys(self.word(field, value) for value in self.strings(field)))

    def word(self, field: str, value: str, kind: str = "") -> str:
        kind = kind or field
        word = vocabulary().resolve(kind, value)
        if word is None:
            hint = did_you_mean(value, vocabulary().words[kind])
            self.note(field, f"{value!r} is not in the vocabulary.{hint}", "warning", "vocabulary")
            return tag_key(value)
        if word != value:
            self.note(field, f"{value!r} should be {word!r}.", "warning", "vocabulary")
        return word

    def references(self) -> tuple[Reference, ...]:
        tables = self.table.get("reference", [])
        if not isinstance(tables, list):
            self.note(
                "reference",
                f"is {_type(tables)}, expected rows written as [[{self.kind}.reference]].",
            )
            return ()
        read = (self.reference(index, table) for index, table in enumerate(tables))
        return tuple(reference for reference in read if reference is not None)

    def reference(self, index: int, table: Any) -> Reference | None:
        field = f"reference {index + 1}"
        if not isinstance(table, dict):
            self.note(field, f"is {_type(table)}, expected a table with a doi.")
            return None
        self.check_fields(f"{field} ", table, _REFERENCE_FIELDS)
        doi = table.get("doi")
        if not isinstance(doi, str) or _DOI.fullmatch(doi) is None or clean(doi) != doi:
            self.note(
                f"{field} doi",
                f"is {clean(repr(doi))}, expected a bare DOI such as '10.1038/nature12742'.",
            )
            return None
        year = table.get("year")
        if year is not None and (isinstance(year, bool) or not isinstance(year, int)):
            self.note(f"{field} year", f"is {_type(year)}, expected a whole number.")
            year = None
        texts = {
            key: self.optional(f"{field} {key}", table.get(key, ""))
            for key in ("title", "authors", "journal")
        }
        kind = self.word(
            f"{field} kind",
            self.optional(f"{field} kind", table.get("kind", "original")),
            "reference",
        )
        return Reference(doi=doi, kind=kind, year=year, **texts)

    def optional(self, field: str, value: Any) -> str:
        if isinstance(value, str):
            return self.plain(field, value, 3 * SUMMARY_LENGTH)
        self.note(field, f"is {_type(value)}, expected a string.")
        return ""

    def expected(self) -> dict[str, Any]:
        table = self.table.get("expected", {})
        if self.kind != "task":
            return {}
        if not isinstance(table, dict):
            self.note("expected", f"is {_type(table)}, expected a table of numbers.")
            return {}
        self.check_fields("expected ", table, vocabulary().words["expected"])
        return {key: value for key, value in table.items() if self.is_share(key, value)}

    def presets(self) -> dict[str, str]:
        """Return the settings by former name."""
        table = self.table.get("presets", {})
        if self.kind != "wrapper":
            return {}
        if not isinstance(table, dict) or not all(
            isinstance(value, str) for value in table.values()
        ):
            self.note("presets", f"is {_type(table)}, expected a table of strings.")
            return {}
        for name in table:
            if name not in self.table.get("aliases", ()):
                self.note(f"presets {clean(name)}", "is not an alias; expected one of the aliases.")
        return {
            clean(name): self.plain(f"presets {clean(name)}", text, SUMMARY_LENGTH)
            for name, text in table.items()
        }

    def is_share(self, key: str, value: Any) -> bool:
        number = (
            isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        )
        if number and (key not in vocabulary().words["expected"] or 0 <= value <= 1):
            return True
        self.note(
            f"expected {clean(key)}", f"is {clean(repr(value))}, expected a number between 0 and 1."
        )
        return False


def _type(value: Any) -> str:
    """Return the type of a TOML value in words."""
    names: dict[type, str] = {
        str: "a string",
        bool: "true or false",
        int: "a number",
        float: "a number",
        list: "a list",
    }
    return names.get(type(value), "a table" if isinstance(value, dict) else "a date")
