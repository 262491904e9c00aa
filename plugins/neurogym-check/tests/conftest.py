"""Fixtures: `site` is a folder for packages on the import path, `ngym` runs commands in this
process, `wrong` and `odd` are the tasks of this folder.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner, Result

from neurogym_core.cli import main
from neurogym_core.ecosystem import distributions, refresh

HERE = Path(__file__).parent


def _module(name: str) -> ModuleType:
    """Import a file of this folder, which is not a package."""
    known = f"neurogym_check_tests_{name}"
    if known not in sys.modules:
        spec = importlib.util.spec_from_file_location(known, HERE / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[known] = module
        spec.loader.exec_module(module)
    return sys.modules[known]


@pytest.fixture(scope="session")
def wrong() -> ModuleType:
    """Tasks with one fault each."""
    return _module("wrong_tasks")


@pytest.fixture(scope="session")
def odd() -> ModuleType:
    """Unusual tasks without a fault."""
    return _module("odd_tasks")


class Site:
    """A folder on `sys.path`; `add` writes an installed package into it, as pip does."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(
        self,
        name: str,
        tasks: Mapping[str, str] = {},
        groups: Mapping[str, Mapping[str, str]] = {},
        files: Mapping[str, str] = {},
        manifest: str = "schema = 1\n",
    ) -> None:
        """Install a package with these tasks (entry point -> value, "" for a class in tasks.py)."""
        module = name.replace("-", "_")
        values = {
            task: value or f"{module}.tasks:{task.partition('-')[0]}"
            for task, value in tasks.items()
        }
        offers = {
            "neurogym.tasks": values,
            "neurogym.manifest": {"manifest": f"{module}:ngym.toml"},
            **groups,
        }
        info = f"{module}-1.0.dist-info"
        sections = (
            "\n".join([f"[{group}]", *(f"{key} = {value}" for key, value in rows.items()), ""])
            for group, rows in offers.items()
        )
        contents = {
            f"{module}/__init__.py": "",
            f"{module}/ngym.toml": manifest,
            **{f"{module}/{path}": text for path, text in files.items()},
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
            "Requires-Dist: neurogym-core>=1.0,<2\n",
            f"{info}/entry_points.txt": "".join(sections),
        }
        for path, text in {**contents, f"{info}/RECORD": "\n".join(contents)}.items():
            target = self.path / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")
        refresh()

    def row(self, name: str, **fields: str) -> str:
        """Return a row of a manifest; `fields` are TOML."""
        texts = {"title": f'"{name}"', "summary": '"A task of the tests."', **fields}
        lines = (f"{key} = {value}" for key, value in texts.items())
        return "\n".join(["[[task]]", f'name = "{name}"', *lines, ""])


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A folder for packages; scans see only it, the core and this package."""
    folder = tmp_path / "site"
    folder.mkdir()
    read_all = distributions._read_all

    def only_ours(thorough: bool) -> Iterator[distributions.Declaration]:
        for one in read_all(thorough):
            if str(tmp_path) in one.location or one.name in ("neurogym-core", "neurogym-check"):
                yield one

    monkeypatch.setattr(distributions, "_read_all", only_ours)
    for variable in ("NGYM_BLOCK", "NGYM_STRICT", "NGYM_DISABLE_PLUGIN_AUTOLOAD"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.syspath_prepend(str(folder))
    # Files change within a second here, which Python's bytecode cache does not notice.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)
    refresh()
    yield Site(folder)
    for name in set(sys.modules) - before:
        if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]
    monkeypatch.undo()
    refresh()


@pytest.fixture
def ngym() -> Callable[..., Result]:
    """Function that runs ``ngym`` and returns click's result (``exit_code``, ``stdout``, …)."""

    def call(*arguments: str) -> Result:
        env = {"COLUMNS": None, "NO_COLOR": None, "FORCE_COLOR": None}
        return CliRunner().invoke(main, list(arguments), prog_name="ngym", env=env)

    return call
