"""The page about discovery says what the code does: groups, fields, hooks, switches and codes, no
more and no fewer.
"""

from __future__ import annotations

import inspect
import re
import tomllib
from pathlib import Path

import neurogym_core.tools as tools
from neurogym_core.ecosystem import discovery, hooks, manifest, names, scan
from neurogym_core.ecosystem.records import Problem

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "discovery.md").read_text("utf-8")


def section(title: str) -> str:
    """The text of one section of the page."""
    return re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)[
        1
    ]


def first_column(title: str) -> set[str]:
    """The names in backquotes in the first column of a section's tables."""
    cells = re.findall(r"^\| (.*?) \|", section(title), re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def test_entry_point_groups():
    assert first_column("Entry points") == {*scan.GROUPS, scan.MANIFEST_GROUP}
    assert len(scan.GROUPS) == 5


def test_the_names_that_are_given_as_examples_are_valid():
    assert re.fullmatch(names.FORMS["neurogym.tasks"][0], "RandomDots-v0")
    assert re.fullmatch(names.FORMS["neurogym.commands"][0], "lower-case-words")
    for row in re.findall(
        r"^\| (?:any other, )?`([a-z-]+)` \| `([a-z-]+)` \|$", section("Ids and namespaces"), re.M
    ):
        assert names.namespace_of(row[0]) == row[1]
    assert names.namespace_of("my-lab-tasks") == "x-my-lab-tasks"


def test_the_manifest_has_every_field_and_breaks_no_rule():
    text = re.search(r"```toml\n(.*?)```", section("The manifest"), re.DOTALL)[1]
    read = manifest.parse_manifest(text)
    assert not read.all_problems
    row = tomllib.loads(text)["task"][0]
    assert set(row) == {*manifest._FIELDS, *manifest._TABLES["task"], *manifest.ONLY_TASKS}
    assert set(row["reference"][0]) == set(manifest._REFERENCE_FIELDS)
    assert set(row["expected"]) == set(manifest.vocabulary().words["expected"])
    only_tasks = set(manifest._TABLES["task"]) - set(manifest._TABLES["wrapper"])
    assert only_tasks == {"expected", "ideal", "shortcuts", "admitted", "admits", "figure"}
    kinds = re.search(r'kind = "original" +# (.*)', text)[1]
    assert tuple(kinds.split(", ")) == manifest.vocabulary().words["reference"]
    assert f"at most {manifest.TITLE_LENGTH} characters" in text
    assert f"at most {manifest.SUMMARY_LENGTH}" in text
    assert f"at most {manifest.INSTRUCTIONS_LENGTH} characters" in section("The manifest")


def test_hooks_have_the_signatures_of_the_page():
    written = set(re.findall(r"^def (ngym_\w+\(.*?\)):", section("Hooks"), re.MULTILINE))
    assert written == {
        f"{name}({', '.join(list(arguments(getattr(hooks.Hooks, name)))[1:])})"
        for name in hooks.HOOKS
    }


def arguments(function):
    return inspect.signature(function).parameters


def test_the_hooks_of_the_page_make_a_plug_in():
    (source,) = re.findall(r"```python\n(.*?)```", section("Hooks"), re.DOTALL)
    module = type(hooks)("page_plugin")
    exec(source, vars(module))
    manager = hooks.new_manager()
    manager.register(module)
    manager.check_pending()
    names = {caller.name for caller in manager.get_hookcallers(module)}
    assert names == set(hooks.HOOKS)


def test_switches():
    known = {discovery.BLOCK, discovery.DISABLE, discovery.STRICT}
    assert {name.partition("=")[0] for name in first_column("Switches")} == known
    assert set(re.findall(r"\bNGYM_[A-Z_]+", PAGE)) == known


def test_codes_are_those_that_problems_can_have():
    documented = set(
        re.findall(
            r"``(\w+)``", inspect.getdoc(Problem).partition("code:")[2].partition("message:")[0]
        )
    )
    assert first_column("When something is broken") == documented


def test_the_functions_that_are_named_exist():
    named = re.findall(
        r"`(\w+)`", PAGE[PAGE.index("From Python:") :].replace("`neurogym_core.tools`", "")
    )
    assert named
    assert all(hasattr(tools, name) for name in named)
