"""Environments for packages that are made from the template."""

from __future__ import annotations

import environments
import pytest


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory):
    """An environment with the core's wheel."""
    folder = tmp_path_factory.mktemp("env")
    made = environments.Environment(folder / "venv", environments.borrowed(folder / "third-party"))
    made.pip_install([environments.build_wheel(environments.REPOSITORY, folder / "dist")])
    return made
