"""Validation in code agrees with the schemas, and with the `jsonschema` package."""

from __future__ import annotations

import copy
import json
import sys
import tomllib

import jsonschema
import pytest
import referencing
from hypothesis import given, settings
from hypothesis import strategies as st
from neurogym_registry import schemas
from neurogym_registry.data import data
from neurogym_registry.folder import _plain
from neurogym_registry.schemas import breaches

makers = sys.modules["ngym_test_registry_makers"]
FILES = {
    name: json.loads(data(f"schema/{name}.schema.json").read_text("utf-8"))
    for name in schemas.NAMES
}
RESOURCES = referencing.Registry().with_resources(
    [
        (f"{name}.schema.json", referencing.Resource.from_contents(schema))
        for name, schema in FILES.items()
    ]
)
GOOD = {
    "entry": _plain(tomllib.loads(makers.entry_text("neurogym-task-dots"))),
    "release": makers.release("neurogym-task-dots"),
    "revoked": {
        "schema": 1,
        "revoked": [{"name": "foo", "versions": ["*"], "reason": "evil", "date": "2026-11-21"}],
    },
    "index": makers.small_index(),
}
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3000),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        ["", "1.0", "foo", "Foo-v0", "a\nb", "<b>", "*", "active", "10.1038/nature12742", "x" * 500]
    ),
    st.just([]),
    st.just({}),
    st.just([1, 1]),
    st.just({"name": "x"}),
)


def peer_accepts(data: object, name: str) -> bool:
    return jsonschema.Draft202012Validator(FILES[name], registry=RESOURCES).is_valid(data)


def places(data: object, at: tuple = ()) -> list[tuple]:
    """Return the paths of all values inside."""
    inner = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data)
        if isinstance(data, list)
        else ()
    )
    return [at, *(place for key, value in inner for place in places(value, (*at, key)))]


@pytest.mark.parametrize("name", [name for name in schemas.NAMES if name != "common"])
def test_good_data_is_accepted_by_both(name: str) -> None:
    assert breaches(GOOD[name], name) == []
    assert peer_accepts(GOOD[name], name)


@pytest.mark.parametrize("name", schemas.NAMES)
def test_the_schemas_are_schemas_with_anchored_patterns_and_known_keywords(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(FILES[name])
    stack = [FILES[name]]
    while stack:
        schema = stack.pop()
        unknown = (
            set(schema)
            - set(schemas._KEYWORDS)
            - schemas._SILENT
            - {"type", "additionalProperties"}
        )
        assert not unknown, f"the code does not check {unknown}"
        pattern = schema.get("pattern", "^$")
        assert pattern[0] + pattern[-1] == "^$"
        stack += [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
        stack += [
            schema[key]
            for key in ("items", "additionalProperties")
            if isinstance(schema.get(key), dict)
        ]
        stack += [one for key in ("anyOf", "allOf", "oneOf") for one in schema.get(key, ())]


@pytest.mark.parametrize("name", [name for name in schemas.NAMES if name != "common"])
@settings(max_examples=150)
@given(data=st.data())
def test_changed_data_is_judged_as_jsonschema_judges_it(name: str, data: st.DataObject) -> None:
    changed = copy.deepcopy(GOOD[name])
    place = data.draw(st.sampled_from(places(changed)[1:]))
    parent = changed
    for key in place[:-1]:
        parent = parent[key]
    how = data.draw(st.sampled_from(["replace", "remove", "add"]))
    if how == "remove":
        del parent[place[-1]]
    elif how == "replace" or isinstance(parent, list):
        parent[place[-1]] = data.draw(VALUES)
    else:
        parent["unknown"] = data.draw(VALUES)
    assert (breaches(changed, name) == []) == peer_accepts(changed, name)


def test_a_breach_says_where_and_what() -> None:
    wrong = makers.release("neurogym-task-dots")
    wrong["tasks"][0]["title"] = 3
    (found,) = breaches(wrong, "release")
    assert found.field == "tasks[0].title"
    assert found.message == "is 3, expected a text"


def test_a_final_line_end_is_no_part_of_a_name() -> None:
    assert [one.field for one in breaches({**GOOD["entry"], "name": "foo\n"}, "entry")] == ["name"]
