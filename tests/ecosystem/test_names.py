"""Names: unique namespaces, two spellings of wrappers, text without control characters."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neurogym_core
from neurogym_core.ecosystem import names
from neurogym_core.ecosystem.names import FORMS, namespace_of, snake_case, tag_key
from neurogym_core.ecosystem.scan import _form_problems
from neurogym_core.tools import brought, canonical, clean, said_by

NAMES = st.from_regex(r"[a-z0-9]([a-z0-9._-]{0,12}[a-z0-9])?", fullmatch=True)


@pytest.mark.parametrize(
    ("distribution", "namespace"),
    [
        ("neurogym-task-perceptual", "perceptual"),
        ("Neurogym_Task.Perceptual", "perceptual"),
        ("neurogym-core", "core"),
        ("neurogym-wrappers", "wrappers"),
        ("foolab", "x-foolab"),
        ("neurogym", "x-neurogym"),
        ("neurogym-task-core", "x-neurogym-task-core"),
        ("neurogym-task-wrappers", "x-neurogym-task-wrappers"),
        ("neurogym-task-x-foolab", "x-neurogym-task-x-foolab"),
    ],
)
def test_namespace_is_made_from_the_distribution(distribution: str, namespace: str) -> None:
    assert namespace_of(distribution) == namespace


@settings(deadline=None)
@given(
    NAMES,
    NAMES,
    st.sampled_from(["", "neurogym-task-", "neurogym-task-x-", "x-"]),
    st.sampled_from(["", "neurogym-task-"]),
)
def test_two_distributions_never_share_a_namespace(
    left: str, right: str, prefix: str, other: str
) -> None:
    left, right = prefix + left, other + right
    assert (namespace_of(left) == namespace_of(right)) == (canonical(left) == canonical(right))


@pytest.mark.parametrize("name", ["ReactionTime", "reaction_time"])
def test_wrapper_names_have_two_spellings(name: str) -> None:
    assert snake_case(name) == "reaction_time"


CLI = Path(neurogym_core.__file__).parent / "cli"


def test_acronyms_keep_their_word_ends() -> None:
    assert snake_case("RTTask") == "rt_task"


@pytest.mark.parametrize(
    "name", ["Foo", "foo-v0", "Foo-v01", "Foo-v", "a/Foo-v0", "Foo-v0 ", "Foo_Bar-v0", "Foo-v0\n"]
)
def test_a_task_name_is_capitalized_and_versioned(name: str) -> None:
    assert re.fullmatch(FORMS["neurogym.tasks"][0], name) is None


def test_tags_are_compared_without_their_spelling() -> None:
    assert {tag_key(text) for text in ("Working memory", "working_memory", " working-memory ")} == {
        "working-memory"
    }


@settings(deadline=None)
@given(st.text())
def test_clean_text_is_one_line_of_printable_characters(text: str) -> None:
    assert all(unicodedata.category(char)[0] != "C" for char in clean(text))
    assert "\n" not in clean(text)
    assert clean(clean(text)) == clean(text)


def test_clean_keeps_the_lines_of_a_docstring_when_asked() -> None:
    assert clean("a\n    b\x1b[31m\u202e", keep_lines=True) == "a\n    b[31m"


def test_an_exception_that_cannot_be_printed_is_still_named() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no")

    assert said_by(MuteError()).startswith("MuteError: ")
    assert said_by(SystemExit()) == "SystemExit"


def test_commands_that_would_be_confused_with_those_of_this_project_are_taken() -> None:
    assert {one.stem for one in CLI.glob("[a-z]*.py")} == set(names.COMMANDS)

    def refused(name: str, distribution: str = "neurogym-task-foo") -> str:
        problems = _form_problems(distribution, "neurogym.commands", name, "foo:command")
        return " ".join(problem.message for problem in problems)

    for name in ("list", "lst", "instal", "upgrade", "remvoe", "install", "check", "checks"):
        assert "is, or resembles, the command" in refused(name), name
    for name, owner in brought("commands").items():
        assert refused(name, owner) == ""
        assert f"resembles, the command {name!r}" in refused(name)
    assert refused("drill") == ""
    cases = {("ab", "ba"): True, ("abc", "ab"): True, ("abc", "cab"): False, ("ab", "cd"): False}
    for (one, other), near in cases.items():
        for pair in ((one, other), (other, one)):
            assert (names.resembling(pair[0], [pair[1]]) is not None) is near
