"""The task files of this folder, as references for `make`."""

from __future__ import annotations

from pathlib import Path

import pytest

from neurogym_core.players import resolve

FILES = Path(__file__).parent / "files"


@pytest.fixture
def ref():
    """Return a function: ``ref("as_neurogym", "Blocks")`` -> ``"…/as_neurogym.py:Blocks"``."""
    return lambda file, name: f"{FILES / file}.py:{name}"


@pytest.fixture
def load(ref):
    """Return a function that loads the class of a file."""
    return lambda file, name: resolve(ref(file, name))
