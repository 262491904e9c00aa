"""The files at the root of the repository that go into the wheel are found in a checkout; the
wheel's copies are tested with it.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from neurogym_core import _bundled
from neurogym_core._bundled import template_folder

ROOT = Path(__file__).resolve().parents[1]


def test_a_checkout_uses_the_folder_itself():
    assert template_folder() == ROOT / "cookiecutter-task"


def test_a_copy_in_the_package_comes_first(tmp_path, monkeypatch):
    copy = tmp_path / "neurogym_core" / "_bundled" / "cookiecutter-task"
    copy.mkdir(parents=True)
    monkeypatch.setattr(_bundled, "_PACKAGE", tmp_path / "neurogym_core")
    assert template_folder() == copy


def test_a_template_that_is_nowhere_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(_bundled, "_PACKAGE", tmp_path / "neurogym_core")
    with pytest.raises(FileNotFoundError, match="Install the core again"):
        template_folder()


def test_everything_that_the_build_takes_along_is_there_and_goes_where_it_is_looked_for():
    targets = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"][
        "targets"
    ]
    taken = targets["wheel"]["force-include"]
    assert set(taken) == {"cookiecutter-task", "registry/index.json"}
    for source, target in taken.items():
        assert (ROOT / source).exists()
        assert target == f"neurogym_core/_bundled/{source}"
        assert source in targets["sdist"]["include"]
