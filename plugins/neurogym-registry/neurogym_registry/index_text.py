"""The text of an index: JSON with one package a line, so that a search parses only a few lines.

A registry of ten thousand packages has 11 MB of index. Searching such a text takes some
milliseconds, parsing it a tenth of a second."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from neurogym_core.tools import canonical
from neurogym_registry.requirements import is_distribution_name

SCHEMA = 1
DIGEST = "package_sha256"  # field of a line: hash of the text in the package file
MAX_SERIAL = 1_000_000_000
_START = '\n{"name":"'
_HEADER_END = ',"packages":['
_END = "\n]}\n"


def written(index: Mapping[str, Any]) -> str:
    """Return the text of an index; equal indexes give equal bytes."""
    header = {key: index[key] for key in sorted(index) if key != "packages"}
    rows = [row_text(row) for row in index["packages"]]
    return f"{_dumps(header)[:-1]}{_HEADER_END}\n" + ",\n".join(rows) + _END


def row_text(row: Any) -> str:
    """Return the text of a package's row."""
    if not isinstance(row, dict) or "name" not in row:
        return _dumps(row)
    return _dumps({"name": row["name"], **{key: row[key] for key in sorted(row) if key != "name"}})


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


class IndexText:
    """An index whose rows are parsed when they are needed.

    Attributes:
        header: all fields but the packages.
        size: number of characters.
        unread: how many rows this version cannot read; 0 if the index is too large to count them.
    """

    COUNTED = 2_000_000  # characters

    def __init__(self, text: str) -> None:
        """Read the header.

        Raises:
            ValueError: the text is not JSON.
            TypeError: it is not an index; the message says why.
        """
        if not _has_a_row_a_line(text):
            text = written(_checked(json.loads(text)))
        # The text is neither copied nor split: it can have hundreds of megabytes.
        self._text, self._start = text, text.index("\n")
        self.header: dict[str, Any] = _checked(json.loads(f"{text[: self._start]}]}}"))
        self.size = len(text)
        self._low: str | None = None
        self.unread = 0
        if len(text) < self.COUNTED:
            lines = list(self._lines())
            self.unread = len(lines) - sum(read_row(line) is not None for line in lines)

    def row(self, name: str) -> dict[str, Any] | None:
        """Return the row of a package, or None."""
        if not is_distribution_name(name):
            return None
        place = self._text.find(f'{_START}{name}"', self._start)
        end = self._text.find("\n", place + 1)
        return None if place < 0 else read_row(self._text[place + 1 : end])

    def names(self) -> list[str]:
        """Return the names of all packages."""
        return [
            line[9 : line.index('"', 9)] for line in self._lines() if line.startswith(_START[1:])
        ]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield all rows that this version can read."""
        return (row for line in self._lines() if (row := read_row(line)) is not None)

    def with_words(self, words: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield the rows whose text contains all words, in lower case; others may be among them."""
        # In the text, letters beyond ASCII, quotation marks and backslashes are escapes.
        plain = [word for word in words if word.isascii() and not {'"', "\\"} & set(word)]
        if not plain:
            yield from self.rows()
            return
        if self._low is None:
            self._low = self._text.lower()
        longest = max(plain, key=len)
        place = self._low.find(longest, self._start)
        while place >= 0:
            start, end = self._low.rfind("\n", 0, place) + 1, self._low.find("\n", place)
            if all(self._low.find(word, start, end) >= 0 for word in plain):
                row = read_row(self._text[start:end])
                if row is not None:
                    yield row
            place = self._low.find(longest, end + 1) if end >= 0 else -1

    def _lines(self) -> Iterator[str]:
        start = self._start + 1
        while (end := self._text.find("\n", start)) >= 0:
            line = self._text[start:end]
            if line and line != "]}":
                yield line
            start = end + 1


def _has_a_row_a_line(text: str) -> bool:
    end = text.find("\n")
    if not (text.isascii() and text[: max(end, 0)].endswith(_HEADER_END) and text.endswith(_END)):
        return False
    # The line of the header, one for each row, and "]}"; without rows, an empty one before it.
    lines = text.count("\n")
    return text.count(_START) == lines - 2 or text[end:] == f"\n{_END}"


def _checked(value: Any) -> dict[str, Any]:
    """Return an index, if its header has the right form.

    Raises:
        TypeError: it has not; the message says why.
    """
    if not isinstance(value, dict):
        raise TypeError("it is not a table")
    for field, kind in (("schema", int), ("serial", int), ("packages", list), ("revoked", list)):
        if not isinstance(value.get(field), kind) or isinstance(value.get(field), bool):
            raise TypeError(f"{field} is missing or of another type")
    if not 0 <= value["serial"] <= MAX_SERIAL:
        raise TypeError(f"serial is not between 0 and {MAX_SERIAL:,}")
    for row in value["revoked"] if value["schema"] <= SCHEMA else ():
        if not fits(row, _REVOCATION):
            raise TypeError("a row of revoked has another form")
    return value


# -- the form of rows, as far as the client uses them --------------------------------------

_OPTIONAL_TEXT = (str, type(None))
_FILE = {"filename": str, "sha256": str, "size": int}
DESCRIBED = {
    "name": str, "title": str, "summary": str, "tags": [str], "species": [str],
    "references": [{"doi": str, "kind": str}],
}  # fmt: skip
_RELEASE = {
    "version": str, "requires_core": str, "requires_python": str, "license": str, "files": [_FILE],
    "yanked": _OPTIONAL_TEXT, "conformance": (dict, type(None)),
    "attestation": (dict, type(None)),
}  # fmt: skip
_LINE = {
    "name": str, "summary": str, "status": str, "latest": _OPTIONAL_TEXT, "tasks": [DESCRIBED],
}  # fmt: skip
_PACKAGE = {
    **_LINE,
    "maintainers": [{"name": str}],
    "releases": [_RELEASE],
    "wrappers": [DESCRIBED],
}
_REVOCATION = {"name": str, "versions": [str], "reason": str}
_CONFORMANCE = {
    "core": str, "level": str, "passed": int, "failed": int, "expected_failures": list,
    "isolated": bool,
}  # fmt: skip
_ATTESTATION = {"repository": str, "workflow": str}


def fits(value: Any, form: Any) -> bool:
    """Return whether a value has a form: a type, several, [form of items] or {field: form}.

    Further fields are allowed, so that registries can add some for newer clients."""
    if isinstance(form, dict):
        return isinstance(value, dict) and all(
            key in value and fits(value[key], inner) for key, inner in form.items()
        )
    if isinstance(form, list):
        return isinstance(value, list) and all(fits(item, form[0]) for item in value)
    return isinstance(value, form) and (form is bool or not isinstance(value, bool))


def read_row(line: str, *, complete: bool = False) -> dict[str, Any] | None:
    """Return the row in a line; None if this version cannot read it.

    Args:
        line: the text.
        complete: refuse a row whose releases are in a package file.
    """
    try:
        row = json.loads(line.removesuffix(","))
    except (ValueError, RecursionError):
        return None
    slim = isinstance(row, dict) and isinstance(row.get(DIGEST), str) and not complete
    if not fits(row, _LINE if slim else _PACKAGE) or row.get("schema", SCHEMA) != SCHEMA:
        return None
    name, offers = row["name"], row.get("offers", {})
    releases = [] if slim else row["releases"]
    if (
        not is_distribution_name(name)
        or canonical(name) != name
        or not all(
            one[key] is None or fits(one[key], form)
            for one in releases
            for key, form in (("conformance", _CONFORMANCE), ("attestation", _ATTESTATION))
        )
        or not isinstance(offers, dict)
        or not all(isinstance(rows, dict) for rows in offers.values())
    ):
        return None
    return row
