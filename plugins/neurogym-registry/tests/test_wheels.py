"""Reading wheels, making releases from them, and comparing the two."""

from __future__ import annotations

import json
import struct
import sys
import time
import zipfile
import zlib
from pathlib import Path
from types import SimpleNamespace

import made_packages as packages
import pytest
from click.testing import CliRunner
from neurogym_check.digest import digest_of, store
from neurogym_registry import contents, pip, transaction
from neurogym_registry.errors import InstallError, RegistryError
from neurogym_registry.places import Place
from neurogym_registry.releases import make_release, plain
from neurogym_registry.rules import errors, validate
from neurogym_registry.schemas import breaches
from neurogym_registry.wheels import read_wheel, sha256_of

from neurogym_core.tools import load_task, main

makers = sys.modules["ngym_test_registry_makers"]
NAME = "neurogym-task-dots"

SOURCE = '''
"""Dots."""
from neurogym_core import Choice, OneHot, Task


class Dots(Task):
    """Report the side of a light.

    Args:
        sigma: noise.
    """

    sigma: float = 1.0
    timing = {"fixation": 200, "stimulus": 300, "decision": 200}

    def define(self):
        self.observe(fixation=1, stimulus=OneHot(2))
        self.act(fixate=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "decision")
        trial.show("fixation", 1, during=("fixation", "stimulus"))
        light = self.channels.encoder("stimulus").encode(trial["side"])
        trial.show("stimulus", light, during=("stimulus", "decision"), noise=self.sigma)
        trial.answer("choose", trial["side"], during="decision")
'''
METADATA = f"""Metadata-Version: 2.4
Name: {NAME}
Version: 1.0.0
License-Expression: MIT
Requires-Python: >=3.11
Requires-Dist: neurogym-core<2,>=1.0
"""


def dots(version: str = "1.0.0", source: str = SOURCE, **fields: object) -> object:
    return packages.Package(
        name=NAME,
        version=version,
        tasks={"Dots-v0": "neurogym_task_dots.dots:Dots"},
        files={"dots.py": source},
        manifest=packages.manifest_row(
            "Dots-v0",
            tags='["perceptual"]',
            expected="{ guess = 0.5, oracle_min = 1.0 }",
            shortcuts="{ oracle = 1.0, rest = 0.0, constant = 0.49, guess = 0.5, random = 0.47,"
            " clock = 0.49, waiter = 0.5, all = 1.0, look.first = 1.0, look.middle = 1.0,"
            " look.last = 1.0 }",
        ),
        **{"metadata": METADATA.replace("1.0.0", version), **fields},
    )


def digests_toml(folder: Path) -> str:
    """Return the digest of the task of `SOURCE`, as `ngym check --write-digests` writes it."""
    (folder / "dots.py").write_text(SOURCE, "utf-8")
    store(
        folder / "digests.toml", {"Dots-v0": digest_of(load_task(f"{folder / 'dots.py'}:Dots")())}
    )
    return (folder / "digests.toml").read_text("utf-8")


def ngym(*arguments: object):
    return CliRunner().invoke(main, [str(one) for one in arguments], prog_name="ngym")


def test_a_wheel_says_what_it_is_without_being_installed(tmp_path: Path) -> None:
    wheel = read_wheel(packages.wheel(dots(), tmp_path))
    assert (wheel.name, wheel.version, wheel.license) == (NAME, "1.0.0", "MIT")
    assert (wheel.requires_core, wheel.requires_python) == ("<2,>=1.0", ">=3.11")
    assert wheel.modules == ("neurogym_task_dots",)
    assert wheel.entry_points["neurogym.tasks"] == {"Dots-v0": "neurogym_task_dots.dots:Dots"}
    assert wheel.manifest.row("task", "Dots-v0").tags == ("perceptual",)


INFO = "neurogym_task_dots-1.0.0.dist-info"
DATA = "neurogym_task_dots-1.0.0.data"


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ("../evil.py", "leave the folder"),
        ("/etc/evil", "leave the folder"),
        ("neurogym_task_dots/../../evil.py", "leave the folder"),
        ("C:/evil.py", "leave the folder"),
        ("neurogym_task_dots\\..\\evil.py", "leave the folder"),
        ("evil.pth", "beside the package"),
        ("sitecustomize.py", "beside the package"),
        ("sitecustomize/__init__.py", "beside the package"),
        ("usercustomize.pyc", "beside the package"),
        ("numpy/_evil.py", "beside the package"),
        ("gymnasium/__init__.py", "beside the package"),
        ("yaml.py", "beside the package"),
        ("tests/test_dots.py", "beside the package"),
        ("neurogym_core/cli/list.py", "beside the package"),
        ("neurogym_task_dots.py", "beside the package"),
        (f"{DATA}/purelib/neurogym_core/cli/list.py", "beside the package"),
        (f"{DATA}/data/lib/python3.11/site-packages/evil.py", "beside the package"),
        (f"{DATA}/data/pyvenv.cfg", "beside the package"),
        (f"{DATA}/scripts/ngym", "beside the package"),
        (f"{DATA}/purelib/evil.pth", "beside the package"),
        ("numpy-9.dist-info/METADATA", "several .dist-info"),
        ("neurogym_task_dots-2.0.dist-info/METADATA", "several .dist-info"),
        (f"{INFO}/direct_url.json", "not a file of a .dist-info"),
        (f"{INFO}/extra.py", "not a file of a .dist-info"),
        (f"{INFO}/metadata", "not a file of a .dist-info"),
        ("neurogym_task_dots/DOTS.py", "occurs twice"),
    ],
)
def test_a_wheel_with_files_that_do_not_belong_in_one_is_refused(
    tmp_path: Path, extra: str, said: str
) -> None:
    path = packages.wheel(dots(beside={extra: "import os"}), tmp_path)
    with pytest.raises(RegistryError, match=said):
        read_wheel(path)


def test_a_wheel_with_a_link_is_refused(tmp_path: Path) -> None:
    path = packages.wheel(dots(), tmp_path)
    with zipfile.ZipFile(path, "a") as archive:
        link = zipfile.ZipInfo("neurogym_task_dots/link.py")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(RegistryError, match="symbolic link"):
        read_wheel(path)


def with_record(path: Path, change) -> Path:
    """Rewrite a wheel with `change` applied to the lines of RECORD."""
    with zipfile.ZipFile(path) as archive:
        files = {one: archive.read(one) for one in archive.namelist()}
    lines = files[f"{INFO}/RECORD"].decode().splitlines()
    files[f"{INFO}/RECORD"] = "\n".join(change(lines)).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: [*rows, "neurogym_core/__init__.py,,"], "which it does not contain"),
        (lambda rows: [*rows, "../../../bin/pip,,"], "which it does not contain"),
        (lambda rows: [*rows, "neurogym_task_dots/../numpy/__init__.py,,"], "does not contain"),
        (lambda rows: rows[1:], "does not list"),
        (lambda rows: [rows[0], *rows], "twice"),
        (lambda rows: [*rows, "a,b"], "not valid"),
        (lambda rows: [rows[0].partition(",")[0] + ",,", *rows[1:]], "no SHA-256"),
        (lambda rows: [rows[0].replace("sha256=", "sha256=x"), *rows[1:]], "another hash"),
        (lambda rows: [rows[0].replace("sha256=", "md5="), *rows[1:]], "no SHA-256"),
        (lambda rows: [rows[0] + "9", *rows[1:]], "another size"),
    ],
)
def test_a_wheel_whose_record_differs_from_its_files_is_refused(
    tmp_path: Path, change, said: str
) -> None:
    """pip removes the files that RECORD lists, also those of the core."""
    path = with_record(packages.wheel(dots(), tmp_path), list)
    assert read_wheel(path).version == "1.0.0"
    with pytest.raises(RegistryError, match=said):
        read_wheel(with_record(path, change))


def test_long_lines_of_entry_points_take_linear_time(tmp_path: Path) -> None:
    """900,000 blanks took minutes with a regular expression; the limit is 1 MB."""
    points = f"[neurogym.tasks]\na{' ' * 900_000}b\n"
    path = packages.wheel(dots(entry_points=points), tmp_path)
    before = time.process_time()
    with pytest.raises(RegistryError, match="not an entry point"):
        read_wheel(path)
    assert time.process_time() - before < 2


POINTS = "[neurogym.tasks]\nDots-v0 = neurogym_task_dots.dots:Dots\n"


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ("[console_scripts]\nngym = neurogym_task_dots.dots:evil\n", "not of neurogym"),
        ("[console_scripts]\npip = neurogym_task_dots.dots:evil\n", "not a name for a command"),
        ("[gui_scripts]\nx = neurogym_task_dots.dots:evil\n", "not of neurogym"),
        ("[pytest11]\nx = neurogym_task_dots.dots\n", "not of neurogym"),
        ("[DEFAULT]\nx = neurogym_task_dots.dots\n", "not of neurogym"),
        ("[neurogym.commands]\nx = os:system\n", "leads out of"),
        ("[neurogym.plugins]\nx = neurogym_task_dots_evil.hooks\n", "leads out of"),
        ("[neurogym.tasks]\nOther-v0 = neurogym_task_dots.dots:Dots\n", "the group twice"),
        ("Dots-v0 = neurogym_task_dots.dots:Other\n", "occurs twice"),
        # Some readers take an indented line for the rest of a value, others for a new group.
        ("  [console_scripts]\n  ngym = neurogym_task_dots.dots:evil\n", "not an entry point"),
        ("# a comment\x0c[console_scripts]\x0cngym = neurogym_task_dots:evil\n", "not an entry"),
    ],
)
def test_a_wheel_with_other_entry_points_is_refused(tmp_path: Path, points: str, said: str) -> None:
    path = packages.wheel(dots(entry_points=POINTS + points), tmp_path)
    with pytest.raises(RegistryError, match=said):
        read_wheel(path)


def test_a_wheel_that_requires_a_file_at_an_address_is_refused(tmp_path: Path) -> None:
    """pip builds sources at an address, even with --only-binary."""
    deep = f"evil; {'(' * 4000}python_version > '3'{')' * 4000}"
    paths = ("evil===/../../tmp/evil-1.0.tar.gz", "evil===/..", "evil===${TOKEN}")
    address = "evil @ https://127.0.0.1/evil-1.0.tar.gz"
    for requirement in (address, "not a requirement !", deep, *paths):
        metadata = f"{METADATA}Requires-Dist: {requirement}\n"
        with pytest.raises(RegistryError, match=r"at an address|cannot be read|as a text"):
            read_wheel(packages.wheel(dots(metadata=metadata), tmp_path))


@pytest.mark.parametrize(
    "line", ["evil===${TOKEN}", "/tmp/evil", "./evil", "-r other", "a\nb @ https://x", "a @ file:b"]
)
def test_pip_is_given_names_and_versions_only(line: str) -> None:
    with pytest.raises(InstallError, match="Expected a name, with extras and versions"):
        pip.look_up([line])


def with_hidden(path: Path, name: str) -> None:
    """Put a file before those of a wheel, which is not in the list at its end."""
    old, data = path.read_bytes(), b"import os\n"
    lengths = struct.pack("<IIIHH", zlib.crc32(data), len(data), len(data), len(name), 0)
    entry = b"PK\3\4" + struct.pack("<HHHHH", 20, 0, 0, 0, 0x5821) + lengths
    entry += name.encode() + data
    at = end = old.rfind(b"PK\5\6")
    new, at = bytearray(old), struct.unpack("<I", old[end + 16 : end + 20])[0]
    new[end + 16 : end + 20] = struct.pack("<I", at + len(entry))
    while new[at : at + 4] == b"PK\1\2":
        place = struct.unpack("<I", new[at + 42 : at + 46])[0]
        new[at + 42 : at + 46] = struct.pack("<I", place + len(entry))
        at += 46 + sum(struct.unpack("<HHH", new[at + 28 : at + 34]))
    path.write_bytes(entry + bytes(new))


@pytest.mark.parametrize("cheat", ["hidden", "second", "before", "after", "comment"])
def test_a_wheel_that_is_read_otherwise_without_its_list_is_refused(
    tmp_path: Path, cheat: str
) -> None:
    path = packages.wheel(dots(), tmp_path)
    if cheat in ("hidden", "second"):
        with_hidden(path, {"hidden": "evil.pth", "second": "neurogym_task_dots/__init__.py"}[cheat])
    elif cheat == "before":
        path.write_bytes(b"#!/bin/sh\nexit\n" + path.read_bytes())
    elif cheat == "after":
        path.write_bytes(path.read_bytes() + b"PK\3\4")
    else:
        with zipfile.ZipFile(path, "a") as archive:
            archive.comment = b"PK\3\4"
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
    with pytest.raises(RegistryError, match="it has bytes"):
        read_wheel(path)


@pytest.mark.parametrize(
    "metadata",
    [
        f"{METADATA}Keywords: {'x' * 1_000_000}\nRequires-Dist: evil\n",
        f"{METADATA}Name: another\n",
        f"{METADATA}not a header\nRequires-Dist: evil\n",
    ],
    ids=["too long", "two names", "damaged"],
)
def test_metadata_is_read_whole_or_refused(tmp_path: Path, metadata: str) -> None:
    with pytest.raises(RegistryError, match="METADATA"):
        read_wheel(packages.wheel(dots(metadata=metadata), tmp_path))


def test_hooks_and_commands_are_in_the_release(tmp_path: Path) -> None:
    groups = {
        "neurogym.plugins": {"dots": "neurogym_task_dots.hooks"},
        "neurogym.commands": {"dots": "neurogym_task_dots.commands:dots"},
    }
    release = make_release(read_wheel(packages.wheel(dots(groups=groups), tmp_path)))
    assert release["offers"] == {
        "commands": {"dots": "neurogym_task_dots.commands:dots"},
        "plugins": {"dots": "neurogym_task_dots.hooks"},
    }
    assert breaches(release, "release") == []


def test_what_is_no_wheel_is_refused(tmp_path: Path) -> None:
    for name, content in (
        ("foo.zip", b""),
        ("foo-1-py3-none-any.whl", b"not a zip"),
        ("a-1-py3-none-any.whl", None),
    ):
        path = tmp_path / name
        if content is None:
            zipfile.ZipFile(path, "w").close()
        else:
            path.write_bytes(content)
        with pytest.raises(RegistryError, match="was given as a wheel, but"):
            read_wheel(path)


def test_a_wheel_under_another_name_is_refused(tmp_path: Path) -> None:
    path = packages.wheel(dots(), tmp_path)
    for name in ("other-1.0.0-py3-none-any.whl", "neurogym_task_dots-2.0-py3-none-any.whl"):
        renamed = path.with_name(name)
        renamed.write_bytes(path.read_bytes())
        with pytest.raises(RegistryError, match="is not the folder of"):
            read_wheel(renamed)


def test_a_manifest_without_a_row_for_a_task_is_refused(keeper, tmp_path: Path) -> None:
    package = dots()
    package.manifest = "schema = 1\n"
    result = keeper.accept(packages.wheel(package, tmp_path))
    assert result.exit_code == 1
    assert "no [[task]] row for 'Dots-v0'" in result.stderr
    assert not (keeper.folder / "releases").exists()


def test_wrappers_are_in_the_release_with_what_their_old_names_stand_for(tmp_path: Path) -> None:
    row = (
        'title = "Slower"\nsummary = "Slows."\naliases = ["Slow"]\n[wrapper.presets]\nSlow ='
        ' "factor = 2"\n'
    )
    package = packages.Package(
        name=NAME,
        version="1.0.0",
        metadata=METADATA,
        manifest=f'[[wrapper]]\nname = "Slower"\n{row}',
        groups={"neurogym.wrappers": {"Slower": "neurogym_task_dots.tasks:Slower"}},
    )
    release = make_release(read_wheel(packages.wheel(package, tmp_path)))
    (wrapper,) = release["wrappers"]
    assert wrapper["presets"] == {"Slow": "factor = 2"}
    assert wrapper["entry_point"] == "neurogym_task_dots.tasks:Slower"
    assert breaches(release, "release") == []


def test_values_that_json_has_no_word_for() -> None:
    assert plain({"a": [float("inf"), 1.5], "b\x1b": "x\x1b[31my\nz"}) == {
        "a": ["inf", 1.5],
        "b": "x[31my\nz",
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    keeper = makers.Keeper(folder / "registry")
    (folder / "wheels").mkdir()
    package = dots()
    package.files = {**package.files, "digests.toml": digests_toml(folder)}
    result = keeper.accept(packages.wheel(package, folder / "wheels"))
    assert result.exit_code == 0, result.output
    return folder


class TestAccept:
    """A release made from a wheel."""

    def test_it_is_valid_also_beside_its_wheel(self, made: Path) -> None:
        assert errors(validate(made / "registry", wheels=made / "wheels")) == []

    def test_it_holds_what_importing_the_tasks_tells(self, made: Path) -> None:
        release = json.loads(
            (made / "registry" / "releases" / NAME / "1.0.0.json").read_text("utf-8")
        )
        (task,) = release["tasks"]
        assert task["docstring"].startswith("Report the side of a light.")
        assert "sigma" in [row["name"] for row in task["parameters"]]
        assert [row["name"] for row in task["channels"]] == ["fixation", "stimulus"]
        assert [row["name"] for row in task["actions"]] == ["fixate", "choose"]
        assert [row["typical"] for row in task["periods"]] == [200, 300, 200]
        assert set(task["digest"]) == {"declared", "trials"}
        assert release["conformance"]["failed"] == 0
        assert release["conformance"]["passed"] > 20

    def test_it_has_a_picture(self, made: Path) -> None:
        picture = (made / "registry" / "releases" / NAME / "1.0.0" / "Dots-v0.svg").read_text(
            "utf-8"
        )
        assert "stimulus" in picture
        assert picture.startswith("<?xml")

    def test_the_index_is_fresh(self, made: Path) -> None:
        index = json.loads((made / "registry" / "index.json").read_text("utf-8"))
        assert index["serial"] == 1
        assert index["packages"][0]["latest"] == "1.0.0"

    def test_it_is_made_once(self, made: Path) -> None:
        (path,) = (made / "wheels").glob("*.whl")
        result = makers.Keeper(made / "registry").accept(path)
        assert result.exit_code == 1
        assert "is released, or its maintainers did not ask for it" in result.stderr

    def test_another_wheel_under_its_name_is_found(self, made: Path, tmp_path: Path) -> None:
        packages.wheel(dots(source=SOURCE + "\n# changed\n"), tmp_path)
        found = validate(made / "registry", wheels=tmp_path)
        assert {(one.rule, one.field) for one in errors(found)} == {("wheel", "files")}


@pytest.mark.slow
def test_a_check_may_be_excused_with_a_reason(keeper, tmp_path: Path) -> None:
    path = packages.wheel(dots(), tmp_path)  # it has no digest
    refused = keeper.accept(path)
    assert refused.exit_code == 1
    assert "R002" in refused.stderr
    excuse = ("--expected-failure", "R002=It is an example.")
    assert keeper.accept(path, *excuse).exit_code == 0
    release = json.loads((keeper.folder / "releases" / NAME / "1.0.0.json").read_text("utf-8"))
    (found,) = release["conformance"]["expected_failures"]
    assert (found["task"], found["check"]) == ("Dots-v0", "R002")
    assert found["reason"].startswith("It is an example.")
    assert errors(validate(keeper.folder)) == []
    assert keeper.accept(path, "--expected-failure", "R002").exit_code == 2


@pytest.mark.parametrize(
    ("source", "said"),
    [("raise RuntimeError('on purpose')", "on purpose"), ("import os; os._exit(3)", "exit code 3")],
)
def test_a_task_that_cannot_be_imported_makes_no_release(
    keeper, tmp_path: Path, source: str, said: str
) -> None:
    result = keeper.accept(packages.wheel(dots(source=source), tmp_path))
    assert result.exit_code == 1
    assert said in result.stderr
    assert not (keeper.folder / "releases").exists()


def test_a_package_without_an_entry_makes_no_release(keeper, tmp_path: Path) -> None:
    result = keeper.accept(packages.wheel(dots(), tmp_path), asked=False)
    assert result.exit_code == 1
    assert f"{NAME} has no entry" in result.stderr


def test_validate_prints_file_field_rule_and_what_the_rule_is(keeper) -> None:
    keeper.package(NAME, "1.0.0", license="Mine")
    keeper.build()
    result = ngym("registry", "validate", keeper.folder)
    assert result.exit_code == 1
    assert f"error: releases/{NAME}/1.0.0.json, license: is 'Mine'." in result.stdout
    assert "[licence] A release has an open-source licence" in result.stdout
    (row,) = json.loads(ngym("registry", "validate", keeper.folder, "--json").stdout)
    assert (row["level"], row["rule"], row["field"]) == ("error", "licence", "license")


@pytest.mark.parametrize("attack", ["foreign row", "bomb"])
def test_a_dependency_is_fetched_only_with_its_own_files_and_a_sane_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, attack: str
) -> None:
    """No registry lists it; the limit of a small wheel is 500 MB, found without unpacking."""
    path = packages.wheel(dots(), tmp_path)
    if attack == "foreign row":
        with_record(path, lambda rows: [*rows, "neurogym_core/__init__.py,,"])
    else:
        with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("neurogym_task_dots/zeros", bytes(2_000_000))
        monkeypatch.setattr(contents, "MAX_UNPACKED", 1_000_000)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    own = pip.Candidate(
        name=NAME, version="1.0.0", sha256=sha256_of(path), filename=path.name, host=""
    )
    (tmp_path / "to").mkdir()
    said = "which it does not contain" if attack == "foreign row" else "unpacks to more than"
    with pytest.raises(InstallError, match=said):
        pip.fetch([own], tmp_path / "to")


def test_a_dependency_with_other_requirements_than_the_index_said_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index can describe a wheel in a file beside it (PEP 658)."""
    path = packages.wheel(
        packages.Package(name="helper", requires=("a>=1",), manifest=None), tmp_path
    )
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    for requires in (("a >=1",), (), ("a>=2",)):
        said = pip.Candidate(
            name="helper", version="1.0", sha256=sha256_of(path), filename=path.name, host="",
            requires=requires,
        )  # fmt: skip
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        if requires == ("a >=1",):
            assert pip.fetch([said], folder)[0].contents.requires == ("a>=1",)
            continue
        with pytest.raises(InstallError, match="other requirements than the index"):
            pip.fetch([said], folder)


def test_an_honest_dependency_is_fetched_and_its_code_at_start_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = packages.Package(name="helper", requires=(), manifest=None, beside={"helper.pth": "x"})
    path = packages.wheel(made, tmp_path)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    own = pip.Candidate(
        name="helper", version="1.0", sha256=sha256_of(path), filename=path.name, host=""
    )
    (tmp_path / "to").mkdir()
    (step,) = pip.fetch([own], tmp_path / "to")
    assert Place().effects("helper", step.contents).at_start == ("helper.pth",)


def test_files_that_cannot_be_put_back_are_kept(tmp_path: Path) -> None:
    """One of them in the way of another file, and all went with the folder that kept them."""
    site = tmp_path / "site"
    site.mkdir()
    for name in "abc":
        (site / name).write_text(name, "utf-8")
    folders = SimpleNamespace(
        sites=(str(site),), purelib=str(site), scripts=str(tmp_path), include=str(tmp_path),
        data=str(tmp_path),
    )  # fmt: skip

    def fail() -> None:
        with transaction._stash(SimpleNamespace(folders=folders)) as stash:
            stash.move([str(site / name) for name in "abc"])
            (site / "a").mkdir()
            raise RuntimeError("pip failed")

    with pytest.raises(InstallError, match="1 files cannot be put back") as refused:
        fail()
    assert {path.name for path in site.iterdir() if path.is_file()} == {"b", "c"}
    (kept,) = (path for path in tmp_path.rglob("a") if path.is_file())
    assert kept.read_text("utf-8") == "a"
    assert str(next(site.glob("~ngym-*"))) in str(refused.value)
