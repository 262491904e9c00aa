"""Reads ``ngym.toml``, a package's description of its tasks and wrappers.

::

    schema = 1
    [[task]]
    name = "ContextDM-v0"             # the entry point's name
    title = "Context-dependent decision making"
    summary = "Two modalities; a cue says which one to integrate."
    instructions = "Watch the dots …"           # two sentences for a person who plays it
    tags = ["decision-making", "context"]
    species = ["monkey"]
    aliases = ["ContextDecisionMaking-v0"]      # former names, for the error "is now"
    [[task.reference]]
    doi = "10.1038/nature12742"
    kind = "original"
    [task.expected]
    oracle_min = 1.0
    [task.ideal]                      # the best that is possible
    value = 0.86
    by = "observer"                   # or exact, or bound
    how = "my_tasks.observers:Weigher"          # a subject; for the others, the argument in words
    [task.shortcuts]                  # measured; written by `ngym check --write-shortcuts`
    without.colour = [0.72, 0.7, 0.74]          # with its interval
    [task.admitted]                   # shortcut -> words of the docstring that name it
    without.colour = "ignoring the context"
    [task.admits]                     # conditions that leave the answer open, in your words
    coherence.0 = "no net motion: a coin decides"
    [task.figure]                     # conditions of the trial that figures show
    coherence = 25.6
    [task.view]                       # what a person sees; neurogym-play draws it
    flicker = true                    # the pictures flash more than three times a second
    stimuli = [{ draw = "dots", channel = "motion" }]

A ``[[wrapper]]`` row has the same fields except ``instructions``, ``expected``, ``ideal``,
``shortcuts``, ``admitted``, ``admits``, ``figure`` and ``view``. Its ``[wrapper.presets]`` may
give, for each alias, the settings that reproduce the former wrapper (``Old = "p=0.8"``). Reading a
manifest raises no exceptions: a broken rule becomes a problem with file, row and field, and the
valid rest is kept.
"""

from __future__ import annotations

import functools
import math
import operator
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from neurogym_core.ecosystem.names import TASK_NAME, WRAPPER_NAME, clean, said_by, tag_key
from neurogym_core.ecosystem.records import Description, Level, Problem, Reference
from neurogym_core.ecosystem.toml_text import read_toml
from neurogym_core.errors import did_you_mean, listed

SCHEMA = 1
TITLE_LENGTH = 100
SUMMARY_LENGTH = 200
INSTRUCTIONS_LENGTH = 400
MAX_BYTES = 163_840  # the largest manifest of this project, with 82 tasks, has 147,000

_DOI = re.compile(r"10\.\d{4,9}/[^\s\x00-\x1f{}\\]+")
_FIELDS = ("name", "title", "summary", "tags", "species", "aliases", "reference")
_TABLES = {
    "task": {
        "expected": "a number between 0 and 1",
        "ideal": "value, a number between 0 and 1; by, one of exact, observer, bound; how, a text",
        "shortcuts": "a number between 0 and 1, or [performance, low, high]",
        "admitted": "words of the task's docstring",
        "admits": "why the condition leaves the answer open, in words",
        "figure": "the value of a condition",
    },
    "wrapper": {"presets": "settings, in a table of strings"},
}
"""{kind of row: {table: an expected value in words}}"""
ONLY_TASKS = ("instructions", "view")
"""Further fields of a task."""
VIEW = ("stimuli", "flicker")
MOST_STIMULI, MOST_ENTRIES = 40, 200
"""Largest number of stimuli of a view, and of entries of a list in one of them."""
IDEAL = ("value", "by", "how")
BY = ("exact", "observer", "bound")
"""How an ideal is known."""
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
        tables = _TABLES[kind]
        more = ONLY_TASKS if kind == "task" else ()
        self.check_fields("", row, (*_FIELDS, *more, *tables))
        form = "CapitalizedWords-v0" if kind == "task" else "CapitalizedWords"
        if re.fullmatch(TASK_NAME if kind == "task" else WRAPPER_NAME, row["name"]) is None:
            self.note("name", f"is {clean(row['name'])!r}, expected a name of the form {form}.")
        fields: dict[str, Any] = {}
        for table, expected in tables.items():
            fields[table] = self.leaves(table, row, expected)
        if (ideal := fields.get("ideal")) and len(ideal) < len(IDEAL):
            missing = [name for name in IDEAL if name not in ideal]
            self.note("ideal", f"has no {listed(missing)}; expected value, by and how.")
            fields["ideal"] = {}
        if kind == "task":
            fields["view"] = self.view(row)
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
            self.note(
                field,
                "has control or invisible characters, which are removed; expected plain text.",
            )
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
                self.note(
                    f"{field} doi",
                    f"is {clean(repr(doi))}, expected a bare DOI such as '10.1038/nature12742'.",
                )
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

    def view(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return the valid stimuli of a view, and whether it flickers; {} without stimuli."""
        table = row.get("view", {})
        if not isinstance(table, dict):
            self.note("view", f"is {_type(table)}, expected a table.")
            return {}
        self.check_fields("view ", table, VIEW)
        flicker = table.get("flicker", False)
        if type(flicker) is not bool:
            self.note("view flicker", f"is {_type(flicker)}, expected true or false.")
        stimuli = []
        given = self.rows("stimuli", table, 'a list, [{ draw = "dots", channel = "motion" }]')
        for number, one in enumerate(given[:MOST_STIMULI], 1):
            if isinstance(one, dict) and isinstance(one.get("draw"), str) and _is_simple(one):
                stimuli.append({clean(key): _tidy(value) for key, value in one.items()})
            else:
                self.note(
                    f"view stimulus {number}",
                    "has another form; expected a table with `draw`, a name, and settings that are"
                    f" texts, numbers, true, false, or lists of at most {MOST_ENTRIES} of them.",
                )
        if len(given) > MOST_STIMULI:
            self.note("view", f"has {len(given)} stimuli; at most {MOST_STIMULI} are drawn.")
        return {"stimuli": stimuli, "flicker": flicker is True} if stimuli else {}

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


def _is_simple(value: Any, depth: int = 0) -> bool:
    """Return whether a stimulus has only texts, finite numbers, booleans and short lists."""
    if isinstance(value, dict) and depth == 0:
        return all(_is_simple(one, 1) for one in value.values())
    if isinstance(value, list) and depth in (1, 2):
        return len(value) <= MOST_ENTRIES and all(_is_simple(one, depth + 1) for one in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, bool | str) or (isinstance(value, int) and abs(value) < 2**31)


def _tidy(value: Any) -> Any:
    """Return a setting of a stimulus with cleaned texts of at most 100 characters."""
    if isinstance(value, list):
        return [_tidy(one) for one in value]
    return clean(value)[:TITLE_LENGTH] if isinstance(value, str) else value


def _is_valid(table: str, value: Any, name: str) -> bool:
    """Return whether a table of a row may have this value."""
    if table == "ideal" and name != "value":
        return value in BY if name == "by" else name == "how" and isinstance(value, str)
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
