"""The task files of this folder, by the reference that `make` takes."""

from __future__ import annotations

from pathlib import Path

import pytest

FILES = Path(__file__).parent / "files"


@pytest.fixture
def ref():
    """``ref("as_neurogym", "Blocks")`` -> ``"…/as_neurogym.py:Blocks"``."""
    return lambda file, name: f"{FILES / file}.py:{name}"


@pytest.fixture
def load(ref):
    """The class that a reference stands for."""
    from neurogym_core.play.make import resolve

    return lambda file, name: resolve(ref(file, name))
