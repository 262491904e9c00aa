"""The choice of a release to install, and the reasons if none fits."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from neurogym_registry import pip
from neurogym_registry.client import Listing
from neurogym_registry.folder import Registry
from neurogym_registry.index import build_index
from neurogym_registry.pip import Step
from neurogym_registry.resolve import resolve

from neurogym_core.errors import InstallError

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
    with pytest.raises(InstallError, match=r"plugins/x.*make install"):
        resolve(listing({}, folder="plugins/x"), None, "1.0.0")


STEPS = [
    Step(name=NAME, version="1.0.0", before=None, sha256="a" * 64, filename="dots.whl"),
    Step(name="numpy", version="3.0", before="2.0", sha256="b" * 64, filename="numpy.whl"),
    Step(name="gymnasium", version="1.1", before=None, sha256="c" * 64, filename="gymnasium.whl"),
]


def test_changes_of_protected_packages_are_refused_unless_allowed() -> None:
    with pytest.raises(InstallError, match=r"numpy 2\.0 to 3\.0"):
        pip.refuse_changes(STEPS, upgrade_core=False)
    pip.refuse_changes(STEPS, upgrade_core=True)
    pip.refuse_changes([STEPS[0], STEPS[2]], upgrade_core=False)


def test_only_the_wheel_of_the_release_will_do() -> None:
    pip.refuse_other_wheels(STEPS, NAME, {"dots.whl": "a" * 64})
    with pytest.raises(InstallError, match="Nothing was installed"):
        pip.refuse_other_wheels(STEPS, NAME, {"dots.whl": "d" * 64})


def test_a_file_without_a_hash_is_refused() -> None:
    row = {
        "metadata": {"name": "x", "version": "1"},
        "download_info": {"url": "file:///x.whl", "archive_info": {}},
    }
    with pytest.raises(InstallError, match="does not report the SHA-256"):
        pip._step(row)
