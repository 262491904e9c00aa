"""Attacks by wheels of a plan on the environment, with real wheels, pip and a fresh venv.

Each was seen to succeed before it was refused or shown."""

from __future__ import annotations

import importlib.util
import marshal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import made_packages as packages
import pytest

makers = sys.modules["ngym_test_registry_makers"]
DATA = "plain_helper-1.0.data"
LIB = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
STARTS = "import pathlib; pathlib.Path('STARTED').touch()\n"
HIJACKED = "print('HIJACKED')\n"


def files_of(folder: Path) -> dict[str, bytes]:
    """Return {path: content} of an environment, without bytecode and caches."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for top in ("bin", "lib", "include", "share", "etc", "pyvenv.cfg")
        for path in (folder / top, *(folder / top).rglob("*"))
        if path.is_file() and path.suffix != ".pyc"
    }


@pytest.fixture
def whole(tmp_path: Path, environment: Any) -> Iterator[Any]:
    """A town whose environment is put back after the test, whatever was done to it."""
    made = makers.Town(tmp_path, environment)
    folder = environment.folder
    kept = files_of(folder)
    modes = {path: (folder / path).lstat().st_mode for path in kept}
    links = {path: (folder / path).readlink() for path in kept if (folder / path).is_symlink()}
    yield made
    for path in files_of(folder).keys() - kept.keys():
        (folder / path).unlink()
    for path, content in kept.items():
        there = folder / path
        if not there.exists() or there.read_bytes() != content:
            there.parent.mkdir(parents=True, exist_ok=True)
            there.unlink(missing_ok=True)
            if path in links:
                there.symlink_to(links[path])
            else:
                there.write_bytes(content)
                there.chmod(modes[path])
    for there in sorted(environment.site.rglob("*"), reverse=True):
        if there.suffix == ".pyc":
            there.unlink()
        elif there.is_dir() and not any(there.iterdir()):
            there.rmdir()


def with_helper(town: Any, **fields: Any) -> None:
    """Release the package, with a requirement that no registry lists."""
    town.depend("plain-helper", **fields)
    town.release(makers.dots_package(requires=("neurogym-core>=1.0,<2", "plain-helper")))


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        f"{DATA}/data/{LIB}/zz.pth",
        f"{DATA}/purelib/zz.pth",
        f"{DATA}/platlib/zz.PTH",
        "zz-nspkg.pth",
        "usercustomize.abi3.so",
        f"{DATA}/data/{LIB}/sitecustomize/__init__.py",
    ],
)
def test_code_at_the_start_of_python_is_in_the_plan(whole: Any, path: str) -> None:
    with_helper(whole, beside={path: STARTS})
    plan = whole.ngym("install", "dots", "--dry-run", COLUMNS="200")
    assert plan.returncode == 0, plan.stderr
    name = path.removeprefix(f"{DATA}/").removeprefix("data/").removeprefix(f"{LIB}/")
    name = name.removeprefix("purelib/").removeprefix("platlib/")
    assert f"plain-helper runs whenever Python starts: {name}" in plan.stdout


BYTECODE = (
    importlib.util.MAGIC_NUMBER
    + (1).to_bytes(4, "little")  # read without a comparison with its source
    + bytes(8)
    + marshal.dumps(compile(HIJACKED, "x", "exec"))
).decode("latin-1")
TAG = sys.implementation.cache_tag
REFUSED: dict[str, dict[str, Any]] = {
    "a path through the parent": {"beside": {"plain_helper/../zz.pth": STARTS}},
    "a path through the same folder": {"beside": {"./zz.pth": STARTS}},
    "the same within data": {"beside": {f"{DATA}/purelib/./zz.pth": STARTS}},
    "two slashes": {"beside": {f"{DATA}//purelib/zz.pth": STARTS}},
    "data of another name": {"beside": {"x.data/purelib/zz.pth": STARTS}},
    "a module of the core": {"beside": {"neurogym_core/cli/list.py": HIJACKED}},
    "a module of the core, through the parent": {
        "beside": {"plain_helper/../neurogym_core/cli/list.py": HIJACKED}
    },
    "a module of the core, as data": {
        "beside": {f"{DATA}/data/{LIB}/neurogym_core/cli/list.py": HIJACKED}
    },
    "a package in front of a module": {"beside": {"neurogym_core/cli/list/__init__.py": HIJACKED}},
    "a new file in the package of another": {"beside": {"neurogym_core/new.toml": ""}},
    "bytecode of another's module": {
        "beside": {f"neurogym_core/cli/__pycache__/list.{TAG}.pyc": BYTECODE}
    },
    "a library of another folder": {"beside": {"click/__init__.py": HIJACKED}},
    "a module in front of a library": {"beside": {"rich.py": HIJACKED}},
    "metadata of another distribution": {
        "beside": {f"{DATA}/purelib/numpy-99.dist-info/METADATA": "Name: numpy\nVersion: 99\n"}
    },
    "metadata of eggs": {"beside": {"numpy-99.egg-info/PKG-INFO": "Name: numpy\nVersion: 99\n"}},
    "the command ngym": {"groups": {"console_scripts": {"ngym": "plain_helper:main"}}},
    "the script ngym": {"beside": {f"{DATA}/scripts/ngym": "#!python\nprint('HIJACKED')\n"}},
    "the script ngym, as data": {"beside": {f"{DATA}/data/bin/ngym": "#!/bin/sh\necho HIJACKED\n"}},
    "a command elsewhere": {
        "groups": {"console_scripts": {f"../{LIB}/zz.pth": "plain_helper:main"}}
    },
    "the file of the environment": {"beside": {f"{DATA}/data/pyvenv.cfg": ""}},
}
"""Attacks by a wheel of a plan: {attack: fields of the package}."""


@pytest.mark.slow
@pytest.mark.parametrize("attack", REFUSED)
def test_a_wheel_that_changes_what_belongs_to_others_is_refused(whole: Any, attack: str) -> None:
    before = files_of(whole.environment.folder)
    with_helper(whole, **REFUSED[attack])
    refused = whole.ngym("install", "dots", "--yes")
    assert refused.returncode == 1, refused.stdout
    assert "plain_helper" in refused.stderr
    assert "Nothing was installed." in refused.stderr
    assert files_of(whole.environment.folder) == before
    assert "HIJACKED" not in whole.ngym("list").stdout


@pytest.mark.slow
def test_a_plan_that_cannot_be_finished_changes_nothing(whole: Any) -> None:
    """The package and a helper are installed in an older version; pip fails at the third wheel."""
    folder = whole.environment.folder
    old = whole.depend("a-helper", files={"old.py": ""})
    first = packages.wheel(makers.dots_package("0.9.0"), whole.wheels)
    whole.environment.pip_install([old, first])
    whole.depend("a-helper", version="2.0", files={"new.py": ""})
    whole.depend(
        "z-helper", groups={"console_scripts": {"z-helper": "z_helper:main"}},
    )  # fmt: skip
    requires = ("neurogym-core>=1.0,<2", "a-helper>=2", "z-helper")
    whole.release(makers.dots_package(requires=requires))
    before = files_of(folder)
    (folder / "bin" / "z-helper").mkdir()  # is seen before pip begins
    try:
        refused = whole.ngym("install", "dots", "--yes")
    finally:
        (folder / "bin" / "z-helper").rmdir()
    assert refused.returncode == 1, refused.stdout
    assert files_of(folder) == before
    breaks = f"import os, sys; sys.argv[1:3] == ['pip', 'install'] and {BREAKS}"
    (whole.environment.site / "aaa.pth").write_text(f"{breaks}\n")
    before = files_of(folder)
    refused = whole.ngym("install", "dots", "--yes")
    assert refused.returncode == 1, refused.stdout
    assert "Nothing was changed." in refused.stderr
    assert files_of(folder) == before


# In pip's process, the script of the last wheel cannot be written.
BREAKS = (
    "'pip' in str(sys.orig_argv) and '--dry-run' not in sys.argv and sys.addaudithook(lambda e, a:"
    " e == 'open' and str(a[0]).endswith('bin/z-helper') and os._exit(7))"
)


@pytest.mark.slow
def test_removing_a_package_leaves_what_belongs_to_others(whole: Any, tmp_path: Path) -> None:
    """pip, asked by hand, has installed a wheel whose RECORD and commands name files of others."""
    folder = whole.environment.folder
    before = files_of(folder)
    own = makers.dots_package()
    own.groups = {"console_scripts": {"ngym": "neurogym_task_dots:main", "dots": "os:getcwd"}}
    path = packages.wheel(own, tmp_path)
    victim = tmp_path / "victim.txt"
    victim.write_text("of the user")
    up = "../../../"
    rows = [
        "neurogym_core/__init__.py,,", "neurogym_core/cli/../cli/list.py,,", f"{up}bin/ngym,,",
        f"{up}bin/python,,", f"{up}pyvenv.cfg,,", "borrowed.pth,,", f"{victim},,",
        f"{up}../../../../../../../../..{victim},,",
    ]  # fmt: skip
    makers.with_rows(path, rows)
    kept = (folder / "bin" / "ngym").read_bytes()
    whole.environment.pip_install([path])
    (folder / "bin" / "ngym").write_bytes(kept)
    gone = whole.ngym("uninstall", "dots", "--yes")
    assert gone.returncode == 0, gone.stderr
    assert files_of(folder) == before
    assert (folder / "bin" / "python").exists()
    assert victim.read_text() == "of the user"
    assert "stay" in gone.stdout


@pytest.mark.slow
def test_an_update_removes_only_what_belongs_to_the_old_version(whole: Any, tmp_path: Path) -> None:
    folder = whole.environment.folder
    before = files_of(folder)
    path = packages.wheel(makers.dots_package("0.9.0"), tmp_path)
    makers.with_rows(path, ["neurogym_core/py.typed,,", "../../../bin/ngym,,"])
    whole.environment.pip_install([path])
    whole.release()
    done = whole.ngym("install", "dots", "--yes")
    assert done.returncode == 0, done.stderr
    after = files_of(folder)
    assert before.items() <= after.items()
    assert not any("0.9.0" in one for one in after)


@pytest.mark.slow
def test_a_removal_that_fails_changes_nothing(whole: Any, tmp_path: Path) -> None:
    """The last file cannot be moved."""
    own = makers.dots_package()
    path = packages.wheel(own, tmp_path)
    whole.environment.pip_install([path])
    before = files_of(whole.environment.folder)
    fails = (
        "import shutil, os\nfrom neurogym_core.tools import main\nmove = shutil.move\n"
        "def fail(a, b):\n    if a.endswith('dots.py') and os.path.basename(b) == 'dots.py' and"
        " '~ngym-' in b:\n        raise PermissionError(13, 'Permission denied', a)\n"
        "    return move(a, b)\n"
        "shutil.move = fail\nmain(['uninstall', 'dots', '--yes'], prog_name='ngym')"
    )
    refused = whole.environment.run("-c", fails)
    assert refused.returncode == 1, refused.stdout
    assert "Nothing was changed." in refused.stderr
    assert files_of(whole.environment.folder) == before
    assert whole.ngym("uninstall", "dots", "--yes").returncode == 0
