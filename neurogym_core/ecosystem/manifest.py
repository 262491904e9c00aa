"""Reads ``ngym.toml``, a package's description of its tasks and wrappers: `docs/discovery.md`.

Reading a manifest raises no exceptions: a broken rule becomes a problem with file, row and field,
and the valid rest is kept.
"""

from __future__ import annotations

import functools
import operator
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

from neurogym_core.ecosystem.names import FORMS, clean, said_by, tag_key
from neurogym_core.ecosystem.records import Description, Level, Problem, Reference
from neurogym_core.errors import did_you_mean, listed

SCHEMA = 1
TITLE_LENGTH = 100
SUMMARY_LENGTH = 200
INSTRUCTIONS_LENGTH = 400
MAX_DOTS = 300  # in a line of TOML; a DOI has three
MAX_BYTES = 163_840  # the largest manifest of this project, with 82 tasks, has 147,000

_DOI = re.compile(r"10\.\d{4,9}/[^\s\x00-\x1f{}\\]+")
_FIELDS = ("name", "title", "summary", "tags", "species", "aliases", "reference")
_SHARE = "a number between 0 and 1"
_TABLES = {
    "task": {
        "expected": _SHARE,
        "ideal": f"value, {_SHARE}; by, one of exact, observer, bound; how, a text",
        "shortcuts": f"{_SHARE}, or [performance, low, high]",
        "admitted": "words of the task's docstring",
        "admits": "why the condition leaves the answer open, in words",
        "figure": "the value of a condition",
    },
    "wrapper": {"presets": "settings, in a table of strings"},
}
"""{kind of row: {table: an expected value in words}}"""
ONLY_TASKS = ("instructions", "view")
"""Further fields of a task."""
IDEAL = ("value", "by", "how")
_REFERENCE_FIELDS = ("doi", "kind", "title", "authors", "journal", "year")


@dataclass(frozen=True, kw_only=True)
class Row(Description):
    """The valid fields of one ``[[task]]`` or ``[[wrapper]]`` row, and its problems."""

    kind: str
    name: str
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


class Vocabulary(NamedTuple):
    """Controlled words by kind (``tags``, ``species``, ``reference``, ``expected``)."""

    words: Mapping[str, tuple[str, ...]]
    spellings: Mapping[str, Mapping[str, str]]

    def resolve(self, kind: str, text: str) -> str | None:
        """Return ``working-memory`` for ``working memory``; None if the word is unknown."""
        return self.spellings[kind].get(tag_key(text))

    def unknown(self, kind: str, text: str) -> str:
        """Return the message about a word that is in no vocabulary."""
        known = self.words[kind]
        return (
            f"{text!r} is not in the vocabulary.{did_you_mean(text, known)} Expected one of:"
            f" {', '.join(sorted(known))}. Use one of them, or propose the new word."
        )


@functools.cache
def vocabulary() -> Vocabulary:
    """Return the controlled vocabulary of the core; cached."""
    tables = tomllib.loads(Path(__file__).with_name("vocabulary.toml").read_text("utf-8"))
    words: dict[str, tuple[str, ...]] = {}
    spellings: dict[str, dict[str, str]] = {}
    for kind in ("tags", "species", "reference", "expected"):
        words[kind] = tuple(tables[kind])
        spellings[kind] = {}
        for word, row in tables[kind].items():
            for spelling in (word, *row.get("also", ())):
                spellings[kind][tag_key(spelling)] = word
    return Vocabulary(words, spellings)


def read_toml(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text.

    Args:
        text: the text, of bounded length.

    Raises:
        ValueError: it is not valid, is nested too deeply, has a line with more than `MAX_DOTS` dots
            or an integer of more than 64 bits, which TOML does not promise.
    """
    # tomllib's time grows with the square of the parts of a dotted key.
    if max(map(str.count, text.split("\n"), repeat("."))) > MAX_DOTS:
        raise ValueError(f"it has a line with more than {MAX_DOTS} dots")
    try:
        inside: list[Any] = [tables := tomllib.loads(text)]
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    for one in inside:  # Python refuses to print an integer of more than 4,300 digits
        if isinstance(one, dict | list):
            inside += one.values() if isinstance(one, dict) else one
        elif isinstance(one, int) and not -(2**63) <= one < 2**63:
            raise ValueError("it has an integer of more than 64 bits")
    return tables


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
    """Return the manifest in a text; an invalid text gives problems, no exception.

    Args:
        text: TOML.
        file: its name, for messages.
    """
    try:
        tables = read_toml(text.removeprefix("\ufeff"))  # some editors begin files with it
    except ValueError as error:
        return _unreadable(file, f"It is not valid TOML: {clean(said_by(error))}.")
    if tables.pop("schema", SCHEMA) != SCHEMA:
        return _unreadable(file, f"This core reads schema {SCHEMA}. Use a newer core.")
    top = _Reader(file, "")
    top.check_fields("", tables, [*_TABLES], "table")
    rows: dict[tuple[str, str], Row] = {}
    for kind in _TABLES:
        top.row = ""
        for number, table in enumerate(top.rows(kind, tables, f"[[{kind}]]"), 1):
            top.row = f"[[{kind}]] number {number}"
            name = table.get("name") if isinstance(table, dict) else None
            if not isinstance(name, str) or not name.strip():
                top.note("name", "is missing; expected the entry point's name.")
            elif (kind, name) in rows:
                top.note("name", f"{clean(name)!r} has a row already; only the first is used.")
            else:
                rows[kind, name] = _Reader(file, f"[[{kind}]] {clean(name)!r}").read(kind, table)
    return Manifest(file=file, rows=tuple(rows.values()), problems=tuple(top.problems))


def _unreadable(file: str, message: str) -> Manifest:
    problem = Problem(level="error", code="manifest", message=message, file=file)
    return Manifest(file=file, problems=(problem,))


class _Reader:
    """Reads one row, or the file if `row` is "", and collects the problems."""

    def __init__(self, file: str, row: str):
        self.file, self.row = file, row
        self.problems: list[Problem] = []

    def note(
        self, field: str, message: str, level: Level = "error", code: str = "manifest"
    ) -> None:
        place = {"file": self.file, "row": self.row, "field": clean(field)}
        self.problems.append(Problem(level=level, code=code, message=message, **place))

    def check_fields(
        self, prefix: str, names: Iterable[str], known: Sequence[str], what: str = "field"
    ) -> None:
        for name in names:
            if name not in known:
                message = f"unknown {what}.{did_you_mean(name, known)} Known: {listed(known)}."
                self.note(f"{prefix}{name}", message, "warning")

    def read(self, kind: str, row: dict[str, Any]) -> Row:
        tables, is_task = _TABLES[kind], kind == "task"
        self.check_fields("", row, (*_FIELDS, *(ONLY_TASKS if is_task else ()), *tables))
        pattern, form = FORMS[f"neurogym.{kind}s"]
        if re.fullmatch(pattern, row["name"]) is None:
            self.note("name", f"is {clean(row['name'])!r}, expected a name of the form {form}.")
        fields: dict[str, Any] = {}
        for table, expected in tables.items():
            fields[table] = self.leaves(table, row, expected)
        if (ideal := fields.get("ideal")) and len(ideal) < len(IDEAL):
            missing = [name for name in IDEAL if name not in ideal]
            self.note("ideal", f"has no {listed(missing)}; expected value, by and how.")
            fields["ideal"] = {}
        if is_task:
            fields["view"] = row.get("view", {})
            if not isinstance(fields["view"], dict):
                self.note("view", f"is {_type(fields['view'])}, expected a table.")
                fields["view"] = {}
            if "instructions" in row:
                fields["instructions"] = self.line("instructions", row, INSTRUCTIONS_LENGTH)
            fields["intervals"] = {}
            for name, one in fields["shortcuts"].items():
                if isinstance(one, list):
                    fields["shortcuts"][name], low, high = one
                    fields["intervals"][name] = (low, high)
        self.check_fields("expected ", fields.get("expected", ()), vocabulary().words["expected"])
        fields["aliases"] = self.texts("aliases", row)
        for name, text in fields.get("presets", {}).items():
            if name not in fields["aliases"]:
                self.note(f"presets {name}", "is not an alias; expected one of the aliases.")
            fields["presets"][name] = self.plain(f"presets {name}", text, SUMMARY_LENGTH)
        return Row(
            kind=kind,
            name=row["name"],
            title=self.line("title", row, TITLE_LENGTH),
            summary=self.line("summary", row, SUMMARY_LENGTH),
            tags=self.texts("tags", row, "tags"),
            species=self.texts("species", row, "species"),
            references=self.references(kind, row),
            problems=tuple(self.problems),
            **fields,
        )

    def rows(self, field: str, table: dict[str, Any], form: str) -> list[Any]:
        found = table.get(field, [])
        if isinstance(found, list):
            return found
        self.note(field, f"is {_type(found)}, expected rows written as {form}.")
        return []

    def line(self, field: str, row: dict[str, Any], length: int) -> str:
        """Return a required text of one line."""
        text = row.get(field)
        if isinstance(text, str) and text.strip():
            return self.plain(field, text, length)
        if text is None:
            self.note(field, "is missing; expected one line of text.", "warning")
        else:
            self.note(field, f"is {_type(text)}; expected one line of text.")
        return ""

    def plain(self, field: str, text: str, length: int) -> str:
        """Return the text, cleaned and cut; note a problem if that changed it."""
        tidy = clean(text)
        if "\n" in text.strip() or "\r" in text.strip():
            self.note(field, "has several lines; expected one.")
        elif tidy != " ".join(text.split()):
            said = "has control or invisible characters, which are removed; expected plain text."
            self.note(field, said)
        if len(tidy) > length:
            self.note(field, f"has {len(tidy)} characters; at most {length} are shown.")
        return tidy[:length]

    def texts(self, field: str, row: dict[str, Any], kind: str = "") -> tuple[str, ...]:
        """Return the texts of a list; with a kind of the vocabulary, its words."""
        values = row.get(field, [])
        if not isinstance(values, list) or not {str}.issuperset(map(type, values)):
            self.note(field, f"is {_type(values)}, expected a list of strings.")
            return ()
        found = []
        for value in values:
            text = self.plain(field, value, TITLE_LENGTH)
            found.append(self.word(field, text, kind) if kind else text)
        return tuple(dict.fromkeys(found))

    def word(self, field: str, value: str, kind: str) -> str:
        """Return the controlled word; keep an unknown one, with a warning."""
        key = tag_key(value)
        word = vocabulary().spellings[kind].get(key)
        if word is None:
            self.note(field, vocabulary().unknown(kind, value), "warning", "vocabulary")
        elif word != value:
            self.note(field, f"{value!r} should be {word!r}.", "warning", "vocabulary")
        return word or key

    def references(self, kind: str, row: dict[str, Any]) -> tuple[Reference, ...]:
        found = []
        for number, table in enumerate(self.rows("reference", row, f"[[{kind}.reference]]"), 1):
            field = f"reference {number}"
            if not isinstance(table, dict):
                self.note(field, f"is {_type(table)}, expected a table with a doi.")
                continue
            self.check_fields(f"{field} ", table, _REFERENCE_FIELDS)
            doi, year = table.get("doi"), table.get("year")
            if not isinstance(doi, str) or _DOI.fullmatch(doi) is None or clean(doi) != doi:
                said = "expected a bare DOI such as '10.1038/nature12742'."
                self.note(f"{field} doi", f"is {clean(repr(doi))}, {said}")
                continue
            if year is not None and type(year) is not int:
                self.note(f"{field} year", f"is {_type(year)}, expected a whole number.")
                year = None
            texts = {}
            for key in ("kind", "title", "authors", "journal"):
                value = table.get(key, "original" if key == "kind" else "")
                if not isinstance(value, str):
                    self.note(f"{field} {key}", f"is {_type(value)}, expected a string.")
                    value = ""
                texts[key] = self.plain(f"{field} {key}", value, 3 * SUMMARY_LENGTH)
            texts["kind"] = self.word(f"{field} kind", texts["kind"], "reference")
            found.append(Reference(doi=doi, year=year, **texts))
        return tuple(found)

    def leaves(self, field: str, row: dict[str, Any], expected: str) -> dict[str, Any]:
        """Return the valid values of a table by their dotted names, such as ``channel.motion``."""
        table = row.get(field, {})
        if not isinstance(table, dict):
            self.note(field, f"is {_type(table)}, expected a table.")
            return {}
        found: dict[str, Any] = {}
        for key, value in table.items():
            inner = value if isinstance(value, dict) and value else {"": value}
            for part, one in inner.items():
                name = clean(f"{key}.{part}" if part else key)
                if _is_valid(field, one, name):
                    found[name] = one
                else:
                    given = clean(repr(one)) if isinstance(one, int | float) else _type(one)
                    self.note(f"{field} {name}", f"is {given}, expected {expected}.")
        return found


def _type(value: Any) -> str:
    """Return the type of a TOML value in words."""
    words = {str: "a string", bool: "true or false", int: "a number", float: "a number",
             list: "a list", dict: "a table"}  # fmt: skip
    return words.get(type(value), "a date")


def _is_valid(table: str, value: Any, name: str) -> bool:
    """Return whether a table of a row may have this value."""
    if table == "ideal" and name != "value":
        return (
            value in ("exact", "observer", "bound")
            if name == "by"
            else name == "how" and isinstance(value, str)
        )
    if table in ("expected", "ideal", "shortcuts"):
        triple = table == "shortcuts" and isinstance(value, list) and len(value) == 3
        shares: list[Any] = value if triple else [value]
        numbers = {int, float}.issuperset(map(type, shares))
        # NaN, which differs from itself, is beyond no bound.
        numbers = numbers and all(map(operator.eq, shares, shares))
        return numbers and min(shares) >= 0 and max(shares) <= 1
    if table == "figure":
        values = value if isinstance(value, list) else [value]
        return bool(values) and {bool, int, float, str}.issuperset(map(type, values))
    return isinstance(value, str) and bool(value.strip())
