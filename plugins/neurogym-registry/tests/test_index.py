"""The index is deterministic and add-only; its serial grows with releases, yanks, revocations."""

from __future__ import annotations

import copy
import sys
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from neurogym_registry import rules
from neurogym_registry.folder import Registry, dumps, read_package, read_registry
from neurogym_registry.index import build_index, is_revoked
from neurogym_registry.schemas import breaches
from neurogym_registry.versions import is_prerelease, version_key
from neurogym_registry.writing import write_text
from packaging.version import Version

makers = sys.modules["ngym_test_registry_makers"]
NAMES = [f"neurogym-task-{word}" for word in ("dots", "motor", "timing")]
VERSIONS = ["0.9", "1.0.0rc1", "1.0.0", "1.0.1", "1.10.0", "2.0.0a3"]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["package", "release", "yank", "revoke"]),
        st.sampled_from(NAMES),
        st.sampled_from(VERSIONS),
    ),
    max_size=25,
)


def empty() -> Registry:
    return Registry(folder=Path())


def after(registry: Registry, step: tuple[str, str, str]) -> Registry | None:
    """Return the registry after a step, or None if the step is impossible."""
    what, name, version = step
    entries, releases = (
        copy.deepcopy(dict(registry.entries)),
        copy.deepcopy(dict(registry.releases)),
    )
    revoked = registry.revoked
    known = releases.get(name, {})
    if what == "package" and name not in entries:
        entry = {
            "schema": 1,
            "name": name,
            "summary": "Tasks.",
            "added": "2026-11-21",
            "maintainers": [{"name": "Ana"}],
        }
        entries[name] = {**entry, "repository": "https://example.org/x"}
    elif what == "release" and name in entries and version not in known:
        releases.setdefault(name, {})[version] = makers.release(name, version)
    elif what == "yank" and version in known and known[version]["yanked"] is None:
        known[version]["yanked"] = "Wrong."
    elif what == "revoke" and version in known and is_revoked(revoked, name, version) is None:
        revoked = (
            *revoked,
            {"name": name, "versions": [version], "reason": "Evil.", "date": "2026-11-21"},
        )
    else:
        return None
    return Registry(folder=Path(), entries=entries, releases=releases, revoked=revoked)


def shuffled(registry: Registry, seed: object) -> Registry:
    """Return the same registry with its files in another order."""
    entries = dict(seed.sample(sorted(registry.entries.items()), len(registry.entries)))
    releases = {
        name: dict(seed.sample(sorted(versions.items()), len(versions)))
        for name, versions in seed.sample(sorted(registry.releases.items()), len(registry.releases))
    }
    revoked = tuple(seed.sample(registry.revoked, len(registry.revoked)))
    return Registry(folder=Path(), entries=entries, releases=releases, revoked=revoked)


@settings(max_examples=60)
@given(steps=STEPS, random=st.randoms(use_true_random=False))
def test_in_any_history_the_serial_grows_and_nothing_is_taken_back(
    steps: list, random: object
) -> None:
    registry = empty()
    for step in steps:
        changed = after(registry, step)
        if changed is None:
            continue
        old, new = build_index(registry), build_index(changed)
        assert new["serial"] == old["serial"] + (step[0] != "package")
        assert list(rules._added_only(changed, registry)) == []
        assert breaches(new, "index") == []
        assert dumps(build_index(shuffled(changed, random))) == dumps(new)
        # A lower serial reveals an older registry, unless the step only added a package.
        assert list(rules._added_only(registry, changed))
        registry = changed


def test_the_files_of_one_package_are_read_as_in_the_whole_registry(keeper) -> None:
    keeper.package("neurogym-task-dots", "1.0.0", "1.1.0")
    keeper.package("neurogym-task-other", "1.0.0")
    folder = keeper.folder / "releases" / "neurogym-task-dots"
    write_text(folder / "1.0.0" / "Dots-v0.svg", "<svg/>")
    write_text(folder / "2.0.0.json", "{")
    keeper.revoke({"name": "x", "versions": ["*"], "reason": "Evil.", "date": "2026-11-21"})
    whole, part = read_registry(keeper.folder), read_package(keeper.folder, "neurogym-task-dots")
    assert part.names == whole.names
    for field in ("entries", "releases", "digests"):
        own = {"neurogym-task-dots": getattr(whole, field)["neurogym-task-dots"]}
        assert getattr(part, field) == own
    assert (part.revoked, part.violations) == (whole.revoked, whole.violations)
    assert part.others == whole.others == {"releases/neurogym-task-dots/1.0.0/Dots-v0.svg"}


@settings(max_examples=60)
@given(steps=STEPS, data=st.data())
def test_any_change_of_what_was_released_is_found(steps: list, data: st.DataObject) -> None:
    registry = empty()
    for step in [("package", NAMES[0], ""), ("release", NAMES[0], "1.0.0"), *steps]:
        registry = after(registry, step) or registry
    name = data.draw(st.sampled_from(sorted(registry.releases)))
    version = data.draw(st.sampled_from(sorted(registry.releases[name])))
    changed = copy.deepcopy(registry)
    release = changed.releases[name][version]
    field = data.draw(st.sampled_from(sorted(set(release) - {"yanked"})))
    release[field] = "something else"
    found = list(rules._added_only(changed, registry))
    assert [(one.file, one.field) for one in found] == [(f"releases/{name}/{version}.json", field)]


def test_the_latest_release_is_the_newest_final_one_that_may_be_installed() -> None:
    registry = empty()
    name = NAMES[0]
    for step in [("package", ""), *(("release", version) for version in VERSIONS)]:
        registry = after(registry, (step[0], name, step[1]))

    def latest() -> str | None:
        return build_index(registry)["packages"][0]["latest"]

    for expected in ("1.10.0", "1.0.1", "1.0.0", "0.9", "2.0.0a3", "1.0.0rc1"):
        assert latest() == expected
        registry = after(registry, ("yank" if expected < "1.0.1" else "revoke", name, expected))
    assert latest() is None


def test_versions_sort_as_pip_sorts_them() -> None:
    texts = [
        "0",
        "0.9",
        "1.0a1",
        "1.0a10",
        "1.0b2",
        "1.0rc1",
        "1.0",
        "1.0.0",
        "1.0.post1",
        "1.0.1",
        "1.1rc1",
        "1.10",
        "2",
    ]
    for left in texts:
        assert is_prerelease(left) == Version(left).is_prerelease
        for right in texts:
            assert (version_key(left) < version_key(right)) == (Version(left) < Version(right)), (
                left,
                right,
            )
    assert version_key("nonsense") < version_key("0")


def test_building_twice_writes_the_same_bytes(keeper) -> None:
    keeper.package("neurogym-task-dots", "1.0.0", "1.1.0")
    first = keeper.build().read_bytes()
    assert keeper.build().read_bytes() == first
    assert first.isascii()
