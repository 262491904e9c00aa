"""The choice of a release to install, and the reasons if none fits."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from neurogym_registry import client, pip
from neurogym_registry import closure as closure_module
from neurogym_registry.addresses import NOWHERE
from neurogym_registry.client import Catalogue, Listing
from neurogym_registry.closure import closure, needs_of_installed
from neurogym_registry.contents import Contents
from neurogym_registry.errors import InstallError
from neurogym_registry.folder import Registry
from neurogym_registry.index import build_index
from neurogym_registry.index_text import IndexText, written
from neurogym_registry.pip import Step
from neurogym_registry.resolve import resolve
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

makers = sys.modules["ngym_test_registry_makers"]
NAME = "neurogym-task-dots"
EVIL = {"name": NAME, "versions": ["1.2.0"], "reason": "Deletes files.", "date": "2026-11-21"}


def listing(releases: dict[str, dict[str, Any]], *revoked: dict[str, Any], **entry: str) -> Listing:
    base = {
        "schema": 1,
        "name": NAME,
        "summary": "Dots.",
        "added": "2026-11-21",
        "maintainers": [{"name": "Ana"}],
    }
    made = {
        version: makers.release(NAME, version, **fields) for version, fields in releases.items()
    }
    registry = Registry(
        folder=Path(), entries={NAME: {**base, **entry}}, releases={NAME: made}, revoked=revoked
    )
    return Listing(row=build_index(registry)["packages"][0], revoked=tuple(revoked))


def chosen(version: str | None = None, core: str = "1.4.0", **releases: Any) -> str:
    numbers = {key.replace("_", ".").removeprefix("v"): fields for key, fields in releases.items()}
    return str(resolve(listing(numbers, EVIL), version, core)["version"])


def test_the_newest_final_release_that_fits_is_chosen() -> None:
    found = chosen(
        v1_0_0={},
        v1_1_0={},
        v1_2_0={},
        v1_3_0={"yanked": "Wrong."},
        v1_4_0rc1={},
        v1_5_0={"requires_core": ">=1.5,<2"},
        v1_6_0={"requires_python": ">=9"},
        v1_10_0={"requires_core": "nonsense"},
    )
    assert found == "1.1.0"  # 1.2.0 is revoked


def test_where_none_fits_the_reason_of_each_is_said() -> None:
    with pytest.raises(InstallError) as told:
        chosen(
            v1_2_0={}, v1_3_0={"yanked": "Wrong."}, v1_4_0rc1={}, v2_0_0={"requires_core": ">=2,<3"}
        )
    said = str(told.value)
    for part in (
        "1.2.0 is revoked (Deletes files)",
        "1.3.0 is yanked (Wrong)",
        "1.4.0rc1 is a pre-release",
        "2.0.0 needs neurogym-core>=2,<3, and 1.4.0 is installed",
    ):
        assert part in said


@pytest.mark.parametrize(
    ("releases", "remedy"),
    [
        ({"1.2.0": {}}, "Ask its maintainers for a new release."),
        ({"1.3.0": {"yanked": "Wrong."}}, "Request a yanked release with ==VERSION --yanked."),
        ({"1.2.0": {}, "1.4.0rc1": {}}, "Request a pre-release with ==VERSION."),
        ({"2.0.0": {"requires_core": ">=2,<3"}}, "Use an environment with these versions."),
    ],
)
def test_where_none_fits_the_remedy_is_one_that_helps(releases: dict, remedy: str) -> None:
    with pytest.raises(InstallError) as told:
        resolve(listing(releases, EVIL), None, "1.4.0")
    assert str(told.value).endswith(f". {remedy}")


def test_a_version_asked_for_may_be_a_pre_release_and_in_another_spelling() -> None:
    assert chosen("1.4.0rc1", v1_4_0rc1={}, v1_0_0={}) == "1.4.0rc1"
    assert chosen("1", v1_4_0={}, v1_0_0={}) == "1.0.0"


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("1.2.0", "is revoked"),
        ("1.3.0", "Add --yanked"),
        ("2.0.0", "needs neurogym-core"),
        ("7", "Known: 1.2.0, 1.3.0, 2.0.0"),
    ],
)
def test_a_version_asked_for_that_may_not_be(version: str, said: str) -> None:
    with pytest.raises(InstallError, match=said):
        chosen(version, v1_2_0={}, v1_3_0={"yanked": "Wrong."}, v2_0_0={"requires_core": ">=2,<3"})


def test_a_yanked_one_is_taken_when_that_is_said_and_a_revoked_one_never() -> None:
    found = listing({"1.2.0": {"yanked": "Wrong."}, "1.3.0": {"yanked": "Wrong."}}, EVIL)
    assert resolve(found, "1.3.0", "1.0.0", yanked=True)["version"] == "1.3.0"
    with pytest.raises(InstallError, match="is revoked"):
        resolve(found, "1.2.0", "1.0.0", yanked=True)


def test_a_revocation_of_all_versions_holds_for_those_to_come() -> None:
    found = listing({"1.0.0": {}}, {**EVIL, "versions": ["*"]})
    with pytest.raises(InstallError, match="is revoked"):
        resolve(found, None, "1.0.0")


def test_a_package_of_the_checkout_says_where_it_is() -> None:
    with pytest.raises(InstallError, match=r"pip install -e \S+plugins/neurogym-task-dots`"):
        resolve(listing({}, folder="plugins/x"), None, "1.0.0")


NOTHING = Contents(info="", root="purelib", files={}, hashes={}, points={}, commands=())


def step(name: str, version: str, before: str | None) -> Step:
    return Step(
        name=name, version=version, before=before, sha256="a" * 64, filename=f"{name}.whl",
        host="", path=Path(), size=1, contents=NOTHING,
    )  # fmt: skip


STEPS = [
    step(NAME, "1.0.0", None), step("numpy", "3.0", "2.0"), step("gymnasium", "1.1", None)
]  # fmt: skip


def test_changes_of_protected_packages_are_refused_unless_allowed() -> None:
    with pytest.raises(InstallError, match=r"numpy 2\.0 to 3\.0"):
        pip.refuse_changes(STEPS, upgrade_core=False)
    pip.refuse_changes(STEPS, upgrade_core=True)
    pip.refuse_changes([STEPS[0], STEPS[2]], upgrade_core=False)
    for name in ("click", "rich", "pluggy", "importlib-metadata", "packaging", "pygments"):
        with pytest.raises(InstallError, match=f"would change {name}"):
            pip.refuse_changes([step(name, "99", "1")], upgrade_core=False)
    with pytest.raises(InstallError, match="would change pip"):
        pip.refuse_changes([step("pip", "99", "1")], upgrade_core=True)


@pytest.mark.parametrize("name", ["x.whl", "x-1.tar.gz"])
def test_a_file_without_a_hash_and_a_file_that_is_no_wheel_are_refused(name: str) -> None:
    hashes = {} if name == "x.whl" else {"hashes": {"sha256": "a" * 64}}
    row = {
        "metadata": {"name": "x", "version": "1"},
        "download_info": {"url": f"file:///{name}", "archive_info": hashes},
    }
    with pytest.raises(InstallError, match="does not report the SHA-256 of a wheel"):
        pip._candidate(row)


# ---------------------------------------------------------------------- requirements


def index_of(packages: list[Any], revoked: Any) -> client.Index:
    index = {"schema": 1, "serial": 0, "packages": packages, "revoked": list(revoked)}
    return client.Index(IndexText(written(index)), "here", "", NOWHERE)


def catalogue_of(found: Listing) -> Catalogue:
    return Catalogue(indexes=(index_of([found.row], found.revoked),))


class Index:
    """Answers instead of pip: {name: {version: requirements}}, all with the hash aaa…"""

    def __init__(self, **packages: dict[str, list[str]]) -> None:
        self.packages = packages
        self.asked: list[str] = []

    def __call__(self, lines: Any) -> list[pip.Candidate]:
        self.asked += list(lines)
        return [self.answer(Requirement(line)) for line in lines]

    def answer(self, asked: Requirement) -> pip.Candidate:
        versions = self.packages[asked.name]
        fitting = [one for one in versions if asked.specifier.contains(one)]
        if not fitting:
            raise InstallError(f"No matching distribution found for {asked}.")
        best = max(fitting)
        return pip.Candidate(
            name=asked.name, version=best, sha256="a" * 64, filename="x.whl", host="",
            requires=tuple(versions[best]),
        )  # fmt: skip


def follow(
    *requires: str, known: Catalogue | None = None, **packages: dict[str, list[str]]
) -> dict[str, str]:
    """Return {name: version} of the closure of a wheel with these requirements."""
    wheel = SimpleNamespace(name=NAME, version="1.0.0", requires=requires)
    found = closure(wheel, known or Catalogue(), "1.0.0", ask=Index(**packages))
    return {one.name: one.version for one in found}


def test_requirements_of_requirements_are_followed() -> None:
    assert follow("a>=1", a={"1": ["b<3"]}, b={"2": [], "3": []}) == {"a": "1", "b": "2"}


def test_what_is_installed_and_fits_is_not_looked_up() -> None:
    assert follow("pytest>=1", "click", "numpy>=1") == {}


def test_a_later_requirement_changes_the_version() -> None:
    assert follow("a", "b", a={"1": [], "2": []}, b={"1": ["a<2"]}) == {"a": "1", "b": "1"}


def test_markers_and_extras_choose_requirements() -> None:
    found = follow(
        "a[more]",
        "w; sys_platform == 'nowhere'",
        a={"1": ["b; extra == 'more'", "c; extra == 'less'", "d; python_version >= '3'"]},
        b={"1": [f"{NAME}>=1"]},
        d={"1": ["a[less]"]},
        c={"1": []},
    )
    assert found == {"a": "1", "b": "1", "c": "1", "d": "1"}


def test_a_circle_ends_and_a_contradiction_is_an_error() -> None:
    assert follow("a", a={"1": ["b"]}, b={"1": ["a"]}) == {"a": "1", "b": "1"}
    with pytest.raises(InstallError, match="fit together"):
        follow("a", a={"1": [f"{NAME}>=2"]})
    chain = {f"p{n}": {"1": [f"p{n + 1}"]} for n in range(99)}
    with pytest.raises(InstallError, match="lead on"):
        follow("p0", **chain)


def test_an_address_at_any_depth_is_refused() -> None:
    with pytest.raises(InstallError, match="b cannot be installed: it requires 'c @ https"):
        follow("a", a={"1": ["b"]}, b={"1": ["c @ https://example.org/c.tar.gz"]})


NEEDS = needs_of_installed()
PINS = [
    (name, owner, clause.version)
    for name, owners in sorted(NEEDS.items())
    for owner, versions in sorted(owners.items())
    for clause in versions
    if clause.operator == ">="
]
"""Least versions that installed packages need."""


def test_no_pin_breaks_an_installed_package(monkeypatch) -> None:
    """The cheat: pins below the least version that an installed package needs, of all packages."""
    monkeypatch.setattr(closure_module, "needs_of_installed", lambda: NEEDS)  # read once
    assert len(PINS) >= 40
    assert {"click", "numpy", "pluggy", "rich"} <= {name for name, *_ in PINS}
    for name, owner, least in PINS:
        with pytest.raises(InstallError, match=f"limit the choice: .*{owner} needs {name}"):
            follow(f"{name}<{least}", **{name: {"0.0.0.1": []}})


def test_pins_that_fit_installed_packages_are_in_the_plan(monkeypatch) -> None:
    """The ideal: versions beside the installed one that all installed packages accept."""
    monkeypatch.setattr(closure_module, "needs_of_installed", lambda: NEEDS)
    accepted = 0
    for name in NEEDS:
        here = importlib.metadata.version(name)
        near = f"{here.partition('+')[0]}.post7"
        if all(one.contains(near) for one in NEEDS[name].values()):
            assert follow(f"{name}!={here}", **{name: {near: [], "0.0.0.1": []}}) == {name: near}
            accepted += 1
    assert accepted >= 30


def test_an_extra_whose_requirements_are_met_counts_as_used(tmp_path, monkeypatch) -> None:
    """pip does not record which extras are used; one that is not complete is not."""
    metadata = """Metadata-Version: 2.1
Name: lab
Version: 1.0
Provides-Extra: full
Provides-Extra: more
Provides-Extra: all
Requires-Dist: click>=7
Requires-Dist: rich>=13; extra == "full"
Requires-Dist: pluggy>=1; extra == "more"
Requires-Dist: not-installed; extra == "more"
Requires-Dist: lab[full]; extra == "all"
"""
    (tmp_path / "lab-1.0.dist-info").mkdir()
    (tmp_path / "lab-1.0.dist-info" / "METADATA").write_text(metadata)
    monkeypatch.syspath_prepend(str(tmp_path))
    needs = needs_of_installed()
    assert needs["click"]["lab"] == SpecifierSet(">=7")
    assert needs["rich"]["lab"] == SpecifierSet(">=13")
    assert "lab" not in needs["pluggy"]
    with pytest.raises(InstallError, match="lab needs rich>=13"):
        follow("rich<13", rich={"12": []})


def test_a_package_that_the_plan_changes_does_not_limit_it(monkeypatch) -> None:
    needs = {"click": {"a": SpecifierSet(">=8")}, NAME: {"lab": SpecifierSet("<2")}}
    monkeypatch.setattr(closure_module, "needs_of_installed", lambda: needs)
    old = {"0.1": [], "0.2": []}
    with pytest.raises(InstallError, match="a needs click>=8"):
        follow("click<1", click=old)
    assert follow("a", a={"2": ["click<1"]}, click=old) == {"a": "2", "click": "0.2"}
    with pytest.raises(InstallError, match="lab needs neurogym-task-dots<2"):
        closure(SimpleNamespace(name=NAME, version="2.0", requires=()), Catalogue(), "1.0.0")


def test_a_listed_requirement_comes_in_a_listed_version_with_a_listed_hash() -> None:
    found = listing({"1.0.0": {}, "1.1.0": {}}, EVIL)
    known = catalogue_of(found)
    index = Index(**{NAME: {"1.0.0": [], "1.1.0": [], "1.3.0": []}})
    wheel = SimpleNamespace(name="lab", version="1", requires=(f"{NAME}>=1",))
    (one,) = closure(wheel, known, "1.0.0", ask=index)
    assert one.version == "1.1.0"
    assert index.asked == [f"{NAME}==1.1.0"]
    wheel.requires = (f"{NAME}>=1.2",)
    with pytest.raises(InstallError, match="no listed release"):
        closure(wheel, known, "1.0.0", ask=index)


def test_a_revoked_requirement_is_refused_though_it_is_installed_or_not_listed() -> None:
    rows = [{"name": name, "versions": ["*"], "reason": "Steals keys."} for name in ("click", "a")]
    for name in ("click", "a"):
        with pytest.raises(InstallError, match=r"revoked: Steals keys\."):
            follow(name, known=Catalogue(indexes=(index_of([], rows),)), a={"1": []})
