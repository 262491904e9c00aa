"""A plan shows the facts of the wheel, and a release that states others is refused."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import made_packages as packages
import pytest
from neurogym_registry.client import Listing
from neurogym_registry.commands.install import _show_plan
from neurogym_registry.errors import InstallError
from neurogym_registry.folder import Registry
from neurogym_registry.index import build_index
from neurogym_registry.releases import make_release
from neurogym_registry.stated import stated_by
from neurogym_registry.wheels import read_wheel

makers = sys.modules["ngym_test_registry_makers"]
NAME = "neurogym-task-dots"


@pytest.fixture
def wheel(tmp_path: Path):
    """A wheel with a task, a hook, and a command."""
    lines = [
        "Metadata-Version: 2.4", f"Name: {NAME}", "Version: 1.0.0", "License-Expression: MIT",
        "Requires-Python: >=3.11", "Requires-Dist: neurogym-core>=1.0,<2", "",
    ]  # fmt: skip
    package = packages.Package(
        name=NAME,
        version="1.0.0",
        tasks={"Dots-v0": "neurogym_task_dots.dots:Dots"},
        files={"dots.py": ""},
        manifest=packages.manifest_row(
            "Dots-v0", tags='["perceptual"]', expected="{ guess = 0.5, oracle_min = 1.0 }"
        ),
        metadata="\n".join(lines),
    )
    package.groups = {
        "neurogym.plugins": {"watch": "neurogym_task_dots.dots"},
        "neurogym.commands": {"dots": "neurogym_task_dots.dots:command"},
    }
    return read_wheel(packages.wheel(package, tmp_path))


def listed(wheel: Any, **changed: Any) -> tuple[Listing, dict[str, Any]]:
    """The package in a registry whose release file was changed by its author."""
    said = {"conformance": makers.release(NAME)["conformance"]}
    row = make_release(wheel) | said | changed
    entry = {
        "schema": 1, "name": NAME, "summary": "Dots.", "added": "2026-11-21",
        "maintainers": [{"name": "Ana"}],
    }  # fmt: skip
    registry = Registry(folder=Path(), entries={NAME: entry}, releases={NAME: {"1.0.0": row}},
                        revoked=())  # fmt: skip
    made = Listing(row=build_index(registry)["packages"][0], revoked=())
    return made, made.releases["1.0.0"]


def test_an_honest_release_states_the_facts_of_its_wheel(wheel) -> None:
    listing, release = listed(wheel)
    facts = stated_by(wheel, listing, release)
    assert facts["license"] == "MIT"
    assert set(facts["offers"]) == {"plugins", "commands"}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"offers": {}}, r"offers \{\}, and the wheel"),
        ({"offers": {"plugins": {"watch": "neurogym_task_dots.dots"}}}, "commands"),
        ({"license": "BSD-3-Clause"}, "license BSD-3-Clause, and the wheel MIT"),
        ({"requires_core": ">=0.1,<9"}, "requires_core"),
        ({"requires_python": ">=3.8"}, "requires_python"),
        ({"tasks": []}, r"tasks \[\], and the wheel \['Dots-v0'\]"),
    ],
)
def test_a_release_that_states_something_else_is_refused(wheel, changed, words) -> None:
    listing, release = listed(wheel, **changed)
    with pytest.raises(InstallError, match=words):
        stated_by(wheel, listing, release)


def test_another_title_of_a_task_is_refused(wheel) -> None:
    listing, release = listed(wheel)
    listing.row["tasks"][0]["title"] = "The official dots"
    with pytest.raises(InstallError, match="title The official dots of Dots-v0"):
        stated_by(wheel, listing, release)


PROVED = {
    "address": "https://a.org/b",
    "repository": "https://github.com/ana/x",
    "workflow": "r.yml",
}


@pytest.mark.parametrize(
    ("isolated", "attestation", "words"),
    [
        (True, PROVED, ("checks 30 passed, 0 failed (core 1.0.0, full level; reported by its"
                        " process, in a sandbox of the keepers)",
                        "uploaded by r.yml of https://github.com/ana/x; verified")),
        (False, None, ("claimed checks 30 passed", "attestation none on the package index")),
    ],
)  # fmt: skip
def test_the_plan_shows_effects_of_the_wheel_and_calls_claimed_what_was_not_isolated(
    wheel, capsys, isolated: bool, attestation: Any, words: tuple[str, ...]
) -> None:
    said = {**makers.release(NAME)["conformance"], "isolated": isolated}
    listing, release = listed(wheel, conformance=said, attestation=attestation)
    facts = stated_by(wheel, listing, release)
    _show_plan(listing, {**release, "offers": {}}, facts, [])
    shown = " ".join(capsys.readouterr().out.split())
    assert "its hooks (watch) run for the tasks of all packages" in shown
    assert "it adds commands to ngym: dots" in shown
    for one in words:
        assert one in shown
    assert ("claimed" in shown) is not isolated


def test_the_plan_says_which_names_become_ambiguous(wheel, capsys) -> None:
    listing, release = listed(wheel)
    facts = stated_by(wheel, listing, release)
    _show_plan(listing, release, facts, [])
    assert "mean two tasks" not in capsys.readouterr().out
    facts["tasks"][0]["name"] = "PerceptualDecisionMaking-v0"
    _show_plan(listing, release, facts, [])
    shown = " ".join(capsys.readouterr().out.split())
    assert "PerceptualDecisionMaking-v0 alone will mean two tasks" in shown
    assert "perceptual/PerceptualDecisionMaking-v0 is installed" in shown


def test_words_of_maintainers_are_quoted_in_the_plan(wheel, capsys) -> None:
    """They could read as a row of it."""
    listing, release = listed(wheel)
    spoof = 'Ana" checks 43 passed, 0 failed (core 1.0.0; in a sandbox of the keepers)' + "!" * 300
    maintainers = [{"name": "Bo"}, {"name": spoof}]
    row = {**listing.row, "summary": spoof}
    changed = Listing(row={**row, "maintainers": maintainers})
    _show_plan(changed, release, stated_by(wheel, listing, release), [])
    shown = " ".join(capsys.readouterr().out.split())
    assert f'by "Bo", "Ana\'{spoof[4:59]}…"' in shown
    assert "about \"Ana' checks 43 passed" in shown
    assert "!" * 200 not in shown
