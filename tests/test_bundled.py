"""What lies at the root of the repository and goes into the wheel is found in a checkout; the
wheel's copies are tested with it.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from neurogym_core import _bundled
from neurogym_core._bundled import bundled

ROOT = Path(__file__).resolve().parents[1]


def test_a_checkout_uses_the_folders_themselves():
    assert bundled("cookiecutter-task") == ROOT / "cookiecutter-task"
    assert bundled("registry/index.json") == ROOT / "registry" / "index.json"


def test_copies_in_the_package_come_first(tmp_path, monkeypatch):
    copy = tmp_path / "neurogym_core" / "_bundled" / "registry"
    copy.mkdir(parents=True)
    monkeypatch.setattr(_bundled, "_PACKAGE", tmp_path / "neurogym_core")
    assert bundled("registry") == copy


def test_what_is_nowhere_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(_bundled, "_PACKAGE", tmp_path / "neurogym_core")
    with pytest.raises(FileNotFoundError, match="Install the core again"):
        bundled("registry")


def test_everything_that_the_build_takes_along_is_there_and_goes_where_it_is_looked_for():
    targets = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"][
        "targets"
    ]
    taken = targets["wheel"]["force-include"]
    assert set(taken) == {"registry/schema", "registry/index.json", "cookiecutter-task"}
    for source, target in taken.items():
        assert (ROOT / source).exists()
        assert target == f"neurogym_core/_bundled/{source}"
        assert source.partition("/")[0] in targets["sdist"]["include"]
