"""``ngym list``."""

from __future__ import annotations

import json
import shutil

import pytest

from neurogym_core.ecosystem.names import plain
from neurogym_core.ecosystem.published import how_to_install
from neurogym_core.tools import refresh


@pytest.fixture(autouse=True)
def tasks(site) -> None:
    """Two packages, one with a task that cannot be used."""
    rows = site.row(
        "Dots-v0",
        title='"Random dots"',
        tags='["perceptual", "working-memory"]',
        species='["monkey"]',
    )
    rows += site.row("Odours-v0", title='"Odours"', tags='["working-memory"]', species='["mouse"]')
    rows += "\n".join(
        (
            "",
            "[[task.reference]]",
            'doi = "10.1126/science.1169405"',
            'authors = "Kiani, Roozbeh and Shadlen, Michael N."',
            "year = 2009",
            "",
        )
    )
    site.add("neurogym-task-foo", tasks={"Dots-v0": "", "Odours-v0": ""}, manifest=rows)
    site.add(
        "foolab",
        tasks={"Dots-v0": ""},
        manifest=site.row("Dots-v0", tags='["perceptual"]'),
        requires=["neurogym-core>=2"],
    )


def ids(result) -> list[str]:
    assert result.exit_code == 0, result.output
    return [row["id"] for row in json.loads(result.stdout)]


def test_tasks_are_grouped_by_package(ngym) -> None:
    lines = ngym("list").stdout.splitlines()
    assert "neurogym-task-foo 1.0 (foo)" in lines
    assert any(line.split() == ["Odours-v0", "Odours", "working-memory"] for line in lines)


def test_a_name_that_is_not_unique_is_listed_as_the_id_that_works(ngym) -> None:
    text = ngym("list").stdout
    assert "foo/Dots-v0" in text
    assert not any(line.split()[:1] == ["Dots-v0"] for line in text.splitlines())


def test_json_rows_hold_what_a_program_needs(ngym) -> None:
    (row,) = [
        row for row in json.loads(ngym("list", "--json").stdout) if row["id"] == "foo/Dots-v0"
    ]
    assert row["title"] == "Random dots"
    assert (row["summary"], row["package"], row["version"]) == (
        "A task of the tests.",
        "neurogym-task-foo",
        "1.0",
    )
    assert (row["tags"], row["species"], row["status"]) == (
        ["perceptual", "working-memory"],
        ["monkey"],
        "ok",
    )


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ([], ["x-foolab/Dots-v0", "foo/Dots-v0", "foo/Odours-v0"]),
        (["--tag", "working memory"], ["foo/Dots-v0", "foo/Odours-v0"]),
        (["--tag", "memory", "--tag", "perception"], ["foo/Dots-v0"]),
        (["--species", "mice"], ["foo/Odours-v0"]),
        (["--species", "mouse", "--species", "macaque"], ["foo/Dots-v0", "foo/Odours-v0"]),
        (["--tag", "bandit"], []),
        (["--broken"], ["x-foolab/Dots-v0"]),
        (["foo"], ["foo/Dots-v0", "foo/Odours-v0"]),
        (["foolab", "neurogym-task-foo"], ["x-foolab/Dots-v0", "foo/Dots-v0", "foo/Odours-v0"]),
        (["foo", "--species", "mouse"], ["foo/Odours-v0"]),
        (["--paper", "KIANI 2009"], ["foo/Odours-v0"]),
        (["--paper", "10.1126/science.1169405"], ["foo/Odours-v0"]),
        (["--paper", "Kiáni 2009"], ["foo/Odours-v0"]),
        (["--paper", "kiani 2008"], []),
    ],
)
def test_filters(ngym, options: list[str], found: list[str]) -> None:
    assert ids(ngym("list", "--json", *options)) == found


def test_a_group_that_is_not_installed_is_a_usage_error_with_the_nearest(ngym) -> None:
    result = ngym("list", "foolap")
    assert result.exit_code == 2
    assert "Did you mean 'foolab'?" in " ".join(result.stderr.split())
    text = " ".join(ngym("list", "foo/Dots-v0").stderr.split())
    assert "`ngym info foo/Dots-v0` describes this task" in text


@pytest.mark.parametrize(
    ("options", "counted"),
    [
        ([], True),
        (["--tasks"], False),
        (["many"], False),
        (["--tag", "bandit"], False),
        (["--species", "mouse"], False),
        (["--paper", "nobody"], False),
        (["--all"], False),
    ],
)
def test_many_tasks_are_counted_by_group_where_nothing_selects_some(
    ngym, site, options: list[str], counted: bool
) -> None:
    names = [f"Task{number}-v0" for number in range(40)]
    rows = "\n".join(site.row(name, tags='["bandit"]') for name in names)
    site.add("neurogym-task-many", tasks=dict.fromkeys(names, ""), manifest=rows)
    text = ngym("list", *options).stdout
    assert ("43 tasks in 3 packages" in text) == counted
    assert ("Task7-v0" in text) == (not counted and options[-1] not in ("mouse", "nobody"))
    if counted:
        assert ["many", "neurogym-task-many", "40", "bandit"] in map(str.split, text.splitlines())
        assert "! incompatible" in text
        assert "`ngym doctor` describes it" in text
    assert len(ids(ngym("list", "--json"))) == 43


def test_wrappers_and_all(ngym) -> None:
    assert "core/ReactionTime" in ids(ngym("list", "--wrappers", "--json"))
    assert "foo/Dots-v0" not in ids(ngym("list", "--wrappers", "--json"))
    assert {"core/ReactionTime", "foo/Dots-v0"} <= set(ids(ngym("list", "--all", "--json")))


def test_all_shows_packages_that_offer_something_else(ngym, site) -> None:
    """A hook runs in every make, though the package has no task."""
    site.add("watcher", groups={"neurogym.plugins": {"watch": "watcher.hooks"}})
    site.add("driller", groups={"neurogym.commands": {"drill": "driller.cli:drill"}})
    everything = ngym("list", "--all").stdout
    assert "watcher 1.0" in everything
    assert "plugins: watch" in everything
    assert "commands: drill" in everything
    assert "watcher" not in ngym("list").stdout


def test_blocked_packages_show_only_with_all(ngym) -> None:
    assert "foo/Dots-v0" not in ids(ngym("list", "--json", NGYM_BLOCK="foo"))
    rows = json.loads(ngym("list", "--json", "--all", NGYM_BLOCK="foo").stdout)
    assert {row["status"] for row in rows if row["package"] == "neurogym-task-foo"} == {"blocked"}


def test_an_unknown_tag_is_a_usage_error_with_the_nearest(ngym) -> None:
    result = ngym("list", "--tag", "perceptul")
    assert result.exit_code == 2
    assert "Did you mean 'perceptual'?" in " ".join(result.stderr.split())
    assert result.stdout == ""


def test_a_tag_of_an_installed_package_counts_though_it_is_not_in_the_vocabulary(
    ngym, site
) -> None:
    site.add("bar", tasks={"New-v0": ""}, manifest=site.row("New-v0", tags='["brand new"]'))
    assert ids(ngym("list", "--json", "--tag", "Brand New")) == ["x-bar/New-v0"]


def test_unusable_tasks_are_marked(ngym) -> None:
    text = ngym("list").stdout
    assert "foolab 1.0 (x-foolab)  ! incompatible" in text
    assert "`ngym doctor` describes it" in text


def test_names_with_accents_are_found_without_them() -> None:
    assert plain("Hernández-Pérez") == plain("HERNANDEZ-perez") == "hernandez-perez"


def test_no_columns_are_no_width(ngym, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "0")
    assert "Dots-v0" in ngym("list").stdout


def test_an_empty_list_is_reported(ngym) -> None:
    assert "No installed task matches" in ngym("list", "--tag", "bandit").stdout


def test_without_installed_tasks_it_says_how_to_find_some(ngym, site) -> None:
    shutil.rmtree(site.path)
    site.path.mkdir()
    refresh()
    text = ngym("list").stdout
    assert text.startswith("No tasks are installed. `ngym search` finds packages")
    assert how_to_install("neurogym-registry") in text
    assert "matches" not in text


def test_all_offers_of_a_package_are_listed(ngym, site) -> None:
    kinds = ("commands", "subjects", "plugins", "views")
    groups = {f"neurogym.{kind}": {f"my{kind}": "bar.tasks:x"} for kind in kinds}
    site.add("bar", groups=groups, manifest=None)
    text = ngym("list", "--all").stdout
    assert all(f"{kind}: my{kind}" in text for kind in kinds), text


def test_at_40_columns_nothing_is_cut(ngym) -> None:
    result = ngym("list", COLUMNS="40")
    assert max(map(len, result.stdout.splitlines())) <= 40
    assert "Random dots" in result.stdout
    assert "tags: perceptual, working-memory" in " ".join(result.stdout.split())


def test_in_a_pipe_a_task_is_one_line(ngym, site) -> None:
    site.add(
        "bar", tasks={"Long-v0": ""}, manifest=site.row("Long-v0", title=f'"{"very " * 19}long"')
    )
    assert any(
        "Long-v0" in line and line.count("very") == 19 for line in ngym("list").stdout.splitlines()
    )


@pytest.mark.parametrize(
    "environment", [{}, {"NO_COLOR": "1"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}]
)
def test_no_escape_sequences_in_a_pipe_or_with_no_color(ngym, environment: dict[str, str]) -> None:
    assert "\x1b" not in ngym("list", **environment).stdout


def test_colour_can_be_forced(ngym) -> None:
    assert "\x1b[1m" in ngym("list", FORCE_COLOR="1", TERM="xterm").stdout


def test_an_ascii_terminal_gets_ascii(ngym, site) -> None:
    site.add(
        "bar",
        tasks={"Café-v0": "bar.tasks:C", "New-v0": ""},
        manifest=site.row("New-v0", title='"σ – naïve → 好"'),
    )
    result = ngym("list", charset="ascii")
    assert result.exit_code == 0
    assert "sigma - na?ve -> ?" in result.stdout


def test_foreign_markup_and_escapes_are_text(ngym, site) -> None:
    title = '"[bold]x[/bold] [link=y]z :smile: \\u001b]0;gone\\u0007"'
    site.add(
        "bar",
        tasks={"New-v0": "", "a\x1b[2J": "bar.tasks:A"},
        manifest=site.row("New-v0", title=title),
    )
    text = ngym("list").stdout
    assert "[bold]x[/bold] [link=y]z :smile: ]0;gone" in text
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\x1b" not in ngym("list", "--json").stdout
