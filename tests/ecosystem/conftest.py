"""`site`: a folder on the import path in which tests put packages; `tests/cli` uses it too."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from neurogym_core.ecosystem import distributions, refresh


def load_packages() -> ModuleType:
    """`packages.py` of this folder: the tests are no package, so that it cannot be imported by
    name.
    """
    name = "ngym_test_packages"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name("packages.py"))
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


class Site:
    """A folder on `sys.path`; `add` puts a package into it."""

    def __init__(self, path: Path, packages: ModuleType):
        self.path, self.packages = path, packages

    def add(self, name: str, **fields: object) -> None:
        self.packages.write(self.packages.Package(name=name, **fields), self.path)
        refresh()

    def row(self, name: str, **fields: str) -> str:
        return self.packages.manifest_row(name, **fields)


def _hide_other_packages(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let a scan of this process see the core and what the test itself installs, whatever else
    there is.
    """
    read_all = distributions._read_all

    def only_ours(thorough: bool) -> Iterator[distributions.Declaration]:
        ours = (
            one
            for one in read_all(thorough)
            if str(folder) in one.location or one.name == "neurogym-core"
        )
        yield from ours

    monkeypatch.setattr(distributions, "_read_all", only_ours)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    folder = tmp_path / "site"
    folder.mkdir()
    _hide_other_packages(monkeypatch, tmp_path)
    for variable in ("NGYM_BLOCK", "NGYM_STRICT", "NGYM_DISABLE_PLUGIN_AUTOLOAD", "NGYM_REGISTRY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(
        sys, "dont_write_bytecode", True
    )  # files change within a second here, which Python would not see
    before = set(sys.modules)
    refresh()
    yield Site(folder, load_packages())
    for name in set(sys.modules) - before:
        if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]
    monkeypatch.undo()
    refresh()
