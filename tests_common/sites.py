"""A folder on the import path in which tests put packages, and `ngym` called in this process."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import made_packages
import pytest
from click.testing import CliRunner, Result

from neurogym_core.tools import canonical, installed, main, refresh

VARIABLES = ("NGYM_BLOCK", "NGYM_STRICT", "NGYM_DISABLE_PLUGIN_AUTOLOAD", "NGYM_REGISTRY")


class Site:
    """A folder on `sys.path`; `add` puts a package into it."""

    def __init__(self, path: Path):
        self.path = path

    def add(self, name: str, **fields: object) -> None:
        made_packages.write(made_packages.Package(name=name, **fields), self.path)
        refresh()

    def row(self, name: str, **fields: str) -> str:
        return made_packages.manifest_row(name, **fields)


def fresh_site(folder: Path, monkeypatch: pytest.MonkeyPatch, *visible: str) -> Iterator[Site]:
    """Yield a site, for a fixture to yield from.

    Scans of this process see only the core, the distributions `visible`, and the packages that the
    test adds.
    """
    path = folder / "site"
    path.mkdir()
    _hide_other_packages(monkeypatch, folder, {"neurogym-core", *visible})
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.syspath_prepend(str(path))
    # Tests change files within a second, so Python would reuse outdated byte code.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)
    refresh()
    yield Site(path)
    for name in set(sys.modules) - before:
        if str(path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]
    monkeypatch.undo()
    refresh()


@cache
def _distributions() -> set[str]:
    """Return the names of the packages outside of sites."""
    return {one.distribution for one in installed().packages}


def _hide_other_packages(monkeypatch: pytest.MonkeyPatch, folder: Path, visible: set[str]) -> None:
    """Leave the folders of their metadata out of all listings of folders."""
    hidden = _distributions() - visible
    all_of = os.listdir

    def without_others(path: Any = ".") -> list[Any]:
        if str(folder) in str(path):
            return all_of(path)
        return [
            name
            for name in all_of(path)
            if not (
                isinstance(name, str)
                and name.endswith((".dist-info", ".egg-info"))
                and canonical(name.partition("-")[0]) in hidden
            )
        ]

    monkeypatch.setattr(os, "listdir", without_others)


def call_ngym(*arguments: str, charset: str = "utf-8", **environment: str) -> Result:
    """Call ``ngym``; return click's result with ``exit_code``, ``stdout`` and ``stderr``."""
    runner = CliRunner(charset=charset)
    env = {"COLUMNS": None, "NO_COLOR": None, "FORCE_COLOR": None, **environment}
    return runner.invoke(main, list(arguments), prog_name="ngym", env=env)


def problems(*options: str, package: str, **environment: str) -> list[tuple[str, str, str]]:
    """Return (level, code, message) of each problem of a package that ``ngym doctor`` finds."""
    result = json.loads(call_ngym("doctor", "--json", *options, **environment).stdout)
    return [
        (row["level"], row["code"], row["message"])
        for row in result["problems"]
        if row["package"] == package
    ]


def called(*words: object) -> tuple[int, str]:
    """Call ``ngym`` in this process; return exit code and output. Errors of Python are raised."""
    result = CliRunner().invoke(main, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def installed_trainers(
    folder: Path, monkeypatch: pytest.MonkeyPatch, source: str, names: Mapping[str, str]
) -> Iterator[Path]:
    """Yield the folder of an installed package of trainers, for a fixture to yield from.

    Processes that the test starts see it too.

    Args:
        source: text of its module.
        names: {name of a trainer: its class}
    """
    site = folder / "site"
    made_packages.write(
        made_packages.Package(
            name="toy-trainers",
            manifest=None,
            files={"__init__.py": source},
            groups={"neurogym.trainers": {
                name: value if ":" in value else f"toy_trainers:{value}"
                for name, value in names.items()
            }},
        ),
        site,
    )  # fmt: skip
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", str(site), prepend=os.pathsep)
    refresh()
    yield site
    sys.modules.pop("toy_trainers", None)
    monkeypatch.undo()
    refresh()
