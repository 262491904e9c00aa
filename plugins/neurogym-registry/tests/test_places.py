"""Whose the files of an environment are, and which a wheel may add."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import os
import site
import sys
from pathlib import Path
from typing import Any

import pytest
from neurogym_registry import places
from neurogym_registry.closure import needs_of_installed
from neurogym_registry.contents import Contents
from neurogym_registry.errors import InstallError
from neurogym_registry.places import Folders, Place
from neurogym_registry.transaction import files_of, replacing


def hash_of(text: str) -> tuple[str, str]:
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return "sha256", digest.rstrip("=")


class House:
    """An environment in a folder, with distributions that are written by hand."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.site = folder, folder / "lib" / "site-packages"
        self.site.mkdir(parents=True)
        names = ("include", "bin")
        include, scripts = (str(folder / name) for name in names)
        self.folders = Folders(str(self.site), str(self.site), include, scripts, str(folder))
        monkeypatch.setattr(
            importlib.metadata,
            "distributions",
            lambda **query: importlib.metadata.Distribution.discover(
                path=[str(self.site)], **query
            ),
        )
        monkeypatch.setattr(Folders, "here", lambda: self.folders)
        monkeypatch.syspath_prepend(str(self.site))

    def add(self, name: str, files: dict[str, str], rows: tuple[str, ...] = ()) -> None:
        info = f"{name}-1.0.dist-info"
        files = {
            **files,
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        }
        lines = [f"{path},{'='.join(hash_of(text))}," for path, text in files.items()]
        files[f"{info}/RECORD"] = "\n".join([*lines, *rows, f"{info}/RECORD,,"])
        for path, text in files.items():
            (self.site / path).parent.mkdir(parents=True, exist_ok=True)
            (self.site / path).write_text(text, "utf-8")

    def fault(self, files: dict[str, str], **options: Any) -> str | None:
        options = {"planned": {}, "protected": ("core",), **options}
        return Place().fault("new", wheel(files), **options)

    def state(self) -> dict[str, str]:
        return {
            str(path.relative_to(self.folder)): path.read_text("utf-8")
            for path in self.folder.rglob("*")
            if path.is_file()
        }


def wheel(files: dict[str, str]) -> Contents:
    places = {("purelib", path): path for path in files}
    hashes = {path: hash_of(text) for path, text in files.items()}
    return Contents(
        info="new-1.0.dist-info",
        root="purelib",
        files=places,
        hashes=hashes,
        points={},
        commands=(),
    )


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    return House(tmp_path.resolve() / "house", monkeypatch)


def test_files_of_others_are_refused_unless_they_are_equal(house: House) -> None:
    """Several packages have the same empty `__init__.py`, for instance in `tests`."""
    house.add(
        "other", {"tests/__init__.py": "", "tests/test_other.py": "1", "other/__init__.py": ""}
    )
    house.add("core", {"core/__init__.py": "", "core/py.typed": ""})
    (house.site / "of_nobody.py").write_text("1")
    assert house.fault({"new/__init__.py": "1"}) is None
    assert house.fault({"tests/__init__.py": "", "tests/test_new.py": "1"}) is None
    assert "belongs to other" in str(house.fault({"tests/__init__.py": "1"}))
    assert "belongs to other" in str(house.fault({"tests/test_other.py": "2"}))
    assert "package of others" in str(house.fault({"other/new.toml": ""}))
    assert "package of others" in str(house.fault({"other/deep/er/new.py": ""}))
    assert "belongs to core" in str(house.fault({"core/py.typed": ""}))
    assert "belongs to no package" in str(house.fault({"of_nobody.py": "2"}))
    assert "confused with 'of_nobody.py'" in str(house.fault({"of_nobody/__init__.py": "2"}))
    assert "confused with 'other'" in str(house.fault({"other.py": "2"}))
    assert "confused with 'other'" in str(house.fault({"other.abi3.so": "2"}))
    assert "bytecode" in str(house.fault({"__pycache__/of_nobody.cpython-311.pyc": ""}))
    assert house.fault({"n/__pycache__/a.cpython-311.pyc": "", "n/a.py": ""}) is None


def test_parts_of_a_namespace_are_no_conflict(house: House) -> None:
    house.add("one", {"space/one/__init__.py": "", "space/mod.py": ""})
    assert house.fault({"space/new/__init__.py": ""}) is None
    assert "confused" in str(house.fault({"space/mod/__init__.py": ""}))
    assert "confused" in str(house.fault({"space/one.py": ""}))


def test_wheels_of_one_plan_do_not_change_each_other(house: House) -> None:
    first = {"space/one/__init__.py": "1", "shared/__init__.py": ""}
    planned = {str(house.site / path): ("first", hash_of(text)) for path, text in first.items()}
    assert house.fault({"space/new.py": "", "shared/__init__.py": ""}, planned=planned) is None
    for files in ({"space/one/__init__.py": "2"}, {"space/one/a.py": ""}, {"shared.py": ""}):
        assert house.fault(files, planned=planned) is not None


def test_a_module_does_not_hide_an_editable_one(house: House, tmp_path: Path) -> None:
    """Its sources are elsewhere on the path."""
    checkout = tmp_path / "checkout"
    (checkout / "edited").mkdir(parents=True)
    (checkout / "edited" / "__init__.py").touch()
    sys.path.append(str(checkout))
    try:
        assert "confused" in str(house.fault({"edited/__init__.py": ""}))
        assert house.fault({"typing.py": ""}) is None  # the standard library comes first
    finally:
        sys.path.remove(str(checkout))


def test_what_belongs_to_a_package(house: House, tmp_path: Path) -> None:
    """Neither files that others list, nor files beside its own folders that have another hash."""
    victim = tmp_path / "victim"
    victim.write_text("")
    house.add("other", {"other/__init__.py": "", "shared/__init__.py": ""})
    (house.folder / "bin").mkdir()
    for name in ("python", "tool", "changed"):
        (house.folder / "bin" / name).write_text(name)
    (house.site / "of_nobody.pth").write_text("")
    rows = (
        "other/__init__.py,,", "../../pyvenv.cfg,,", "of_nobody.pth,,", f"{victim},,",
        f"../../bin/python,{'='.join(hash_of('python'))},", "mine/__pycache__/a.x.pyc,,",
        f"../../bin/tool,{'='.join(hash_of('tool'))},", "../../bin/changed,sha256=abc,",
    )  # fmt: skip
    (house.folder / "pyvenv.cfg").touch()
    house.add("mine", {"mine/__init__.py": "1", "mine/a.py": "", "shared/__init__.py": ""}, rows)
    (house.site / "mine" / "__init__.py").write_text("changed by hand")
    (house.site / "mine" / "__pycache__").mkdir()
    for tag in ("x", "y"):
        (house.site / "mine" / "__pycache__" / f"a.{tag}.pyc").touch()
    own, kept = files_of("mine", Place())
    assert {str(Path(one).relative_to(house.folder)) for one in own} == {
        "lib/site-packages/mine/__init__.py", "lib/site-packages/mine/a.py", "bin/tool",
        "lib/site-packages/mine/__pycache__/a.x.pyc", "lib/site-packages/mine/__pycache__/a.y.pyc",
        "lib/site-packages/mine-1.0.dist-info/METADATA",
        "lib/site-packages/mine-1.0.dist-info/RECORD",
    }  # fmt: skip
    assert str(victim) in kept
    assert len(kept) == 7


def test_metadata_that_cannot_be_read_stops_no_installation(house: House) -> None:
    for name, file in (("bad", "METADATA"), ("worse", "RECORD")):
        house.add(name, {f"{name}/__init__.py": ""})
        (house.site / f"{name}-1.0.dist-info" / file).write_bytes(b"\xff\n")
    assert house.fault({"new/__init__.py": ""}) is None
    assert needs_of_installed() == {}
    with pytest.raises(InstallError, match="no readable list of its files"):
        files_of("worse", Place())


def test_where_the_environment_cannot_be_written_it_is_the_user_s(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(site, "ENABLE_USER_SITE", True)
    monkeypatch.setattr(places, "_writable", lambda _: False)
    assert places.user_install()
    user = os.path.realpath(site.getusersitepackages())
    assert Folders.here().sites == (user,)


def test_without_a_list_of_files_nothing_is_removed(house: House) -> None:
    """pip would remove whatever `top_level.txt` names."""
    info = house.site / "egg.egg-info"
    info.mkdir()
    (info / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: egg\nVersion: 1\n")
    (info / "top_level.txt").write_text("numpy\n")
    with pytest.raises(InstallError, match="no readable list of its files"):
        files_of("egg", Place())


def test_a_failure_brings_back_what_was_replaced(house: House) -> None:
    house.add("new", {"new/__init__.py": "old", "new/gone.py": ""})
    house.add("other", {"shared/__init__.py": ""})
    before = house.state()
    contents = wheel({"new/__init__.py": "new", "new/sub/b.py": "", "shared/__init__.py": ""})

    def install() -> None:
        assert not (house.site / "new").exists()
        for path, text in (
            ("new/__init__.py", "new"),
            ("new/sub/b.py", ""),
            ("new/sub/__pycache__/b.x.pyc", ""),
            ("shared/__init__.py", "half"),
        ):
            (house.site / path).parent.mkdir(parents=True, exist_ok=True)
            (house.site / path).write_text(text)

    def fail(failure: type[BaseException]) -> None:
        with replacing(["new"], [("new", contents)]):
            install()
            raise failure

    for failure in (InstallError, KeyboardInterrupt, SystemExit):
        with pytest.raises(failure):
            fail(failure)
        assert house.state() == before
        assert not (house.site / "new" / "sub").exists()
    with replacing(["new"], [("new", contents)]):
        install()
    after = house.state()
    assert after["lib/site-packages/new/__init__.py"] == "new"
    assert not any("gone" in one or "~ngym" in one for one in after)
