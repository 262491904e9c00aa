"""`search`, and `info` of packages that are not installed, from a registry in a folder."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from neurogym_check.doctor import command as check_up
from neurogym_registry import cache, sources
from neurogym_registry.effects import effects
from neurogym_registry.writing import write_text

from neurogym_core import UnknownTaskError
from neurogym_core.tools import find_task

makers = sys.modules["ngym_test_registry_makers"]


@pytest.fixture
def registry(site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    keeper = makers.Keeper(tmp_path / "registry")
    keeper.package("neurogym-task-dots", "1.0.0", "1.1.0")
    two = [
        makers.task_row(
            "neurogym_task_motor",
            name,
            title=name[:-3],
            tags=["motor", "reaching"],
            species=["human"],
            summary="Bring the hand to a target.",
            references=[],
        )
        for name in ("Reach-v0", "AntiReach-v0")
    ]
    keeper.package("neurogym-task-reaching", "2.0.0", tasks=two)
    keeper.entry("neurogym-task-empty", summary="Nothing yet.")
    keeper.build()
    monkeypatch.setenv("NGYM_REGISTRY", str(keeper.folder))
    return keeper


def ids(ngym, *arguments: str) -> list[str]:
    result = ngym("search", *arguments, "--json")
    assert result.exit_code == 0, result.output
    return [row["id"] or row["package"] for row in json.loads(result.stdout)]


DOTS, REACH = ["dots/Dots-v0"], ["reaching/Reach-v0", "reaching/AntiReach-v0"]


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (("dots",), DOTS),
        (("DIRECTION",), DOTS),
        (("monkey",), DOTS),
        (("10.1038/nature12742",), DOTS),
        (("hand", "target"), REACH),
        (("hand target",), REACH),
        (("AntiReach",), REACH[1:]),
        (("hand", "monkey"), []),
        (("nothing",), ["neurogym-task-empty"]),
        (("--tag", "motor"), REACH),
        (("--tag", "Movement"), REACH),
        (("--tag", "motor", "--tag", "saccade"), []),
        ((), [*DOTS, "neurogym-task-empty", *REACH]),
    ],
)
def test_what_is_found(ngym, registry, arguments: tuple[str, ...], found: list[str]) -> None:
    assert ids(ngym, *arguments) == found


def test_what_is_shown(ngym, registry) -> None:
    result = ngym("search", "hand")
    assert "neurogym-task-reaching 2.0.0" in result.stdout
    assert "AntiReach-v0" in result.stdout
    assert "`ngym install PACKAGE` installs it" in result.stdout
    assert "No task or package in the registry matches" in ngym("search", "zebra").stdout
    assert "(no release)" in ngym("search", "nothing").stdout


def test_what_is_installed_is_said_to_be(ngym, registry, site) -> None:
    site.add("neurogym-task-dots", tasks={"Dots-v0": ""}, manifest=site.row("Dots-v0"))
    assert "1.0 is installed" in ngym("search", "dots").stdout
    assert json.loads(ngym("search", "dots", "--json").stdout)[0]["installed"] == "1.0"


def test_info_of_a_package_that_is_not_installed(ngym, registry) -> None:
    registry.release("neurogym-task-dots", "1.1.0", yanked="Wrong timing.")
    registry.build()
    text = ngym("info", "neurogym-task-dots").stdout
    assert "1.0.0" in text
    assert "! yanked: Wrong timing." in text
    assert "`ngym install neurogym-task-dots`" in text
    assert ngym("info", "dots").stdout == text
    assert "no release can be installed" in ngym("info", "neurogym-task-empty").stdout


def test_info_of_a_task_that_is_not_installed(ngym, registry) -> None:
    text = ngym("info", "Dots-v0").stdout
    assert "dots/Dots-v0" in text
    assert "https://doi.org/10.1038/nature12742" in text
    assert json.loads(ngym("info", "dots/Dots-v0", "--json").stdout)["task"]["name"] == "Dots-v0"
    assert "@article" in ngym("info", "Dots-v0", "--bibtex").stdout


def test_info_has_the_description_in_the_file_of_the_release(ngym, registry) -> None:
    """The index has only the fields for searches."""
    row = makers.task_row("neurogym_task_dots", docstring="Follow the dots.\n\nA long text.")
    registry.release("neurogym-task-dots", "1.2.0", tasks=[row])
    registry.build()
    assert "A long text." not in (registry.folder / "index.json").read_text("utf-8")
    assert "A long text." in ngym("info", "Dots-v0").stdout
    (registry.folder / "releases" / "neurogym-task-dots" / "1.2.0.json").unlink()
    assert "dots/Dots-v0" in ngym("info", "Dots-v0").stdout


def test_a_file_of_a_release_that_the_index_does_not_name_is_not_shown(ngym, registry) -> None:
    row = makers.task_row("neurogym_task_dots", docstring="Follow the dots.")
    path = registry.release("neurogym-task-dots", "1.2.0", tasks=[row])
    registry.build()
    path.write_text(path.read_text("utf-8").replace("Follow", "Avoid"), "utf-8")
    result = ngym("info", "Dots-v0")
    assert "dots/Dots-v0" in result.stdout
    assert "Avoid the dots." not in result.stdout
    assert "another releases/neurogym-task-dots/1.2.0.json than its index names" in words(
        result.stderr
    )
    index = (registry.folder / "index.json").read_text("utf-8")
    (registry.folder / "index.json").write_text(index.replace("release_sha256", "later"), "utf-8")
    assert "the dots." not in ngym("info", "Dots-v0").stdout


def test_many_matches_are_cut_and_a_misspelt_word_is_corrected(ngym, registry) -> None:
    for number in range(60):
        registry.package(f"neurogym-task-many{number:02}", "1.0.0")
    registry.build()
    shown = ngym("search", "many").stdout
    assert shown.count("neurogym-task-many") >= 50
    assert "neurogym-task-many59" not in shown
    assert "Others match too" in shown
    assert len(ids(ngym, "many")) == 60
    assert "Did you mean 'reaching'?" in ngym("search", "raeching").stdout
    assert "Did you mean 'motor'?" in ngym("search", "--tag", "moter").stdout


def test_install_of_a_task_names_its_package(ngym, registry) -> None:
    for name in ("Dots-v0", "dots/Dots-v0"):
        result = ngym("install", name)
        assert (result.exit_code, "a task of neurogym-task-dots" in result.stderr) == (1, True)
        assert "`ngym install neurogym-task-dots`" in result.stderr


@pytest.mark.parametrize("text", ["dots>=1", "dots~=1.0", "dots[extra]", "dots<2,>1", "dots; x"])
def test_install_of_a_range_of_versions_says_the_form_that_is_read(
    ngym, registry, text: str
) -> None:
    assert "Expected PACKAGE or PACKAGE==VERSION" in ngym("install", text).stderr


def test_info_of_what_nobody_knows_stays_an_error(ngym, registry) -> None:
    result = ngym("info", "Dost-v0")
    assert result.exit_code == 1
    assert "Unknown task 'Dost-v0'" in result.stderr


def test_a_task_of_two_packages_is_named_with_both(ngym, registry) -> None:
    registry.package("neurogym-task-other", "1.0.0", tasks=[makers.task_row("neurogym_task_other")])
    registry.build()
    result = ngym("info", "Dots-v0")
    assert result.exit_code == 1
    assert "dots/Dots-v0" in result.stderr
    assert "other/Dots-v0" in result.stderr


def test_foreign_text_cannot_move_the_cursor(ngym, registry) -> None:
    """The schema refuses such texts, but other registries may not be validated."""
    index = json.loads((registry.folder / "index.json").read_text("utf-8"))
    index["packages"][0]["tasks"][0]["title"] = "\u202e[red]evil"
    (registry.folder / "index.json").write_text(json.dumps(index))
    text = ngym("search", "dots").stdout
    assert "\u202e" not in text
    assert "[red]evil" in text


def test_install_of_something_unknown_names_the_nearest(ngym, registry) -> None:
    result = ngym("install", "neurogym-task-dotz")
    assert result.exit_code == 1
    assert "Did you mean 'neurogym-task-dots'?" in result.stderr


@pytest.mark.parametrize(
    ("name", "said"),
    [("nothing", "No installed package"), ("neurogym-core", "but runs this command")],
)
def test_what_uninstall_refuses(ngym, site, name: str, said: str) -> None:
    result = ngym("uninstall", name, "--yes")
    assert result.exit_code == 1
    assert said in result.stderr


def test_the_error_for_an_unknown_task_that_a_registry_lists_has_the_command(registry) -> None:
    for name in ("Dots-v0", "dots/Dots-v0"):
        with pytest.raises(UnknownTaskError, match="`ngym install neurogym-task-dots`"):
            find_task(name)


def test_a_broken_registry_does_not_hide_that_a_task_is_unknown(
    site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NGYM_REGISTRY", "/nowhere")
    with pytest.raises(UnknownTaskError, match="Unknown task"):
        find_task("Dots-v0")


def doctor(*words: str) -> Result:
    """Run `ngym doctor`; the scan of these tests does not see neurogym-check, which has it."""
    return CliRunner().invoke(check_up, words)


def test_doctor_names_what_is_revoked_and_installed(ngym, registry, site) -> None:
    site.add(
        "neurogym-task-dots", version="1.0.0", tasks={"Dots-v0": ""}, manifest=site.row("Dots-v0")
    )
    assert "revoked" not in doctor("--no-import").stdout
    registry.revoke(
        {
            "name": "neurogym-task-dots",
            "versions": ["1.0.0"],
            "reason": "Steals.",
            "date": "2026-11-21",
        }
    )
    registry.build()
    result = doctor("--no-import")
    assert result.exit_code == 1
    text = " ".join(result.stdout.split())
    assert "neurogym-task-dots 1.0.0 is revoked in the registry: Steals." in text
    assert "python -m pip uninstall neurogym-task-dots" in text


def test_doctor_asks_the_registry_from_which_a_package_came(
    ngym, registry, site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`NGYM_REGISTRY` was set in another terminal."""
    site.add("neurogym-task-dots", version="1.0.0", groups={"neurogym.commands": {"dots": ""}})
    monkeypatch.delenv("NGYM_REGISTRY")
    row = {"name": "neurogym-task-dots", "versions": ["*"], "date": "2026-11-21"}
    registry.revoke({**row, "reason": "Steals."})
    registry.build()
    assert "is revoked" not in doctor("--no-import").stdout
    rows = {"neurogym-task-dots": str(registry.folder)}
    write_text(sources._path(), json.dumps(rows))
    try:
        assert "is revoked in the registry: Steals." in words(doctor("--no-import").stdout)
        registry.build().unlink()
        found = words(doctor("--no-import").stdout)
        assert "Revoked versions are not known" in found
    finally:
        sources._path().unlink()


def test_doctor_says_how_old_its_copy_of_a_registry_is(
    ngym, site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "https://127.0.0.1:9/index.json"  # where nothing answers
    monkeypatch.setenv("NGYM_REGISTRY", url)
    monkeypatch.setenv("NGYM_CACHE", str(tmp_path / "cache"))
    text = json.dumps(makers.small_index())
    cache.write(url, cache.Cached(text, "", 1, time.time() - 30 * 86400))
    found = words(doctor("--no-import").stdout)
    assert f"Revoked versions may be missing: {url} cannot be reached" in found
    assert "from 30 days ago" in found


def test_a_package_of_which_all_releases_are_revoked_is_marked(ngym, registry) -> None:
    row = {"name": "neurogym-task-dots", "versions": ["*"], "date": "2026-11-21"}
    registry.revoke({**row, "reason": "Steals."})
    registry.build()
    assert "! revoked" in ngym("search", "dots").stdout


def words(text: str) -> str:
    return " ".join(text.split())


def test_the_effects_of_a_package_name_when_its_hooks_run() -> None:
    (said,) = effects({"plugins": {"mine": "a.b"}})
    assert said.startswith("its hooks (mine) run for the tasks of all packages")
    assert effects({"new-kind": {"mine": "a.b"}}) == ["it adds new-kind: mine"]


def test_names_and_words_are_completed_from_copies_of_indexes(ngym, registry, site) -> None:
    source = {"__init__.py": "raise SystemExit"}
    site.add("broken-lab", tasks={"Dots-v0": ""}, files=source, manifest="[")
    for line, expected in (
        ("ngym install neurogym-task-d", ["neurogym-task-dots"]),
        ("ngym search --tag working", ["working-memory"]),
        ("ngym uninstall bro", ["broken-lab"]),
        ("ngym uninstall neurogym-co", [""]),  # not the core
    ):
        words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
        rows = ngym(_NGYM_COMPLETE="bash_complete", **words).stdout.splitlines()
        assert [row.partition(",")[2] for row in rows] == expected, line
