"""Manifests: valid fields are kept; problems name file, row and field."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neurogym_core.errors
from neurogym_core.ecosystem.discovery import installed
from neurogym_core.ecosystem.manifest import (
    MAX_BYTES,
    Manifest,
    parse_manifest,
    read_manifest,
    vocabulary,
)

GOOD = """
schema = 1
[[task]]
name = "ContextDM-v0"
title = "Context-dependent decision making"
summary = "Two modalities; a cue says which one to integrate."
tags = ["decision-making", "context"]
species = ["monkey"]
aliases = ["ContextDecisionMaking-v0"]
[[task.reference]]
doi = "10.1038/nature12742"
kind = "original"
authors = "Mante, V. and Sussillo, D."
year = 2013
[task.expected]
guess = 0.5
oracle_min = 1
[[wrapper]]
name = "Delay"
title = "Delay"
summary = "Waits."
"""


def task(**fields: str) -> Manifest:
    """Return the manifest of one task with these fields and otherwise valid ones."""
    rows = {"name": '"Foo-v0"', "title": '"Foo"', "summary": '"Foo."', **fields}
    return parse_manifest(
        "[[task]]\n" + "\n".join(f"{key} = {value}" for key, value in rows.items())
    )


def test_a_good_manifest_has_no_problem() -> None:
    manifest = parse_manifest(GOOD)
    assert manifest.all_problems == ()
    row = manifest.row("task", "ContextDM-v0")
    assert (row.tags, row.species, row.aliases) == (
        ("decision-making", "context"),
        ("monkey",),
        ("ContextDecisionMaking-v0",),
    )
    assert row.references[0].doi == "10.1038/nature12742"
    assert row.references[0].year == 2013
    assert row.expected == {"guess": 0.5, "oracle_min": 1}
    assert manifest.row("wrapper", "Delay").title == "Delay"
    assert manifest.row("wrapper", "ContextDM-v0") is None


@pytest.mark.parametrize(
    ("fields", "field", "said"),
    [
        ({"title": "3"}, "title", "is a number; expected one line"),
        ({"summary": '"' + "x" * 201 + '"'}, "summary", "201 characters; at most 200"),
        ({"summary": '"""a\nb"""'}, "summary", "several lines"),
        ({"title": '"a\\u001b[31mb"'}, "title", "control or invisible"),
        ({"title": '"a\\u202Eb"'}, "title", "control or invisible"),
        ({"tags": '"context"'}, "tags", "is a string, expected a list"),
        ({"tags": "[1]"}, "tags", "expected a list of strings"),
        ({"name": '"foo"'}, "name", "CapitalizedWords-v0"),
        (
            {"reference": "[{doi = 'https://doi.org/10.1038/nature12742'}]"},
            "reference 1 doi",
            "bare DOI",
        ),
        ({"reference": "[{kind = 'original'}]"}, "reference 1 doi", "is None"),
        ({"reference": "[{doi = '10.1038/x', year = '2013'}]"}, "reference 1 year", "whole number"),
        ({"reference": "[{doi = '10.1038/x', title = 3}]"}, "reference 1 title", "is a number"),
        ({"reference": "3"}, "reference", "expected rows"),
        ({"reference": "['10.1038/x']"}, "reference 1", "expected a table"),
        ({"expected": "{guess = 1.5}"}, "expected guess", "between 0 and 1"),
        ({"expected": "{guess = nan}"}, "expected guess", "between 0 and 1"),
        ({"expected": "{guess = true}"}, "expected guess", "between 0 and 1"),
        ({"expected": "0.5"}, "expected", "expected a table"),
        ({"shortcuts": "0.5"}, "shortcuts", "expected a table"),
        ({"shortcuts": "{clock = 1.5}"}, "shortcuts clock", "between 0 and 1"),
        ({"shortcuts": "{channel.cue = true}"}, "shortcuts channel.cue", "between 0 and 1"),
        (
            {"figure": "{coherence = [[1]]}"},
            "figure coherence",
            "expected the value of a condition",
        ),
        ({"admitted": "{clock = 3}"}, "admitted clock", "expected words of the task's docstring"),
    ],
)
def test_a_broken_rule_is_named_with_its_row_and_field(
    fields: dict[str, str], field: str, said: str
) -> None:
    manifest = task(**fields)
    (problem,) = [one for one in manifest.all_problems if one.level == "error"]
    assert problem.file == "ngym.toml"
    assert problem.row.startswith("[[task]] '")
    assert problem.field == field
    assert said in problem.message
    assert len(manifest.rows) == 1


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"tags": '["decision-makin"]'}, "not in the vocabulary. Did you mean 'decision-making'?"),
        (
            {"species": '["rsvp"]'},
            "'rsvp' is not in the vocabulary. Expected one of: bird, cat, ferret,",
        ),
        ({"tags": '["Working memory"]'}, "should be 'working-memory'"),
        ({"species": '["macaque"]'}, "should be 'monkey'"),
        ({"tag": '["context"]'}, "unknown field. Did you mean 'tags'?"),
        ({"expected": "{orcle_min = 1}"}, "Did you mean 'oracle_min'?"),
        ({"reference": "[{doi = '10.1038/x', kind = 'orginal'}]"}, "Did you mean 'original'?"),
    ],
)
def test_unknown_words_and_fields_are_warnings(fields: dict[str, str], said: str) -> None:
    manifest = task(**fields)
    (problem,) = manifest.all_problems
    assert problem.level == "warning"
    assert said in str(problem)


def test_missing_title_and_summary_are_warnings() -> None:
    problems = parse_manifest('[[task]]\nname = "Foo-v0"').all_problems
    assert [(one.level, one.field) for one in problems] == [
        ("warning", "title"),
        ("warning", "summary"),
    ]


def test_other_spellings_become_the_controlled_word() -> None:
    row = task(tags='["memory", "wm", "Go no go"]').rows[0]
    assert row.tags == ("working-memory", "go-nogo")


def test_control_characters_do_not_survive() -> None:
    assert task(title='"a\\u001b[31mb\\u0007"').rows[0].title == "a[31mb"


def test_a_row_without_a_name_does_not_spoil_the_next() -> None:
    manifest = parse_manifest(
        '[[task]]\ntitle = "x"\n[[task]]\nname = "Foo-v0"\ntitle = "Foo"\nsummary = "Foo."'
    )
    assert [row.name for row in manifest.rows] == ["Foo-v0"]
    assert [(one.row, one.field) for one in manifest.all_problems] == [
        ("[[task]] number 1", "name")
    ]


def test_a_second_row_of_the_same_name_is_a_problem() -> None:
    manifest = parse_manifest(
        '[[wrapper]]\nname = "A"\ntitle = "a"\nsummary = "a"\n[[wrapper]]\nname = "A"'
    )
    assert len(manifest.rows) == 1
    assert "has a row already" in str(manifest.problems[0])


@pytest.mark.parametrize(
    "text",
    [
        "[[task]", "schema = 2", "schema = 'x'", "task = 3", "\x00",
        "x = " + "9" * 5000, f"[[task]]\nname = \"Foo-v0\"\nexpected = {{guess = 0x{'F' * 5000}}}",
        "x = " + "[" * 20_000 + "]" * 20_000,
    ],
)  # fmt: skip
def test_a_file_that_is_no_manifest_is_one_problem(text: str) -> None:
    manifest = parse_manifest(text)
    assert manifest.rows == ()
    assert len(manifest.problems) == 1


def test_unreadable_files_are_a_problem_not_an_error(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b'title = "\xe9"')
    (tmp_path / "huge.toml").write_bytes(b"#" * (MAX_BYTES + 1))
    for name in ("latin.toml", "huge.toml", "absent.toml"):
        manifest = read_manifest(tmp_path / name)
        assert [problem.file for problem in manifest.problems] == [name]


def test_a_file_that_begins_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    """Notepad writes one."""
    path = tmp_path / "ngym.toml"
    path.write_text(GOOD, "utf-8-sig")
    assert read_manifest(path).all_problems == ()
    assert [row.name for row in read_manifest(path).rows] == ["ContextDM-v0", "Delay"]


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"[[task]]\nname='A{n}-v0'\n" for n in range(6000)),
        "[[task]]\nname='A-v0'\n" + "".join(f"k{n}=1\n" for n in range(17_000)),
        "[[task]]\nname='A-v0'\ntags=[" + ",".join(f"'w{n}'" for n in range(14_200)) + "]",
        "a" + ".a" * 80_000 + " = 1",
        "[" * 163_000,
    ],
    ids=["rows", "fields", "words", "dotted keys", "brackets"],
)
def test_the_largest_manifests_are_read_quickly(text: str) -> None:
    """Every command that lists packages reads all manifests."""
    assert 0.7 * MAX_BYTES < len(text) < MAX_BYTES
    started = time.process_time()
    parse_manifest(text)
    assert time.process_time() - started < 2.0


VALUES = st.recursive(
    st.one_of(st.text(), st.integers(), st.booleans(), st.floats()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
FIELDS = st.sampled_from(
    [
        *("name", "title", "summary", "tags", "species", "aliases", "reference", "expected"),
        *("presets", "shortcuts", "admitted", "figure"),
    ]
)


@settings(deadline=None)
@given(st.dictionaries(FIELDS, VALUES), st.sampled_from(["task", "wrapper"]))
def test_no_value_of_any_field_raises(fields: dict, kind: str) -> None:
    import tomlkit

    text = tomlkit.dumps({kind: [{"name": "Foo-v0", **fields}]})
    for row in parse_manifest(text).rows:
        assert all(isinstance(tag, str) for tag in row.tags)
        assert "\x1b" not in row.title + row.summary


def test_the_core_describes_its_own_wrappers_without_a_problem() -> None:
    manifest = read_manifest(Path(neurogym_core.errors.__file__).with_name("ngym.toml"))
    assert manifest.all_problems == ()
    offered = {one.name for one in installed().wrappers if one.distribution == "neurogym-core"}
    assert {row.name for row in manifest.rows} == offered
    assert offered == {"ReactionTime", "Noise", "PassAction", "PassReward", "RecordTrials"}


@pytest.mark.parametrize(
    ("text", "word"),
    [("working memory", "working-memory"), ("WM", "working-memory"), ("gonogo", "go-nogo")],
)
def test_the_vocabulary_knows_other_spellings(text: str, word: str) -> None:
    assert vocabulary().resolve("tags", text) == word
    assert vocabulary().resolve("species", "mice") == "mouse"


def test_no_spelling_of_the_vocabulary_means_two_words() -> None:
    import tomllib

    path = Path(neurogym_core.errors.__file__).parent / "ecosystem" / "vocabulary.toml"
    tables = tomllib.loads(path.read_text("utf-8"))
    for kind in ("tags", "species", "reference", "expected"):
        spellings = [
            one for word, row in tables[kind].items() for one in (word, *row.get("also", ()))
        ]
        assert len(spellings) == len(set(spellings)), kind


def test_shortcuts_have_dotted_names() -> None:
    row = (
        '[[task]]\nname = "Foo-v0"\ntitle = "t"\nsummary = "s"\n'
        '[task.shortcuts]\nrest = 0\nchannel.cue = 0.5\n[task.admitted]\n"channel.*" = "alone"\n'
    )
    (good,) = parse_manifest(row).rows
    assert good.shortcuts == {"rest": 0, "channel.cue": 0.5}
    assert good.admitted == {"channel.*": "alone"}
    assert not good.problems


def test_presets_belong_to_aliases_and_are_strings() -> None:
    row = (
        '[[wrapper]]\nname = "Foo"\ntitle = "t"\nsummary = "s"\naliases ='
        ' ["Old"]\n[wrapper.presets]\n'
    )
    (good,) = parse_manifest(row + 'Old = "p=1"\n').rows
    assert good.presets == {"Old": "p=1"}
    assert not good.problems
    for bad, says in (
        ('Other = "p=1"\n', "is not an alias"),
        ("Old = 1\n", "a table of strings"),
    ):
        (wrong,) = parse_manifest(row + bad).rows
        assert any(says in problem.message for problem in wrong.problems)


VIEWED = """
[[task]]
name = "Dots-v0"
title = "Dots"
summary = "Judge dots."
{fields}
"""


def test_a_view_is_kept_as_it_is_for_the_package_that_draws_it() -> None:
    view = {"stimuli": [{"draw": "symbol", "at": [[-2, 0], [2, 0.5]]}], "flicker": True}
    written = "view = {stimuli = [{draw = 'symbol', at = [[-2, 0], [2, 0.5]]}], flicker = true}"
    manifest = parse_manifest(VIEWED.format(fields=written))
    assert (manifest.rows[0].view, manifest.all_problems) == (view, ())
    manifest = parse_manifest(VIEWED.format(fields="view = 3"))
    assert manifest.rows[0].view == {}
    assert [problem.field for problem in manifest.all_problems] == ["view"]


def test_instructions_are_one_line_of_a_task() -> None:
    manifest = parse_manifest(VIEWED.format(fields="instructions = 'Look. Press.'"))
    assert manifest.rows[0].instructions == "Look. Press."
    long = parse_manifest(VIEWED.format(fields=f"instructions = '{'x' * 401}'"))
    assert [problem.field for problem in long.all_problems] == ["instructions"]
    text = "[[wrapper]]\nname='A'\ntitle='A'\nsummary='A.'\ninstructions='Look.'"
    assert [problem.field for problem in parse_manifest(text).all_problems] == ["instructions"]
