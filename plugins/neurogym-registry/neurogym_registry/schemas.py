"""Validate data by the JSON Schemas of the registry, without a dependency.

The module supports the keywords of JSON Schema that ``registry/schema`` uses, and raises an error
for others, so that every keyword of a schema is checked. Tests compare it with the `jsonschema`
package."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator, Mapping
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
_SILENT = {"$schema", "$id", "$defs", "title", "description"}


class Breach(NamedTuple):
    """A place where data breaks a schema (``tasks[0].title``), with the finding."""

    field: str
    message: str


def breaches(data: Any, schema: str) -> list[Breach]:
    """Return all breaches of the schema ``entry``, ``release``, ``revoked`` or ``index``."""
    return list(_check(data, _schema(schema), schema, ""))


def part_breaches(data: Any, reference: str) -> list[Breach]:
    """Return all breaches of a part of a schema, e.g. ``index.schema.json#/$defs/package``."""
    return list(_check(data, {"$ref": reference}, "common", ""))


@functools.cache
def _schema(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(data(f"schema/{name}.schema.json").read_text("utf-8"))
    return found


def _resolved(reference: str, home: str) -> tuple[dict[str, Any], str]:
    file, _, path = reference.partition("#/")
    name = file.removesuffix(".schema.json") or home
    found: Any = _schema(name)
    for key in path.split("/"):
        found = found[key]
    return found, name


def _check(data: Any, schema: Mapping[str, Any], home: str, where: str) -> Iterator[Breach]:
    """Yield the breaches in the data; after a wrong type, others would only repeat it."""
    wrong_type = list(_check_type(data, schema, where))
    yield from wrong_type
    if wrong_type:
        return
    for keyword, value in schema.items():
        if keyword == "pattern" and "description" in schema:
            value = f"{value}\n{schema['description']}"
        if keyword not in _SILENT and keyword not in ("type", "additionalProperties"):
            yield from _KEYWORDS[keyword](data, value, home, where)
    if "additionalProperties" in schema and isinstance(data, dict):
        yield from _additional(data, schema, home, where)


def _check_type(data: Any, schema: Mapping[str, Any], where: str) -> Iterator[Breach]:
    if "type" not in schema:
        return
    wanted = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(_is(data, name) for name in wanted):
        expected = " or ".join(_ARTICLES[name] for name in wanted)
        yield Breach(where, f"is {_shown(data)}, expected {expected}")


def _is(data: Any, name: str) -> bool:
    if isinstance(data, bool):
        return name == "boolean"
    if name == "integer" and isinstance(data, float):
        return data.is_integer()
    return isinstance(data, _TYPES[name])


def _additional(
    data: dict[str, Any], schema: Mapping[str, Any], home: str, where: str
) -> Iterator[Breach]:
    known = schema.get("properties", {})
    for key in data:
        if key in known:
            continue
        if schema["additionalProperties"] is False:
            yield Breach(_inside(where, key), f"is not a known field; expected {', '.join(known)}")
        else:
            yield from _check(data[key], schema["additionalProperties"], home, _inside(where, key))


def _properties(data: Any, value: Mapping[str, Any], home: str, where: str) -> Iterator[Breach]:
    if isinstance(data, dict):
        for key, inner in value.items():
            if key in data:
                yield from _check(data[key], inner, home, _inside(where, key))


def _required(data: Any, value: list[str], home: str, where: str) -> Iterator[Breach]:
    if isinstance(data, dict):
        for key in value:
            if key not in data:
                yield Breach(_inside(where, key), "is missing, expected a value")


def _items(data: Any, value: Mapping[str, Any], home: str, where: str) -> Iterator[Breach]:
    if isinstance(data, list):
        for index, item in enumerate(data):
            yield from _check(item, value, home, f"{where}[{index}]")


def _pattern(data: Any, value: str, home: str, where: str) -> Iterator[Breach]:
    # Not `re.search`: its $ also matches before a final line end.
    pattern, _, description = value.partition("\n")
    if (
        isinstance(data, str)
        and re.fullmatch(pattern.removeprefix("^").removesuffix("$"), data) is None
    ):
        expected = description.rstrip(".") or f"the form {pattern}"
        yield Breach(where, f"is {_shown(data)}, expected {expected[0].lower()}{expected[1:]}")


def _enum(data: Any, value: list[Any], home: str, where: str) -> Iterator[Breach]:
    if not any(type(one) is type(data) and one == data for one in value):
        yield Breach(where, f"is {_shown(data)}, expected {' or '.join(map(_shown, value))}")


def _min_items(data: Any, value: int, home: str, where: str) -> Iterator[Breach]:
    if isinstance(data, list) and len(data) < value:
        yield Breach(where, f"has {len(data)} items, expected at least {value}")


def _unique(data: Any, value: bool, home: str, where: str) -> Iterator[Breach]:
    if value and isinstance(data, list):
        texts = [json.dumps(item, sort_keys=True) for item in data]
        if len(set(texts)) < len(texts):
            yield Breach(where, "contains the same item twice, expected different items")


def _max_length(data: Any, value: int, home: str, where: str) -> Iterator[Breach]:
    if isinstance(data, str) and len(data) > value:
        yield Breach(where, f"has {len(data)} characters, expected at most {value}")


def _minimum(data: Any, value: float, home: str, where: str) -> Iterator[Breach]:
    if isinstance(data, int | float) and not isinstance(data, bool) and data < value:
        yield Breach(where, f"is {data}, expected at least {value}")


def _maximum(data: Any, value: float, home: str, where: str) -> Iterator[Breach]:
    if isinstance(data, int | float) and not isinstance(data, bool) and data > value:
        yield Breach(where, f"is {data}, expected at most {value}")


def _ref(data: Any, value: str, home: str, where: str) -> Iterator[Breach]:
    found, name = _resolved(value, home)
    yield from _check(data, found, name, where)


def _all_of(data: Any, value: list[Any], home: str, where: str) -> Iterator[Breach]:
    for schema in value:
        yield from _check(data, schema, home, where)


def _any_of(data: Any, value: list[Any], home: str, where: str) -> Iterator[Breach]:
    found = [list(_check(data, schema, home, where)) for schema in value]
    if all(found):
        yield from found[-1]


def _one_of(data: Any, value: list[Any], home: str, where: str) -> Iterator[Breach]:
    """Yield a breach unless exactly one alternative fits; all must consist of ``required``."""
    if (
        isinstance(data, dict)
        and sum(not list(_check(data, schema, home, where)) for schema in value) != 1
    ):
        names = " or ".join(repr(key) for schema in value for key in schema["required"])
        yield Breach(where, f"has none or several of {names}, expected exactly one")


_KEYWORDS: dict[str, Callable[[Any, Any, str, str], Iterator[Breach]]] = {
    "properties": _properties,
    "required": _required,
    "items": _items,
    "pattern": _pattern,
    "enum": _enum,
    "minItems": _min_items,
    "uniqueItems": _unique,
    "maxLength": _max_length,
    "minimum": _minimum,
    "maximum": _maximum,
    "$ref": _ref,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
}


def _inside(where: str, key: str) -> str:
    return f"{where}.{clean(key)}" if where else clean(key)


def _shown(data: Any) -> str:
    if isinstance(data, dict | list):
        return "a table" if isinstance(data, dict) else "a list"
    text = clean(repr(data))
    return text if len(text) <= 60 else text[:57] + "..."
