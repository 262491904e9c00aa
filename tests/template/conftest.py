"""Environments for packages that are made from the template."""

from __future__ import annotations

import environments
import pytest


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory):
    """An environment with the core and the checks."""
    folder = tmp_path_factory.mktemp("env")
    made = environments.Environment(folder / "venv", environments.borrowed(folder / "third-party"))
    check = environments.REPOSITORY / "plugins" / "neurogym-check"
    sources = (environments.REPOSITORY, check)
    made.pip_install([environments.build_wheel(one, folder / "dist") for one in sources])
    return made
