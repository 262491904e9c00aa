"""Validate data by the JSON Schemas of the registry, without a dependency.

Each schema becomes a function once, because a registry has tens of thousands of files. The module
supports the keywords of JSON Schema that ``registry/schema`` uses, and raises an error for others,
so that every keyword of a schema is checked. Tests compare it with the `jsonschema` package."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from neurogym_core.tools import clean
from neurogym_registry.data import data

NAMES = ("common", "entry", "index", "release", "revoked")
_TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "integer": int,
    "number": (int, float),
}
_ARTICLES = {
    "object": "a table",
    "array": "a list",
    "string": "a text",
    "boolean": "true or false",
    "null": "null",
    "integer": "a whole number",
    "number": "a number",
}
_SILENT = {"$schema", "$id", "$defs", "title", "description", "type", "additionalProperties"}


class Breach(NamedTuple):
    """A place where data breaks a schema (``tasks[0].title``), with the finding."""

    field: str
    message: str


_Found = Sequence[tuple[tuple[str | int, ...], str]]
"""Findings: the path of the value, and the message."""
_Check = Callable[[Any], _Found]
_FINE: _Found = ()


def breaches(data: Any, schema: str) -> list[Breach]:
    """Return all breaches of the schema ``entry``, ``release``, ``revoked`` or ``index``."""
    return part_breaches(data, f"{schema}.schema.json#/")


def part_breaches(data: Any, reference: str) -> list[Breach]:
    """Return all breaches of a part of a schema, e.g. ``index.schema.json#/$defs/package``."""
    return [Breach(_place(path), message) for path, message in _checker(reference, "")(data)]


def _place(path: Sequence[str | int]) -> str:
    """Return a path in words, ``tasks[0].title``."""
    texts = [f"[{one}]" if isinstance(one, int) else f".{clean(one)}" for one in path]
    return "".join(texts).removeprefix(".")


@functools.cache
def _schema(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(data(f"schema/{name}.schema.json").read_text("utf-8"))
    return found


@functools.cache
def _checker(reference: str, home: str) -> _Check:
    """Return the check of a part of a schema that another one names from ``home``."""
    file, _, path = reference.partition("#/")
    name = file.removesuffix(".schema.json") or home
    found: Any = _schema(name)
    for key in filter(None, path.split("/")):
        found = found[key]
    return _compiled(found, name)


def _compiled(schema: Mapping[str, Any], home: str) -> _Check:
    """Return the check of a schema; after a wrong type, other findings would only repeat it."""
    wrong_type = _type(schema["type"]) if "type" in schema else None
    parts = [
        _KEYWORDS[keyword](value, home, schema)
        for keyword, value in schema.items()
        if keyword not in _SILENT
    ]
    if "additionalProperties" in schema:
        parts.append(_additional(schema["additionalProperties"], home, schema))

    def check(data: Any) -> _Found:
        if wrong_type is not None and (found := wrong_type(data)):
            return found
        found = _FINE
        for part in parts:
            if more := part(data):
                found = [*found, *more]
        return found

    return check


def _under(key: str | int, found: _Found) -> _Found:
    return [((key, *path), message) for path, message in found]


def _type(value: str | list[str]) -> _Check:
    wanted = [value] if isinstance(value, str) else value
    expected = " or ".join(_ARTICLES[name] for name in wanted)
    # Only numbers need a closer look: true is none, and 1.0 is a whole one.
    plain = tuple(_TYPES[name] for name in wanted if name not in ("integer", "number"))

    def check(data: Any) -> _Found:
        if isinstance(data, plain) or any(_is(data, name) for name in wanted):
            return _FINE
        return [((), f"is {_shown(data)}, expected {expected}")]

    return check


def _is(data: Any, name: str) -> bool:
    if isinstance(data, bool):
        return name == "boolean"
    if name == "integer" and isinstance(data, float):
        return data.is_integer()
    return isinstance(data, _TYPES[name])


def _additional(value: Any, home: str, schema: Mapping[str, Any]) -> _Check:
    known = schema.get("properties", {})
    inner = None if value is False else _compiled(value, home)
    expected = f"is not a known field; expected {', '.join(known)}"

    def check(data: Any) -> _Found:
        if not isinstance(data, dict):
            return _FINE
        found: list[Any] = []
        for key in data:
            if key not in known:
                found += [((key,), expected)] if inner is None else _under(key, inner(data[key]))
        return found

    return check


def _properties(value: Mapping[str, Any], home: str, schema: Mapping[str, Any]) -> _Check:
    checks = {key: _compiled(inner, home) for key, inner in value.items()}

    def check(data: Any) -> _Found:
        found = _FINE
        if isinstance(data, dict):
            for key, inner in checks.items():
                if key in data and (more := inner(data[key])):
                    found = [*found, *_under(key, more)]
        return found

    return check


def _required(value: list[str], home: str, schema: Mapping[str, Any]) -> _Check:
    def check(data: Any) -> _Found:
        if not isinstance(data, dict):
            return _FINE
        return [((key,), "is missing, expected a value") for key in value if key not in data]

    return check


def _items(value: Mapping[str, Any], home: str, schema: Mapping[str, Any]) -> _Check:
    inner = _compiled(value, home)

    def check(data: Any) -> _Found:
        found = _FINE
        if isinstance(data, list):
            for index, item in enumerate(data):
                if more := inner(item):
                    found = [*found, *_under(index, more)]
        return found

    return check


def _pattern(value: str, home: str, schema: Mapping[str, Any]) -> _Check:
    # Not `search`: its $ also matches before a final line end.
    fits = re.compile(value.removeprefix("^").removesuffix("$")).fullmatch
    expected = schema.get("description", "").rstrip(".") or f"the form {value}"

    def check(data: Any) -> _Found:
        if not isinstance(data, str) or fits(data) is not None:
            return _FINE
        return [((), f"is {_shown(data)}, expected {expected[0].lower()}{expected[1:]}")]

    return check


def _enum(value: list[Any], home: str, schema: Mapping[str, Any]) -> _Check:
    def check(data: Any) -> _Found:
        if any(type(one) is type(data) and one == data for one in value):
            return _FINE
        return [((), f"is {_shown(data)}, expected {' or '.join(map(_shown, value))}")]

    return check


def _min_items(value: int, home: str, schema: Mapping[str, Any]) -> _Check:
    def check(data: Any) -> _Found:
        if isinstance(data, list) and len(data) < value:
            return [((), f"has {len(data)} items, expected at least {value}")]
        return _FINE

    return check


def _max_items(value: int, home: str, schema: Mapping[str, Any]) -> _Check:
    def check(data: Any) -> _Found:
        if isinstance(data, list) and len(data) > value:
            return [((), f"has {len(data)} items, expected at most {value}")]
        return _FINE

    return check


def _unique(value: bool, home: str, schema: Mapping[str, Any]) -> _Check:
    def check(data: Any) -> _Found:
        if value and isinstance(data, list) and len(data) > 1:
            texts = [json.dumps(item, sort_keys=True) for item in data]
            if len(set(texts)) < len(texts):
                return [((), "contains the same item twice, expected different items")]
        return _FINE

    return check


def _max_length(value: int, home: str, schema: Mapping[str, Any]) -> _Check:
    def check(data: Any) -> _Found:
        if isinstance(data, str) and len(data) > value:
            return [((), f"has {len(data)} characters, expected at most {value}")]
        return _FINE

    return check


def _minimum(value: float, home: str, schema: Mapping[str, Any]) -> _Check:
    def check(data: Any) -> _Found:
        if isinstance(data, int | float) and not isinstance(data, bool) and data < value:
            return [((), f"is {data}, expected at least {value}")]
        return _FINE

    return check


def _maximum(value: float, home: str, schema: Mapping[str, Any]) -> _Check:
    def check(data: Any) -> _Found:
        if isinstance(data, int | float) and not isinstance(data, bool) and data > value:
            return [((), f"is {data}, expected at most {value}")]
        return _FINE

    return check


def _ref(value: str, home: str, schema: Mapping[str, Any]) -> _Check:
    found: list[_Check] = []

    def check(data: Any) -> _Found:
        if not found:  # looked up when it is used: a schema may name itself
            found.append(_checker(value, home))
        return found[0](data)

    return check


def _all_of(value: list[Any], home: str, schema: Mapping[str, Any]) -> _Check:
    checks = [_compiled(one, home) for one in value]
    return lambda data: [found for check in checks for found in check(data)]


def _any_of(value: list[Any], home: str, schema: Mapping[str, Any]) -> _Check:
    checks = [_compiled(one, home) for one in value]

    def check(data: Any) -> _Found:
        found = _FINE
        for one in checks:
            found = one(data)
            if not found:
                break
        return found

    return check


def _one_of(value: list[Any], home: str, schema: Mapping[str, Any]) -> _Check:
    """Return the check that exactly one alternative fits; all must consist of ``required``."""
    checks = [_compiled(one, home) for one in value]
    names = " or ".join(repr(key) for one in value for key in one["required"])

    def check(data: Any) -> _Found:
        if isinstance(data, dict) and sum(not one(data) for one in checks) != 1:
            return [((), f"has none or several of {names}, expected exactly one")]
        return _FINE

    return check


_KEYWORDS: dict[str, Callable[[Any, str, Mapping[str, Any]], _Check]] = {
    "properties": _properties,
    "required": _required,
    "items": _items,
    "pattern": _pattern,
    "enum": _enum,
    "minItems": _min_items,
    "maxItems": _max_items,
    "uniqueItems": _unique,
    "maxLength": _max_length,
    "minimum": _minimum,
    "maximum": _maximum,
    "$ref": _ref,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
}


def _shown(data: Any) -> str:
    if isinstance(data, dict | list):
        return "a table" if isinstance(data, dict) else "a list"
    text = clean(repr(data))
    return text if len(text) <= 60 else text[:57] + "..."
