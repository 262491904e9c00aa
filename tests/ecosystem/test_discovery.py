"""Discovery of installed tasks and wrappers, and errors for names that are not found."""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys

import made_packages
import pytest

from neurogym_core import errors
from neurogym_core.ecosystem import names
from neurogym_core.ecosystem.discovery import task_id
from neurogym_core.ecosystem.scan import declarations
from neurogym_core.tools import (
    find_task,
    find_wrapper,
    installed,
    load,
    load_task,
    load_wrapper,
    refresh,
)


def package(name: str):
    """The record of one installed distribution."""
    (found,) = [one for one in installed().packages if one.distribution == name]
    return found


def codes(name: str) -> set[str]:
    """Return the codes of all problems of a distribution and its offers."""
    found = package(name)
    every = (*found.problems, *(problem for offer in found.offers for problem in offer.problems))
    return {problem.code for problem in every if problem.level != "warning"}


class TestFinding:
    def test_a_task_is_found_with_its_manifest_row_and_without_being_imported(self, site) -> None:
        row = site.row("Dots-v0", tags='["perceptual"]', species='["monkey"]')
        site.add(
            "neurogym-task-foo",
            tasks={"Dots-v0": ""},
            manifest=row,
            files={"__init__.py": "raise RuntimeError"},
        )
        info = find_task("foo/Dots-v0")
        assert (info.id, info.title, info.tags, info.species) == (
            "foo/Dots-v0",
            "Dots-v0",
            ("perceptual",),
            ("monkey",),
        )
        assert (info.distribution, info.version, info.status) == ("neurogym-task-foo", "1.0", "ok")
        assert "neurogym_task_foo" not in sys.modules

    def test_a_unique_bare_name_is_enough(self, site) -> None:
        site.add("neurogym-task-foo", tasks={"Dots-v0": ""})
        assert find_task("Dots-v0").id == "foo/Dots-v0"
        site.add("foolab", tasks={"Dots-v0": ""})
        with pytest.raises(
            errors.AmbiguousTaskError, match=r"'x-foolab/Dots-v0' .* 'foo/Dots-v0' .* full id"
        ) as caught:
            find_task("Dots-v0")
        assert "x-foolab" in str(caught.value)
        assert find_task("x-foolab/Dots-v0").distribution == "foolab"

    def test_the_id_alone_is_found_without_reading_manifests(self, site, monkeypatch) -> None:
        site.add(
            "neurogym-task-foo",
            tasks={"Dots-v0": ""},
            manifest=site.row("Dots-v0", aliases='["Old-v0"]'),
        )
        with monkeypatch.context() as patch:
            patch.setattr("neurogym_core.ecosystem.manifest.read_manifest", None)
            assert task_id("Dots-v0") == "foo/Dots-v0"
            assert load_task("Dots-v0").__name__ == "Dots"
        with pytest.raises(errors.UnknownTaskError, match="is now 'foo/Dots-v0'"):
            task_id("Old-v0")

    def test_records_can_be_hashed_compared_and_pickled(self, site) -> None:
        site.add(
            "neurogym-task-foo",
            tasks={"Dots-v0": ""},
            manifest=site.row("Dots-v0", expected="{guess = 0.5}"),
        )
        info = find_task("Dots-v0")
        assert info.expected == {"guess": 0.5}
        assert pickle.loads(pickle.dumps(info)) == info
        assert len({info, find_task("foo/Dots-v0")}) == 1

    def test_a_scan_is_made_once_until_refresh(self, site) -> None:
        before = installed()
        assert installed() is before
        refresh()
        assert installed() is not before

    def test_a_name_that_is_no_string_is_an_unknown_task(self, site) -> None:
        with pytest.raises(errors.UnknownTaskError, match="Expected a string"):
            find_task(3)

    def test_the_core_is_a_package_like_any_other(self) -> None:
        info = find_wrapper("core/ReactionTime")
        assert info.distribution == "neurogym-core"
        assert info.title
        assert info.version == installed().core_version


class TestUnknownNames:
    @pytest.fixture(autouse=True)
    def tasks(self, site) -> None:
        row = (
            site.row("RandomDots-v1", aliases='["RDM-v0"]')
            + site.row("RandomDots-v0")
            + site.row("RandomDots-v10")
        )
        site.add(
            "neurogym-task-foo",
            tasks={"RandomDots-v0": "", "RandomDots-v1": "", "RandomDots-v10": ""},
            manifest=row,
        )

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("RandmDots-v1", "Did you mean 'RandomDots-v1'?"),
            ("foo/RandomDot-v1", "Did you mean 'foo/RandomDots-v1'?"),
            ("fo/RandomDots-v0", "Did you mean 'foo/RandomDots-v0'?"),
            ("RDM-v0", "'RDM-v0' is now 'foo/RandomDots-v1'. Use that name."),
            ("foo/RDM-v0", "is now 'foo/RandomDots-v1'"),
            (
                "RandomDots",
                "Did you mean 'foo/RandomDots-v10' or 'foo/RandomDots-v1' or 'foo/RandomDots-v0'?",
            ),
            ("foo/RandomDots-v7", "'foo/RandomDots-v10'"),
            ("zzz/Qqq-v0", "no installed package has the namespace 'zzz'"),
            ("Rand", "Did you mean 'RandomDots-v0' or 'RandomDots-v1' or 'RandomDots-v10'?"),
            ("domdo", "Did you mean 'RandomDots-v0' or"),
            ("Ra", "`ngym search` looks in titles, summaries and tags too."),
        ],
    )
    def test_the_right_name_is_suggested(self, name: str, said: str) -> None:
        with pytest.raises(errors.UnknownTaskError) as caught:
            find_task(name)
        assert said in str(caught.value)

    def test_a_name_without_a_near_one_points_to_the_list(self) -> None:
        with pytest.raises(
            errors.UnknownTaskError, match="`ngym list` lists the installed tasks"
        ) as caught:
            find_task("Qqqqqq-v0")
        assert "`ngym search` looks in titles" in str(caught.value)
        assert "Did you mean" not in str(caught.value)


class TestWrappers:
    def test_both_spellings_find_a_wrapper(self, site) -> None:
        site.add(
            "neurogym-task-foo",
            groups={"neurogym.wrappers": {"LeftBias": "neurogym_task_foo.tasks:LeftBias"}},
        )
        ids = {
            find_wrapper(name).id
            for name in ("LeftBias", "left_bias", "foo/LeftBias", "foo/left_bias")
        }
        assert ids == {"foo/LeftBias"}

    def test_no_package_can_use_the_names_of_core_wrappers(self, site) -> None:
        site.add("evil", groups={"neurogym.wrappers": {"ReactionTime": "evil.tasks:ReactionTime"}})
        assert find_wrapper("reaction_time").id == "core/ReactionTime"
        assert find_wrapper("x-evil/reaction_time").id == "x-evil/ReactionTime"

    def test_no_package_can_use_the_names_of_neurogym_wrappers(self, site) -> None:
        groups = {"neurogym.wrappers": {"TrialHistory": "evil.tasks:TrialHistory"}}
        site.add("evil", groups=groups)
        for name in ("TrialHistory", "trial_history"):
            with pytest.raises(errors.UnknownTaskError, match="comes with neurogym-wrappers"):
                find_wrapper(name)
        assert find_wrapper("x-evil/TrialHistory").distribution == "evil"
        site.add(
            "neurogym-wrappers",
            groups={"neurogym.wrappers": {"TrialHistory": "neurogym_wrappers.tasks:TrialHistory"}},
        )
        assert find_wrapper("TrialHistory").id == "wrappers/TrialHistory"
        assert find_wrapper("trial_history").id == "wrappers/TrialHistory"
        assert find_wrapper("x-evil/TrialHistory").distribution == "evil"

    def test_no_alias_of_another_package_can_use_them(self, site) -> None:
        row = '[[wrapper]]\nname = "Mine"\naliases = ["TrialHistory", "ScheduleAttr"]\n'
        groups = {"neurogym.wrappers": {"Mine": "evil.tasks:Mine"}}
        site.add("evil", manifest=f"schema = 1\n{row}", groups=groups)
        for name in ("TrialHistory", "ScheduleAttr"):
            with pytest.raises(errors.UnknownTaskError, match="comes with neurogym-wrappers"):
                find_wrapper(name)

    @pytest.mark.parametrize("spelling", ["{}", "wrappers/{}"])
    @pytest.mark.parametrize(
        "name", ["TrialHistory", "trial_history", "TTLPulse", "ScheduleAttr", "compose"]
    )
    def test_a_wrapper_of_a_package_that_is_missing_is_answered_with_the_package(
        self, site, name: str, spelling: str
    ) -> None:
        name = spelling.format(name)
        for find in (find_wrapper, load_wrapper):
            with pytest.raises(errors.UnknownTaskError) as caught:
                find(name)
            line = names.comes_with(name, "neurogym-wrappers")
            assert str(caught.value) == line

    def test_the_name_in_another_namespace_is_not_answered_with_the_package(self, site) -> None:
        with pytest.raises(errors.UnknownTaskError, match="has the namespace 'foo'"):
            find_wrapper("foo/TrialHistory")

    def test_an_unknown_wrapper_is_answered_with_the_nearest(self) -> None:
        with pytest.raises(errors.UnknownTaskError, match="Did you mean 'reaction_time'"):
            find_wrapper("reacton_time")

    def test_a_wrapper_is_loaded_by_either_spelling(self, site) -> None:
        files = {"wrap.py": "class LeftBias: pass"}
        site.add(
            "neurogym-task-foo",
            files=files,
            groups={"neurogym.wrappers": {"LeftBias": "neurogym_task_foo.wrap:LeftBias"}},
        )
        assert load_wrapper("left_bias") is load_wrapper("foo/LeftBias")
        assert load_wrapper("left_bias").__name__ == "LeftBias"


class TestLoading:
    def test_the_class_is_imported(self, site) -> None:
        site.add("neurogym-task-foo", tasks={"Dots-v0": ""})
        assert load_task("Dots-v0").__name__ == "Dots"

    @pytest.mark.parametrize(
        ("source", "phase", "said"),
        [
            ("import nothing_of_this_name", "import neurogym_task_foo.bad", "ModuleNotFoundError"),
            ("import sys; sys.exit(3)", "import neurogym_task_foo.bad", "SystemExit: 3"),
            ("def broken(:", "import neurogym_task_foo.bad", "SyntaxError"),
            (
                "class E(BaseException):\n    def __str__(self): raise ValueError\nraise E",
                "import",
                "cannot be read",
            ),
            ("", "look up Dots", "AttributeError"),
            ("Dots = 3", "check", "of type int, expected a class"),
        ],
    )
    def test_code_that_fails_is_an_error_with_package_phase_and_remedy(
        self, site, source: str, phase: str, said: str
    ) -> None:
        site.add(
            "neurogym-task-foo",
            tasks={"Dots-v0": "neurogym_task_foo.bad:Dots"},
            files={"bad.py": source},
        )
        with pytest.raises(errors.BrokenTaskError) as caught:
            load_task("Dots-v0")
        text = str(caught.value)
        assert "'foo/Dots-v0' of neurogym-task-foo 1.0 is broken" in text
        assert f"phase: {phase}" in text
        assert said in text
        assert "`python -m pip uninstall neurogym-task-foo`" in text

    def test_a_keyboard_interrupt_is_not_the_package_s_fault(self, site) -> None:
        site.add(
            "neurogym-task-foo",
            tasks={"Dots-v0": "neurogym_task_foo.bad:D"},
            files={"bad.py": "raise KeyboardInterrupt"},
        )
        with pytest.raises(KeyboardInterrupt):
            load_task("Dots-v0")

    def test_a_package_for_another_core_is_refused_before_it_is_imported(self, site) -> None:
        requires = ["neurogym-core>=2,<3"]
        site.add(
            "neurogym-task-foo",
            tasks={"Dots-v0": ""},
            requires=requires,
            files={"__init__.py": "raise RuntimeError"},
        )
        assert find_task("Dots-v0").status == "incompatible"
        with pytest.raises(
            errors.IncompatibleTaskError, match=r"needs neurogym-core>=2,<3, but .* is installed"
        ):
            load_task("Dots-v0")

    def test_an_invalid_value_of_an_entry_point_is_refused(self, site) -> None:
        site.add("neurogym-task-foo", tasks={"Dots-v0": "neurogym_task_foo"})
        with pytest.raises(errors.BrokenTaskError, match="expected `module:attribute`"):
            load(find_task("Dots-v0"))


class TestBlocking:
    @pytest.mark.parametrize("name", ["neurogym-task-foo", "Neurogym_Task_Foo", "foo", "bar, foo"])
    def test_a_blocked_package_is_known_but_not_used(self, site, monkeypatch, name: str) -> None:
        site.add("neurogym-task-foo", tasks={"Dots-v0": ""})
        monkeypatch.setenv("NGYM_BLOCK", name)
        assert package("neurogym-task-foo").blocked
        with pytest.raises(errors.UnknownTaskError, match="blocked by NGYM_BLOCK"):
            find_task("Dots-v0")

    def test_a_blocked_package_does_not_make_a_name_ambiguous(self, site, monkeypatch) -> None:
        site.add("neurogym-task-foo", tasks={"Dots-v0": ""})
        site.add("foolab", tasks={"Dots-v0": ""})
        monkeypatch.setenv("NGYM_BLOCK", "foolab")
        assert load_task("Dots-v0").__module__ == "neurogym_task_foo.tasks"

    def test_the_core_cannot_be_blocked(self, site, monkeypatch) -> None:
        monkeypatch.setenv("NGYM_BLOCK", "neurogym-core,core")
        assert find_wrapper("ReactionTime").usable


class TestProblems:
    @pytest.mark.parametrize("name", ["core/Dots-v0", "Dots", "dots-v0", "x-y/Dots-v0"])
    def test_a_name_that_claims_a_namespace_or_breaks_the_grammar_cannot_be_used(
        self, site, name: str
    ) -> None:
        site.add("evil", tasks={name: "evil.tasks:Dots"})
        assert codes("evil") == {"name"}
        with pytest.raises(errors.DiscoveryError):
            load_task(name)

    def test_the_core_s_namespace_cannot_be_claimed_by_a_distribution_s_name(self, site) -> None:
        site.add("neurogym-task-core", tasks={"Dots-v0": ""})
        assert find_task("Dots-v0").id == "x-neurogym-task-core/Dots-v0"

    def test_of_an_id_declared_twice_neither_is_used(self, site) -> None:
        lines = (
            "[neurogym.tasks]\nDots-v0 = neurogym_task_foo.tasks:A\nDots-v0 ="
            " neurogym_task_foo.tasks:B\n"
        )
        site.add("neurogym-task-foo", tasks={"Dots-v0": ""}, entry_points=lines)
        assert [task.status for task in package("neurogym-task-foo").tasks] == [
            "duplicate",
            "duplicate",
        ]
        with pytest.raises(errors.AmbiguousTaskError, match=r"tasks:A.*tasks:B.*neither is used"):
            find_task("Dots-v0")

    def test_of_a_command_claimed_by_two_packages_neither_is_used(self, site) -> None:
        for name in ("one", "two"):
            site.add(name, groups={"neurogym.commands": {"drill": f"{name}.cli:drill"}})
        for name in ("one", "two"):
            (command,) = package(name).commands
            assert not command.usable
            assert "'one', 'two'" in str(command.problems[-1])
            assert "pip uninstall one" in str(command.problems[-1])

    def test_a_blocked_package_claims_no_command(self, site, monkeypatch) -> None:
        for name in ("one", "two"):
            site.add(name, groups={"neurogym.commands": {"drill": f"{name}.cli:drill"}})
        monkeypatch.setenv("NGYM_BLOCK", "two")
        assert package("one").commands[0].usable

    def test_metadata_that_cannot_be_read_is_a_row(self, site) -> None:
        site.add("neurogym-task-foo", tasks={"Dots-v0": ""}, metadata="Metadata-Version: 2.1\n")
        site.add("neurogym-task-bar", tasks={"Dots-v0": ""})
        assert codes("neurogym_task_foo") == {"metadata"}
        assert find_task("Dots-v0").namespace == "bar"

    def test_a_package_whose_metadata_cannot_be_read_is_removed_by_deleting_a_folder(
        self, site
    ) -> None:
        """pip needs a readable name; the name of the folder may be none either."""
        site.add("foo", tasks={"Dots-v0": ""}, metadata="Metadata-Version: 2.1\n")
        folder = site.path / "we ird!-1.0.dist-info"
        (site.path / "foo-1.0.dist-info").rename(folder)
        refresh()
        (found,) = [one for one in installed().packages if one.unreadable]
        assert found.removal == f"deleting the folder {folder}"
        assert [problem.code for problem in found.problems] == ["metadata"]

    def test_metadata_is_read_up_to_its_description(self, site) -> None:
        head = "metadata-version: 2.1\nNAME: foolab\nVersion:  3.0 \nSummary: a\n  Name: folded\n"
        requires = "Requires-Dist: numpy\nRequires-Dist: neurogym-core (>=1.0,<2)\n"
        site.add(
            "foolab",
            tasks={"Dots-v0": ""},
            metadata=f"{head}{requires}\nName: body\nRequires-Dist: neurogym-core>9\n",
        )
        assert (package("foolab").version, package("foolab").requires_core) == ("3.0", ">=1.0,<2")

    def test_an_egg_info_is_read_too(self, site) -> None:
        site.add("foolab", tasks={"Dots-v0": ""})
        info = site.path / "foolab-1.0.dist-info"
        (info / "METADATA").unlink()
        (info / "PKG-INFO").write_text("Metadata-Version: 1.2\nName: foolab\nVersion: 1.0\n")
        (info / "requires.txt").write_text("neurogym-core>=2\n")
        info.rename(site.path / "foolab.egg-info")
        refresh()
        assert package("foolab").requires_core == ">=2"
        assert find_task("Dots-v0").status == "incompatible"

    def test_a_name_that_would_run_a_command_when_copied_is_not_printed(self, site) -> None:
        metadata = "Metadata-Version: 2.1\nName: foo; rm -rf ~\nVersion: 1\n"
        site.add("foo", tasks={"Dots-v0": ""}, metadata=metadata)
        assert all("rm" not in one.removal for one in installed().packages)

    def test_entry_points_that_cannot_be_parsed_spoil_one_package(self, site) -> None:
        site.add("neurogym-task-foo", entry_points="[neurogym.tasks\nDots-v0 = a:b\n= c\n]]")
        site.add("neurogym-task-bar", tasks={"Dots-v0": ""})
        assert find_task("Dots-v0").namespace == "bar"

    def test_a_package_without_a_core_requirement_is_used_with_a_warning(self, site) -> None:
        site.add("neurogym-task-foo", tasks={"Dots-v0": ""}, requires=[])
        assert package("neurogym-task-foo").compatible
        assert any(
            "does not say which neurogym-core" in str(one)
            for one in package("neurogym-task-foo").problems
        )

    def test_the_first_copy_on_the_path_counts_and_the_other_is_named(
        self, site, tmp_path, monkeypatch
    ) -> None:
        site.add("neurogym-task-foo", tasks={"Dots-v0": ""}, version="2.0")
        second = tmp_path / "second"
        made_packages.write(
            made_packages.Package(name="neurogym-task-foo", version="1.0", tasks={"Old-v0": ""}),
            second,
        )
        monkeypatch.setattr(sys, "path", [*sys.path, str(second)])
        refresh()
        assert package("neurogym-task-foo").version == "2.0"
        assert any(
            one.code == "duplicate" and "1.0" in one.message
            for one in package("neurogym-task-foo").problems
        )

    def test_metadata_left_behind_by_an_older_version_is_stale(self, site) -> None:
        site.add("neurogym-task-foo", tasks={"Dots-v0": ""}, version="1.10")
        site.add("neurogym-task-foo", tasks={"Dots-v0": ""}, version="1.9")
        assert package("neurogym-task-foo").version == "1.10"
        assert codes("neurogym-task-foo") == {"stale"}

    def test_an_unknown_group_is_named_with_the_nearest(self, site) -> None:
        site.add("foo", groups={"neurogym.task": {"Dots-v0": "foo.tasks:Dots"}})
        assert any("Did you mean 'neurogym.tasks'" in str(one) for one in package("foo").problems)


class TestManifests:
    def test_rows_and_entry_points_are_checked_against_each_other(self, site) -> None:
        site.add("neurogym-task-foo", tasks={"Dots-v0": ""}, manifest=site.row("Other-v0"))
        assert find_task("Dots-v0").status == "ok"
        assert any("no row for" in str(one) for one in find_task("Dots-v0").problems)
        assert any(
            "no such entry point" in str(one) for one in package("neurogym-task-foo").problems
        )
        with pytest.raises(errors.UnknownTaskError):
            find_task("Other-v0")

    def test_a_package_cannot_describe_another_s_task(self, site) -> None:
        site.add("neurogym-task-foo", tasks={"Dots-v0": ""}, manifest=site.row("Dots-v0"))
        site.add("evil", tasks={"Evil-v0": ""}, manifest=site.row("Dots-v0", title='"stolen"'))
        assert find_task("Dots-v0").title == "Dots-v0"

    @pytest.mark.parametrize(
        "value",
        [
            "foo:../../etc/passwd.toml",
            "foo:/etc/x.toml",
            "foo",
            "foo:ngym.txt",
            "foo:sub/ngym.toml",
        ],
    )
    def test_a_manifest_is_a_bare_toml_file_of_a_package(self, site, value: str) -> None:
        site.add("foo", tasks={"Dots-v0": ""}, groups={"neurogym.manifest": {"manifest": value}})
        assert any("expected `package:ngym.toml`" in str(one) for one in package("foo").problems)
        assert find_task("Dots-v0").usable

    def test_a_missing_manifest_a_missing_package_and_two_manifests_are_problems(
        self, site
    ) -> None:
        site.add(
            "foo",
            tasks={"Dots-v0": ""},
            groups={"neurogym.manifest": {"manifest": "foo:other.toml"}},
        )
        site.add(
            "bar",
            tasks={"Dots-v0": ""},
            groups={"neurogym.manifest": {"manifest": "gone_away:ngym.toml"}},
        )
        site.add(
            "baz",
            tasks={"Dots-v0": ""},
            groups={"neurogym.manifest": {"a": "baz:ngym.toml", "b": "baz:ngym.toml"}},
        )
        assert (codes("foo"), codes("bar"), codes("baz")) == ({"manifest"}, {"stale"}, {"manifest"})

    def test_an_editable_install_s_manifest_is_found_through_its_finder(
        self, site, tmp_path, monkeypatch
    ) -> None:
        """As from hatchling and setuptools: metadata in site-packages, the package elsewhere."""
        sources = tmp_path / "sources"
        package = made_packages.Package(
            name="neurogym-task-foo", tasks={"Dots-v0": ""}, manifest=site.row("Dots-v0")
        )
        made_packages.write(package, sources)
        (sources / package.info).rename(site.path / package.info)
        monkeypatch.setattr(sys, "path", [*sys.path, str(sources)])
        refresh()
        assert find_task("Dots-v0").title == "Dots-v0"
        assert "neurogym_task_foo" not in sys.modules


def test_neither_the_package_nor_a_scan_imports_anything_heavy() -> None:
    code = (
        "import sys; import neurogym_core.tools as e; assert 'importlib_metadata' not in"
        " sys.modules;e.installed(); heavy = {'numpy', 'gymnasium', 'pluggy', 'click', 'rich'} &"
        " set(sys.modules);assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


class TestTwoWaysOfReading:
    """The fast reader of ``.dist-info`` folders finds the same as importlib_metadata."""

    def test_they_agree_on_what_is_installed_here(self) -> None:
        refresh()
        assert declarations(False) == declarations(True)
        assert {one.name for one in declarations(False)} > {"neurogym-core"}

    def test_they_agree_on_any_file_of_entry_points(self, site) -> None:
        site.add("foo", tasks={"Dots-v0": ""}, manifest=site.row("Dots-v0"))
        (info,) = site.path.glob("*.dist-info")
        text = (
            "# a remark\n\n[console_scripts]\nfoo = foo:main\n\n[ neurogym.tasks ]\nA-v0 ="
            " a:A\n[neurogym.tasks]\n Dots-v0=foo.tasks:Dots\nOther-v1 = foo.tasks : Other \n"
        )
        (info / "entry_points.txt").write_text(text, "utf-8")
        refresh()
        assert declarations(False) == declarations(True)

    @pytest.mark.parametrize("metadata", ["", "Name: foo\n", "Version: 1\n", None])
    def test_they_agree_on_metadata_that_cannot_be_read(self, site, metadata) -> None:
        site.add("foo", tasks={"Dots-v0": ""}, manifest=site.row("Dots-v0"))
        (info,) = site.path.glob("*.dist-info")
        if metadata is None:
            (info / "METADATA").unlink()
        else:
            (info / "METADATA").write_text(metadata, "utf-8")
        refresh()
        for one in (declarations(False), declarations(True)):
            (foo,) = (declared for declared in one if declared.name == "foo")
            assert [problem.level for problem in foo.problems] == ["fatal"]

    def test_installs_that_only_importlib_metadata_supports_are_found(
        self, site, tmp_path, monkeypatch
    ) -> None:
        package = made_packages.Package(
            name="foo", tasks={"Dots-v0": ""}, manifest=site.row("Dots-v0")
        )
        made_packages.write(package, tmp_path / "zipped")
        archive = shutil.make_archive(str(tmp_path / "site"), "zip", tmp_path / "zipped")
        monkeypatch.syspath_prepend(archive)
        refresh()
        assert not [one for one in declarations(False) if one.name == "foo"]
        assert task_id("Dots-v0") == "x-foo/Dots-v0"


@pytest.mark.parametrize("file", ["entry_points.txt", "METADATA"])
def test_metadata_of_any_size_is_read_quickly_or_not_at_all(site, file: str) -> None:
    site.add("foo", tasks={"Dots-v0": ""}, manifest=site.row("Dots-v0"))
    path = site.path / "foo-1.0.dist-info" / file
    with path.open("a") as stream:
        stream.writelines(f"A{number}-v0 = foo.tasks:Dots\n" for number in range(100_000))
    refresh()
    (package,) = [one for one in installed().packages if one.distribution == "foo"]
    assert package.tasks == ()
    assert "has more than" in str(package.problems[0])


def test_what_pip_leaves_behind_is_no_package(site) -> None:
    site.add("foo", tasks={"Dots-v0": ""}, manifest=site.row("Dots-v0"))
    info = site.path / "foo-1.0.dist-info"
    info.rename(site.path / "~oo-1.0.dist-info")
    refresh()
    for thorough in (True, False):
        assert "foo" not in [one.name for one in declarations(thorough)]
