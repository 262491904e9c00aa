"""``ngym doctor`` with neurogym-check: imports of packages, and stale editable installs."""

from __future__ import annotations

import json

import pytest
from sites import problems

CLICK = "import click\n@click.command()\ndef drill(): pass\n"
PLUGIN = "from neurogym_core import hookimpl\n@hookimpl\ndef ngym_listed(name): pass\n"


def test_a_good_package_of_every_kind_of_offer_has_no_problem(site) -> None:
    groups = {
        "neurogym.commands": {"drill": "neurogym_task_foo.cli:drill"},
        "neurogym.plugins": {"log": "neurogym_task_foo.plugin"},
        "neurogym.subjects": {"lefty": "neurogym_task_foo.cli:drill"},
        "neurogym.trainers": {"coach": "neurogym_task_foo.cli:drill"},
    }
    files = {"cli.py": CLICK, "plugin.py": PLUGIN}
    site.add(
        "neurogym-task-foo",
        tasks={"Dots-v0": ""},
        manifest=site.row("Dots-v0"),
        groups=groups,
        files=files,
    )
    assert problems(package="neurogym-task-foo") == []


@pytest.mark.parametrize(
    ("fields", "level", "code", "said"),
    [
        ({"files": {"tasks.py": "raise ValueError('no')"}}, "error", "import", "ValueError: no"),
        ({"files": {"tasks.py": "import os; os._exit(5)"}}, "error", "import", "exit code 5"),
        (
            {"files": {"tasks.py": "print('hello'); class_ = 0\nclass Dots: pass"}},
            "warning",
            "output",
            "prints 6 bytes",
        ),
        (
            {"groups": {"neurogym.plugins": {"p": "foo.plugin"}}, "files": {"plugin.py": "x = 1"}},
            "error",
            "import",
            "no hook",
        ),
        (
            {"groups": {"neurogym.commands": {"go": "foo.tasks:Dots"}}},
            "error",
            "import",
            "expected a click command",
        ),
    ],
)
def test_an_import_that_fails_is_a_problem_with_level_code_and_message(
    site, fields: dict, level: str, code: str, said: str
) -> None:
    site.add("foo", **{"tasks": {"Dots-v0": ""}, "manifest": site.row("Dots-v0"), **fields})
    (problem,) = problems(package="foo")
    assert problem[:2] == (level, code)
    assert said in problem[2]


def test_without_imports_nothing_of_the_packages_runs(ngym, site, tmp_path) -> None:
    source = f"open({str(tmp_path / 'canary')!r}, 'w')\nclass Dots: pass"
    site.add("foo", tasks={"Dots-v0": ""}, files={"tasks.py": source})
    ngym("doctor", "--no-import")
    assert not (tmp_path / "canary").exists()
    ngym("doctor")
    assert (tmp_path / "canary").exists()


def test_blocked_packages_are_not_imported(site, tmp_path) -> None:
    source = f"open({str(tmp_path / 'canary')!r}, 'w')\nclass Dots: pass"
    site.add("foo", tasks={"Dots-v0": ""}, files={"tasks.py": source})
    assert ("note", "blocked") in [one[:2] for one in problems(package="foo", NGYM_BLOCK="foo")]
    assert not (tmp_path / "canary").exists()


def test_an_offer_that_ends_the_process_does_not_hide_the_others(ngym, site) -> None:
    files = {
        "a.py": "import os; os._exit(3)",
        "b.py": "import os; os._exit(4)",
        "c.py": "class C: pass",
        "d.py": "x",
    }
    tasks = {"A-v0": "foo.a:A", "B-v0": "foo.b:B", "C-v0": "foo.c:C", "D-v0": "foo.d:D"}
    manifest = "".join(site.row(name) for name in tasks)
    site.add("foo", tasks=tasks, files=files, manifest=manifest)
    found = json.loads(ngym("doctor", "--json").stdout)["problems"]
    mine = {row["id"]: row["message"] for row in found if row["package"] == "foo"}
    assert set(mine) == {"x-foo/A-v0", "x-foo/B-v0", "x-foo/D-v0"}
    assert "exit code 3" in mine["x-foo/A-v0"]
    assert "exit code 4" in mine["x-foo/B-v0"]
    assert "NameError" in mine["x-foo/D-v0"]


def test_stale_metadata_of_an_editable_install(site, tmp_path) -> None:
    """An author adds a task to pyproject.toml without installing the package again."""
    sources = tmp_path / "sources"
    sources.mkdir()
    project = '[project]\nname = "foo"\nversion = "1.1"\n[project.entry-points."neurogym.tasks"]\n'
    project += '"Dots-v0" = "foo.tasks:Dots"\n'
    (sources / "pyproject.toml").write_text(project + '"New-v0" = "foo.tasks:New"\n')
    site.add("foo", tasks={"Dots-v0": ""}, manifest=site.row("Dots-v0"))
    origin = {"url": sources.as_uri(), "dir_info": {"editable": True}}
    (site.path / "foo-1.0.dist-info" / "direct_url.json").write_text(json.dumps(origin))
    (problem,) = problems("--no-import", package="foo")
    assert problem[:2] == ("error", "stale")
    assert "'version 1.1', 'New-v0'" in problem[2]
    assert f"`python -m pip install -e {sources}`" in problem[2]


def test_entry_points_of_a_newer_core_are_not_stale(site, tmp_path) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    project = '[project]\nname = "foo"\nversion = "1.0"\n[project.entry-points."neurogym.lazy"]\n'
    (sources / "pyproject.toml").write_text(project + 'later = "foo.tasks:later"\n')
    site.add("foo", groups={"neurogym.lazy": {"later": "foo.tasks:later"}})
    origin = {"url": sources.as_uri(), "dir_info": {"editable": True}}
    (site.path / "foo-1.0.dist-info" / "direct_url.json").write_text(json.dumps(origin))
    found = problems("--no-import", package="foo")
    assert "stale" not in [code for _, code, _ in found], found
